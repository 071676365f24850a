//! The words from which the reference dataset is made. Changing any changes its digest.

use std::sync::LazyLock;

use crate::tsv::{Tsv, column, rows};

/// One meaning in each of [`HUMAN_LANGUAGES`], so that a translation carries its original's title
/// in its own language.
pub type Phrase = [&'static str; 6];

/// Code and English name.
pub static COUNTRIES: Tsv<[&str; 2]> =
    LazyLock::new(|| rows(include_str!("vocabulary/countries.tsv")));

/// Name, and address of an article up to its slug.
pub static BLOGS: Tsv<[&str; 2]> = LazyLock::new(|| rows(include_str!("vocabulary/blogs.tsv")));

/// Name, suffix of slugs, share in thousandths.
pub static HUMAN_LANGUAGES: Tsv<(&str, &str, u64)> = LazyLock::new(|| {
    let rows = rows(include_str!("vocabulary/human_languages.tsv")).into_iter();
    rows.map(|[name, suffix, share]| (name, suffix, share.parse().unwrap_or_default())).collect()
});

/// The first stands for an article without code.
pub static LANGUAGES: Tsv<&str> =
    LazyLock::new(|| column(include_str!("vocabulary/languages.tsv")));

pub static TEAMS: Tsv<&str> = LazyLock::new(|| column(include_str!("vocabulary/teams.tsv")));

pub static PRODUCTS: Tsv<&str> = LazyLock::new(|| column(include_str!("vocabulary/products.tsv")));

/// Authors whose names are not combined from the two lists below.
pub static AUTHORS: Tsv<&str> = LazyLock::new(|| column(include_str!("vocabulary/authors.tsv")));

pub static FIRST_NAMES: Tsv<&str> =
    LazyLock::new(|| column(include_str!("vocabulary/first_names.tsv")));

pub static LAST_NAMES: Tsv<&str> =
    LazyLock::new(|| column(include_str!("vocabulary/last_names.tsv")));

/// Titles of articles with code.
pub static PATTERNS: Tsv<Phrase> = LazyLock::new(|| rows(include_str!("vocabulary/patterns.tsv")));

pub static PATTERNS_WITHOUT_LANGUAGE: Tsv<Phrase> =
    LazyLock::new(|| rows(include_str!("vocabulary/patterns_without_language.tsv")));

/// Topics of articles with code.
pub static TOPICS: Tsv<Phrase> = LazyLock::new(|| rows(include_str!("vocabulary/topics.tsv")));

pub static TOPICS_WITHOUT_LANGUAGE: Tsv<Phrase> =
    LazyLock::new(|| rows(include_str!("vocabulary/topics_without_language.tsv")));
