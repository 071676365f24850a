//! Connecting to PostgreSQL as libpq does: `PG*` variables, the password file, TLS by `sslmode`,
//! Unix sockets; and every refusal as one line with the way out.

mod configuration;
mod password_file;
mod session;
pub mod thin;
mod tls;

use std::io;
use std::path::Path;

use tokio_postgres::config::Host;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config};

pub use configuration::config;
pub use session::{apply_session_settings, quote_identifier, settings_readback};
pub use tls::tls;

use crate::error::postgres_message;
use crate::{Error, PostgresUrl};

/// Connects and drives the connection in a task of its own, which ends with the client.
pub async fn connect(url: &PostgresUrl) -> Result<Client, Error> {
    let config = config(url)?;
    match config.connect(tls(url)?).await {
        Ok((client, connection)) => {
            // An error of the connection reaches the caller through the client's next call.
            tokio::spawn(connection);
            Ok(client)
        }
        Err(error) => Err(explain(&config, &error)),
    }
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

fn explain_transport(error: &tokio_postgres::Error) -> String {
    let source = std::error::Error::source(error);
    if let Some(error) = source.and_then(|source| source.downcast_ref::<io::Error>()) {
        return explain_io(error);
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
        io::ErrorKind::TimedOut => {
            format!("{error}: check host, port and firewall, or raise connect_timeout")
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
