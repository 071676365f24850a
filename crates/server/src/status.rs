//! A running server, as programs see it that did not start it.

use std::path::PathBuf;

use engine::PostgresUrl;
use serde::Serialize;

/// The end of a running server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifetime {
    /// `server stop`: `server start` started it.
    UntilStopped,
    /// The program that started it, which is running.
    WithOwner,
    /// The program that started it was killed: `server stop`, or the next start of a server.
    Orphan,
}

/// A running server, as another program sees it.
#[derive(Debug, Clone)]
pub struct ServerStatus {
    /// The name of its folder: the release and the digest of its data, or a random one.
    pub name: String,
    /// The folder of its data directory and log.
    pub folder: PathBuf,
    /// PostgreSQL's exact release, or `MariaDB`.
    pub version: String,
    pub pid: u32,
    pub lifetime: Lifetime,
    /// The program that started it, where it is known.
    pub owner: Option<u32>,
    /// The address on its Unix socket.
    pub url: String,
    /// The address on TCP with its password, if it was opened and the password may be read.
    pub tcp_url: Option<PostgresUrl>,
    pub settings: Vec<(String, String)>,
    /// The CPUs that it may use; all if absent or not known.
    pub cpus: Option<Vec<usize>>,
}
