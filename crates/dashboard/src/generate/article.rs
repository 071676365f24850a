//! One article of the reference dataset.

/// An article; other tables are referred to by place, from 0. Its own id is its place plus one.
#[derive(Debug, Clone)]
pub struct GeneratedArticle {
    pub uuid: String,
    pub blog: usize,
    pub slug: String,
    pub title: String,
    pub author: usize,
    pub team: usize,
    pub human_language: usize,
    pub subject: ArticleSubject,
    /// Days since 1970-01-01.
    pub published: i32,
    /// The article of which this is a translation.
    pub original: Option<usize>,
    /// Place by popularity, from 0.
    pub rank: usize,
    /// The median time of a visit.
    pub reading_seconds: u32,
}

/// The subject of an article; a translation shares its original's.
#[derive(Debug, Clone, Copy)]
pub struct ArticleSubject {
    pub language: usize,
    pub product: usize,
    pub pattern: usize,
    pub topic: usize,
    /// A slug of more than [`super::title::LONG_SLUG_CHARACTERS`], which takes a second topic.
    pub is_long: bool,
}
