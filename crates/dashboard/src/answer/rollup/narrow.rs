//! Filters for pages: a row number for each article or blog and a mark for each country, computed
//! once for each query.

use crate::query::{Day, Grouping, GroupingKind, Publication, Query, QueryRefusal, Translations};
use crate::rollup::calendar::Grain;
use crate::rollup::definition::TotalsKind;
use crate::rollup::dictionary::{BLOG, Dictionary, NONE};
use crate::schema::Dimension;

/// The filters and the grouping of a question, ready to be looked up.
pub(super) struct Narrowed {
    by_blog: bool,
    /// For each article or blog, the number of its row; [`NONE`] if it is left out.
    rows: Vec<u32>,
    /// For each article, the one that it counts for; empty where rows are not of articles.
    originals: Vec<u32>,
    /// For each country, whether it counts; empty where all do.
    countries: Vec<bool>,
    uses_country: bool,
}

/// An article or a blog of a page.
#[derive(Debug, Clone, Copy)]
pub(super) struct FoundArticle {
    pub place: u32,
    /// The number of its row; [`NONE`] if it is left out.
    pub row: u32,
    /// The article that it counts for.
    pub article: u32,
}

impl Narrowed {
    pub fn new(
        query: &Query,
        dictionary: &Dictionary,
        kind: TotalsKind,
    ) -> Result<Self, QueryRefusal> {
        let by_blog = kind == TotalsKind::BlogCountry;
        let (included, countries) = included(query, dictionary, by_blog)?;
        let rows = included.iter().enumerate().map(|(place, counts)| match counts {
            true => row(query.grouping, dictionary, place, by_blog),
            false => NONE,
        });
        let rows: Vec<u32> = rows.collect();
        let grouped = query.translations == Translations::Grouped && !by_blog;
        let own = 0..included.len() as u32;
        let originals = if by_blog {
            Vec::new()
        } else if grouped {
            dictionary.articles.originals.clone()
        } else {
            own.collect()
        };
        // A translation is in the row of its original, and is let in with it.
        let rows = if grouped {
            originals
                .iter()
                .map(|place| rows.get(*place as usize).copied().unwrap_or(NONE))
                .collect()
        } else {
            rows
        };
        let uses_country =
            query.split.is_some() || query.grouping == Grouping::Countries || !countries.is_empty();
        Ok(Self { by_blog, rows, originals, countries, uses_country })
    }

    /// Whether it matters which country a total is of.
    pub fn uses_country(&self) -> bool {
        self.uses_country
    }

    /// The number of articles or blogs.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The article or blog of the first part of a total's key.
    #[inline]
    pub fn find(&self, dictionary: &Dictionary, id: i32) -> FoundArticle {
        let place = match self.by_blog {
            true => dictionary.names.get(BLOG).map_or(NONE, |blogs| blogs.place(id)),
            false => dictionary.articles.ids.place(id),
        };
        let of = |list: &[u32]| list.get(place as usize).copied().unwrap_or(NONE);
        FoundArticle { place, row: of(&self.rows), article: of(&self.originals) }
    }

    /// The place of a country that counts.
    #[inline]
    pub fn country(&self, dictionary: &Dictionary, id: i32) -> u32 {
        let place = dictionary.countries.place(id);
        let counts = self.countries.is_empty() || is(&self.countries, place);
        if counts { place } else { NONE }
    }
}

/// Marks of the articles or blogs that count, and of the countries; no marks of countries where all
/// of them do.
fn included(
    query: &Query,
    dictionary: &Dictionary,
    by_blog: bool,
) -> Result<(Vec<bool>, Vec<bool>), QueryRefusal> {
    let places = dictionary.all_places(query)?;
    let mut countries = Vec::new();
    let blogs = dictionary.names.get(BLOG).map_or(0, |blogs| blogs.keys.len());
    let articles = &dictionary.articles;
    let count = if by_blog { blogs } else { articles.published.len() };
    let mut included = vec![true; count];
    for (filter, places) in query.filters.values.iter().zip(&places) {
        if filter.dimension == Dimension::Country {
            countries.resize(dictionary.countries.keys.len(), true);
            let named = named(places, countries.len());
            narrow(&mut countries, filter.exclude, |place| is(&named, place as u32));
            continue;
        }
        let field = dictionary.named(filter.dimension);
        let size = match field {
            Some((_, names)) => names.keys.len(),
            None => articles.published.len(),
        };
        let named = named(places, size);
        narrow(&mut included, filter.exclude, |place| match field {
            Some((field, _)) if !by_blog => {
                let of_article = articles.fields.get(field).and_then(|of| of.get(place));
                of_article.is_some_and(|name| is(&named, *name))
            }
            _ => is(&named, place as u32),
        });
    }
    if !by_blog {
        let published = |place: usize| articles.published.get(place).copied();
        let filters = &query.filters;
        if !filters.published.is_open() {
            narrow(&mut included, false, |place| within(filters.published, published(place)));
        }
        if !filters.not_published.is_open() {
            let outside = filters.not_published;
            narrow(&mut included, true, |place| within(outside, published(place)));
        }
    }
    Ok((included, countries))
}

/// Leaves out what is not named, or what is.
fn narrow(included: &mut [bool], exclude: bool, is_named: impl Fn(usize) -> bool) {
    for (place, included) in included.iter_mut().enumerate() {
        *included &= is_named(place) != exclude;
    }
}

fn named(places: &[u32], size: usize) -> Vec<bool> {
    let mut named = vec![false; size];
    for place in places {
        if let Some(named) = named.get_mut(*place as usize) {
            *named = true;
        }
    }
    named
}

fn is(marks: &[bool], place: u32) -> bool {
    marks.get(place as usize).copied().unwrap_or(false)
}

fn within(publication: Publication, published: Option<i32>) -> bool {
    let Some(published) = published else { return false };
    publication.from.is_none_or(|from| published >= from.number())
        && publication.to.is_none_or(|to| published <= to.number())
}

/// The number of the row of an article or blog: the place of its name, its own place, the
/// first day of its year of publication. Rows of time and countries do not depend on it.
fn row(grouping: Grouping, dictionary: &Dictionary, place: usize, by_blog: bool) -> u32 {
    if by_blog {
        return if grouping == Grouping::Blogs { place as u32 } else { 0 };
    }
    let articles = &dictionary.articles;
    match grouping.kind() {
        GroupingKind::Dimension(Dimension::Article) => place as u32,
        GroupingKind::Dimension(dimension) => {
            // Countries are not names of articles.
            let Some((named, _)) = dictionary.named(dimension) else { return 0 };
            let of_articles = articles.fields.get(named);
            of_articles.and_then(|of| of.get(place)).copied().unwrap_or(NONE)
        }
        GroupingKind::ArticleYears => {
            let published = articles.published.get(place).copied().unwrap_or_default();
            let year = Day::from_number(published).and_then(|day| Grain::Year.span(day));
            // As its bits: days before 1970 are negative.
            year.map_or(published, |year| year.start().number()) as u32
        }
        GroupingKind::Days | GroupingKind::Weeks | GroupingKind::Months | GroupingKind::Years => 0,
    }
}
