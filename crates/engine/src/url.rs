//! Database URLs: `sqlite://relative.db`, `sqlite:///absolute.db`, `postgresql://...`.
//! Printed without the password, since addresses end up in messages, reports and records.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::Error;

/// What stands for a password that is not shown. Read back, it means "none given".
const HIDDEN: &str = "***";

const USERINFO: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const QUERY: &AsciiSet = &USERINFO.remove(b'/').remove(b':').remove(b',').remove(b'*');

/// A database by its URL.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DatabaseUrl {
    /// A SQLite file, relative to the working directory or absolute.
    Sqlite(PathBuf),
    /// A PostgreSQL database.
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

/// One host, or the directory of a Unix socket if it begins with `/`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Host {
    pub(crate) name: String,
    pub(crate) port: Option<u16>,
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
            Some(("sqlite", path)) if !path.is_empty() => Ok(Self::Sqlite(path.into())),
            Some(("postgresql" | "postgres", _)) => text.parse().map(Self::Postgres),
            _ => Err(Error::UnsupportedUrl { text: mask_password(text) }),
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

    /// The same database as another role, without a password.
    #[must_use]
    pub fn with_user(&self, user: &str) -> Self {
        Self { user: Some(user.to_owned()), password: None, ..self.clone() }
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

    /// The first host's port.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        self.hosts.first().and_then(|host| host.port)
    }

    /// The database named in the URL.
    #[must_use]
    pub fn database(&self) -> Option<&str> {
        self.database.as_deref()
    }

    pub(crate) fn parameter(&self, key: &str) -> Option<&str> {
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

fn join(hosts: &[Host], part: impl Fn(&Host) -> String) -> String {
    hosts.iter().map(part).collect::<Vec<_>>().join(",")
}

fn bad(problem: impl Into<String>) -> Error {
    Error::BadPostgresUrl { problem: problem.into() }
}

fn decode(text: &str) -> Result<String, Error> {
    percent_decode_str(text)
        .decode_utf8()
        .map(std::borrow::Cow::into_owned)
        .map_err(|_| bad("a part of the URL is not UTF-8 after percent-decoding"))
}

pub(crate) fn parse_port(text: &str) -> Result<u16, Error> {
    match text.parse() {
        Ok(port) if port != 0 => Ok(port),
        _ => Err(bad(format!("port `{text}` is not a number from 1 to 65535"))),
    }
}

/// `host`, `host:port`, `[::1]:port`, `%2Fdirectory`.
fn parse_host(text: &str) -> Result<Host, Error> {
    let (name, port) = if let Some(rest) = text.strip_prefix('[') {
        let (address, after) = rest
            .split_once(']')
            .ok_or_else(|| bad(format!("host `{text}` has `[` without `]`")))?;
        let port = match after.strip_prefix(':') {
            None if !after.is_empty() => return Err(bad(format!("host `{text}`"))),
            port => port,
        };
        (address.to_owned(), port)
    } else {
        match text.split_once(':') {
            Some((name, port)) => (decode(name)?, Some(port)),
            None => (decode(text)?, None),
        }
    };
    let port = port.filter(|port| !port.is_empty()).map(parse_port).transpose()?;
    Ok(Host { name, port })
}

/// Hosts from libpq's lists: `a,b` and `5432,5433`, or one port for all.
pub(crate) fn parse_host_lists(names: &str, ports: Option<&str>) -> Result<Vec<Host>, Error> {
    let ports = ports
        .map_or_else(Vec::new, |ports| ports.split(',').collect())
        .into_iter()
        .map(|port| if port.is_empty() { Ok(None) } else { parse_port(port).map(Some) })
        .collect::<Result<Vec<_>, Error>>()?;
    let names: Vec<&str> = names.split(',').collect();
    if ports.len() > 1 && ports.len() != names.len() {
        return Err(bad(format!("{} hosts, but {} ports", names.len(), ports.len())));
    }
    let port = |index: usize| if ports.len() == 1 { ports[0] } else { *ports.get(index)? };
    Ok(names
        .iter()
        .enumerate()
        .map(|(index, name)| Host { name: (*name).to_owned(), port: port(index) })
        .collect())
}

impl FromStr for PostgresUrl {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let rest = match text.split_once("://") {
            Some(("postgresql" | "postgres", rest)) => rest,
            _ => return Err(Error::UnsupportedUrl { text: mask_password(text) }),
        };
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (userinfo, hosts) = match authority.rsplit_once('@') {
            Some((userinfo, hosts)) => (Some(userinfo), hosts),
            None => (None, authority),
        };
        let mut url = Self::default();
        if let Some(userinfo) = userinfo {
            let (user, password) = match userinfo.split_once(':') {
                Some((user, password)) => (user, Some(password)),
                None => (userinfo, None),
            };
            url.user = Some(decode(user)?).filter(|user| !user.is_empty());
            url.password = password.filter(|hidden| *hidden != HIDDEN).map(decode).transpose()?;
        }
        if !hosts.is_empty() {
            url.hosts = hosts.split(',').map(parse_host).collect::<Result<_, _>>()?;
        }
        url.database = Some(decode(database)?).filter(|database| !database.is_empty());
        url.take_query(query)?;
        // Names and values of the remaining parameters are the client library's to judge.
        crate::postgres::parameters_config(&url)?;
        Ok(url)
    }
}

impl PostgresUrl {
    fn take_query(&mut self, query: &str) -> Result<(), Error> {
        let (mut names, mut ports) = (None, None);
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) =
                pair.split_once('=').ok_or_else(|| bad("a parameter after `?` has no `=`"))?;
            let hidden = value == HIDDEN;
            let (key, value) = (decode(key)?, decode(value)?);
            match key.as_str() {
                "user" => self.user = Some(value),
                "password" if hidden => self.password = None,
                "password" => self.password = Some(value),
                "dbname" => self.database = Some(value),
                "host" => names = Some(value),
                "port" => ports = Some(value),
                _ => self.parameters.push((key, value)),
            }
        }
        match (names, ports) {
            (Some(names), ports) => self.hosts = parse_host_lists(&names, ports.as_deref())?,
            (None, Some(port)) => {
                let port = parse_port(&port)?;
                self.hosts.iter_mut().for_each(|host| host.port = Some(port));
                if self.hosts.is_empty() {
                    // Only a port: the host is the environment's or the default.
                    self.parameters.push(("port".to_owned(), port.to_string()));
                }
            }
            (None, None) => {}
        }
        Ok(())
    }
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
pub(crate) fn mask_password(text: &str) -> String {
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
