//! One engine set up for a block: its database filled and analysed, its server and the
//! application started, alone. The laboratory knows the application by the plan's commands only,
//! so ours is measured exactly as a stranger's is.

mod error;
mod postgres;
mod sqlite;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::{DatabaseUrl, EngineSource, EngineSpec};
use indicatif::ProgressBar;
use server::{Locations, PostgresServer, StartOptions};

use crate::http::{Connection, PreparedRequest, Target};
use crate::plan::{Data, Placeholders, Plan, expand};
use crate::process::{Application, ApplicationOptions, free_port, run_to_end};
use crate::record::EngineRecord;
use crate::resource::ServerSide;
use crate::run::RunOptions;

pub use error::DeployError;

/// An application that is not ready by then is given up.
const READY_TIMEOUT: Duration = Duration::from_secs(60);
/// An application that has not ended by then is killed.
const STOP_GRACE: Duration = Duration::from_secs(10);

/// What every deployment of a run shares.
pub struct Site<'a> {
    /// The resolved plan.
    pub plan: &'a Plan,
    /// Digest of the data file, which names data folders of servers.
    pub data_digest: &'a str,
    /// A folder for the run's copies of SQLite files.
    pub scratch: &'a Path,
    /// Where the application's output goes.
    pub logs: &'a Path,
    /// A key that clients and application share for this run; never recorded.
    pub secret: &'a str,
    /// This program.
    pub program: &'a Path,
    /// Where managed servers live.
    pub locations: &'a Locations,
    /// Drives connections and servers.
    pub runtime: &'a tokio::runtime::Handle,
    /// Shown while servers are fetched and filled.
    pub progress: &'a ProgressBar,
    /// The user asked to stop.
    pub interrupted: &'a AtomicBool,
}

/// An engine ready to be measured.
pub struct Deployment {
    /// Version and settings.
    pub engine: EngineRecord,
    /// Where the application listens.
    pub target: Target,
    /// Every process of application and database; none where the database is out of sight.
    pub side: Option<ServerSide>,
    /// Folders or files to read into the page cache.
    pub data_paths: Vec<PathBuf>,
    application: Application,
    server: Option<PostgresServer>,
}

/// Refuses an engine that cannot be had or set as asked for, before anything is measured: a
/// release is fetched, settings are tried on an empty database or by the server's own check.
///
/// # Errors
/// [`DeployError`] naming the engine's fault.
pub fn check(engine: &EngineSpec, options: &RunOptions<'_>) -> Result<(), DeployError> {
    match &engine.source {
        EngineSource::Postgres(_) | EngineSource::PostgresFolder(_) => {
            let start = StartOptions::for_engine(engine)?;
            let check = PostgresServer::check(
                options.locations,
                &start,
                options.progress,
                options.interrupted,
            );
            options.runtime.block_on(check)?;
        }
        EngineSource::Sqlite | EngineSource::SqliteFile(_) => {
            let empty = rusqlite::Connection::open_in_memory()
                .map_err(|source| DeployError::Sqlite { path: ":memory:".into(), source })?;
            // A database in memory has a journal of its own.
            let settings = engine.engine_settings().filter(|(name, _)| *name != "journal_mode");
            engine::sqlite::pragmas(&empty, settings)?;
        }
        EngineSource::PostgresUrl(url) => {
            let url = url.with_session_settings(engine.engine_settings());
            options.runtime.block_on(engine::postgres::connect(&url))?;
        }
        _ => return Err(DeployError::Unsupported { engine: engine.label() }),
    }
    Ok(())
}

struct Database {
    record: EngineRecord,
    url: DatabaseUrl,
    server: Option<PostgresServer>,
    data_paths: Vec<PathBuf>,
    out_of_sight: bool,
}

impl Site<'_> {
    /// Sets `engine` up and waits until its application is ready.
    ///
    /// # Errors
    /// [`DeployError`]; whatever was started is stopped again.
    pub fn deploy(&self, engine: &EngineSpec) -> Result<Deployment, DeployError> {
        let label = engine.label();
        self.progress.set_message(format!("starting {label}"));
        let mut database = match &engine.source {
            EngineSource::Sqlite => self.sqlite_copy(engine)?,
            EngineSource::SqliteFile(path) => self.sqlite_file(engine, path)?,
            EngineSource::Postgres(_) | EngineSource::PostgresFolder(_) => {
                self.managed_postgres(engine)?
            }
            EngineSource::PostgresUrl(url) => self.foreign_postgres(engine, url)?,
            _ => return Err(DeployError::Unsupported { engine: label }),
        };
        let listen = format!("127.0.0.1:{}", free_port()?);
        let values = self.placeholders(engine, &database.url, &listen)?;
        let start = self.command(&self.plan.application.start, engine, "serve", &values)?;
        let ready = expand(&self.plan.application.ready, "application.ready", &values)?;
        let target = Target::listening(&listen)?;
        let application = Application::start(&start)?;
        application.wait_until_answering(&target, &ready, READY_TIMEOUT, self.interrupted)?;
        note_what_it_says(&mut database.record, &target, &ready, self.interrupted)?;
        let mut roots = vec![application.pid()];
        roots.extend(database.server.as_ref().map(PostgresServer::pid));
        Ok(Deployment {
            engine: database.record,
            target,
            side: (!database.out_of_sight).then_some(ServerSide { roots }),
            data_paths: database.data_paths,
            application,
            server: database.server,
        })
    }

    fn prepare(&self, engine: &EngineSpec, url: &DatabaseUrl) -> Result<(), DeployError> {
        self.progress.set_message(format!("filling {}", engine.label()));
        let values = self.placeholders(engine, url, "")?;
        for command in &self.plan.application.prepare {
            run_to_end(&self.command(command, engine, "prepare", &values)?, self.interrupted)?;
        }
        Ok(())
    }

    fn command(
        &self,
        words: &[String],
        engine: &EngineSpec,
        purpose: &str,
        values: &Placeholders,
    ) -> Result<ApplicationOptions, DeployError> {
        let mut expanded = Vec::new();
        for word in words {
            if word == "{settings}" {
                // A managed server has its settings from its start, a foreign one from its URL.
                if engine.source.kind() == "sqlite" {
                    for (key, value) in engine.engine_settings() {
                        expanded.extend(["--set".to_owned(), format!("{key}={value}")]);
                    }
                }
            } else {
                expanded.push(expand(word, "application", values)?);
            }
        }
        let mut environment = Vec::new();
        for (name, value) in &self.plan.application.environment {
            environment.push((name.clone(), expand(value, "application.environment", values)?));
        }
        Ok(ApplicationOptions {
            name: format!("{purpose}-{}", file_name(&engine.label())),
            command: expanded,
            environment,
            directory: None,
            log_directory: self.logs.to_owned(),
            cpus: self.plan.server_cpus.clone(),
        })
    }

    /// Every placeholder but those of the factors.
    fn placeholders(
        &self,
        engine: &EngineSpec,
        url: &DatabaseUrl,
        listen: &str,
    ) -> Result<Placeholders, DeployError> {
        let mut values = self.plan.constants.clone();
        values.entry("design".to_owned()).or_insert_with(|| "daily".to_owned());
        if let Some(design) = engine.own("design") {
            values.insert("design".to_owned(), design.to_owned());
        }
        if let DatabaseUrl::Sqlite(path) = url {
            values.insert("path".to_owned(), path.display().to_string());
        }
        if let Data::File(path) = &self.plan.data {
            values.insert("data".to_owned(), path.display().to_string());
        }
        let (host, port) = listen.rsplit_once(':').unwrap_or_default();
        for (name, value) in [
            ("crossover", self.program.display().to_string()),
            ("database_url", url.expose()),
            ("engine", engine.label()),
            ("listen", listen.to_owned()),
            ("host", host.to_owned()),
            ("port", port.to_owned()),
            ("secret", self.secret.to_owned()),
        ] {
            values.insert(name.to_owned(), value);
        }
        Ok(values)
    }
}

impl Deployment {
    /// Whether the application still runs; else why not.
    ///
    /// # Errors
    /// With the end of its log.
    pub fn check_alive(&self) -> Result<(), DeployError> {
        Ok(self.application.check()?)
    }

    /// Stops the application, then the server.
    ///
    /// # Errors
    /// When the server does not stop.
    pub fn retire(self, runtime: &tokio::runtime::Handle) -> Result<(), DeployError> {
        self.application.stop(STOP_GRACE);
        if let Some(server) = self.server {
            runtime.block_on(server.stop())?;
        }
        Ok(())
    }
}

/// An application may answer its ready path with JSON that names its engine and settings, as
/// `crossover dashboard serve` does at `/healthz`: only it knows what its library really did.
fn note_what_it_says(
    record: &mut EngineRecord,
    target: &Target,
    path: &str,
    interrupted: &AtomicBool,
) -> Result<(), DeployError> {
    #[derive(serde::Deserialize)]
    struct Says {
        engine: Option<String>,
        #[serde(default)]
        settings: std::collections::BTreeMap<String, String>,
    }
    let request = PreparedRequest::get(target, "ready", path, &[])?;
    let body = Connection::open(target, READY_TIMEOUT, interrupted)?.fetch(&request)?.body;
    let Ok(says) = serde_json::from_slice::<Says>(&body) else { return Ok(()) };
    if let Some(engine) = says.engine {
        record.version = engine;
    }
    for (name, value) in says.settings {
        record.settings.retain(|(known, _)| *known != name);
        record.settings.push((name, value));
    }
    Ok(())
}

/// A label as a file name.
fn file_name(label: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    label.chars().map(plain).collect()
}
