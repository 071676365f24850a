//! An engine of workload `sql`, ready to be measured: answers compared untimed, load by clients
//! with prepared statements, plans of the very statements that were measured.

mod agreement;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use engine::postgres::thin::WaitLimits;

use super::answer::{AnswerRule, AnswerTable, difference};
use super::client::SqlSession;
use super::deploy::Deployed;
use super::entry::StatementEntry;
use super::load::{Pool, SqlClients, warm};
use super::value::AnswerValue;
use super::{deck, script, used};
use crate::error::RunError;
use crate::workload::{Answers, Counters, Subject, WriteBack};
use agreement::Asked;
use host::prewarm;
use host::{DataUse, Site, plan_hash};
use load::resource::ServerSide;
use load::{LoadOptions, TrialSample, run_clients};
use plan::Levels;
use plan::{Placeholders, Statement};
use record::{CapturedPlan, EngineRecord, OperationPlan};

pub(super) struct SqlSubject<'a> {
    site: &'a Site<'a>,
    deployed: Deployed,
    data_use: DataUse,
    entries: BTreeMap<String, Arc<StatementEntry>>,
    /// Answers to the plan's queries for values, by text.
    queries: BTreeMap<String, Vec<AnswerValue>>,
    pool: Pool<'a>,
    /// The plan's invariant at first.
    invariant: Option<AnswerTable>,
}

impl<'a> SqlSubject<'a> {
    pub(super) fn new(
        site: &'a Site<'a>,
        deployed: Deployed,
        data_use: DataUse,
    ) -> Result<Self, RunError> {
        let mut subject = Self {
            site,
            deployed,
            data_use,
            entries: BTreeMap::new(),
            queries: BTreeMap::new(),
            pool: Pool::default(),
            invariant: None,
        };
        subject.invariant = subject.read_invariant()?;
        Ok(subject)
    }

    fn open(&self) -> Result<Box<dyn SqlSession + Send + 'a>, RunError> {
        let limits = WaitLimits {
            timeout: self.site.plan.load.timeout(),
            interrupted: self.site.interrupted,
        };
        let opened = self.deployed.target.open(limits);
        Ok(opened.map_err(host::DeployError::from)?)
    }

    fn label(&self) -> &str {
        &self.deployed.record.name
    }

    fn read_invariant(&self) -> Result<Option<AnswerTable>, RunError> {
        let Some(invariant) = &self.site.plan.invariant else { return Ok(None) };
        let mut session = self.open()?;
        let table = self.stoppable(|| session.query(&invariant.text));
        let failed = |error| RunError::Statement(format!("{}, invariant: {error}", self.label()));
        table.map(Some).map_err(failed)
    }

    fn stoppable<T: Send>(&self, work: impl FnOnce() -> T) -> T {
        self.deployed.target.while_stoppable(self.site.interrupted, work)
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
        let key = key(statement, placeholders);
        if let Some(entry) = self.entries.get(&key) {
            return Ok(Arc::clone(entry));
        }
        let bound = used(statement, placeholders);
        let names = deck::names(statement, &bound);
        let kind = self.deployed.target.kind();
        let mut script = script::script(statement, operation, kind, placeholders, &names)?;
        script.id = self.entries.len();
        let sources = deck::sources(statement, &bound, levels, |text| self.values_of(text))?;
        let seed = self.site.plan.seed.unwrap_or_default();
        let sets = deck::draw(&sources, statement.draws, seed, operation);
        let question = question(statement, placeholders);
        let entry = Arc::new(StatementEntry::new(key.clone(), question, script, sets));
        self.entries.insert(key, Arc::clone(&entry));
        Ok(entry)
    }

    /// A session of a client, or a new one, whose plans are those of the trials: PostgreSQL may
    /// plan a statement otherwise when it has executed it often.
    fn session_for_plans(
        &self,
        cell: &[Arc<StatementEntry>],
    ) -> Result<Box<dyn SqlSession + Send + 'a>, String> {
        let mut pool = self.pool.lock();
        let open = pool.iter_mut().find_map(Option::take);
        drop(pool);
        let mut session = match open {
            Some(session) => session,
            None => self.open().map_err(|error| error.to_string())?,
        };
        let warmed = self.stoppable(|| warm(session.as_mut(), cell));
        warmed.map(|()| session).map_err(|error| error.to_string())
    }

    /// The first column of the answer to a query for parameter values.
    fn values_of(&mut self, text: &str) -> Result<Vec<AnswerValue>, RunError> {
        if let Some(values) = self.queries.get(text) {
            return Ok(values.clone());
        }
        let mut session = self.open()?;
        let table = self.stoppable(|| session.query(text)).map_err(|error| {
            RunError::Statement(format!("{}, query for parameters: {error}: {text}", self.label()))
        })?;
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

    fn check_answers(&mut self, cells: &[Levels], answers: &mut Answers) -> Result<(), RunError> {
        let mut session = self.open()?;
        let mut checked = Vec::new();
        for levels in cells {
            let placeholders = self.site.plan.placeholders(levels)?;
            let cell = self.cell(levels)?;
            for (entry, statement) in cell.iter().zip(&self.site.plan.statements) {
                if checked.contains(&entry.key) {
                    continue;
                }
                checked.push(entry.key.clone());
                let asked = Asked {
                    entry,
                    statement,
                    names: deck::names(statement, &used(statement, &placeholders)),
                    scope: self.site.plan.data_scope(levels),
                    label: label_of_version(self.label(), statement, levels),
                };
                self.stoppable(|| self.check_entry(session.as_mut(), &asked, answers))?;
            }
        }
        Ok(())
    }

    /// Where data may change every trial has a copy of its own, and so sessions of its own, which
    /// prepare and warm what they will execute.
    fn includes_warm_up(&self) -> bool {
        self.data_use == DataUse::Change
    }

    fn prepare(&mut self, _levels: &Levels) -> Result<(), RunError> {
        let Deployed { database: Some(database), data_paths, .. } = &mut self.deployed else {
            return Ok(());
        };
        if self.data_use == DataUse::Read {
            return Ok(());
        }
        self.pool = Pool::default();
        database.renew(self.site)?;
        data_paths.clone_from(&database.data_paths);
        Ok(prewarm::read_data(data_paths, self.site.memory.is_some(), self.site.interrupted)?)
    }

    fn load(&mut self, levels: &Levels, options: &LoadOptions) -> Result<TrialSample, RunError> {
        let entries = self.cell(levels)?;
        entries.iter().for_each(|entry| entry.begin_load());
        let in_this_process = self.deployed.target.kind().is_embedded();
        let mut options = options.clone();
        if let (true, Some(cpus)) = (in_this_process, self.site.plan.server_cpus_at(levels)?) {
            options.client_cpus = Some(cpus);
        }
        let clients = SqlClients {
            target: &self.deployed.target,
            pool: &self.pool,
            entries,
            changing: self.data_use == DataUse::Change,
            seed: self.site.plan.seed.unwrap_or_default(),
            options: &options,
            interrupted: self.site.interrupted,
        };
        let statements = self.site.plan.statements.iter();
        let weights: Vec<u32> = statements.map(|statement| statement.weight).collect();
        let run = || run_clients(&clients, &weights, &options, self.site.interrupted);
        let mut sample = self.stoppable(run)?;
        if in_this_process {
            // The clients' threads are the engine's; all of their time is the server side's.
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

    fn failure_message(&self, operation: u16) -> Option<String> {
        let mut of_operation =
            self.entries.values().filter(|one| one.script.operation == usize::from(operation));
        of_operation.find_map(|entry| entry.first_error())
    }

    fn counters(&mut self) -> Counters {
        let database = self.deployed.database.as_mut();
        let mut counters = database
            .map(|database| database.hosted.counters(self.site.runtime))
            .unwrap_or_default();
        let mut pool = self.pool.lock();
        for session in pool.iter_mut().flatten() {
            for (name, value) in session.counters() {
                *counters.entry(name).or_default() += value;
            }
        }
        counters
    }

    fn plans(&mut self, levels: &Levels) -> Vec<OperationPlan> {
        let Ok(cell) = self.cell(levels) else { return Vec::new() };
        let mut session = self.session_for_plans(&cell);
        let kind = self.deployed.target.kind();
        let captured = |entry: &Arc<StatementEntry>| OperationPlan {
            operation: entry.script.name.clone(),
            plan: match plan_of(&mut session, entry) {
                Ok(text) => CapturedPlan::Observed { hash: plan_hash(kind, &text), text },
                Err(why) => CapturedPlan::NotObservable { why },
            },
        };
        let plans = cell.iter().map(captured).collect();
        if let Ok(session) = session {
            let mut pool = self.pool.lock();
            pool.push(Some(session));
        }
        plans
    }

    fn check_alive(&mut self) -> Result<(), RunError> {
        let Some(before) = &self.invariant else { return self.open().map(drop) };
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
        self.pool = Pool::default();
        let Some(database) = self.deployed.database.take() else { return Ok(()) };
        database.hosted.drop_copy(self.site);
        Ok(database.hosted.retire(self.site.runtime)?)
    }
}

/// The plans of all steps of a script, with the first set of values.
fn plan_of(
    session: &mut Result<Box<dyn SqlSession + Send + '_>, String>,
    entry: &StatementEntry,
) -> Result<String, String> {
    let session = session.as_mut().map_err(|why| why.clone())?;
    let values = entry.deck.first().map(Vec::as_slice).unwrap_or_default();
    let steps = 0..entry.script.steps.len();
    let plans = steps.map(|step| session.explain(&entry.script, step, values));
    let plans: Result<Vec<String>, _> = plans.collect();
    plans.map(|plans| plans.join("\n\n")).map_err(|error| error.to_string())
}

/// Stands for an operation, its version and its values on every engine, whatever their texts are.
fn key(statement: &Statement, placeholders: &Placeholders) -> String {
    named(statement, placeholders, |name| {
        stands(statement, name) || statement.version_factors().any(|factor| factor == name)
    })
}

/// The same for all versions: another text is no other question.
fn question(statement: &Statement, placeholders: &Placeholders) -> String {
    named(statement, placeholders, |name| stands(statement, name))
}

/// Whether the value of `name` is in the text of the statement, or bound by it.
fn stands(statement: &Statement, name: &str) -> bool {
    let (text, bound) = (format!("{{{name}}}"), format!(":{name}"));
    statement.all_texts().any(|one| one.contains(&text) || one.contains(&bound))
}

fn named(
    statement: &Statement,
    placeholders: &Placeholders,
    wanted: impl Fn(&str) -> bool,
) -> String {
    let used = placeholders.iter().filter(|(name, _)| wanted(name));
    let used: Vec<String> = used.map(|(name, value)| format!("{name}={value}")).collect();
    if used.is_empty() {
        statement.name.clone()
    } else {
        format!("{} ({})", statement.name, used.join(", "))
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
