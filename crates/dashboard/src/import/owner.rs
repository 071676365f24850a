//! The owner of traffic: an import replaces the days of those owners that it has rows of, and of no
//! other.

use std::collections::HashMap;

use super::url::normal_form;
use crate::database::{self, CommandTransaction};

/// The blog of traffic, or its host where no blog is known for it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum DayOwner {
    Blog(i32),
    /// In the form in which URLs are compared; empty where a URL has none.
    Host(String),
}

impl DayOwner {
    pub const NO_HOST: Self = Self::Host(String::new());
}

/// The blogs of articles and of their hosts.
#[derive(Debug, Default)]
pub(super) struct Owners {
    articles: HashMap<i32, (i32, String)>,
    /// None where articles of several blogs have the host.
    hosts: HashMap<String, Option<i32>>,
    names: HashMap<i32, String>,
}

impl Owners {
    pub fn read(transaction: &CommandTransaction<'_>) -> Result<Self, database::Error> {
        let mut owners = Self::default();
        transaction.rows("SELECT id, name FROM blogs", &[], |row| {
            owners.names.insert(row.small(0)?, row.text(1)?.to_owned());
            Ok::<_, database::Error>(())
        })?;
        transaction.rows("SELECT id, blog_id, url FROM articles", &[], |row| {
            let (id, blog) = (row.small(0)?, row.small(1)?);
            let host = host(&normal_form(row.text(2)?)).to_owned();
            let of_host = owners.hosts.entry(host.clone()).or_insert(Some(blog));
            *of_host = of_host.filter(|known| *known == blog);
            owners.articles.insert(id, (blog, host));
            Ok::<_, database::Error>(())
        })?;
        Ok(owners)
    }

    pub fn of_article(&self, id: i32) -> DayOwner {
        // Every article has a blog: the schema's foreign key says so.
        DayOwner::Blog(self.articles.get(&id).map_or(0, |(blog, _)| *blog))
    }

    /// The owner of traffic that matches no article, by the form of its URL.
    pub fn of_form(&self, form: &str) -> DayOwner {
        let host = host(form);
        match self.hosts.get(host) {
            Some(Some(blog)) if !host.is_empty() => DayOwner::Blog(*blog),
            _ => DayOwner::Host(host.to_owned()),
        }
    }

    pub fn host_of_article(&self, id: i32) -> &str {
        self.articles.get(&id).map_or("", |(_, host)| host)
    }

    /// The host of all articles, if there is only one.
    pub fn only_host(&self) -> Option<&str> {
        let mut hosts = self.hosts.keys();
        let first = hosts.next()?;
        hosts.next().is_none().then_some(first)
    }

    /// Whether traffic without a host may be of several blogs.
    pub fn are_several(&self) -> bool {
        self.names.len() > 1
    }

    /// The owner as a user knows it.
    pub fn name(&self, owner: &DayOwner) -> String {
        match owner {
            DayOwner::Blog(id) => self.names.get(id).cloned().unwrap_or_default(),
            DayOwner::Host(host) if host.is_empty() => "(no host)".to_owned(),
            DayOwner::Host(host) => host.clone(),
        }
    }
}

/// The host of a form; empty for a path alone and for `(not set)` and the like.
pub(super) fn host(form: &str) -> &str {
    let host = form.split(['/', '?']).next().unwrap_or_default();
    if host.starts_with('(') { "" } else { host }
}
