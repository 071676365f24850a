//! The hosts of a PostgreSQL URL, and the small parts that URLs are read from.

use percent_encoding::percent_decode_str;

use crate::Error;

/// One host, or the directory of a Unix socket if it begins with `/`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Host {
    pub name: String,
    pub port: Option<u16>,
}

pub(super) fn join(hosts: &[Host], part: impl Fn(&Host) -> String) -> String {
    hosts.iter().map(part).collect::<Vec<_>>().join(",")
}

pub(super) fn bad(problem: impl Into<String>) -> Error {
    Error::BadPostgresUrl { problem: problem.into() }
}

pub(super) fn decode(text: &str) -> Result<String, Error> {
    percent_decode_str(text)
        .decode_utf8()
        .map(std::borrow::Cow::into_owned)
        .map_err(|_| bad("a part of the URL is not UTF-8 after percent-decoding"))
}

/// Reads a port.
pub fn parse_port(text: &str) -> Result<u16, Error> {
    match text.parse() {
        Ok(port) if port != 0 => Ok(port),
        _ => Err(bad(format!("port `{text}` is not a number from 1 to 65535"))),
    }
}

/// `host`, `host:port`, `[::1]:port`, `%2Fdirectory`.
pub(super) fn parse_host(text: &str) -> Result<Host, Error> {
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
    check_host(&name)?;
    Ok(Host { name, port })
}

/// A name, an address, or the folder of a socket; nothing that another reader of the URL would
/// take for another part of it.
fn check_host(name: &str) -> Result<(), Error> {
    let is_folder = name.starts_with('/') && !name.contains(',');
    let is_name = !name.contains(|c: char| ",/?#[]@:".contains(c) || c.is_whitespace());
    let address = name.split('%').next().unwrap_or_default();
    if is_folder || is_name || address.parse::<std::net::Ipv6Addr>().is_ok() {
        return Ok(());
    }
    Err(bad(format!("host `{name}` is neither a name, an address nor a folder")))
}

/// Hosts from libpq's lists: `a,b` and `5432,5433`, or one port for all.
pub fn parse_host_lists(names: &str, ports: Option<&str>) -> Result<Vec<Host>, Error> {
    let ports = ports
        .map_or_else(Vec::new, |ports| ports.split(',').collect())
        .into_iter()
        .map(|port| if port.is_empty() { Ok(None) } else { parse_port(port).map(Some) })
        .collect::<Result<Vec<_>, Error>>()?;
    let names: Vec<&str> = names.split(',').collect();
    if ports.len() > 1 && ports.len() != names.len() {
        return Err(bad(format!("{} hosts, but {} ports", names.len(), ports.len())));
    }
    names.iter().try_for_each(|name| check_host(name))?;
    let port = |index: usize| if ports.len() == 1 { ports[0] } else { *ports.get(index)? };
    Ok(names
        .iter()
        .enumerate()
        .map(|(index, name)| Host { name: (*name).to_owned(), port: port(index) })
        .collect())
}
