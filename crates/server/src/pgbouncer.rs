//! PgBouncer of this machine before our own server: found, its version checked, its configuration
//! written where the servers' account alone reads it.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use engine::{PoolMode, PoolRequest, PostgresUrl};

use crate::account::Account;
use crate::locations::{check_socket_path, random_bytes, write_whole};
use crate::{Error, free_port};

const NAME: &str = "pgbouncer";
/// Debian's packages put it where only root's PATH leads.
const FURTHER_FOLDERS: [&str; 2] = ["/usr/sbin", "/usr/local/sbin"];
/// From here on it keeps prepared statements when connections are shared.
const PREPARES_FROM: [u64; 2] = [1, 21];
/// Prepared statements of one connection to the server; more would be prepared again and again.
const PREPARED_MAX: u32 = 1000;
/// A day: no connection is renewed or given up in a trial.
const LONG_SECONDS: u32 = 86_400;
/// The user that clients of a pool are, for whom the server has their settings: a pool takes none
/// with a session.
pub const POOL_ROLE: &str = "crossover_pool";

/// PgBouncer's program.
#[derive(Debug, Clone)]
pub struct Pgbouncer {
    pub program: PathBuf,
    /// As `1.24.1`.
    pub version: String,
}

/// Everything that a pool is started with, in a folder of its own. Dropping it removes the folder.
#[derive(Debug)]
pub struct PoolFolder {
    path: PathBuf,
    port: u16,
    password: String,
    account: Account,
}

impl Pgbouncer {
    /// Finds the program, and refuses one that cannot pool as asked for.
    pub fn find(request: PoolRequest) -> Result<Self, Error> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::env::split_paths(&path).chain(FURTHER_FOLDERS.map(PathBuf::from));
        Self::find_in(folders, request)
    }

    fn find_in(
        folders: impl Iterator<Item = PathBuf>,
        request: PoolRequest,
    ) -> Result<Self, Error> {
        let mut files = folders.map(|folder| folder.join(NAME));
        let program = files.find(|file| file.is_file());
        let program = program.ok_or(Error::NoPgbouncer)?;
        let output = Command::new(&program).arg("--version").output();
        let output = output.map_err(Error::io("run", &program))?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let Some(version) = version_in(&said) else {
            let reason = format!("its --version says `{}`", said.trim());
            return Err(Error::Program { program: program.display().to_string(), reason });
        };
        if request.mode == PoolMode::Transaction && parts(version) < PREPARES_FROM.to_vec() {
            let version = version.to_owned();
            return Err(Error::OldPgbouncer { program, version, size: request.size });
        }
        Ok(Self { version: version.to_owned(), program })
    }
}

/// The second word of `PgBouncer 1.24.1`.
fn version_in(said: &str) -> Option<&str> {
    let version = said.lines().next()?.strip_prefix("PgBouncer ")?.trim();
    version.starts_with(|first: char| first.is_ascii_digit()).then_some(version)
}

fn parts(version: &str) -> Vec<u64> {
    let digits = |part: &str| {
        let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        part[..end].parse().unwrap_or(0)
    };
    version.split('.').map(digits).collect()
}

impl PoolFolder {
    /// Writes the configuration of a pool for at most `clients` before the server at `server`, beside
    /// its socket: what removes that removes this too.
    pub fn create(request: PoolRequest, server: &PostgresUrl, clients: u16) -> Result<Self, Error> {
        let account = Account::detect()?;
        let port = free_port(None).map_err(Error::io("find a port on", Path::new("127.0.0.1")))?;
        let password = hex::encode(random_bytes::<16>()?);
        let path = Path::new(server.host().unwrap_or_default()).join("pool");
        check_socket_path(&path.join(format!(".s.PGSQL.{port}")))?;
        let created = DirBuilder::new().mode(0o700).create(&path);
        created.map_err(Error::io("create", &path))?;
        // From here on dropping it removes the folder.
        let folder = Self { path, port, password, account };
        let users = format!("\"{POOL_ROLE}\" \"{}\"\n", folder.password);
        // As before a server: its folder guards the socket, TCP has a password.
        let rules = "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n";
        let main = folder.configuration(request, server, clients);
        for (name, text) in
            [("users.txt", users.as_str()), ("hba.conf", rules), ("pgbouncer.ini", &main)]
        {
            let file = folder.path.join(name);
            write_whole(&file, text, 0o600)?;
            folder.account.give(&file)?;
        }
        folder.account.give(&folder.path)?;
        Ok(folder)
    }

    fn configuration(&self, request: PoolRequest, server: &PostgresUrl, clients: u16) -> String {
        let place = self.path.display();
        let lines = [
            "[databases]".to_owned(),
            format!(
                "* = host={} port={}",
                server.host().unwrap_or_default(),
                server.port().unwrap_or(5432)
            ),
            "[pgbouncer]".to_owned(),
            "listen_addr = 127.0.0.1".to_owned(),
            format!("listen_port = {}", self.port),
            format!("unix_socket_dir = {place}"),
            "auth_type = hba".to_owned(),
            format!("auth_hba_file = {place}/hba.conf"),
            format!("auth_file = {place}/users.txt"),
            format!("admin_users = {POOL_ROLE}"),
            format!("pool_mode = {}", request.mode.name()),
            format!("default_pool_size = {}", request.size),
            format!("max_client_conn = {}", u32::from(clients) + 20),
            // The laboratory has limits of its own: a client waits for its turn without another.
            "query_wait_timeout = 0".to_owned(),
            format!("server_idle_timeout = {LONG_SECONDS}"),
            format!("server_lifetime = {LONG_SECONDS}"),
            "log_connections = 0".to_owned(),
            "log_disconnections = 0".to_owned(),
            "log_stats = 0".to_owned(),
        ];
        let prepared = match request.mode {
            // Older programs do not know the setting, and sessions need none.
            PoolMode::Session => String::new(),
            PoolMode::Transaction => format!("max_prepared_statements = {PREPARED_MAX}\n"),
        };
        format!("{}\n{prepared}", lines.join("\n"))
    }

    /// The arguments of the program.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        vec![self.path.join("pgbouncer.ini").display().to_string()]
    }

    /// The account that the program runs as; none: this program's.
    #[must_use]
    pub fn user_and_group(&self) -> Option<(u32, u32)> {
        self.account.user_and_group()
    }

    /// The address of `database` through the pool, by its Unix socket.
    #[must_use]
    pub fn url(&self, database: &str) -> PostgresUrl {
        let folder = self.path.display().to_string();
        PostgresUrl::unix_socket(&folder, Some(self.port), POOL_ROLE, database)
    }

    /// The address of `database` through the pool, over TCP.
    #[must_use]
    pub fn tcp_url(&self, database: &str) -> PostgresUrl {
        PostgresUrl::tcp("127.0.0.1", self.port, POOL_ROLE, &self.password, database)
    }
}

impl Drop for PoolFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_it_is_told_what_to_install() {
        let empty = tempfile::tempdir().unwrap();
        let request = "session:2".parse().unwrap();
        let folders = std::iter::once(empty.path().to_owned());
        let said = Pgbouncer::find_in(folders, request).unwrap_err().to_string();
        assert!(said.contains("apt-get install pgbouncer"), "{said}");
    }

    #[test]
    fn a_version_is_read_and_compared_by_its_numbers() {
        let said = "PgBouncer 1.24.1\nlibevent 2.1.12-stable\n";
        assert_eq!(version_in(said), Some("1.24.1"));
        assert_eq!(version_in("something else"), None);
        let prepares = |version| parts(version) >= PREPARES_FROM.to_vec();
        assert!(prepares("1.21.0") && prepares("1.100.0rc1") && prepares("2.0"));
        assert!(!prepares("1.18.0") && !prepares("1.9.9"));
    }
}
