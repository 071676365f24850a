//! Connecting to PostgreSQL as libpq does: `PG*` variables, the password file, TLS by `sslmode`,
//! Unix sockets; and every refusal as one line with the way out.

mod configuration;
mod parameters;
mod password_file;
mod session;
pub mod thin;
mod tls;

use std::io;
use std::net::SocketAddr;
use std::path::Path;

use engine::PostgresUrl;
use tokio_postgres::config::Host;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config};

pub use configuration::config;
pub use session::{apply_session_settings, quote_identifier, settings_readback};
pub use tls::tls;

use crate::Error;
use crate::error::postgres_message;

/// Connects and drives the connection in a task of its own, which ends with the client. Each address
/// of each host has `connect_timeout` to answer; the client library would limit the socket alone.
pub async fn connect(url: &PostgresUrl) -> Result<Client, Error> {
    let mut failure: Option<Error> = None;
    for host in configuration::by_host(url)? {
        for address in addresses(&host).await {
            match within_limit(&address, address.connect(tls(url)?)).await {
                Ok(Ok((client, connection))) => {
                    // An error of the connection reaches the caller through the client's next call.
                    tokio::spawn(connection);
                    return Ok(client);
                }
                // What a server says is worth more than that nothing listens at another address.
                Ok(Err(error)) if error.code().is_some() || failure.is_none() => {
                    failure = Some(explain(&address, &error));
                }
                Ok(Err(_)) => {}
                Err(silence) => failure = Some(silence),
            }
        }
    }
    Err(failure.unwrap_or_else(|| bad_url("no host".to_owned())))
}

fn bad_url(problem: String) -> Error {
    engine::Error::BadPostgresUrl { problem }.into()
}

/// The configuration once for each address of its host; unchanged where the client library finds the
/// address itself, or has to say why there is none.
async fn addresses(config: &Config) -> Vec<Config> {
    let itself = || vec![config.clone()];
    let ([Host::Tcp(name)], []) = (config.get_hosts(), config.get_hostaddrs()) else {
        return itself();
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let found = within_limit(config, tokio::net::lookup_host((name.as_str(), port))).await;
    let Ok(Ok(found)) = found else { return itself() };
    let at = |address: SocketAddr| {
        let mut config = config.clone();
        config.hostaddr(address.ip());
        config
    };
    let found: Vec<Config> = found.map(at).collect();
    if found.is_empty() { itself() } else { found }
}

/// The result of `work`, within the time that `config` gives one attempt to connect.
async fn within_limit<T>(config: &Config, work: impl Future<Output = T>) -> Result<T, Error> {
    let Some(limit) = config.get_connect_timeout() else { return Ok(work.await) };
    let hosts = config.get_hosts().len().max(config.get_hostaddrs().len()).max(1);
    let limit = limit.saturating_mul(u32::try_from(hosts).unwrap_or(u32::MAX));
    let silence = |_| Error::CannotConnect {
        server: server_name(config),
        problem: format!(
            "no answer within {} s: check host, port and firewall, or raise connect_timeout",
            limit.as_secs()
        ),
    };
    tokio::time::timeout(limit, work).await.map_err(silence)
}

/// The one-line form of a failed connection, also for pools built on [`config`] and [`tls`].
#[must_use]
pub fn explain(config: &Config, error: &tokio_postgres::Error) -> Error {
    let problem = match error.code() {
        Some(code) => explain_refusal(config, code, &postgres_message(error)),
        None => explain_transport(error),
    };
    Error::CannotConnect { server: server_name(config), problem }
}

pub(crate) fn explain_refusal(config: &Config, code: &SqlState, message: &str) -> String {
    let way_out = if *code == SqlState::INVALID_PASSWORD {
        match password_file::ignored() {
            Some(path) => format!(
                "; the password file {} is ignored because others may read it: chmod 600 it",
                path.display()
            ),
            None => "; check the user and password (URL, PGPASSWORD or ~/.pgpass)".to_owned(),
        }
    } else if *code == SqlState::INVALID_AUTHORIZATION_SPECIFICATION {
        "; name another user in the URL, or allow this one in the server's pg_hba.conf".to_owned()
    } else if *code == SqlState::INVALID_CATALOG_NAME {
        let database = config.get_dbname().or(config.get_user()).unwrap_or_default();
        format!("; create it (CREATE DATABASE {}) or correct the URL", quote_identifier(database))
    } else if *code == SqlState::TOO_MANY_CONNECTIONS {
        "; raise the server's max_connections or ask for fewer clients".to_owned()
    } else if *code == SqlState::CANNOT_CONNECT_NOW {
        "; wait until it is up".to_owned()
    } else {
        String::new()
    };
    format!("{message}{way_out}")
}

/// How to get in where the server wants a password and none is known.
pub(crate) const PASSWORD_MISSING: &str =
    "the server asks for a password: give it by PGPASSWORD, ~/.pgpass or the URL";

/// Problem of a port of a web server, for instance.
const OTHER_PROTOCOL: &str = "what listens there closed the connection without an answer in \
    PostgreSQL's protocol: correct host and port, or look into the server's log";

fn explain_transport(error: &tokio_postgres::Error) -> String {
    let source = std::error::Error::source(error);
    if let Some(error) = source.and_then(|source| source.downcast_ref::<io::Error>()) {
        return explain_io(error);
    }
    if error.is_closed() {
        return OTHER_PROTOCOL.to_owned();
    }
    let reason = source.map_or_else(|| error.to_string(), ToString::to_string);
    match source {
        _ if reason.contains("password missing") => PASSWORD_MISSING.to_owned(),
        None => reason,
        Some(_) => format!("{error}: {reason}"),
    }
}

/// A socket's error with the way out.
pub(crate) fn explain_io(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            "connection refused: no server listens there; start it, correct host and port, or let \
             Crossover start one (crossover server start)"
                .to_owned()
        }
        io::ErrorKind::NotFound => {
            "there is no such socket: is the server running with this directory?".to_owned()
        }
        io::ErrorKind::PermissionDenied => {
            format!("{error}: its socket is open to another account only")
        }
        io::ErrorKind::UnexpectedEof => OTHER_PROTOCOL.to_owned(),
        // The client library's words for an answer that is cut off.
        _ if error.to_string() == "bytes remaining on stream" => OTHER_PROTOCOL.to_owned(),
        // A read with a limit that ends without a byte is called WouldBlock.
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
            "no answer in time: check host, port and firewall, or raise connect_timeout".to_owned()
        }
        _ => error.to_string(),
    }
}

/// Host and port, or the socket directory, of the first server named.
pub(crate) fn server_name(config: &Config) -> String {
    let port = config.get_ports().first().copied().unwrap_or(5432);
    match (config.get_hosts().first(), config.get_hostaddrs().first()) {
        (Some(Host::Tcp(host)), _) if host.contains(':') => format!("[{host}]:{port}"),
        (Some(Host::Tcp(host)), _) => format!("{host}:{port}"),
        (Some(Host::Unix(directory)), _) => socket_path(directory, port),
        (None, Some(address)) => format!("{address} port {port}"),
        (None, None) => "no host".to_owned(),
    }
}

/// The file name that PostgreSQL gives its Unix socket.
pub(crate) fn socket_path(directory: &Path, port: u16) -> String {
    directory.join(format!(".s.PGSQL.{port}")).display().to_string()
}
