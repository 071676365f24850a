//! `[application]`: the commands by which the laboratory knows the software under test.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::model::placeholder::names_in;

/// Placeholders of commands and environment, beside constants, factors, `{crossover}`, `{secret}`
/// and those of the database's address.
pub(crate) const PLACEHOLDERS: [&str; 8] =
    ["data", "design", "engine", "host", "listen", "port", "settings", "end"];

/// The forms in which applications read the address of their database, and its parts.
pub const FORMS_OF_ADDRESSES: [&str; 11] = [
    "database_url",
    "sqlalchemy_url",
    "django_url",
    "rails_url",
    "prisma_url",
    "jdbc_url",
    "libpq",
    "path",
    "user",
    "password",
    "database",
];

/// The address on which an application serves.
const ADDRESSES_TO_SERVE_ON: [&str; 3] = ["listen", "port", "host"];

/// The application under test: commands, each a list of words, with placeholders.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Application {
    /// Run once per engine and data: they fill the engine's database. Not run for `sqlite`, which
    /// gets a copy of the data file, nor for an engine given by URL, which is never written to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prepare: Vec<Vec<String>>,
    /// Run before each turn of an engine, when its database is ready: to switch a remote
    /// application over to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<Vec<String>>,
    /// Run after each turn of an engine.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<Vec<String>>,
    /// The folder in which all these commands run; this program's where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<PathBuf>,
    /// The command that serves. A word that is just `{settings}` becomes `--set key=value` for each
    /// setting of an engine that the application, not a server, has to apply.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub start: Vec<String>,
    /// Its environment, beside that of this program.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// A path that is answered below 400 once the application is ready; empty: `/`, below 500.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub ready: String,
    /// The application chooses its database by itself: whether its requests reach that of the engine is
    /// not looked at.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub own_database: bool,
    /// Certificates in PEM form that `https://` engines are trusted by, beside the system's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
    /// A path that tells counters in Prometheus's text form: those that begin with `sqlite_` go
    /// into the trials.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub metrics: String,
}

impl Application {
    /// Whether a command of a turn gets the settings of a SQLite file, which has no preparation.
    pub fn receives_settings(&self) -> bool {
        self.before.iter().flatten().chain(&self.start).any(|word| word == "{settings}")
    }

    /// Keys of the texts by which the application learns of its database, when it starts or before.
    pub fn database_keys(&self) -> Vec<String> {
        let chosen = |name: &str| FORMS_OF_ADDRESSES.contains(&name) || name == "engine";
        self.keys_with(chosen)
    }

    /// Keys of the texts by which it learns where it serves.
    pub(crate) fn listen_keys(&self) -> Vec<String> {
        self.keys_with(|name| ADDRESSES_TO_SERVE_ON.contains(&name))
    }

    /// Of texts that the user wrote: a migration that was filled in says nothing of the application.
    fn keys_with(&self, wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let filled_in = self.prepare == [migration()];
        let texts = self.texts().filter(|(key, _)| {
            let part = key.strip_prefix("application.").unwrap_or(key);
            let is_prepare = part.starts_with("prepare");
            !(part == "ready" || part.starts_with("after") || filled_in && is_prepare)
        });
        let texts = texts.filter(|(_, text)| names_in(text).any(&wanted));
        texts.map(|(key, _)| key).collect()
    }

    /// Every text in which a placeholder may stand, with its key.
    pub fn texts(&self) -> impl Iterator<Item = (String, &str)> {
        fn words(key: String, words: &[String]) -> impl Iterator<Item = (String, &str)> {
            let words = words.iter().enumerate();
            words.map(move |(place, word)| (format!("{key}.{place}"), word.as_str()))
        }
        let lists = [("prepare", &self.prepare), ("before", &self.before), ("after", &self.after)];
        let mut texts: Vec<_> = words("application.start".to_owned(), &self.start).collect();
        for (key, commands) in lists {
            for (place, command) in commands.iter().enumerate() {
                texts.extend(words(format!("application.{key}.{place}"), command));
            }
        }
        for (name, value) in &self.environment {
            texts.push((format!("application.environment.{name}"), value));
        }
        texts.push(("application.ready".to_owned(), &self.ready));
        texts.into_iter()
    }
}

/// The command that fills a managed server where the plan has none.
pub(crate) fn migration() -> Vec<String> {
    ["{crossover}", "migrate", "{data}", "{database_url}", "--accept-losses", "--types=values"]
        .map(str::to_owned)
        .to_vec()
}
