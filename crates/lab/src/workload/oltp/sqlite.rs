//! SQLite for workload `oltp`: files in the run's scratch folder, opened in this process and in those of
//! its clients.

use std::path::{Path, PathBuf};

use ::oltp::OltpTarget;
use connect::sqlite::file;
use engine::{EngineKind, EngineSpec};
use plan::oltp::TableOptions;

use super::engine::OltpEngine;
use super::{SETTLE_AT_MOST, merged, of_engine, planned_schemas, schema_name};
use crate::error::RunError;
use crate::workload::library::NamedLibrary;
use crate::workload::sql::{LibraryFile, OpenMode};
use host::HostOptions;
use host::observe::{Silent, Watch};
use host::sqlite::SqliteWatch;
use host::{self, DeployError, Site, durability, prewarm};
use load::resource::ServerSide;
use plan::{Checkpoints, Oltp};
use record::EngineRecord;

/// Pages of the log after which a commit begins a checkpoint, where none is to end in a trial and
/// the plan does not say otherwise.
const NO_CHECKPOINT: (&str, &str) = ("wal_autocheckpoint", "0");

/// Refuses settings that SQLite does not take.
pub(super) fn check(
    engine: &EngineSpec,
    oltp: &Oltp,
    options: &HostOptions<'_>,
) -> Result<(), RunError> {
    let mut all = engine.clone();
    for (name, value) in pragmas(oltp, engine) {
        all.settings
            .set(&name, &value)
            .map_err(|message| plan::PlanError::impossible("oltp.settings", message))?;
    }
    Ok(host::check(&all, options)?)
}

fn pragmas(oltp: &Oltp, engine: &EngineSpec) -> Vec<(String, String)> {
    let (name, never) = NO_CHECKPOINT;
    let mut common = oltp.settings_of(EngineKind::Sqlite);
    let is_told = common.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
    if oltp.checkpoints == Some(Checkpoints::Between) && !is_told {
        common.push((name.to_owned(), never.to_owned()));
    }
    merged(common, engine)
}

/// The files of one engine.
pub(super) struct SqliteHost<'a> {
    site: &'a Site<'a>,
    label: String,
    record: EngineRecord,
    side: ServerSide,
    files: Vec<PathBuf>,
    pragmas: Vec<(String, String)>,
    /// By which client processes open the files; what is not timed is done by the SQLite of this one.
    library: Option<NamedLibrary>,
    /// A trial has changed its copy.
    changed: bool,
}

impl<'a> SqliteHost<'a> {
    /// Fills what is not there yet.
    pub(super) fn new(
        site: &'a Site<'a>,
        engine: &EngineSpec,
        oltp: &Oltp,
    ) -> Result<Self, RunError> {
        let mut host = Self {
            site,
            label: engine.label(),
            record: EngineRecord::default(),
            // Engine and clients are one process, which is ours.
            side: ServerSide { roots: vec![std::process::id()] },
            files: Vec::new(),
            pragmas: pragmas(oltp, engine),
            library: NamedLibrary::of(site.plan, engine, &site.options())?,
            changed: false,
        };
        for schema in planned_schemas(site.plan)? {
            let path = host.fill(&oltp.table_options(schema))?;
            host.files.push(path);
        }
        host.record = host.observe()?;
        Ok(host)
    }

    /// Of one family of tables; the same rows have the same file, whatever the pragmas.
    fn path(&self, tables: &TableOptions) -> PathBuf {
        let text = format!("{tables:?}");
        let hash = xxhash_rust::xxh3::xxh3_64(text.as_bytes());
        self.site.scratch.join(format!("oltp-{}-{hash:016x}.db", schema_name(tables.schema)))
    }

    /// The file that a trial may change.
    fn copy(&self) -> PathBuf {
        self.site.scratch.join("oltp-trial.db")
    }

    fn target(&self, path: PathBuf) -> OltpTarget {
        let library = self.library.as_ref().map(|library| library.held.clone());
        OltpTarget::Sqlite { path, pragmas: self.pragmas.clone(), library }
    }

    /// Under another name until it is whole.
    fn fill(&self, tables: &TableOptions) -> Result<PathBuf, RunError> {
        let path = self.path(tables);
        if path.is_file() {
            return Ok(path);
        }
        // The limit on memory is for the measurement; filling may take what it needs.
        let _outside = self.site.memory.map(load::resource::MemoryGroup::step_out).transpose()?;
        let partial = path.with_extension("partial");
        remove_with_log(&partial)?;
        let label = &self.label;
        let progress = |done: u64, all: u64| {
            self.site.progress.set_message(format!("filling {label}: {done} of {all} rows"));
        };
        let target =
            OltpTarget::Sqlite { path: partial.clone(), pragmas: Vec::new(), library: None };
        ::oltp::fill(&target, tables, &progress, self.site.interrupted)
            .map_err(|error| of_engine(label, error))?;
        // The last connection's end has taken the log into the file; what is copied is this alone.
        rename_with_log(&partial, &path)?;
        Ok(path)
    }

    /// Version, and settings as read back, by the library of the clients.
    fn asked(&self, path: &Path) -> Result<(String, Vec<(String, String)>), RunError> {
        let with_log = [("journal_mode".to_owned(), "wal".to_owned())];
        let settings: Vec<_> = with_log.into_iter().chain(self.pragmas.clone()).collect();
        if let Some(library) = &self.library {
            let (path, access) = (path.to_owned(), OpenMode::Write);
            let file = LibraryFile { library: library.held.clone(), path, access, settings };
            return library.opened(self.site, &self.label, &file);
        }
        let connection = connect::sqlite::open_existing(path).map_err(DeployError::from)?;
        let pairs = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let settings = connect::sqlite::settings(&connection, pairs).map_err(DeployError::from)?;
        Ok((format!("SQLite {}", connect::sqlite::version()), settings))
    }

    fn observe(&self) -> Result<EngineRecord, RunError> {
        let Some(path) = self.files.first() else { return Ok(EngineRecord::default()) };
        let (version, mut settings) = self.asked(path)?;
        settings.push(("transactions that write".to_owned(), "BEGIN IMMEDIATE".to_owned()));
        let bytes = std::fs::metadata(path).map(|metadata| metadata.len()).ok();
        Ok(EngineRecord {
            name: self.label.clone(),
            version,
            durability: durability(EngineKind::Sqlite, &settings),
            settings,
            statistics_present: Some(true),
            data_bytes: bytes,
            ..EngineRecord::default()
        })
    }
}

impl OltpEngine for SqliteHost<'_> {
    fn record(&self) -> &EngineRecord {
        &self.record
    }

    fn side(&self) -> Option<&ServerSide> {
        Some(&self.side)
    }

    fn data_paths(&self) -> &[PathBuf] {
        &self.files
    }

    fn filled(&mut self, tables: &TableOptions) -> Result<OltpTarget, RunError> {
        let path = self.fill(tables)?;
        if std::mem::take(&mut self.changed) {
            // Pages that the trial before has left dirty would be written in the middle of this
            // one.
            remove_with_log(&self.copy())?;
            prewarm::settle(&path, SETTLE_AT_MOST, self.site.interrupted)?;
        }
        Ok(self.target(path))
    }

    fn restored(&mut self, tables: &TableOptions) -> Result<OltpTarget, RunError> {
        let filled = self.fill(tables)?;
        let copy = self.copy();
        self.changed = true;
        host::sqlite::copy_filled(&self.label, &filled, &copy)?;
        prewarm::prewarm(&copy, self.site.interrupted)?;
        prewarm::settle(&copy, SETTLE_AT_MOST, self.site.interrupted)?;
        Ok(self.target(copy))
    }

    fn watch(&self, target: &OltpTarget) -> Box<dyn Watch + Send> {
        match target {
            OltpTarget::Sqlite { path, .. } => Box::new(SqliteWatch::new(path)),
            OltpTarget::Postgres { .. } | OltpTarget::Mysql { .. } => Box::new(Silent),
        }
    }

    fn check_alive(&mut self) -> Result<(), RunError> {
        Ok(())
    }

    fn retire(self: Box<Self>) -> Result<(), RunError> {
        remove_with_log(&self.copy())
    }
}

fn remove_with_log(path: &Path) -> Result<(), RunError> {
    file::remove(path).map_err(|source| RunError::Io { path: path.to_owned(), source })
}

fn rename_with_log(from: &Path, to: &Path) -> Result<(), RunError> {
    let io = |source| RunError::Io { path: from.to_owned(), source };
    let connection = connect::sqlite::open_existing(from).map_err(DeployError::from)?;
    connection
        .pragma_update(None, "journal_mode", "delete")
        .map_err(|source| DeployError::Sqlite { path: from.to_owned(), source })?;
    drop(connection);
    std::fs::rename(from, to).map_err(io)
}
