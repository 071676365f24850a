//! An engine of workload `oltp`, ready to be measured: each trial on tables as filled or
//! restored, its rows checked afterwards where it changed them.

use std::path::PathBuf;

use ::oltp::{OltpLoadOptions, OltpTarget, Until};
use engine::EngineSpec;
use plan::oltp::{Mix, TableOptions};

use super::engine::OltpEngine;
use super::load::{LoadBench, offer};
use super::of_engine;
use crate::error::RunError;
use crate::workload::{Answers, MeasuredPart, Subject};
use host::{Distance, Site};
use load::TrialSample;
use load::resource::ServerSide;
use plan::Oltp;
use plan::{ClientsAs, Levels};
use plan::{LoadOptions, Mode};
use record::Answer;
use record::EngineRecord;

pub(super) struct OltpSubject<'a> {
    site: &'a Site<'a>,
    /// With the keys of `[oltp]` that it has for itself.
    engine: EngineSpec,
    label: String,
    record: EngineRecord,
    host: Box<dyn OltpEngine + 'a>,
    /// Between the clients of the next trial and the server.
    distance: Distance,
    /// The load of the next trial.
    next: Option<PreparedLoad>,
    last: Option<Last>,
}

struct PreparedLoad {
    target: OltpTarget,
    /// The same as its clients reach it.
    far: OltpTarget,
    tables: TableOptions,
    oltp: Oltp,
}

/// Results of the last load.
struct Last {
    part: Option<MeasuredPart>,
    words: Option<String>,
    ended: Option<String>,
    rows_added: i64,
    prepared: PreparedLoad,
}

impl<'a> OltpSubject<'a> {
    pub(super) fn new(
        site: &'a Site<'a>,
        engine: EngineSpec,
        host: Box<dyn OltpEngine + 'a>,
        record: EngineRecord,
    ) -> Self {
        let label = engine.label();
        let distance = Distance::default();
        Self { site, engine, label, record, host, distance, next: None, last: None }
    }

    fn oltp(&self, levels: &Levels) -> Result<(Oltp, TableOptions), RunError> {
        let oltp = self.site.plan.oltp_of(&self.engine, levels)?;
        let tables = oltp.table_options(oltp.mix.schema());
        Ok((oltp, tables))
    }

    /// The target as clients reach it at `levels`. A restored server may listen elsewhere.
    fn far(&mut self, target: &OltpTarget, levels: &Levels) -> Result<OltpTarget, RunError> {
        let mut far = target.clone();
        match &mut far {
            OltpTarget::Sqlite { .. } => {}
            OltpTarget::Postgres { url, .. } => {
                self.distance = Distance::to_postgres(self.site, url, levels)?;
                *url = self.distance.postgres(url)?;
            }
            OltpTarget::Mysql { url, .. } => {
                self.distance = Distance::to_mysql(self.site, url, levels)?;
                *url = self.distance.mysql(url)?;
            }
        }
        Ok(far)
    }

    fn options(&self, oltp: &Oltp, options: &LoadOptions) -> OltpLoadOptions {
        let until = match options.mode {
            Mode::Steady { time, .. } | Mode::Open { time, .. } => Until::Time(time),
            Mode::Passes(passes) => Until::Transactions(passes.into()),
            Mode::EachOnce => Until::Transactions(1),
        };
        let warmup = oltp.warm_up.duration();
        OltpLoadOptions {
            distribution: oltp.distribution,
            until,
            warmup,
            seed: options.seed,
            timeout: options.timeout,
            character_set: oltp.client_character_set,
            ..OltpLoadOptions::new(oltp.mix, options.clients, warmup)
        }
    }
}

impl Subject for OltpSubject<'_> {
    fn engine(&self) -> &EngineRecord {
        &self.record
    }

    fn side(&self) -> Option<&ServerSide> {
        self.host.side()
    }

    fn data_paths(&self) -> &[PathBuf] {
        self.host.data_paths()
    }

    /// The rows themselves, against what should have been filled: once for each engine and
    /// family of tables in a run.
    fn check_answers(&mut self, cells: &[Levels], answers: &mut Answers) -> Result<(), RunError> {
        for levels in cells {
            let (_, tables) = self.oltp(levels)?;
            let key = format!("{} {tables:?}", self.label);
            if answers.contains_key(&key) {
                continue;
            }
            self.site.progress.set_message(format!("checking the rows of {}", self.label));
            let target = self.host.filled(&tables)?;
            ::oltp::invariants(&target, &tables, &[], 0, self.site.interrupted)
                .map_err(|error| of_engine(&self.label, error))?;
            let rows = ::oltp::total_rows(&tables);
            answers.insert(key, Answer { status: 0, body_bytes: rows, body_hash: 0 });
        }
        Ok(())
    }

    fn includes_warm_up(&self) -> bool {
        true
    }

    fn prepare(&mut self, levels: &Levels) -> Result<(), RunError> {
        let (oltp, tables) = self.oltp(levels)?;
        let target = match oltp.mix.writes() {
            true => self.host.restored(&tables)?,
            false => self.host.filled(&tables)?,
        };
        let target = self.host.reached(target, self.site.plan.connection_by(levels)?);
        self.site.progress.set_message(format!("{}, {}", self.label, oltp.mix));
        let far = self.far(&target, levels)?;
        self.next = Some(PreparedLoad { target, far, tables, oltp });
        Ok(())
    }

    fn load(&mut self, levels: &Levels, options: &LoadOptions) -> Result<TrialSample, RunError> {
        if self.next.is_none() {
            self.prepare(levels)?;
        }
        let Some(prepared) = self.next.take() else {
            let message = format!("{}: nothing was prepared for this trial", self.label);
            return Err(RunError::Statement(message));
        };
        let in_this_process = self.engine.source.kind().properties().is_embedded;
        let is_processes = self.site.plan.clients_as(levels)? == ClientsAs::Processes;
        let mut cpus = options.client_cpus.clone();
        if let (true, Some(server)) = (in_this_process, self.site.plan.server_cpus_at(levels)?) {
            cpus = Some(server);
        }
        let bench = LoadBench {
            engine: &self.label,
            target: &prepared.far,
            tables: &prepared.tables,
            cpus,
            side: self.host.side(),
            distance: &self.distance,
            program: (in_this_process && is_processes).then_some(self.site.program),
            interrupted: self.site.interrupted,
        };
        let mut watcher = self.host.watch(&prepared.target);
        let load = self.options(&prepared.oltp, options);
        let mut offered = offer(&bench, &load, watcher.as_mut())?;
        if !prepared.oltp.mix.writes() {
            // Whether a checkpoint ended says nothing of a load that only reads.
            offered.part.counters.retain(|name, _| !name.ends_with("checkpoints_ended"));
        }
        self.last = Some(Last {
            part: Some(offered.part),
            words: offered.words,
            ended: offered.ended,
            rows_added: offered.rows_added,
            prepared,
        });
        Ok(offered.sample)
    }

    fn measured_part(&mut self) -> Option<MeasuredPart> {
        self.last.as_mut()?.part.take()
    }

    fn failure_message(&self, _operation: u16) -> Option<String> {
        self.last.as_ref()?.words.clone()
    }

    fn check_alive(&mut self) -> Result<(), RunError> {
        self.distance.check_alive()?;
        let alive = self.host.check_alive();
        let ended = self.last.as_ref().and_then(|last| last.ended.clone());
        match (alive, ended) {
            (Err(error), Some(ended)) => Err(RunError::Statement(format!("{ended}; {error}"))),
            (Err(error), None) => Err(error),
            (Ok(()), Some(ended)) => Err(RunError::Statement(ended)),
            (Ok(()), None) => Ok(()),
        }
    }

    fn check_data(&mut self) -> Result<(), RunError> {
        let Some(Last { rows_added, prepared, .. }) = &self.last else { return Ok(()) };
        let PreparedLoad { target, tables, oltp, .. } = prepared;
        let mix: Mix = oltp.mix;
        if !mix.writes() {
            return Ok(());
        }
        let checked =
            ::oltp::invariants(target, tables, &[mix], *rows_added, self.site.interrupted);
        checked.map_err(|error| match error {
            ::oltp::Error::Invariant { table, difference, .. } => RunError::Invariant {
                engine: self.label.clone(),
                mix: mix.name(),
                what: format!("table {table}: {difference}"),
            },
            other => of_engine(&self.label, other),
        })
    }

    fn retire(self: Box<Self>) -> Result<(), RunError> {
        self.host.retire()
    }
}
