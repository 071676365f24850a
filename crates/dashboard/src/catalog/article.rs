//! One article: its metadata, its original, its translations.

use serde::Serialize;
use utoipa::ToSchema;

use super::{DataCatalog, day_text, texts};
use crate::database::{Error, SqlValue};
use crate::metadata::MetadataRow;

/// An article with its metadata.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Article {
    /// Its key in the query API.
    pub uuid: String,
    /// Where it can be read.
    pub url: String,
    /// The part of the URL that names it.
    pub slug: String,
    pub title: String,
    /// The blog it appeared in.
    pub blog: String,
    /// The person who wrote it.
    pub author: String,
    /// The author's team.
    pub team: String,
    /// The product it is about.
    pub product: String,
    /// The computer language it is about.
    pub language: String,
    /// The human language it is written in.
    pub human_language: String,
    /// The day it appeared.
    #[schema(format = Date)]
    pub published: String,
    /// The original of a translation; null for an original.
    pub original: Option<RelatedArticle>,
    /// All other articles of the same original, oldest first.
    pub translations: Vec<RelatedArticle>,
}

/// Another article of the same family.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RelatedArticle {
    /// Its key in the query API.
    pub uuid: String,
    pub title: String,
    /// The human language it is written in.
    pub human_language: String,
    /// Where it can be read.
    pub url: String,
}

/// An article in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ListedArticle {
    /// Its key in the query API.
    pub uuid: String,
    /// Where it can be read.
    pub url: String,
    /// The person who wrote it.
    pub author: String,
    /// The author's team.
    pub team: String,
    /// The day it appeared.
    #[schema(format = Date)]
    pub published: String,
}

const ALL: &str = "SELECT articles.published, articles.uuid, articles.url, authors.name, teams.name
    FROM articles
    JOIN authors ON authors.id = articles.author_id
    JOIN teams ON teams.id = articles.team_id
    ORDER BY articles.id";

const ARTICLE: &str = "SELECT articles.id, articles.original_id, articles.published,
        articles.uuid, articles.url, articles.slug, articles.title, blogs.name, authors.name,
        teams.name, products.name, languages.name, human_languages.name
    FROM articles
    JOIN blogs ON blogs.id = articles.blog_id
    JOIN authors ON authors.id = articles.author_id
    JOIN teams ON teams.id = articles.team_id
    JOIN products ON products.id = articles.product_id
    JOIN languages ON languages.id = articles.language_id
    JOIN human_languages ON human_languages.id = articles.human_language_id
    WHERE articles.uuid = $1";

/// The original itself and every translation of it.
const FAMILY: &str = "SELECT articles.id, articles.uuid, articles.title, human_languages.name,
        articles.url
    FROM articles
    JOIN human_languages ON human_languages.id = articles.human_language_id
    WHERE articles.id = $1 OR articles.original_id = $2
    ORDER BY articles.published, articles.id";

impl DataCatalog {
    /// All articles.
    pub async fn articles(&self) -> Result<Vec<ListedArticle>, Error> {
        let mut articles = Vec::new();
        for mut row in self.metadata.rows(ALL, Vec::new()).await? {
            let texts = texts::<4>(row.split_off(1));
            let published = row.first().and_then(SqlValue::integer);
            let Some(([uuid, url, author, team], published)) = texts.zip(published) else {
                continue;
            };
            let published = day_text(published)?;
            articles.push(ListedArticle { uuid, url, author, team, published });
        }
        Ok(articles)
    }

    /// The article of that uuid, if there is one.
    pub async fn article(&self, uuid: &str) -> Result<Option<Article>, Error> {
        // PostgreSQL takes no text with a NUL in it, and no uuid has one.
        if uuid.contains('\0') {
            return Ok(None);
        }
        let mut found = self.metadata.rows(ARTICLE, vec![uuid.into()]).await?;
        let Some(mut row) = found.pop().filter(|row| row.len() == 13) else { return Ok(None) };
        let names = row.split_off(3);
        let numbers: Vec<Option<i64>> = row.iter().map(SqlValue::integer).collect();
        let ([Some(id), original_id, Some(published)], Some(names)) =
            (numbers[..].try_into().unwrap_or([None; 3]), texts::<10>(names))
        else {
            return Ok(None);
        };
        let mut family = self.family(original_id.unwrap_or(id)).await?;
        family.retain(|(other, _)| *other != id);
        let place = family.iter().position(|(other, _)| Some(*other) == original_id);
        let original = place.map(|place| family.remove(place).1);
        let translations = family.into_iter().map(|(_, related)| related).collect();
        let [uuid, url, slug, title, blog, author, team, product, language, human_language] = names;
        Ok(Some(Article {
            uuid,
            url,
            slug,
            title,
            blog,
            author,
            team,
            product,
            language,
            human_language,
            published: day_text(published)?,
            original,
            translations,
        }))
    }

    /// All articles of one original, itself too, by their ids.
    async fn family(&self, original: i64) -> Result<Vec<(i64, RelatedArticle)>, Error> {
        let rows = self.metadata.rows(FAMILY, vec![original.into(), original.into()]).await?;
        let related = |mut row: MetadataRow| {
            let texts = texts::<4>(row.split_off(1))?;
            let [uuid, title, human_language, url] = texts;
            let id = row.first()?.integer()?;
            Some((id, RelatedArticle { uuid, title, human_language, url }))
        };
        Ok(rows.into_iter().filter_map(related).collect())
    }
}
