//! Record of a running server in a file, by which a later program can find it: to stop it when its
//! owner was killed, or because `server stop` asks for it.

use std::path::{Path, PathBuf};

use engine::PostgresUrl;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::locations::write_whole;

/// The superuser that initdb makes.
pub(crate) const USER: &str = "postgres";

/// `server.json` in the folder of a data directory, there while a server runs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    pub version: String,
    /// The folder of its Unix socket.
    pub socket_folder: PathBuf,
    /// The port on 127.0.0.1, if it was opened.
    pub tcp_port: Option<u16>,
    /// The database that was asked for.
    pub database: String,
    /// Started by `server start`: not to be stopped with its owner.
    pub persistent: bool,
    /// The program that started it.
    pub owner: u32,
    pub settings: Vec<(String, String)>,
    /// The CPUs that it may use; all if absent.
    #[serde(default)]
    pub cpus: Option<Vec<usize>>,
}

const FILE: &str = "server.json";
const PASSWORD_FILE: &str = "password";

impl Record {
    pub(crate) fn read(folder: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(folder.join(FILE)).ok()?;
        serde_json::from_str(&text).ok()
    }

    pub(crate) fn write(&self, folder: &Path) -> Result<(), Error> {
        let path = folder.join(FILE);
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Error::io("write", &path)(std::io::Error::other(error)))?;
        write_whole(&path, &text, 0o644)
    }

    /// Forgets the server, with its socket folder and its password.
    pub(crate) fn remove(&self, folder: &Path) {
        // Each may be gone already; what matters is that none is left.
        let _ = std::fs::remove_dir_all(&self.socket_folder);
        let _ = std::fs::remove_file(folder.join(PASSWORD_FILE));
        let _ = std::fs::remove_file(folder.join(FILE));
    }

    /// The file that PostgreSQL makes for its Unix socket.
    pub(crate) fn socket_path(&self) -> PathBuf {
        self.socket_folder.join(format!(".s.PGSQL.{}", self.tcp_port.unwrap_or(5432)))
    }

    /// The address on the Unix socket.
    pub(crate) fn url(&self, database: &str) -> PostgresUrl {
        let folder = self.socket_folder.display().to_string();
        PostgresUrl::unix_socket(&folder, self.tcp_port, USER, database)
    }

    /// The address on TCP with its password, if it was opened.
    pub(crate) fn tcp_url(&self, folder: &Path, database: &str) -> Option<PostgresUrl> {
        let password = std::fs::read_to_string(folder.join(PASSWORD_FILE)).ok()?;
        Some(PostgresUrl::tcp("127.0.0.1", self.tcp_port?, USER, password.trim(), database))
    }
}

/// Keeps a password where only this account reads it.
pub(crate) fn write_password(folder: &Path, password: &str) -> Result<(), Error> {
    write_whole(&folder.join(PASSWORD_FILE), password, 0o600)
}
