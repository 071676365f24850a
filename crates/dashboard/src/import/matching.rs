//! The match of a URL with its article.

use std::collections::HashMap;

use super::url::{is_path, normal_form};
use crate::database::{self, CommandTransaction};

/// The articles of a database by the forms of their URLs.
#[derive(Debug, Default)]
pub(super) struct ArticleUrls {
    by_form: HashMap<String, i32>,
    /// By the path alone; none where articles of several hosts have it.
    by_path: HashMap<String, Option<i32>>,
}

impl ArticleUrls {
    pub fn read(transaction: &CommandTransaction<'_>) -> Result<Self, database::Error> {
        let mut articles = Self::default();
        transaction.rows("SELECT id, url FROM articles ORDER BY id", &[], |row| {
            articles.add(row.small(0)?, row.text(1)?);
            Ok::<_, database::Error>(())
        })?;
        Ok(articles)
    }

    /// Of two articles with the same form the first has the traffic.
    fn add(&mut self, id: i32, url: &str) {
        let form = normal_form(url);
        if let Some(slash) = form.find('/') {
            let path = form.get(slash..).unwrap_or_default().to_owned();
            self.by_path.entry(path).and_modify(|found| *found = None).or_insert(Some(id));
        }
        self.by_form.entry(form).or_insert(id);
    }

    /// The article with that form: a path alone is that of the only article that has it.
    pub fn of(&self, form: &str) -> Option<i32> {
        if is_path(form) {
            return self.by_path.get(form).copied().flatten();
        }
        self.by_form.get(form).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_alone_is_an_article_s_if_no_other_has_it() {
        let mut articles = ArticleUrls::default();
        articles.add(1, "https://www.twilio.com/blog/send");
        articles.add(2, "https://sendgrid.com/blog/send");
        articles.add(3, "https://sendgrid.com/blog/mail/");
        assert_eq!(articles.of("twilio.com/blog/send"), Some(1));
        assert_eq!(articles.of("/blog/send"), None);
        assert_eq!(articles.of("/blog/mail"), Some(3));
        assert_eq!(articles.of("/blog"), None);
    }
}
