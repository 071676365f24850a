//! `NAME[:VERSION|:PATH]` or a URL, then optionally `[key=value,...]`: how an engine is
//! written, the same in plans, on the command line and in records.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::url::mask_password;
use crate::{EngineKind, Error, PostgresUrl, Settings, VersionRequest, nearest};

/// An engine as named by a user: where it comes from and how it is set.
///
/// `Display` hides a URL's password; [`EngineSpec::expose`] does not. Both read back, a hidden
/// password as none (then `PGPASSWORD` or the password file answers). Serialised as by `Display`,
/// so that no record ever holds a password.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EngineSpec {
    pub source: EngineSource,
    /// The bracketed settings, ours and the engine's.
    pub settings: Settings,
}

/// Where an engine comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EngineSource {
    /// `sqlite`: a file made for this run.
    Sqlite,
    /// `sqlite:PATH`: a file of the user's.
    SqliteFile(PathBuf),
    /// `postgres`, `postgres:18`: a server that Crossover fetches, starts and stops.
    Postgres(VersionRequest),
    /// `postgres:PATH`: a folder with the binaries, started and stopped likewise.
    PostgresFolder(PathBuf),
    /// `postgresql://...`: a server of the user's.
    PostgresUrl(PostgresUrl),
    /// `mariadb`: the distribution's server.
    Mariadb,
    /// `mariadb:11.4`: a release that Crossover fetches, starts and stops.
    MariadbRelease(VersionRequest),
    /// `mariadb:PATH`: a folder with the binaries.
    MariadbFolder(PathBuf),
    /// `mysql://...` or `mariadb://...`: a server of the user's; the full text.
    MysqlUrl(String),
    /// `http://...` or `https://...`: an application that runs already, whatever its database.
    HttpUrl(String),
    /// `dir`: files in one folder, made for this run.
    Dir,
    /// `dir:PATH`: a folder of the user's.
    DirFolder(PathBuf),
    /// `tree`: files in nested folders, made for this run.
    Tree,
    /// `tree:PATH`: nested folders of the user's.
    TreeFolder(PathBuf),
    /// `sqlite+dir`: the files' names in a database, the files in a folder, both made for this run.
    SqliteDir,
}

impl EngineSource {
    #[must_use]
    pub fn kind(&self) -> EngineKind {
        match self {
            Self::Sqlite | Self::SqliteFile(_) => EngineKind::Sqlite,
            Self::Postgres(_) | Self::PostgresFolder(_) | Self::PostgresUrl(_) => {
                EngineKind::Postgres
            }
            Self::Mariadb | Self::MariadbRelease(_) | Self::MariadbFolder(_) => EngineKind::Mariadb,
            Self::MysqlUrl(_) => EngineKind::Mysql,
            Self::HttpUrl(_) => EngineKind::Http,
            Self::Dir | Self::DirFolder(_) => EngineKind::Dir,
            Self::Tree | Self::TreeFolder(_) => EngineKind::Tree,
            Self::SqliteDir => EngineKind::SqliteDir,
        }
    }

    /// Whether it is the user's own: its data are not copied, and what is written there stays.
    #[must_use]
    pub fn is_yours(&self) -> bool {
        match self {
            Self::SqliteFile(_)
            | Self::PostgresUrl(_)
            | Self::MysqlUrl(_)
            | Self::HttpUrl(_)
            | Self::DirFolder(_)
            | Self::TreeFolder(_) => true,
            Self::Sqlite
            | Self::Postgres(_)
            | Self::PostgresFolder(_)
            | Self::Mariadb
            | Self::MariadbRelease(_)
            | Self::MariadbFolder(_)
            | Self::Dir
            | Self::Tree
            | Self::SqliteDir => false,
        }
    }

    /// Whether `key` is Crossover's setting rather than the engine's. `fsync`, `read` and `write`
    /// are so only where Crossover reads and writes files; PostgreSQL has its own `fsync`.
    fn owns(&self, key: &str) -> bool {
        match key {
            "label" | "access" | "design" => true,
            "library" | "build" | "begin" => self.kind().properties().takes_library,
            "fsync" | "read" | "write" => self.kind().properties().has_files,
            "analyze" | "transaction" => self.kind().properties().is_hosted,
            // Of any kind, so that engines without pools refuse it in words.
            "pool" => true,
            _ => false,
        }
    }

    fn parse(text: &str) -> Result<Self, Error> {
        let is_scheme = |scheme: &str| scheme.chars().all(|c| c.is_ascii_alphanumeric());
        if let Some((scheme, rest)) = text.split_once("://").filter(|(s, _)| is_scheme(s)) {
            return match scheme {
                "sqlite" if !rest.is_empty() => Ok(Self::SqliteFile(rest.into())),
                "postgresql" | "postgres" => text.parse().map(Self::PostgresUrl),
                "mysql" | "mariadb" if !rest.is_empty() => Ok(Self::MysqlUrl(text.to_owned())),
                "http" | "https" if !rest.is_empty() => Ok(Self::HttpUrl(text.to_owned())),
                _ => Err(Error::UnsupportedUrl { text: mask_password(text) }),
            };
        }
        let (name, rest) = match text.split_once(':') {
            Some((name, rest)) => (name, Some(rest)),
            None => (text, None),
        };
        let bad =
            |problem: &str| Error::BadEngine { text: text.to_owned(), problem: problem.to_owned() };
        if rest == Some("") {
            return Err(bad("nothing follows the colon"));
        }
        let unknown = || {
            let known = EngineKind::ALL.iter().copied();
            let known = known.filter(|kind| !kind.properties().is_named_by_url);
            let suggestion = nearest(name, known.map(EngineKind::name));
            Error::UnknownEngine { name: name.to_owned(), suggestion }
        };
        match (EngineKind::of_name(name).ok_or_else(unknown)?, rest) {
            (EngineKind::Sqlite, None) => Ok(Self::Sqlite),
            (EngineKind::Sqlite, Some(path)) => Ok(Self::SqliteFile(path.into())),
            (EngineKind::Postgres, None | Some("newest")) => {
                Ok(Self::Postgres(VersionRequest::newest()))
            }
            (EngineKind::Postgres, Some(version)) if VersionRequest::looks_like_one(version) => {
                version.parse().map(Self::Postgres)
            }
            (EngineKind::Postgres, Some(path)) => Ok(Self::PostgresFolder(path.into())),
            (EngineKind::Mariadb, None) => Ok(Self::Mariadb),
            (EngineKind::Mariadb, Some(version)) if VersionRequest::looks_like_one(version) => {
                version.parse().map(Self::MariadbRelease)
            }
            (EngineKind::Mariadb, Some(path)) => Ok(Self::MariadbFolder(path.into())),
            (EngineKind::Dir, None) => Ok(Self::Dir),
            (EngineKind::Dir, Some(path)) => Ok(Self::DirFolder(path.into())),
            (EngineKind::Tree, None) => Ok(Self::Tree),
            (EngineKind::Tree, Some(path)) => Ok(Self::TreeFolder(path.into())),
            (EngineKind::SqliteDir, None) => Ok(Self::SqliteDir),
            (EngineKind::SqliteDir, Some(_)) => Err(bad("is made for the run and takes no path")),
            (EngineKind::Mysql | EngineKind::Http, _) => Err(unknown()),
        }
    }

    fn write(&self, formatter: &mut fmt::Formatter<'_>, exposed: bool) -> fmt::Result {
        match self {
            Self::Sqlite => formatter.write_str("sqlite"),
            Self::SqliteFile(path) => write!(formatter, "sqlite:{}", path_text(path)),
            Self::Postgres(version) if version.is_newest() => formatter.write_str("postgres"),
            Self::Postgres(version) => write!(formatter, "postgres:{version}"),
            Self::PostgresFolder(path) => write!(formatter, "postgres:{}", path_text(path)),
            Self::PostgresUrl(url) if exposed => formatter.write_str(&url.expose()),
            Self::PostgresUrl(url) => write!(formatter, "{url}"),
            Self::Mariadb => formatter.write_str("mariadb"),
            Self::MariadbRelease(version) => write!(formatter, "mariadb:{version}"),
            Self::MariadbFolder(path) => write!(formatter, "mariadb:{}", path_text(path)),
            Self::MysqlUrl(url) | Self::HttpUrl(url) if exposed => formatter.write_str(url),
            Self::MysqlUrl(url) | Self::HttpUrl(url) => formatter.write_str(&mask_password(url)),
            Self::Dir => formatter.write_str("dir"),
            Self::DirFolder(path) => write!(formatter, "dir:{}", path_text(path)),
            Self::Tree => formatter.write_str("tree"),
            Self::TreeFolder(path) => write!(formatter, "tree:{}", path_text(path)),
            Self::SqliteDir => formatter.write_str("sqlite+dir"),
        }
    }
}

/// Refuses `postgres:18[work_mem=1MB`, which would otherwise be a folder of a strange name.
fn check_closed(text: &str) -> Result<(), Error> {
    let Some((before, _)) = text.split_once('[') else { return Ok(()) };
    let is_path = |source: &EngineSource| {
        matches!(source, EngineSource::PostgresFolder(_) | EngineSource::MariadbFolder(_))
    };
    match EngineSource::parse(before) {
        Ok(source) if !source.is_yours() && !is_path(&source) => Err(Error::BadSettings {
            text: text.to_owned(),
            problem: "the bracket is not closed".to_owned(),
        }),
        _ => Ok(()),
    }
}

/// The path with one leading slash instead of several, which would read as a URL.
fn path_text(path: &Path) -> String {
    let text = path.display().to_string();
    if text.starts_with("//") { format!("/{}", text.trim_start_matches('/')) } else { text }
}

impl EngineSpec {
    /// The name in tables and charts: the `label`, by default the canonical text.
    #[must_use]
    pub fn label(&self) -> String {
        self.own("label").map_or_else(|| self.to_string(), str::to_owned)
    }

    /// The value of one of Crossover's keys: `label`, `access`, `design`, `analyze` for SQLite and
    /// PostgreSQL (`off`: no statistics for the planner), `transaction` for them (`each`: every
    /// blob in its own), `pool` before PostgreSQL, `read`, `write` and `fsync` for `dir`, `tree`,
    /// `sqlite+dir`, `library` for SQLite (a shared library by its path), `build` (flags by which the
    /// bundled source is compiled) and `begin` (how its transactions of several statements begin).
    #[must_use]
    pub fn own(&self, key: &str) -> Option<&str> {
        self.source.owns(key).then(|| self.settings.get(key)).flatten()
    }

    /// The settings that are the engine's.
    pub fn engine_settings(&self) -> impl Iterator<Item = (&str, &str)> {
        self.settings.iter().filter(|(key, _)| !self.source.owns(key))
    }

    /// The same engine with `map` applied to the text before the bracket and to each value in it.
    pub fn map_texts(&self, map: impl Fn(&str) -> Result<String, String>) -> Result<Self, String> {
        let text = map(&SourceWritten(&self.source, true).to_string())?;
        let source = EngineSource::parse(&text).map_err(|error| error.to_string())?;
        let mut settings = Settings::default();
        for (key, value) in self.settings.iter() {
            settings.set(key, &map(value)?)?;
        }
        Ok(Self { source, settings })
    }

    /// The canonical text with a URL's password.
    #[must_use]
    pub fn expose(&self) -> String {
        WrittenSpec { spec: self, exposed: true }.to_string()
    }
}

impl FromStr for EngineSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let Some(inner) = text.strip_suffix(']') else {
            check_closed(text)?;
            return Ok(Self { source: EngineSource::parse(text)?, settings: Settings::default() });
        };
        // The rightmost bracket after which a whole list can be read opens the settings: one
        // inside a quoted value never qualifies, since it leaves an odd number of quotes.
        let mut first_problem = None;
        for (position, _) in inner.rmatch_indices('[') {
            match Settings::parse(&inner[position + 1..]) {
                Ok(settings) => {
                    check_closed(&text[..position])?;
                    let source = EngineSource::parse(&text[..position])?;
                    return Ok(Self { source, settings });
                }
                Err(problem) => first_problem = first_problem.or(Some(problem)),
            }
        }
        Err(Error::BadSettings {
            text: mask_password(text),
            problem: first_problem.unwrap_or_else(|| "there is no `[`".to_owned()),
        })
    }
}

struct SourceWritten<'a>(&'a EngineSource, bool);

impl fmt::Display for SourceWritten<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(formatter, self.1)
    }
}

struct WrittenSpec<'a> {
    spec: &'a EngineSpec,
    exposed: bool,
}

impl fmt::Display for WrittenSpec<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = SourceWritten(&self.spec.source, self.exposed).to_string();
        formatter.write_str(&source)?;
        // A path may end in a bracket itself; an empty list keeps it a path.
        if self.spec.settings.is_empty() && !source.ends_with(']') {
            return Ok(());
        }
        write!(formatter, "[{}]", self.spec.settings)
    }
}

impl fmt::Display for EngineSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        WrittenSpec { spec: self, exposed: false }.fmt(formatter)
    }
}

impl Serialize for EngineSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EngineSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::from_text(deserializer)
    }
}
