//! The rows of all small tables, as both engines get them. The facts are in `traffic`.

use super::DatasetOptions;
use super::article::GeneratedArticle;
use super::articles::{articles, authors};
use super::vocabulary::{BLOGS, COUNTRIES, HUMAN_LANGUAGES, LANGUAGES, PRODUCTS, TEAMS};
use crate::database::SqlValue;
use crate::schema::{DIMENSIONS, Table};

/// Everything but the facts; a few hundred bytes for each article.
pub struct GeneratedDataset {
    pub articles: Vec<GeneratedArticle>,
    authors: Vec<String>,
}

/// The tables that have rows besides the facts, in the order in which they are written.
pub fn small_tables() -> impl Iterator<Item = Table> {
    DIMENSIONS.iter().map(|dimension| dimension.place().table)
}

impl GeneratedDataset {
    pub fn new(generate: &DatasetOptions) -> Self {
        let (start, end) = generate.days();
        Self {
            articles: articles(generate.articles as usize, start, end, generate.seed),
            authors: authors(generate.seed),
        }
    }

    /// The rows of one of [`small_tables`], with the columns of the schema in their order.
    pub fn rows(&self, table: Table) -> Box<dyn Iterator<Item = Vec<SqlValue<'_>>> + '_> {
        match table {
            Table::Blogs => names(BLOGS.iter().map(|[name, _]| *name)),
            Table::Authors => names(self.authors.iter().map(String::as_str)),
            Table::Teams => names(TEAMS.iter().copied()),
            Table::Products => names(PRODUCTS.iter().copied()),
            Table::Languages => names(LANGUAGES.iter().copied()),
            Table::HumanLanguages => names(HUMAN_LANGUAGES.iter().map(|language| language.0)),
            Table::Countries => Box::new(
                COUNTRIES
                    .iter()
                    .enumerate()
                    .map(|(place, [code, name])| vec![id(place), (*code).into(), (*name).into()]),
            ),
            Table::Articles => Box::new(
                self.articles.iter().enumerate().map(|(place, article)| row(place, article)),
            ),
            Table::Traffic
            | Table::UnmatchedTraffic
            | Table::ImportedDays
            | Table::ApiKeys
            | Table::KeyExpiries
            | Table::Accounts
            | Table::Sessions
            | Table::SchemaVersion
            | Table::Totals => Box::new(std::iter::empty()),
        }
    }
}

fn names<'a>(
    names: impl Iterator<Item = &'a str> + 'a,
) -> Box<dyn Iterator<Item = Vec<SqlValue<'a>>> + 'a> {
    Box::new(names.enumerate().map(|(place, name)| vec![id(place), name.into()]))
}

/// Places count from 0, ids from 1.
fn id(place: usize) -> SqlValue<'static> {
    (place as i32 + 1).into()
}

fn row(place: usize, article: &GeneratedArticle) -> Vec<SqlValue<'_>> {
    let url = format!("{}{}", BLOGS[article.blog][1], article.slug);
    vec![
        id(place),
        article.uuid.as_str().into(),
        id(article.blog),
        article.slug.as_str().into(),
        url.into(),
        article.title.as_str().into(),
        id(article.author),
        id(article.team),
        id(article.subject.product),
        id(article.subject.language),
        id(article.human_language),
        article.published.into(),
        article.original.map_or(SqlValue::Null, id),
    ]
}
