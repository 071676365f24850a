//! An engine of workload `sql`, ready to be measured: answers compared untimed, load by clients
//! with prepared statements, plans of the very statements that were measured.

mod agreement;
mod keys;
mod processes;
mod written;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use super::answer::{AnswerRule, AnswerTable, difference};
use super::client::SqlError;
use super::deploy::Deployed;
use super::entry::{AskedAtStep, EntryValues, StatementEntry, at_step, key_of, question_of};
use super::load::{Pool, SqlClients, warm_clients};
use super::supply::Supply;
use super::target::SessionPlace;
use super::value::AnswerValue;
use super::{deck, script, used};
use crate::error::RunError;
use crate::workload::{Answers, Counters, KeyReach, Subject, TableComparison, WriteBack};
use agreement::Asked;
use host::prewarm;
use host::{DataUse, Site};
use load::resource::ServerSide;
use load::{LoadError, TrialSample, run_clients};
use plan::LoadOptions;
use plan::{Levels, Placeholders, Statement, TransactionBegin};
use processes::ProcessPool;
use record::counter::TRANSACTION_RETRIES;
use record::{EngineRecord, OperationPlan, WrittenTable};

pub(super) struct SqlSubject<'a> {
    pub(super) site: &'a Site<'a>,
    pub(super) deployed: Deployed,
    data_use: DataUse,
    /// The engine's choice for its transactions that write.
    begin: Option<TransactionBegin>,
    entries: BTreeMap<String, Arc<StatementEntry>>,
    /// Answers to the plan's queries for values, by text.
    queries: BTreeMap<String, Vec<AnswerValue>>,
    /// Statements that the untimed pass found slow.
    slow: BTreeSet<AskedAtStep>,
    /// As the targets.
    pub(super) pools: BTreeMap<SessionPlace, Pool<'a>>,
    /// The same for clients that are processes, by the step's name.
    processes: BTreeMap<String, ProcessPool>,
    /// Why the last trial does not count, where a client has ended in it.
    ended: Option<String>,
    /// The plan's invariant at first.
    invariant: Option<AnswerTable>,
}

impl<'a> SqlSubject<'a> {
    pub(super) fn new(
        site: &'a Site<'a>,
        deployed: Deployed,
        data_use: DataUse,
        begin: Option<TransactionBegin>,
    ) -> Result<Self, RunError> {
        let mut subject = Self {
            site,
            deployed,
            data_use,
            begin,
            entries: BTreeMap::new(),
            queries: BTreeMap::new(),
            slow: BTreeSet::new(),
            pools: BTreeMap::new(),
            processes: BTreeMap::new(),
            ended: None,
            invariant: None,
        };
        subject.close_sessions();
        subject.invariant = subject.read_invariant()?;
        Ok(subject)
    }

    /// Has the clients of one cell do something.
    fn with_clients<T: Send>(
        &mut self,
        levels: &Levels,
        options: &LoadOptions,
        work: impl FnOnce(&SqlClients<'_, 'a>) -> Result<T, LoadError>,
    ) -> Result<T, RunError> {
        let entries = self.cell(levels)?;
        let (target, pool) = self.at(levels)?;
        let clients = SqlClients {
            target,
            pool,
            entries,
            changing: self.data_use == DataUse::Change,
            seed: self.site.plan.seed.unwrap_or_default(),
            options,
            interrupted: self.site.interrupted,
        };
        Ok(self.stoppable(target, || work(&clients))?)
    }

    /// Clients of an embedded engine are the server side too.
    fn placed(&self, levels: &Levels, mut options: LoadOptions) -> Result<LoadOptions, RunError> {
        let cpus = self.site.plan.server_cpus_at(levels)?;
        if let (true, Some(cpus)) = (self.at(levels)?.0.kind().properties().is_embedded, cpus) {
            options.client_cpus = Some(cpus);
        }
        Ok(options)
    }

    fn label(&self) -> &str {
        &self.deployed.record.name
    }

    fn read_invariant(&self) -> Result<Option<AnswerTable>, RunError> {
        let Some(invariant) = &self.site.plan.invariant else { return Ok(None) };
        let target = self.first_target()?;
        let mut session = self.open(target)?;
        let table = self.stoppable(target, || session.query(&invariant.text));
        let failed = |error: SqlError| error.at(&format!("{}, invariant", self.label()));
        table.map(Some).map_err(failed)
    }

    /// The mix at one cell.
    fn cell(&mut self, levels: &Levels) -> Result<Vec<Arc<StatementEntry>>, RunError> {
        let plan = self.site.plan;
        let placeholders = plan.placeholders(levels)?;
        let statements = plan.statements.iter().enumerate();
        statements
            .map(|(operation, statement)| self.entry(operation, statement, &placeholders, levels))
            .collect()
    }

    fn entry(
        &mut self,
        operation: usize,
        statement: &Statement,
        placeholders: &Placeholders,
        levels: &Levels,
    ) -> Result<Arc<StatementEntry>, RunError> {
        let key = key_of(statement, placeholders);
        if let Some(entry) = self.entries.get(&key) {
            return Ok(Arc::clone(entry));
        }
        let bound = used(statement, placeholders);
        let names = deck::names(statement, &bound);
        let kind = self.first_target()?.kind();
        let mut script = script::script(statement, operation, kind, placeholders, &names)?;
        script.id = self.entries.len();
        if let Some(begin) = self.begin {
            script.locks_at_begin = script.writes && begin == TransactionBegin::Immediate;
        }
        let values = self.values(operation, statement, &bound, levels, script.writes)?;
        let question = question_of(statement, placeholders);
        let entry = Arc::new(StatementEntry::new(key.clone(), question, script, bound, values));
        self.entries.insert(key, Arc::clone(&entry));
        Ok(entry)
    }

    /// The values that a statement is executed with: dealt again and again, or used up where it writes.
    fn values(
        &mut self,
        operation: usize,
        statement: &Statement,
        bound: &Placeholders,
        levels: &Levels,
        writes: bool,
    ) -> Result<EntryValues, RunError> {
        let seed = self.site.plan.seed.unwrap_or_default();
        let sources = deck::sources(statement, bound, levels, |text| self.values_of(text))?;
        Ok(match writes {
            true => EntryValues::supplied(Supply::new(sources, seed, operation), statement.draws),
            false => {
                EntryValues::dealt(deck::draw(&sources, deck::draws(statement), seed, operation))
            }
        })
    }

    /// The first column of the answer to a query for parameter values.
    fn values_of(&mut self, text: &str) -> Result<Vec<AnswerValue>, RunError> {
        if let Some(values) = self.queries.get(text) {
            return Ok(values.clone());
        }
        let target = self.first_target()?;
        let mut session = self.open(target)?;
        let table = self
            .stoppable(target, || session.query(text))
            .map_err(|error| error.at(&format!("{}, query for parameters {text}", self.label())))?;
        let first = |row: Vec<AnswerValue>| row.into_iter().next();
        let values: Vec<AnswerValue> = table.rows.into_iter().filter_map(first).collect();
        self.queries.insert(text.to_owned(), values.clone());
        Ok(values)
    }
}

impl Subject for SqlSubject<'_> {
    fn engine(&self) -> &EngineRecord {
        &self.deployed.record
    }

    fn side(&self) -> Option<&ServerSide> {
        self.deployed.side.as_ref()
    }

    fn data_paths(&self) -> &[PathBuf] {
        &self.deployed.data_paths
    }

    /// The sessions that are asked here go on as those of clients, so a long statement needs no other
    /// execution before a trial.
    fn check_answers(&mut self, cells: &[Levels], answers: &mut Answers) -> Result<(), RunError> {
        let (mut checked, mut slow) = (BTreeSet::new(), BTreeSet::new());
        for levels in cells {
            let cell = self.cell(levels)?;
            let (target, pool) = self.at(levels)?;
            let by = self.place_at(levels)?.by;
            let mut session = self.pooled(target, pool)?;
            let mix = self.site.plan.operations_at(levels);
            let done = cell.iter().zip(&self.site.plan.statements).zip(&mix);
            for ((entry, statement), _) in done.filter(|(_, operation)| operation.weight > 0) {
                if !checked.insert((by, at_step(levels, entry))) {
                    continue;
                }
                let asked = Asked {
                    entry,
                    statement,
                    names: deck::names(statement, &entry.bound),
                    scope: self.site.plan.data_scope(levels),
                    label: label_of_version(self.label(), statement, levels),
                };
                let is_slow =
                    self.stoppable(target, || self.check_entry(session.as_mut(), &asked, answers))?;
                if is_slow {
                    slow.insert(at_step(levels, entry));
                }
            }
            pool.lock().insert(0, Some(session));
        }
        self.slow.extend(slow);
        Ok(())
    }

    fn is_slow(&self, operation: usize, levels: &Levels) -> bool {
        let of_operation = |entry: &&Arc<StatementEntry>| entry.script.operation == operation;
        let mut entries = self.entries.values().filter(of_operation);
        entries.any(|entry| self.slow.contains(&at_step(levels, entry)))
    }

    /// Where data may change every trial has a copy of its own, and so sessions of its own, which
    /// prepare and warm what they will execute.
    fn includes_warm_up(&self) -> bool {
        self.data_use == DataUse::Change
    }

    /// Data of its own where they change, and sessions that have prepared and warmed what they will
    /// execute: none of that is the trial's work.
    fn prepare(&mut self, levels: &Levels) -> Result<(), RunError> {
        if let Deployed { database: Some(database), data_paths, .. } = &mut self.deployed
            && self.data_use == DataUse::Change
        {
            self.pools.values_mut().for_each(|pool| *pool = Pool::default());
            self.processes.clear();
            database.renew(self.site)?;
            data_paths.clone_from(&database.data_paths);
            prewarm::read_data(data_paths, self.site.memory.is_some(), self.site.interrupted)?;
        }
        let options = self.placed(levels, self.site.plan.load_at(levels, 0)?)?;
        match self.are_processes(levels)? {
            true => self.prepare_processes(levels, &options),
            false => self.with_clients(levels, &options, warm_clients),
        }
    }

    fn load(&mut self, levels: &Levels, options: &LoadOptions) -> Result<TrialSample, RunError> {
        let weights: Vec<u32> =
            self.site.plan.operations_at(levels).iter().map(|one| one.weight).collect();
        let interrupted = self.site.interrupted;
        self.entries.values().for_each(|entry| entry.begin_load());
        self.ended = None;
        let options = self.placed(levels, options.clone())?;
        let mut sample = match self.are_processes(levels)? {
            true => self.load_by_processes(levels, &options)?,
            false => self.with_clients(levels, &options, |clients| {
                run_clients(clients, &weights, clients.options, interrupted)
            })?,
        };
        if self.at(levels)?.0.kind().properties().is_embedded {
            // The clients are the engine too; all of their time is the server side's.
            sample.client_cpu_seconds = 0.0;
        }
        Ok(sample)
    }

    fn write_back(&mut self) -> Result<Option<WriteBack>, RunError> {
        match (self.data_use, &self.deployed.database) {
            (DataUse::Change, Some(database)) => {
                let checkpoint = database.hosted.checkpoint(self.site)?;
                Ok(checkpoint.map(|checkpoint| WriteBack { checkpoint, sync: None }))
            }
            _ => Ok(None),
        }
    }

    fn key_reaches(&mut self, levels: &Levels) -> Result<Option<Vec<KeyReach>>, RunError> {
        match self.data_use {
            DataUse::Change => self.reaches_at(levels).map(Some),
            DataUse::Read => Ok(None),
        }
    }

    fn written_tables(
        &mut self,
        levels: &Levels,
        wanted: TableComparison,
    ) -> Result<BTreeMap<String, WrittenTable>, RunError> {
        self.tables_after(levels, wanted)
    }

    fn failure_message(&self, operation: u16) -> Option<String> {
        let mut of_operation =
            self.entries.values().filter(|one| one.script.operation == usize::from(operation));
        of_operation.find_map(|entry| entry.first_error())
    }

    fn without_effect_fraction(&self, operation: u16) -> Option<f64> {
        let of_operation =
            self.entries.values().filter(|one| one.script.operation == usize::from(operation));
        let effects = of_operation.filter_map(|entry| entry.effects());
        let add = |sum: (u64, u64), one: (u64, u64)| (sum.0 + one.0, sum.1 + one.1);
        let (all, without) = effects.fold((0, 0), add);
        (all > 0).then(|| without as f64 / all as f64)
    }

    fn counters(&mut self) -> Counters {
        let database = self.deployed.database.as_mut();
        let mut counters = database
            .map(|database| database.hosted.counters(self.site.runtime))
            .unwrap_or_default();
        counters.extend(self.deployed.distance.counters());
        for pool in self.pools.values() {
            for session in pool.lock().iter_mut().flatten() {
                for (name, value) in session.counters() {
                    *counters.entry(name).or_default() += value;
                }
            }
        }
        for (name, value) in self.processes.values().flat_map(ProcessPool::counters) {
            *counters.entry(name.clone()).or_default() += value;
        }
        let writing = self.entries.values().filter(|entry| entry.supply.is_some());
        let retries = writing.map(|entry| entry.retries()).reduce(|sum, one| sum + one);
        counters.extend(retries.map(|retries| (TRANSACTION_RETRIES.to_owned(), retries as f64)));
        counters
    }

    fn plans(&mut self, levels: &Levels) -> Vec<OperationPlan> {
        self.cell(levels).map(|cell| self.plans_of(levels, cell)).unwrap_or_default()
    }

    fn check_alive(&mut self) -> Result<(), RunError> {
        self.deployed.distance.check_alive()?;
        if let Some(ended) = &self.ended {
            return Err(RunError::EngineCrashed(ended.clone()));
        }
        if let Some(database) = &mut self.deployed.database {
            database.hosted.check_alive()?;
        }
        let Some(before) = &self.invariant else {
            return self.open(self.first_target()?).map(drop);
        };
        let now = self.read_invariant()?.unwrap_or_default();
        let comparison = plan::ResultComparison::Rows;
        let rule = AnswerRule { comparison: &comparison, digits: 15 };
        let found = difference(("at first the database", before), ("now it", &now), rule);
        found.map_or(Ok(()), |found| {
            let (label, what) = (self.label(), found.words);
            let message = format!("{label}: the plan's invariant does not hold: {what}");
            Err(RunError::Statement(message))
        })
    }

    fn retire(mut self: Box<Self>) -> Result<(), RunError> {
        self.pools.clear();
        self.processes.clear();
        let Some(database) = self.deployed.database.take() else { return Ok(()) };
        database.hosted.drop_copy(self.site);
        Ok(database.hosted.retire(self.site.runtime)?)
    }
}

/// The engine and the version of the statement that it answered: `sqlite with version=new`.
fn label_of_version(engine: &str, statement: &Statement, levels: &Levels) -> String {
    let version = |name: &String| Some(format!("{name}={}", levels.get(name)?));
    let versions: Vec<String> = statement.version_factors().filter_map(version).collect();
    match versions.is_empty() {
        true => engine.to_owned(),
        false => format!("{engine} with {}", versions.join(", ")),
    }
}
