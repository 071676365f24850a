//! Database URLs: `sqlite://relative.db`, `sqlite:///absolute.db`, `postgresql://...`.
//! Printed without the password, since addresses end up in messages, reports and records.

mod host;
mod parameters;
mod read;

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use host::join;
pub use host::{Host, parse_host_lists, parse_port};
pub use parameters::check_parameter;

use crate::Error;

/// Stands for a password that is not shown. Read back, it means "none given".
const HIDDEN: &str = "***";

const USERINFO: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const QUERY: &AsciiSet = &USERINFO.remove(b'/').remove(b':').remove(b',').remove(b'*');

/// A database by its URL.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DatabaseUrl {
    /// A SQLite file, relative to the working directory or absolute.
    Sqlite(PathBuf),
    Postgres(PostgresUrl),
}

/// The address of a PostgreSQL database. Parts that are absent are filled in by libpq's `PG*`
/// variables when connecting.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PostgresUrl {
    pub(crate) user: Option<String>,
    pub(crate) password: Option<String>,
    pub(crate) hosts: Vec<Host>,
    pub(crate) database: Option<String>,
    pub(crate) parameters: Vec<(String, String)>,
}

impl DatabaseUrl {
    /// The URL with its password.
    #[must_use]
    pub fn expose(&self) -> String {
        match self {
            Self::Sqlite(path) => format!("sqlite://{}", path.display()),
            Self::Postgres(url) => url.expose(),
        }
    }
}

impl FromStr for DatabaseUrl {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.split_once("://") {
            Some(("postgresql" | "postgres", _)) => text.parse().map(Self::Postgres),
            _ => match sqlite_path(Path::new(text)) {
                path if path != Path::new(text) => Ok(Self::Sqlite(path)),
                _ => Err(Error::UnsupportedUrl { text: mask_password(text) }),
            },
        }
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(formatter, "sqlite://{}", path.display()),
            Self::Postgres(url) => url.fmt(formatter),
        }
    }
}

impl PostgresUrl {
    /// The address of a server by its Unix socket's directory, and port if not 5432.
    #[must_use]
    pub fn unix_socket(directory: &str, port: Option<u16>, user: &str, database: &str) -> Self {
        Self {
            user: Some(user.to_owned()),
            hosts: vec![Host { name: directory.to_owned(), port }],
            database: Some(database.to_owned()),
            ..Self::default()
        }
    }

    /// The address of a server on TCP.
    #[must_use]
    pub fn tcp(host: &str, port: u16, user: &str, password: &str, database: &str) -> Self {
        Self {
            user: Some(user.to_owned()),
            password: Some(password.to_owned()),
            hosts: vec![Host { name: host.to_owned(), port: Some(port) }],
            database: Some(database.to_owned()),
            parameters: Vec::new(),
        }
    }

    /// The same server, another database.
    #[must_use]
    pub fn with_database(&self, database: &str) -> Self {
        Self { database: Some(database.to_owned()), ..self.clone() }
    }

    /// The same database with settings of the session, sent by libpq's parameter `options`.
    #[must_use]
    pub fn with_session_settings<'a>(
        &self,
        settings: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let escape = |value: &str| value.replace('\\', r"\\").replace(' ', r"\ ");
        let mut url = self.clone();
        for (key, value) in settings {
            let option = format!("-c {key}={}", escape(value));
            match url.parameters.iter_mut().find(|(name, _)| name == "options") {
                Some((_, options)) => options.push_str(&format!(" {option}")),
                None => url.parameters.push(("options".to_owned(), option)),
            }
        }
        url
    }

    /// The same database by a relay at `address`. The name of its host stays that of the server; there
    /// is none behind a Unix socket.
    #[must_use]
    pub fn relayed(&self, address: SocketAddr, host: Option<&str>, password: Option<&str>) -> Self {
        let ip = address.ip().to_string();
        let name = host.unwrap_or(&ip).to_owned();
        let mut parameters = self.parameters.clone();
        parameters.retain(|(key, _)| !["host", "hostaddr", "port"].contains(&key.as_str()));
        if name != ip {
            parameters.push(("hostaddr".to_owned(), ip));
        }
        Self {
            hosts: vec![Host { name, port: Some(address.port()) }],
            password: self.password.clone().or_else(|| password.map(str::to_owned)),
            parameters,
            ..self.clone()
        }
    }

    /// The same database without TLS, whatever the environment asks for.
    #[must_use]
    pub fn without_tls(mut self) -> Self {
        self.parameters.retain(|(key, _)| key != "sslmode");
        self.with_parameter("sslmode", "disable".to_owned())
    }

    /// The same database as another role of the same password, if one is given.
    #[must_use]
    pub fn with_user(&self, user: &str) -> Self {
        Self { user: Some(user.to_owned()), ..self.clone() }
    }

    /// libpq's keywords with their values, the password too; several hosts as libpq lists them.
    #[must_use]
    pub fn keywords(&self) -> Vec<(String, String)> {
        let port = |host: &Host| host.port.map_or(String::new(), |port| port.to_string());
        let has_port = self.hosts.iter().any(|host| host.port.is_some());
        let hosts = (!self.hosts.is_empty()).then(|| join(&self.hosts, |host| host.name.clone()));
        let parts = [
            ("host", hosts),
            ("port", has_port.then(|| join(&self.hosts, port))),
            ("user", self.user.clone()),
            ("password", self.password.clone()),
            ("dbname", self.database.clone()),
        ];
        let parts = parts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        parts.chain(self.parameters.iter().cloned()).collect()
    }

    /// The user named in the URL.
    #[must_use]
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// The password given in the URL.
    #[must_use]
    pub fn password(&self) -> Option<&str> {
        self.password.as_deref()
    }

    /// The first host, or the directory of a Unix socket if it begins with `/`.
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        self.hosts.first().map(|host| host.name.as_str())
    }

    #[must_use]
    pub fn port(&self) -> Option<u16> {
        self.hosts.first().and_then(|host| host.port)
    }

    /// The database named in the URL.
    #[must_use]
    pub fn database(&self) -> Option<&str> {
        self.database.as_deref()
    }

    /// A URL with nothing but the parameters whose names `wanted` takes.
    #[must_use]
    pub fn parameters_alone(&self, wanted: impl Fn(&str) -> bool) -> Self {
        let parameters = self.parameters.iter().filter(|(key, _)| wanted(key)).cloned();
        Self { parameters: parameters.collect(), ..Self::default() }
    }

    /// The same database with a parameter more.
    #[must_use]
    pub fn with_parameter(mut self, key: &str, value: String) -> Self {
        self.parameters.push((key.to_owned(), value));
        self
    }

    /// All hosts, in the order in which they are tried.
    #[must_use]
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// The value of a parameter after `?`.
    #[must_use]
    pub fn parameter(&self, key: &str) -> Option<&str> {
        self.parameters.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// The URL with its password, for programs that connect by it.
    #[must_use]
    pub fn expose(&self) -> String {
        self.text(self.password.as_deref())
    }

    fn text(&self, password: Option<&str>) -> String {
        let encode = |text: &str| utf8_percent_encode(text, USERINFO).to_string();
        let mut text = String::from("postgresql://");
        if self.user.is_some() || password.is_some() {
            text.push_str(&encode(self.user.as_deref().unwrap_or_default()));
            match password {
                Some(HIDDEN) => text.push_str(":***"),
                Some(password) => text.push_str(&format!(":{}", encode(password))),
                None => {}
            }
            text.push('@');
        }
        // A directory in place of a host would have to be percent-encoded there; as a parameter
        // it stays readable and every client library takes it.
        let by_directory = self.hosts.iter().any(|host| host.name.starts_with('/'));
        let mut parameters = self.parameters.clone();
        if by_directory {
            parameters.insert(0, ("host".to_owned(), join(&self.hosts, |host| host.name.clone())));
            if self.hosts.iter().any(|host| host.port.is_some()) {
                let port = |host: &Host| host.port.map_or(String::new(), |port| port.to_string());
                parameters.insert(1, ("port".to_owned(), join(&self.hosts, port)));
            }
        } else {
            text.push_str(&join(&self.hosts, |host| {
                let name = if host.name.contains(':') {
                    format!("[{}]", host.name)
                } else {
                    encode(&host.name)
                };
                host.port.map_or(name.clone(), |port| format!("{name}:{port}"))
            }));
        }
        if self.database.is_some() || !parameters.is_empty() {
            text.push('/');
            text.push_str(&encode(self.database.as_deref().unwrap_or_default()));
        }
        for (index, (key, value)) in parameters.iter().enumerate() {
            text.push(if index == 0 { '?' } else { '&' });
            text.push_str(&format!("{}={}", encode(key), utf8_percent_encode(value, QUERY)));
        }
        text
    }
}

/// The file that `sqlite:PATH` or `sqlite://PATH` names; any other path is itself.
#[must_use]
pub fn sqlite_path(path: &Path) -> PathBuf {
    let text = path.to_str().unwrap_or_default();
    let named = text.strip_prefix("sqlite://").or_else(|| text.strip_prefix("sqlite:"));
    named.filter(|path| !path.is_empty()).map_or_else(|| path.to_owned(), PathBuf::from)
}

impl fmt::Display for PostgresUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text(self.password.as_ref().map(|_| HIDDEN)))
    }
}

impl fmt::Debug for PostgresUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PostgresUrl({self})")
    }
}

/// `text` with the password of a URL in it replaced, whatever the URL is otherwise.
#[must_use]
pub fn mask_password(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let (before_query, query) = match rest.split_once('?') {
        Some((before, query)) => (before, Some(query)),
        None => (rest, None),
    };
    // The last `@` before the query: an unescaped password may hold `/` and `@`.
    let address = match before_query.rsplit_once('@') {
        Some((userinfo, host)) => match userinfo.split_once(':') {
            Some((user, _)) => format!("{user}:{HIDDEN}@{host}"),
            None => before_query.to_owned(),
        },
        None => before_query.to_owned(),
    };
    let Some(query) = query else { return format!("{scheme}://{address}") };
    let shown: Vec<String> = query
        .split('&')
        .map(|pair| match pair.split_once('=') {
            Some((key, _)) if key.eq_ignore_ascii_case("password") => format!("{key}={HIDDEN}"),
            _ => pair.to_owned(),
        })
        .collect();
    format!("{scheme}://{address}?{}", shown.join("&"))
}
