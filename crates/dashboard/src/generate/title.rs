//! Titles and slugs of articles, in all human languages.

use std::collections::HashMap;

use super::article::{ArticleSubject, GeneratedArticle};
use super::random::RandomStream;
use super::vocabulary::{
    HUMAN_LANGUAGES, LANGUAGES, PATTERNS, PATTERNS_WITHOUT_LANGUAGE, PRODUCTS, Phrase, TOPICS,
    TOPICS_WITHOUT_LANGUAGE,
};

/// Slugs of long titles go beyond this many characters.
pub const LONG_SLUG_CHARACTERS: usize = 256;

impl ArticleSubject {
    /// Any pattern and topic that fits the computer language.
    pub fn random(
        random: &mut RandomStream,
        language: usize,
        product: usize,
        is_long: bool,
    ) -> Self {
        let (patterns, topics) = words(language);
        let pattern = random.below(patterns.len());
        let topic = random.below(topics.len());
        Self { language, product, pattern, topic, is_long }
    }

    /// In English, whatever the article's language.
    fn slug(&self) -> String {
        slug(&self.title(0))
    }

    fn title(&self, human_language: usize) -> String {
        let (patterns, topics) = words(self.language);
        let topic = topics[self.topic][human_language];
        let fill = |topic: &str| {
            patterns[self.pattern][human_language]
                .replace("{topic}", topic)
                .replace("{language}", LANGUAGES[self.language])
                .replace("{product}", PRODUCTS[self.product])
        };
        let mut title = fill(topic);
        let mut all = topic.to_owned();
        let further = topics.iter().cycle().skip(self.topic + 1);
        for topic in further.take(topics.len() - 1).filter(|_| self.is_long) {
            if slug(&title).len() > LONG_SLUG_CHARACTERS {
                break;
            }
            all = format!("{all}, {}", topic[human_language]);
            title = fill(&all);
        }
        capitalised(&title)
    }
}

/// Language 0 means an article without a computer language.
fn words(language: usize) -> (&'static [Phrase], &'static [Phrase]) {
    match language {
        0 => (&PATTERNS_WITHOUT_LANGUAGE, &TOPICS_WITHOUT_LANGUAGE),
        _ => (&PATTERNS, &TOPICS),
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Attempts with another pattern or topic before two articles get the same title.
const TRIES: usize = 16;

/// Gives every article its title and slug; originals stand before their translations.
///
/// Slugs are unique, as they must be within a blog: if no other subject is found soon, the second
/// article on the same one has the number 2 in title and slug.
pub fn name(articles: &mut [GeneratedArticle]) {
    let mut uses: HashMap<String, u32> = HashMap::with_capacity(articles.len());
    for place in 0..articles.len() {
        let subject = match articles[place].original {
            Some(original) => ArticleSubject { is_long: false, ..articles[original].subject },
            None => new_subject(articles[place].subject, &uses),
        };
        let article = &mut articles[place];
        let (_, suffix, _) = HUMAN_LANGUAGES[article.human_language];
        article.subject = subject;
        article.title = subject.title(article.human_language);
        // As on the blogs, translations too have the English words in their URL.
        article.slug = subject.slug() + suffix;
        let uses = uses.entry(article.slug.clone()).or_default();
        *uses += 1;
        if *uses > 1 {
            article.slug = format!("{}-{uses}", article.slug);
            article.title = format!("{} ({uses})", article.title);
        }
    }
}

/// `subject`, with another pattern or topic if an English article on it exists already.
fn new_subject(subject: ArticleSubject, uses: &HashMap<String, u32>) -> ArticleSubject {
    let (patterns, topics) = words(subject.language);
    let another = |step: usize| ArticleSubject {
        pattern: (subject.pattern + step) % patterns.len(),
        topic: (subject.topic + step / patterns.len()) % topics.len(),
        ..subject
    };
    (0..TRIES).map(another).find(|subject| !uses.contains_key(&subject.slug())).unwrap_or(subject)
}

/// Lower-case letters and digits, with single hyphens for all other letters.
fn slug(title: &str) -> String {
    let plain = title.replace("C#", "csharp").replace('\'', "").to_ascii_lowercase();
    plain
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("-")
}
