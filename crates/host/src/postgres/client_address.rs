//! The address by which clients reach a database: that of its server, or of the pool before it.

use engine::PostgresUrl;
use plan::ConnectionBy;
use server::PostgresServer;

use super::pool::ConnectionPool;

/// The parameter of a URL that has the settings of its sessions.
const SETTINGS: &str = "options";

/// The address of a database for clients.
#[derive(Debug, Clone)]
pub struct ClientAddress {
    pub url: PostgresUrl,
    /// Of the server itself, where `url` leads to a pool.
    pub behind_pool: Option<Box<PostgresUrl>>,
}

impl ClientAddress {
    /// That of `database`, on a server that is ours if there is a `server`.
    pub fn of(
        database: &PostgresUrl,
        by: ConnectionBy,
        server: Option<&PostgresServer>,
        pool: Option<&ConnectionPool>,
    ) -> Self {
        let name = database.database().unwrap_or_default();
        if let Some(pool) = pool {
            return Self { url: pool.url(name, by), behind_pool: Some(Box::new(database.clone())) };
        }
        let tcp = server.filter(|_| by == ConnectionBy::Tcp).and_then(|one| one.tcp_url(name));
        let url = match (tcp, database.parameter(SETTINGS)) {
            (Some(tcp), Some(settings)) => tcp.with_parameter(SETTINGS, settings.to_owned()),
            (Some(tcp), None) => tcp,
            (None, _) => database.clone(),
        };
        Self { url, behind_pool: None }
    }
}
