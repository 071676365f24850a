//! Shared helpers: a SQLite file from a script, a fresh database on a shared server.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Weak};

use engine::PostgresUrl;
use indicatif::ProgressBar;
use migrate::{
    AuditOptions, AuditReport, Error, MigrateOptions, MigrationReport, TextOptions,
    VerificationReport, VerifyOptions,
};
use rusqlite::Connection;
use server::{Locations, PostgresServer, StartOptions};
use tokio::sync::Mutex;
use tokio_postgres::Client;

/// A SQLite file that goes away with the test.
pub struct File {
    pub path: PathBuf,
    _directory: tempfile::TempDir,
}

impl File {
    /// A file made by a script, with foreign keys unchecked as SQLite does by default.
    pub fn new(script: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("source.db");
        let file = Self { path, _directory: directory };
        file.run(script);
        file
    }

    pub fn connection(&self) -> Connection {
        let connection = connect::sqlite::create(&self.path).unwrap();
        connection.execute_batch("PRAGMA foreign_keys = off").unwrap();
        connection
    }

    pub fn run(&self, script: &str) {
        self.connection().execute_batch(script).unwrap();
    }

    pub fn audit(&self, rules: &[&str]) -> Result<AuditReport, Error> {
        self.audit_with(&AuditOptions { rules: self::rules(rules), ..AuditOptions::default() })
    }

    pub fn audit_with(&self, options: &AuditOptions) -> Result<AuditReport, Error> {
        migrate::audit(&self.path, options, &ProgressBar::hidden(), &AtomicBool::new(false))
    }

    /// The audit's text without the changing folder.
    pub fn audit_text(&self, rules: &[&str]) -> String {
        self.plain(&self.audit(rules).unwrap().to_text(&TextOptions::default()))
    }

    /// The same with every column, every finding and every statement.
    pub fn whole_audit_text(&self, rules: &[&str]) -> String {
        let options = TextOptions { columns: true, verbose: true, width: None };
        self.plain(&self.audit(rules).unwrap().to_text(&options))
    }

    pub fn plain(&self, text: &str) -> String {
        text.replace(self.path.to_str().unwrap(), "source.db")
    }
}

pub fn rules(written: &[&str]) -> migrate::MapRules {
    migrate::MapRules(written.iter().map(|rule| rule.parse().unwrap()).collect())
}

/// A fresh database; its server ends with the last test that uses it.
pub struct Target {
    pub url: PostgresUrl,
    pub client: Client,
    _server: Arc<Running>,
}

struct Running {
    server: PostgresServer,
    _data: tempfile::TempDir,
}

static DATABASES: AtomicU32 = AtomicU32::new(0);

impl Target {
    /// On the release of `CROSSOVER_TEST_POSTGRES`, 18 unless set.
    pub async fn new() -> Self {
        static SERVER: Mutex<Weak<Running>> = Mutex::const_new(Weak::new());
        let mut shared = SERVER.lock().await;
        let running = match shared.upgrade() {
            Some(running) => running,
            None => {
                let running = Arc::new(start(&tested_release(), Vec::new()).await);
                *shared = Arc::downgrade(&running);
                running
            }
        };
        drop(shared);
        Self::on(running).await
    }

    /// The same for a test that needs `release` or a later one; `None`, and said, on older ones.
    pub async fn since(release: u32) -> Option<Self> {
        let tested = tested_release();
        let major = tested.split('.').next().and_then(|major| major.parse().ok());
        if major.is_some_and(|major: u32| major < release) {
            testing::skip(&format!("it needs PostgreSQL {release}"));
            return None;
        }
        Some(Self::new().await)
    }

    /// On a server of its own.
    pub async fn release(version: &str) -> Self {
        Self::on(Arc::new(start(version, Vec::new()).await)).await
    }

    /// On a server of its own with these settings.
    pub async fn with_settings(settings: Vec<(String, String)>) -> Self {
        Self::on(Arc::new(start(&tested_release(), settings).await)).await
    }

    async fn on(running: Arc<Running>) -> Self {
        let name = format!("test_{}", DATABASES.fetch_add(1, Ordering::Relaxed));
        let url = running.server.url(&name);
        assert!(migrate::create_database(&url, &AtomicBool::new(false)).await.unwrap());
        let client = connect::postgres::connect(&url).await.unwrap();
        Self { url, client, _server: running }
    }

    /// The same database over a connection of another account.
    pub async fn on_behalf_of(&self, account: &str) -> Self {
        let url = self.url.to_string().replacen("://postgres@", &format!("://{account}@"), 1);
        let url: PostgresUrl = url.parse().unwrap();
        let client = connect::postgres::connect(&url).await.unwrap();
        Self { url, client, _server: self._server.clone() }
    }

    pub async fn run(&self, script: &str) {
        self.client.batch_execute(script).await.unwrap();
    }

    /// One text per row of a query with one text column.
    pub async fn texts(&self, sql: &str) -> Vec<String> {
        let rows = self.client.query(sql, &[]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// Everything that a failed migration must leave as it was: tables, columns, constraints,
    /// indexes, sequences, schemas. NOT NULL is a constraint of its own only since release 18.
    pub async fn structure(&self) -> Vec<String> {
        self.texts(
            "SELECT format('%s %s %s', n.nspname, c.relname, c.relkind) FROM pg_class AS c \
             JOIN pg_namespace AS n ON n.oid = c.relnamespace \
             WHERE n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') \
             AND c.relkind <> 't' \
             UNION ALL SELECT nspname::text FROM pg_namespace WHERE nspname NOT LIKE 'pg_%' \
             UNION ALL SELECT conname || ' ' || pg_get_constraintdef(oid) || convalidated::text \
             FROM pg_constraint WHERE connamespace = 'public'::regnamespace \
             AND contype <> 'n' \
             UNION ALL SELECT pg_get_indexdef(indexrelid) FROM pg_index AS i \
             JOIN pg_class AS c ON c.oid = i.indexrelid \
             WHERE c.relnamespace = 'public'::regnamespace ORDER BY 1",
        )
        .await
    }

    pub async fn migrate(
        &self,
        file: &File,
        options: &MigrateOptions,
    ) -> Result<MigrationReport, Error> {
        let (progress, interrupted) = (ProgressBar::hidden(), AtomicBool::new(false));
        migrate::migrate(&file.path, &self.url, options, &progress, &interrupted).await
    }

    pub async fn verify(&self, file: &File) -> VerificationReport {
        let (progress, interrupted) = (ProgressBar::hidden(), AtomicBool::new(false));
        let options = VerifyOptions::default();
        migrate::verify(&file.path, &self.url, &options, &progress, &interrupted).await.unwrap()
    }
}

/// A small file system of its own; only root may make one.
pub struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// `None`, and said, if it cannot be made.
    pub fn new() -> Option<Self> {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let open = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(folder.path(), open).unwrap();
        let disk = Self(folder);
        let made = disk.mount("size=24m,mode=0777");
        if !made {
            testing::skip("only root may mount a small disk");
        }
        made.then_some(disk)
    }

    pub fn path(&self) -> &std::path::Path {
        self.0.path()
    }

    pub fn mount(&self, options: &str) -> bool {
        let mut mount = std::process::Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(self.0.path());
        mount.status().is_ok_and(|status| status.success())
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

fn tested_release() -> String {
    std::env::var("CROSSOVER_TEST_POSTGRES").unwrap_or_else(|_| "18".to_owned())
}

/// The types of a laboratory's copies.
pub fn by_values() -> migrate::TypeChoice {
    migrate::TypeChoice { rule: migrate::TypeRule::ByValues, ..Default::default() }
}

pub fn data_only() -> MigrateOptions {
    MigrateOptions { data_only: true, ..MigrateOptions::default() }
}

async fn start(version: &str, settings: Vec<(String, String)>) -> Running {
    use std::os::unix::fs::PermissionsExt as _;
    let data = tempfile::tempdir().unwrap();
    // As root the servers' account has to pass through.
    std::fs::set_permissions(data.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let locations = Locations { data: data.path().to_owned(), ..Locations::detect().unwrap() };
    let mut options = StartOptions::new(version).unwrap();
    options.temporary = true;
    options.settings = settings;
    options.settings.push(("fsync".to_owned(), "off".to_owned()));
    let (progress, interrupted) = (ProgressBar::hidden(), AtomicBool::new(false));
    let server = PostgresServer::start(&locations, options, &progress, &interrupted).await.unwrap();
    Running { server, _data: data }
}
