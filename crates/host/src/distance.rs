//! Distance between clients and a server that is set up: the one place where the address of a
//! server becomes the one that clients use.

use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;

use engine::PostgresUrl;
use load::resource::MemoryGroup;
use load::resource::process_stat::cpu_seconds;
use plan::Levels;
use record::Counters;
use record::counter::{RELAY_BYTES, RELAY_CPU};
use tokio_postgres::config::{Host, SslMode};

use crate::address::Address;
use crate::database::Database;
use crate::error::DeployError;
use crate::postgres::PostgresDatabase;
use crate::relay::{Relay, Upstream};
use crate::site::Site;

/// The reason why a distance was not measured.
pub const NOTHING_FORWARDED: &str = "nothing went through it, so no distance was measured: the \
    application has its database's address from elsewhere, or answers without its database; hand it \
    {database_url} or another form of the address (docs/reference/plans.md), in its command or its \
    environment";

/// The way from clients to a server: straight, or through a relay that delays.
#[derive(Debug, Default)]
pub struct Distance {
    relay: Option<Relay>,
}

impl Distance {
    /// The way to the server of `url` at `levels`.
    pub fn to_postgres(
        site: &Site<'_>,
        url: &PostgresUrl,
        levels: &Levels,
    ) -> Result<Self, DeployError> {
        Self::start(site, levels, || postgres_upstream(url))
    }

    /// The same to a database of any engine; straight to what has no distance.
    pub fn to_database(
        site: &Site<'_>,
        database: &Database,
        levels: &Levels,
    ) -> Result<Self, DeployError> {
        match PostgresDatabase::of(database) {
            Some(server) => Self::to_postgres(site, &server.url, levels),
            None => Ok(Self::default()),
        }
    }

    /// The same to a server of MariaDB or MySQL.
    pub fn to_mysql(site: &Site<'_>, url: &str, levels: &Levels) -> Result<Self, DeployError> {
        Self::start(site, levels, || {
            let place = connect::mysql::place(url)?;
            match place.socket {
                Some(path) => Ok(Upstream::Socket(path)),
                None => Upstream::of_host(&place.host, place.port),
            }
        })
    }

    fn start(
        site: &Site<'_>,
        levels: &Levels,
        upstream: impl FnOnce() -> Result<Upstream, DeployError>,
    ) -> Result<Self, DeployError> {
        let delay = site.plan.delay_at(levels)?;
        if delay.is_zero() {
            return Ok(Self::default());
        }
        let upstream = upstream()?;
        // The limit on memory is the server's.
        let _outside = site.memory.map(MemoryGroup::step_out).transpose()?;
        let relay = Relay::start(site.program, &upstream, delay);
        let relay = relay.map_err(|error| DeployError::Relay(format!("cannot start: {error}")))?;
        Ok(Self { relay: Some(relay) })
    }

    /// A database of that server, for clients. A client keeps the host's name, which a certificate
    /// of TLS is about.
    pub fn postgres(&self, url: &PostgresUrl) -> Result<PostgresUrl, DeployError> {
        let Some(relay) = &self.relay else { return Ok(url.clone()) };
        // A password file names the server, which clients do not see any more.
        let config = connect::postgres::config(url)?;
        let password = config.get_password().map(String::from_utf8_lossy);
        let name = config.get_hosts().iter().find_map(|host| match host {
            Host::Tcp(name) => Some(name.clone()),
            Host::Unix(_) => None,
        });
        let far = url.relayed(relay.address(), name.as_deref(), password.as_deref());
        // The way to a Unix socket is not encrypted, whatever the environment asks of TCP.
        Ok(match config.get_ssl_mode() {
            SslMode::Disable => far.without_tls(),
            _ => far,
        })
    }

    /// The same of MariaDB or MySQL. A client that finds a server on its own machine would change to
    /// that server's socket, and leave the relay.
    pub fn mysql(&self, url: &str) -> Result<String, DeployError> {
        match &self.relay {
            Some(relay) => Ok(connect::mysql::relayed(url, relay.address())?),
            None => Ok(url.to_owned()),
        }
    }

    /// The address of `database` in the forms that applications read.
    pub fn address(&self, database: &Database) -> Result<Address, DeployError> {
        match PostgresDatabase::of(database).filter(|_| self.relay.is_some()) {
            None => Ok(database.hosted.address()),
            Some(server) => {
                let far = self.postgres(&server.url)?;
                Ok(Address::of_server(&far, Some(&far)))
            }
        }
    }

    /// Refuses to go on without the relay.
    pub fn check_alive(&mut self) -> Result<(), DeployError> {
        let ending = self.relay.as_mut().and_then(Relay::ending);
        ending.map_or(Ok(()), |how| {
            let what = "it has ended, and clients reached the server through it alone";
            Err(DeployError::Relay(format!("{what} ({how})")))
        })
    }

    /// Refuses an application that has done its work past the relay.
    pub fn check_used(&self) -> Result<(), DeployError> {
        match self.relay.as_ref().and_then(Relay::forwarded) {
            Some(0) => Err(DeployError::Relay(NOTHING_FORWARDED.to_owned())),
            Some(_) | None => Ok(()),
        }
    }

    /// The relay's work so far. Its use of processors is neither the client's nor the server's.
    pub fn counters(&self) -> Counters {
        let Some(relay) = &self.relay else { return Counters::new() };
        let seconds = cpu_seconds(relay.pid()).map(|seconds| (RELAY_CPU.to_owned(), seconds));
        let bytes = relay.forwarded().map(|bytes| (RELAY_BYTES.to_owned(), bytes as f64));
        seconds.into_iter().chain(bytes).collect()
    }
}

fn postgres_upstream(url: &PostgresUrl) -> Result<Upstream, DeployError> {
    let config = connect::postgres::config(url)?;
    let port = config.get_ports().first().copied().unwrap_or(5432);
    if config.get_hosts().len().max(config.get_hostaddrs().len()) > 1 {
        let problem = "a delay is that of one server; name one host in the URL";
        return Err(DeployError::Relay(format!("{url}: {problem}")));
    }
    match (config.get_hostaddrs().first(), config.get_hosts().first()) {
        (Some(address), _) => Ok(Upstream::Tcp(vec![SocketAddr::new(*address, port)])),
        (None, Some(Host::Unix(folder))) => {
            Ok(Upstream::Socket(PathBuf::from(folder).join(format!(".s.PGSQL.{port}"))))
        }
        (None, Some(Host::Tcp(name))) => Upstream::of_host(name, port),
        (None, None) => Upstream::of_host("localhost", port),
    }
}

impl Upstream {
    fn of_host(name: &str, port: u16) -> Result<Self, DeployError> {
        let found = (name, port).to_socket_addrs();
        let found = found.map_err(|error| {
            DeployError::Relay(format!("{name}:{port}: {error}; correct host and port"))
        })?;
        Ok(Self::Tcp(found.collect()))
    }
}
