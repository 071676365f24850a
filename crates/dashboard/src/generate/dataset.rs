//! The rows of all small tables, as both engines get them. The facts are in `traffic`.

use std::borrow::Cow;

use super::Generate;
use super::articles::{Article, articles, authors};
use super::vocabulary::{BLOGS, COUNTRIES, HUMAN_LANGUAGES, LANGUAGES, PRODUCTS, TEAMS};
use crate::schema::Table;

/// One value of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell<'a> {
    Integer(i32),
    Text(Cow<'a, str>),
    Null,
}

impl From<usize> for Cell<'_> {
    /// An id: places count from 0, ids from 1.
    fn from(place: usize) -> Self {
        Self::Integer(place as i32 + 1)
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

/// Everything but the facts; a few hundred bytes for each article.
pub struct Dataset {
    pub articles: Vec<Article>,
    authors: Vec<String>,
}

/// The tables that have rows besides the facts, in the order in which they are written.
pub const SMALL_TABLES: [Table; 8] = [
    Table::Blogs,
    Table::Authors,
    Table::Teams,
    Table::Products,
    Table::Languages,
    Table::HumanLanguages,
    Table::Countries,
    Table::Articles,
];

impl Dataset {
    pub fn new(generate: &Generate) -> Self {
        let (start, end) = generate.days();
        Self {
            articles: articles(generate.articles as usize, start, end, generate.seed),
            authors: authors(generate.seed),
        }
    }

    /// The rows of one of [`SMALL_TABLES`], with the columns of the schema in their order.
    pub fn rows(&self, table: Table) -> Box<dyn Iterator<Item = Vec<Cell<'_>>> + '_> {
        match table {
            Table::Blogs => names(BLOGS.iter().map(|blog| blog.0)),
            Table::Authors => names(self.authors.iter().map(String::as_str)),
            Table::Teams => names(TEAMS.iter().copied()),
            Table::Products => names(PRODUCTS.iter().copied()),
            Table::Languages => names(LANGUAGES.iter().copied()),
            Table::HumanLanguages => names(HUMAN_LANGUAGES.iter().map(|language| language.0)),
            Table::Countries => Box::new(
                COUNTRIES
                    .iter()
                    .enumerate()
                    .map(|(place, &(code, name))| vec![place.into(), code.into(), name.into()]),
            ),
            Table::Articles => Box::new(
                self.articles.iter().enumerate().map(|(place, article)| row(place, article)),
            ),
            _ => Box::new(std::iter::empty()),
        }
    }
}

fn names<'a>(
    names: impl Iterator<Item = &'a str> + 'a,
) -> Box<dyn Iterator<Item = Vec<Cell<'a>>> + 'a> {
    Box::new(names.enumerate().map(|(place, name)| vec![place.into(), name.into()]))
}

fn row(place: usize, article: &Article) -> Vec<Cell<'_>> {
    let url = format!("{}{}", BLOGS[article.blog].1, article.slug);
    vec![
        place.into(),
        article.uuid.as_str().into(),
        article.blog.into(),
        article.slug.as_str().into(),
        Cell::Text(url.into()),
        article.title.as_str().into(),
        article.author.into(),
        article.team.into(),
        article.subject.product.into(),
        article.subject.language.into(),
        article.human_language.into(),
        Cell::Integer(article.published),
        article.original.map_or(Cell::Null, Cell::from),
    ]
}
