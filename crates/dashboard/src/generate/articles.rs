//! Articles of the reference dataset: authors, languages, dates, translations.

use super::article::{ArticleSubject, GeneratedArticle};
use super::random::RandomStream;
use super::title;
use super::vocabulary::{
    AUTHORS, BLOGS, FIRST_NAMES, HUMAN_LANGUAGES, LANGUAGES, LAST_NAMES, PRODUCTS, TEAMS,
};
use super::zipf::ZipfLaw;

/// Number of authors, whatever the number of articles.
pub const AUTHOR_COUNT: usize = 400;

/// Articles were published from this many days before the first day of traffic.
const DAYS_BEFORE_TRAFFIC: i32 = 3_378;

/// Days between the last publication and the last traffic.
const DAYS_AFTER_PUBLICATION: i32 = 6;

/// The least number of days between an original and its translation.
const DAYS_TO_TRANSLATE: usize = 7;

/// Articles whose slugs are longer than 256 characters, as the article on the dashboard found.
pub const LONG_SLUGS: usize = 4;

fn share(of: usize, thousandths: u64) -> usize {
    ((of as u64 * thousandths + 500) / 1000) as usize
}

/// All articles in order of publication, for traffic from `start` to `end` (days).
pub fn articles(count: usize, start: i32, end: i32, seed: u64) -> Vec<GeneratedArticle> {
    let mut articles = drafts(count, start, end, seed);
    translate(&mut articles, end, seed);
    in_order_of_publication(&mut articles);
    title::name(&mut articles);
    let mut ranks: Vec<usize> = (0..count).collect();
    RandomStream::of(seed, "popularity").shuffle(&mut ranks);
    for (article, rank) in articles.iter_mut().zip(ranks) {
        article.rank = rank;
    }
    articles
}

fn drafts(count: usize, start: i32, end: i32, seed: u64) -> Vec<GeneratedArticle> {
    let mut random = RandomStream::of(seed, "articles");
    let mut blogs: Vec<usize> =
        (0..count).map(|place| usize::from(place >= share(count, 800))).collect();
    random.shuffle(&mut blogs);
    let mut human_languages = human_languages(count);
    random.shuffle(&mut human_languages);
    let authors = ZipfLaw::new(AUTHOR_COUNT, 0.8);
    let teams = ZipfLaw::new(TEAMS.len(), 0.7);
    let products = ZipfLaw::new(PRODUCTS.len(), 0.8);
    let languages = ZipfLaw::new(LANGUAGES.len(), 0.7);
    let mut long_slugs = LONG_SLUGS;
    blogs
        .into_iter()
        .zip(human_languages)
        .map(|(blog, human_language)| {
            let is_long = human_language == 0 && long_slugs > 0;
            long_slugs -= usize::from(is_long);
            let language = languages.pick(&mut random);
            let product = products.pick(&mut random);
            GeneratedArticle {
                uuid: uuid(&mut random),
                blog,
                slug: String::new(),
                title: String::new(),
                author: authors.pick(&mut random),
                team: teams.pick(&mut random),
                human_language,
                subject: ArticleSubject::random(&mut random, language, product, is_long),
                published: publication(&mut random, start, end, human_language),
                original: None,
                rank: 0,
                reading_seconds: 40 + random.below(201) as u32,
            }
        })
        .collect()
}

/// Exactly 78% English; the others by their shares.
fn human_languages(count: usize) -> Vec<usize> {
    let mut languages = Vec::with_capacity(count);
    let mut upto = 0;
    for (language, (_, _, thousandths)) in HUMAN_LANGUAGES.iter().enumerate() {
        upto += thousandths;
        languages.resize(share(count, upto), language);
    }
    languages
}

/// More and more is published over the years. English articles leave time for a translation.
fn publication(random: &mut RandomStream, start: i32, end: i32, human_language: usize) -> i32 {
    let first = start - DAYS_BEFORE_TRAFFIC;
    let translation_days = if human_language == 0 { 30 } else { 0 };
    let last = last_publication(start, end) - translation_days;
    let span = f64::from(last - first + 1);
    first + (span * libm::pow(random.unit(), 0.75)) as i32
}

fn last_publication(start: i32, end: i32) -> i32 {
    (end - DAYS_AFTER_PUBLICATION).max(start)
}

/// A random UUID (RFC 9562, version 4).
fn uuid(random: &mut RandomStream) -> String {
    let bits = (u128::from(random.next()) << 64 | u128::from(random.next()))
        & !(0xf << 76 | 0x3 << 62)
        | 0x4 << 76
        | 0x2 << 62;
    let hex = format!("{bits:032x}");
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

/// Makes 12% of the articles translations of English ones, of the same blog where it has any.
fn translate(articles: &mut [GeneratedArticle], end: i32, seed: u64) {
    let mut random = RandomStream::of(seed, "translations");
    let (english, mut foreign): (Vec<usize>, Vec<usize>) =
        (0..articles.len()).partition(|&place| articles[place].human_language == 0);
    random.shuffle(&mut foreign);
    foreign.truncate(share(articles.len(), 120));
    let of_blog = |blog: usize| -> Vec<usize> {
        english.iter().copied().filter(|&place| articles[place].blog == blog).collect()
    };
    let originals: Vec<Vec<usize>> = (0..BLOGS.len()).map(of_blog).collect();
    for translation in foreign {
        let candidates = Some(&originals[articles[translation].blog])
            .filter(|candidates| !candidates.is_empty())
            .unwrap_or(&english);
        let place = candidates[random.below(candidates.len())];
        let original_published = articles[place].published;
        let earliest = original_published + (DAYS_TO_TRANSLATE + random.below(84)) as i32;
        let translation = &mut articles[translation];
        translation.published =
            translation.published.max(earliest).min(end - DAYS_AFTER_PUBLICATION);
        translation.published = translation.published.max(original_published + 1);
        translation.original = Some(place);
    }
}

/// So that ids ascend with time, and an original stands before its translations.
fn in_order_of_publication(articles: &mut Vec<GeneratedArticle>) {
    let mut order: Vec<usize> = (0..articles.len()).collect();
    order.sort_by_key(|&place| articles[place].published);
    let mut new_place = vec![0; articles.len()];
    for (new, &old) in order.iter().enumerate() {
        new_place[old] = new;
    }
    for article in articles.iter_mut() {
        article.original = article.original.map(|old| new_place[old]);
    }
    *articles = order.into_iter().map(|old| articles[old].clone()).collect();
}

/// The names of all authors, in order of their ids.
pub fn authors(seed: u64) -> Vec<String> {
    let mut names: Vec<String> = FIRST_NAMES
        .iter()
        .flat_map(|first| LAST_NAMES.iter().map(move |last| format!("{first} {last}")))
        .collect();
    let mut random = RandomStream::of(seed, "authors");
    random.shuffle(&mut names);
    names.truncate(AUTHOR_COUNT - AUTHORS.len());
    names.extend(AUTHORS.iter().map(|&name| name.to_owned()));
    random.shuffle(&mut names);
    names
}
