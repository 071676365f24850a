//! Connecting to MariaDB or MySQL by URL: `mariadb://user:password@host:port/database`, or
//! `?socket=PATH` for a Unix socket. Without TLS: a server on another machine is reached through a
//! tunnel of the user's.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use mysql::consts::CapabilityFlags;
use mysql::prelude::Queryable as _;
use mysql::{Conn, Opts, OptsBuilder};

use engine::mask_password;

use crate::Error;

/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Connects. An answer that takes longer than `timeout` ends the connection. What the URL leaves
/// out is the client library's default: 127.0.0.1, 3306; the password may be in `MYSQL_PWD`.
pub fn connect(url: &str, timeout: Duration) -> Result<Conn, Error> {
    let options = options(url)?;
    let password = options.get_pass().filter(|password| *password != "***").map(str::to_owned);
    let password = password.or_else(|| std::env::var("MYSQL_PWD").ok());
    let builder = OptsBuilder::from_opts(options)
        .pass(password)
        // An UPDATE counts the rows that it finds, as other engines do, not those it alters.
        .additional_capabilities(CapabilityFlags::CLIENT_FOUND_ROWS)
        .tcp_connect_timeout(Some(CONNECT_TIMEOUT))
        .read_timeout(Some(timeout))
        .write_timeout(Some(timeout));
    Conn::new(builder).map_err(|error| Error::CannotConnectMysql {
        server: mask_password(url),
        problem: explain(&error),
    })
}

/// Refuses a URL that cannot be read, before anybody connects by it.
pub fn check_url(url: &str) -> Result<(), Error> {
    options(url).map(drop)
}

/// The listening place of a server.
pub struct MysqlPlace {
    pub socket: Option<PathBuf>,
    pub host: String,
    pub port: u16,
}

/// Where the server of `url` listens.
pub fn place(url: &str) -> Result<MysqlPlace, Error> {
    let options = options(url)?;
    Ok(MysqlPlace {
        socket: options.get_socket().map(PathBuf::from),
        host: options.get_ip_or_hostname().into_owned(),
        port: options.get_tcp_port(),
    })
}

/// The same database by a relay at `address`, and by nothing else.
pub fn relayed(url: &str, address: SocketAddr) -> Result<String, Error> {
    let (scheme, rest) = url.split_once("://").unwrap_or(("mariadb", url));
    options(url)?;
    let (before, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (user, place) = match before.rsplit_once('@') {
        Some((user, place)) => (format!("{user}@"), place),
        None => (String::new(), before),
    };
    let database = place.split_once('/').map_or("", |(_, database)| database);
    let leads_away =
        |pair: &&str| !pair.starts_with("socket=") && !pair.starts_with("prefer_socket=");
    let kept = query.split('&').filter(|pair| !pair.is_empty()).filter(leads_away);
    let parameters: Vec<&str> = kept.chain(["prefer_socket=false"]).collect();
    Ok(format!("{scheme}://{user}{address}/{database}?{}", parameters.join("&")))
}

/// The URL as it may be shown.
#[must_use]
pub fn without_password(url: &str) -> String {
    mask_password(url)
}

fn options(url: &str) -> Result<Opts, Error> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    Opts::from_url(&format!("mysql://{rest}")).map_err(|error| {
        let (url, problem) = (mask_password(url), error.to_string());
        engine::Error::BadMysqlUrl { url, problem }.into()
    })
}

/// `MariaDB 10.11.6` or `MySQL 8.0.36`, as the server says.
pub fn version(connection: &mut Conn) -> Result<String, Error> {
    let text: Option<String> = connection.query_first("SELECT version()")?;
    let text = text.unwrap_or_default();
    let name = if text.contains("MariaDB") { "MariaDB" } else { "MySQL" };
    Ok(format!("{name} {}", text.split('-').next().unwrap_or_default()))
}

/// Sets variables of the session and reads them back.
pub fn session_settings<'s>(
    connection: &mut Conn,
    settings: impl Iterator<Item = (&'s str, &'s str)>,
) -> Result<Vec<(String, String)>, Error> {
    let mut read_back = Vec::new();
    for (name, value) in settings {
        let name = name.replace('`', "``");
        match value.parse::<f64>() {
            Ok(_) => connection.query_drop(format!("SET SESSION `{name}` = {value}"))?,
            Err(_) => connection.exec_drop(format!("SET SESSION `{name}` = ?"), (value,))?,
        }
        let actual: Option<Option<String>> =
            connection.query_first(format!("SELECT CAST(@@SESSION.`{name}` AS CHAR)"))?;
        read_back.push((name, actual.flatten().unwrap_or_default()));
    }
    Ok(read_back)
}

/// The variables that InnoDB's results depend on most, and those that decide on durability.
pub const SHOWN_VARIABLES: [&str; 7] = [
    "innodb_buffer_pool_size",
    "innodb_log_file_size",
    "innodb_flush_log_at_trx_commit",
    "innodb_doublewrite",
    "innodb_flush_method",
    "tx_isolation",
    "max_connections",
];

/// Variables as the session has them; those that this server does not know are left out.
pub fn variables<'n>(
    connection: &mut Conn,
    names: impl Iterator<Item = &'n str>,
) -> Result<Vec<(String, String)>, Error> {
    let all: Vec<(String, String)> = connection.query("SHOW VARIABLES")?;
    let mut found: Vec<(String, String)> = Vec::new();
    for name in names {
        let known = all.iter().find(|(known, _)| known == name);
        if let Some(variable) = known.filter(|variable| !found.contains(variable)) {
            found.push(variable.clone());
        }
    }
    Ok(found)
}

/// One line, with the way out where it is known.
fn explain(error: &mysql::Error) -> String {
    match error {
        mysql::Error::MySqlError(refused) if refused.code == 1045 => {
            format!("{}; check the user and password (URL or MYSQL_PWD)", refused.message)
        }
        mysql::Error::MySqlError(refused) if refused.code == 1040 => {
            format!("{}; raise max_connections or ask for fewer clients", refused.message)
        }
        mysql::Error::MySqlError(refused) => refused.message.clone(),
        mysql::Error::DriverError(_) => {
            format!("{error}; is the server running, and on this host and port or socket?")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_both_names_are_read_and_errors_hide_the_password() {
        for url in
            ["mysql://me:pw@host:3307/shop", "mariadb://me@localhost/shop?socket=/run/m.sock"]
        {
            check_url(url).unwrap();
        }
        let mistake = check_url("mysql://me:secret@host/shop?tls=on").unwrap_err().to_string();
        assert!(mistake.contains("tls") && !mistake.contains("secret"), "{mistake}");
        let mistake = check_url("mysql://me:secret@host:no/shop").unwrap_err().to_string();
        assert!(!mistake.contains("secret"), "{mistake}");
    }

    #[test]
    fn a_relay_is_reached_by_tcp_alone_whatever_the_url_said() {
        let relay = "127.0.0.1:4000".parse().unwrap();
        for url in [
            "mariadb://me:pw@localhost/shop?socket=/run/m.sock&pool_min=1",
            "mariadb://me:pw@db.example:3307/shop?prefer_socket=true&pool_min=1",
        ] {
            let relayed = relayed(url, relay).unwrap();
            let expected = "mariadb://me:pw@127.0.0.1:4000/shop?pool_min=1&prefer_socket=false";
            assert_eq!(relayed, expected);
        }
        let place = place("mariadb://me@localhost/shop?socket=/run/m.sock").unwrap();
        assert_eq!(place.socket, Some(PathBuf::from("/run/m.sock")));
        let place = super::place("mysql://me@db.example:3307/shop").unwrap();
        assert_eq!((place.socket, place.host.as_str(), place.port), (None, "db.example", 3307));
    }

    #[test]
    fn a_server_that_is_not_there_is_named_with_the_way_out() {
        let url = "mysql://me:secret@127.0.0.1:9/shop";
        let refusal = connect(url, Duration::from_secs(1)).unwrap_err().to_string();
        assert!(
            refusal.starts_with("cannot connect to mysql://me:***@127.0.0.1:9/shop"),
            "{refusal}"
        );
        assert!(refusal.contains("is the server running"), "{refusal}");
    }
}
