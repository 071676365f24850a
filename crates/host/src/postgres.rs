//! PostgreSQL's part of a deployment: a managed server filled once and settled before each turn,
//! or a server of the user's, which is only read.

use engine::{DatabaseUrl, EngineSource, EngineSpec, PostgresUrl};
use server::{PostgresServer, StartOptions};

use crate::HostOptions;
use crate::filling::DATABASE;
use crate::observe::temporary_files::{self, TemporaryFiles};
use crate::template::{DataUse, Template};
use crate::{Address, Database, DeployError, Site, needs_tcp};
use plan::Levels;
use record::EngineRecord;

/// Settings that bear on most results; shown for every PostgreSQL beside those of the plan.
const SHOWN_SETTINGS: [&str; 10] = [
    "shared_buffers",
    "work_mem",
    "effective_cache_size",
    "max_parallel_workers_per_gather",
    "random_page_cost",
    "jit",
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "data_checksums",
];

impl Site<'_> {
    pub(super) fn managed_postgres(
        &self,
        engine: &EngineSpec,
        levels: &Levels,
        data_use: DataUse,
    ) -> Result<Database, DeployError> {
        let mut options = StartOptions::for_engine(engine)?;
        options.data_digest = self.filling(engine, levels)?;
        options.cpus = self.plan.server_cpus_at(levels)?;
        options.database = DATABASE.to_owned();
        options.tcp = needs_tcp(self.plan);
        let (name, value) = temporary_files::SETTING;
        let logs_as_told = options.settings.iter().any(|(set, _)| set == name);
        if !logs_as_told {
            options.settings.push((name.to_owned(), value.to_owned()));
        }
        let start = || {
            let options = options.clone();
            let (progress, interrupted) = (self.progress, self.interrupted);
            let start = PostgresServer::start(self.locations, options, progress, interrupted);
            self.runtime.block_on(start)
        };
        let fill = |server: &PostgresServer| {
            self.one_off.time(|| {
                let (url, tcp) = (server.url(DATABASE), server.tcp_url(DATABASE));
                let address = Address { url: DatabaseUrl::Postgres(url.clone()), tcp };
                self.prepare(engine, levels, &address)?;
                let contents = self.contents_of_postgres(&url)?;
                Ok::<_, DeployError>(server.mark_data_ready(&contents)?)
            })
        };
        let mut server = start()?;
        match self.memory {
            _ if server.data_is_ready() => {}
            None => fill(&server)?,
            // The limit is for what is measured; filling may take what it needs.
            Some(group) => {
                self.runtime.block_on(server.stop())?;
                let outside = group.step_out()?;
                let unlimited = start()?;
                fill(&unlimited)?;
                self.runtime.block_on(unlimited.stop())?;
                drop(outside);
                server = start()?;
            }
        }
        let log = server.log_path();
        let url = server.url(DATABASE);
        let record = self.record_postgres(engine, &url, server.settings_read_back())?;
        let mut database = Database {
            record,
            url: DatabaseUrl::Postgres(url.clone()),
            data_paths: vec![server.data_directory()],
            template: None,
            server: None,
            temporary_files: (!logs_as_told).then(|| TemporaryFiles::open(&log).ok()).flatten(),
            out_of_sight: false,
        };
        if data_use == DataUse::Change {
            database.template = Some(Template::Postgres {
                version: server.exact_version().to_owned(),
                data_directory: server.data_directory(),
                contents: self.contents_when_filled(&server, &url)?,
                url,
            });
        }
        database.server = Some(server);
        self.renew(engine, &mut database)?;
        Ok(database)
    }

    /// What the template was noted to hold; a program that filled it ahead may have noted nothing.
    fn contents_when_filled(
        &self,
        server: &PostgresServer,
        url: &PostgresUrl,
    ) -> Result<String, DeployError> {
        let noted = server.data_note()?;
        if !noted.is_empty() {
            return Ok(noted);
        }
        let contents = self.contents_of_postgres(url)?;
        server.mark_data_ready(&contents)?;
        Ok(contents)
    }

    /// A server of the user's is read, never written to.
    pub(super) fn foreign_postgres(
        &self,
        engine: &EngineSpec,
        url: &PostgresUrl,
    ) -> Result<Database, DeployError> {
        let url = url.with_session_settings(engine.engine_settings());
        let (version, settings) = self.runtime.block_on(async {
            let client = engine::postgres::connect(&url).await?;
            read_settings(&client).await.map_err(|source| postgres_error(engine, source))
        })?;
        Ok(Database {
            record: EngineRecord { name: engine.label(), version, settings, ..Default::default() },
            url: DatabaseUrl::Postgres(url),
            server: None,
            temporary_files: None,
            template: None,
            data_paths: Vec::new(),
            out_of_sight: true,
        })
    }

    /// Fresh statistics, and nothing left to write, before anything is timed.
    pub(super) fn settle_postgres(
        &self,
        engine: &EngineSpec,
        url: &PostgresUrl,
    ) -> Result<(), DeployError> {
        self.runtime.block_on(async {
            let client = engine::postgres::connect(url).await?;
            // Without statistics: rows of a system table, since nothing else takes them away.
            let statistics = match engine.own("analyze") {
                Some("off") => "DELETE FROM pg_statistic",
                _ => "ANALYZE",
            };
            for statement in [statistics, "CHECKPOINT"] {
                let done = client.batch_execute(statement).await;
                done.map_err(|source| postgres_error(engine, source))?;
            }
            Ok(())
        })
    }

    /// Version and settings as they are.
    fn record_postgres(
        &self,
        engine: &EngineSpec,
        url: &PostgresUrl,
        read_back: &[(String, String)],
    ) -> Result<EngineRecord, DeployError> {
        let (version, mut settings) = self.runtime.block_on(async {
            let client = engine::postgres::connect(url).await?;
            read_settings(&client).await.map_err(|source| postgres_error(engine, source))
        })?;
        for (name, value) in read_back {
            if !settings.iter().any(|(known, _)| known == name) {
                settings.push((name.clone(), value.clone()));
            }
        }
        Ok(EngineRecord { name: engine.label(), version, settings, ..Default::default() })
    }
}

/// Refuses JIT where the build has no compiler for it: the server would say `on` and do nothing.
/// Only a running server tells, so `start`, if it is ours, runs once on an empty directory.
pub(super) fn refuse_without_effect(
    engine: &EngineSpec,
    options: &HostOptions<'_>,
    start: Option<StartOptions>,
) -> Result<(), DeployError> {
    let asks_for_jit = |(name, value): &(&str, &str)| {
        let off = ["off", "false", "no", "0"].contains(&value.to_lowercase().as_str());
        name.to_lowercase().starts_with("jit") && !off
    };
    let Some((setting, _)) = engine.engine_settings().find(asks_for_jit) else { return Ok(()) };
    let HostOptions { locations, progress, interrupted, .. } = options;
    let available: Result<bool, DeployError> = options.runtime.block_on(async {
        let server = match start {
            Some(start) => {
                let start = start.temporary();
                Some(PostgresServer::start(locations, start, progress, interrupted).await?)
            }
            None => None,
        };
        let url = match (&server, &engine.source) {
            (Some(server), _) => server.url(DATABASE),
            (None, EngineSource::PostgresUrl(url)) => url.clone(),
            (None, _) => return Ok(true),
        };
        let client = engine::postgres::connect(&url).await?;
        let row = client.query_one("SELECT pg_jit_available()", &[]).await;
        let available = row.map(|row| row.get(0)).map_err(|e| postgres_error(engine, e));
        if let Some(server) = server {
            server.stop().await?;
        }
        available
    });
    if available? {
        return Ok(());
    }
    let why = "pg_jit_available() is false, the build has no JIT compiler";
    let (engine, setting) = (engine.label(), setting.to_owned());
    Err(DeployError::NoEffect { engine, setting, why })
}

/// Version and the settings that bear on most results.
pub async fn read_settings(
    client: &tokio_postgres::Client,
) -> Result<(String, Vec<(String, String)>), tokio_postgres::Error> {
    let version: String = client.query_one("SHOW server_version", &[]).await?.get(0);
    let names: Vec<&str> = SHOWN_SETTINGS.to_vec();
    let rows = client
        .query(
            "SELECT name, current_setting(name) FROM pg_settings WHERE name = ANY($1) ORDER BY name",
            &[&names],
        )
        .await?;
    let mut settings: Vec<(String, String)> =
        rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    // The setting says "on" even where the build has no JIT compiler to use.
    if let Some((_, jit)) = settings.iter_mut().find(|(name, _)| name == "jit") {
        let available: bool = client.query_one("SELECT pg_jit_available()", &[]).await?.get(0);
        if !available {
            jit.push_str(" (not available in this build)");
        }
    }
    Ok((format!("PostgreSQL {version}"), settings))
}

fn postgres_error(engine: &EngineSpec, source: tokio_postgres::Error) -> DeployError {
    DeployError::Postgres { engine: engine.label(), source }
}
