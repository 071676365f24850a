//! A running managed PostgreSQL: fetched, initialised, started, and stopped when this value ends.

use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::PostgresUrl;
use indicatif::ProgressBar;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, NoTls};

use crate::account::Account;
use crate::cluster::Cluster;
use crate::locations::{check_socket_path, random_bytes};
use crate::postmaster::Start;
use crate::record::{Record, USER, write_password};
use crate::{
    Error, Locations, Release, StartOptions, affinity, free_port, postmaster, release, settings,
};

/// The parent of a killed process takes notice of its end within this time, if it ever does.
const NOTICED_WITHIN: Duration = Duration::from_secs(10);

/// A PostgreSQL server that this program started. Dropping it stops it, unless it is persistent.
#[derive(Debug)]
pub struct PostgresServer {
    release: Release,
    cluster: Cluster,
    record: Record,
    child: Child,
    data_was_ready: bool,
    settings: Vec<(String, String)>,
    unknown_settings: Vec<String>,
    version: String,
    keep_running: bool,
    stopped: bool,
}

impl PostgresServer {
    /// Fetches the release if need be, checks the settings, takes and initialises the data
    /// directory, starts the server, creates the database asked for and reads the settings back.
    ///
    /// # Errors
    /// The obstacle, see [`Error`]; then nothing is left running.
    pub async fn start(
        locations: &Locations,
        mut options: StartOptions,
        progress: &ProgressBar,
        interrupted: &AtomicBool,
    ) -> Result<Self, Error> {
        let account = Account::detect()?;
        let Resolved { release, common, unknown } =
            resolve(locations, &options, &account, progress, interrupted).await?;
        options.settings.splice(0..0, common);
        progress.set_message(format!("starting PostgreSQL {}", release.version));
        let cluster = {
            let (locations, release) = (locations.clone(), release.clone());
            let options = options.clone();
            // Stopping an orphan may take a while.
            blocking(move || Cluster::open(&locations, &release, &options)).await?
        };
        let was_ready = cluster.prepare(&release, &options, &account, interrupted).await?;
        wait_until_noticed(&cluster.folder, interrupted).await?;
        let mut server = launch(locations, &options, &account, release, cluster)?;
        server.data_was_ready = was_ready;
        server.unknown_settings = unknown;
        // From here on `Drop` stops what was started, whatever goes wrong.
        let client = server.wait_until_ready(interrupted).await?;
        server.settings = settings::read_back(&client, &server.version, &options.settings).await?;
        create_if_missing(&client, &options.database).await?;
        if server.record.tcp_port.is_some() {
            server.set_password(&client).await?;
        }
        server.keep_running = options.persistent;
        Ok(server)
    }

    /// Everything that `start` checks before it touches data: that the release can be had, its
    /// settings exist and their values are taken. The exact release.
    pub async fn check(
        locations: &Locations,
        options: &StartOptions,
        progress: &ProgressBar,
        interrupted: &AtomicBool,
    ) -> Result<Release, Error> {
        let account = Account::detect()?;
        let resolved = resolve(locations, options, &account, progress, interrupted).await?;
        Ok(resolved.release)
    }

    /// The same check; the names of those [`StartOptions::common_settings`] that the release does
    /// not have.
    pub async fn unknown_of(
        locations: &Locations,
        options: &StartOptions,
        progress: &ProgressBar,
        interrupted: &AtomicBool,
    ) -> Result<Vec<String>, Error> {
        let account = Account::detect()?;
        let resolved = resolve(locations, options, &account, progress, interrupted).await?;
        Ok(resolved.unknown)
    }

    /// The address of `database` on the Unix socket.
    #[must_use]
    pub fn url(&self, database: &str) -> PostgresUrl {
        self.record.url(database)
    }

    /// The address of `database` on TCP, with the password, if TCP was asked for.
    #[must_use]
    pub fn tcp_url(&self, database: &str) -> Option<PostgresUrl> {
        self.record.tcp_url(&self.cluster.folder, database)
    }

    /// The exact release: `18.1`.
    #[must_use]
    pub fn exact_version(&self) -> &str {
        &self.version
    }

    /// The release: where its programs come from, and what the user should know about it.
    #[must_use]
    pub fn release(&self) -> &Release {
        &self.release
    }

    /// The process number of the postmaster, the parent of every process of the server.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether the postmaster is still there.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// The last lines of the server's log that say why it ended.
    #[must_use]
    pub fn last_log_lines(&self) -> String {
        postmaster::last_log_lines(&self.cluster.log_path())
    }

    /// The settings asked for, as the server has them.
    #[must_use]
    pub fn settings_read_back(&self) -> &[(String, String)] {
        &self.settings
    }

    /// Those of [`StartOptions::common_settings`] that this release does not have.
    #[must_use]
    pub fn unknown_settings(&self) -> &[String] {
        &self.unknown_settings
    }

    /// Whether this data directory was marked as filled earlier: then there is nothing to fill.
    #[must_use]
    pub fn data_is_ready(&self) -> bool {
        self.data_was_ready
    }

    /// Marks the data as whole, with a note of what they are. Until then a start finds the
    /// directory unusable and makes another.
    pub fn mark_data_ready(&self, note: &str) -> Result<(), Error> {
        self.cluster.mark_ready(note)
    }

    /// The note that the data were marked with.
    pub fn data_note(&self) -> Result<String, Error> {
        self.cluster.note()
    }

    #[must_use]
    pub fn data_directory(&self) -> PathBuf {
        self.cluster.data()
    }

    #[must_use]
    pub fn log_path(&self) -> PathBuf {
        self.cluster.log_path()
    }

    /// Stops the server as PostgreSQL's fast shutdown does and forgets it. A temporary data
    /// directory is removed, any other one is kept for the next start.
    pub async fn stop(mut self) -> Result<(), Error> {
        blocking(move || self.end()).await
    }

    fn end(&mut self) -> Result<(), Error> {
        if self.stopped {
            return Ok(());
        }
        self.stopped = true;
        let child = &mut self.child;
        postmaster::stop(child.id(), || !matches!(child.try_wait(), Ok(None)))?;
        self.record.remove(&self.cluster.folder);
        self.cluster.close()
    }

    /// Waits for the first connection; an end of the process is an error with the last lines of its log.
    async fn wait_until_ready(&mut self, interrupted: &AtomicBool) -> Result<Client, Error> {
        let mut config = Config::new();
        config.host_path(&self.record.socket_folder).user(USER).dbname("postgres");
        if let Some(port) = self.record.tcp_port {
            config.port(port);
        }
        loop {
            if interrupted.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            if !self.is_running() {
                let (log, reason) = (self.cluster.log_path(), self.last_log_lines());
                let log = match self.cluster.temporary {
                    true => String::new(),
                    false => format!(" (its log: {})", log.display()),
                };
                return Err(Error::NotStarted { version: self.version.clone(), reason, log });
            }
            match config.connect(NoTls).await {
                Ok((client, connection)) => {
                    tokio::spawn(connection);
                    return Ok(client);
                }
                // It starts or recovers, which may take long, or has not opened its socket yet.
                Err(error) if error.code().is_none_or(|c| *c == SqlState::CANNOT_CONNECT_NOW) => {}
                Err(error) => return Err(error.into()),
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// A random password for TCP, kept only in a file of mode 0600.
    async fn set_password(&self, client: &Client) -> Result<(), Error> {
        let password = hex::encode(random_bytes::<16>()?);
        write_password(&self.cluster.folder, &password)?;
        client.batch_execute("SET password_encryption = 'scram-sha-256'").await?;
        // Hexadecimal digits need no escaping.
        client.batch_execute(&format!("ALTER ROLE {USER} PASSWORD '{password}'")).await?;
        Ok(())
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        if !self.keep_running {
            // Nobody is left to hear of a failure; the next start sweeps.
            let _ = self.end();
        }
    }
}

/// Waits until the children of a killed postmaster have ended, and until its parent has taken notice
/// of its end: init may take a while, and a parent that never waits for its children leaves no way
/// to start.
async fn wait_until_noticed(folder: &Path, interrupted: &AtomicBool) -> Result<(), Error> {
    let deadline = Instant::now() + NOTICED_WITHIN;
    loop {
        let unnoticed = postmaster::unnoticed(folder);
        if unnoticed.is_none() && !postmaster::has_children(folder) {
            return Ok(());
        }
        if interrupted.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        if Instant::now() > deadline {
            // Of children that live on PostgreSQL itself will tell.
            return unnoticed.map_or(Ok(()), |(pid, parent)| Err(Error::Unnoticed { pid, parent }));
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn blocking<Value: Send + 'static>(
    work: impl FnOnce() -> Result<Value, Error> + Send + 'static,
) -> Result<Value, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(_) => Err(Error::Interrupted),
    }
}

/// The facts known before data is touched.
struct Resolved {
    release: Release,
    /// The common settings that this release has, without those that are in the engine's own.
    common: Vec<(String, String)>,
    /// The names of the others.
    unknown: Vec<String>,
}

/// The release, with everything checked that can be checked before data is touched.
async fn resolve(
    locations: &Locations,
    options: &StartOptions,
    account: &Account,
    progress: &ProgressBar,
    interrupted: &AtomicBool,
) -> Result<Resolved, Error> {
    if let Some(cpus) = &options.cpus {
        affinity::check(cpus)?;
    }
    account.check_reach(&locations.clusters(), "CROSSOVER_DATA_DIR")?;
    let release = release::resolve(locations, options, account, progress, interrupted).await?;
    if options.tcp && release.version.components() < [10].as_slice() {
        return Err(Error::NoScram { version: release.version.to_string() });
    }
    let (locations, account) = (locations.clone(), account.clone());
    let (checked, settings) = (release.clone(), options.settings.clone());
    let common = options.common_settings.clone();
    let (common, unknown) = blocking(move || {
        settings::check(&locations, &checked, &settings, &account)?;
        settings::known(&locations, &checked, &settings, common, &account)
    })
    .await?;
    Ok(Resolved { release, common, unknown })
}

/// Writes the record and starts the postmaster.
fn launch(
    locations: &Locations,
    options: &StartOptions,
    account: &Account,
    release: Release,
    cluster: Cluster,
) -> Result<PostgresServer, Error> {
    let port = options.tcp.then(|| free_port(cluster.last_port())).transpose();
    let tcp_port = port.map_err(Error::io("find a port on", Path::new("127.0.0.1")))?;
    let access_rules = cluster.write_access_rules(options.tcp)?;
    let log = cluster.create_log()?;
    let record = Record {
        version: release.version.to_string(),
        socket_folder: locations.create_runtime_folder(&cluster.socket_name(options)?)?,
        tcp_port,
        database: options.database.clone(),
        persistent: options.persistent,
        owner: std::process::id(),
        settings: options.settings.clone(),
        cpus: options.cpus.clone(),
    };
    let start = Start {
        release: &release,
        data: &cluster.data(),
        log,
        access_rules: &access_rules,
        socket_folder: &record.socket_folder,
        tcp_port,
        settings: &options.settings,
        cpus: options.cpus.as_deref(),
    };
    // Recorded before the process exists, so that one killed right now is still found.
    let started = check_socket_path(&record.socket_path())
        .and_then(|()| account.give(&record.socket_folder))
        .and_then(|()| record.write(&cluster.folder))
        .and_then(|()| tcp_port.map_or(Ok(()), |port| cluster.keep_port(port)))
        .and_then(|()| postmaster::spawn(start, account));
    match started {
        Ok(child) => Ok(PostgresServer {
            data_was_ready: false,
            version: release.version.to_string(),
            settings: Vec::new(),
            unknown_settings: Vec::new(),
            keep_running: false,
            stopped: false,
            release,
            cluster,
            record,
            child,
        }),
        Err(error) => {
            record.remove(&cluster.folder);
            Err(error)
        }
    }
}

/// Creates a database on the server of `url` if it is missing.
pub async fn create_database(url: &PostgresUrl, name: &str) -> Result<(), Error> {
    let client = connect::postgres::connect(&url.with_database("postgres")).await?;
    create_if_missing(&client, name).await
}

async fn create_if_missing(client: &Client, name: &str) -> Result<(), Error> {
    let found = client.query_opt("SELECT FROM pg_database WHERE datname = $1", &[&name]).await?;
    if found.is_none() {
        let name = connect::postgres::quote_identifier(name);
        client.batch_execute(&format!("CREATE DATABASE {name}")).await?;
    }
    Ok(())
}
