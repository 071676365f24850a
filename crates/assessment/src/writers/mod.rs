//! Writers: how many at a time SQLite carries beside PostgreSQL, at equal durability, and how much more
//! that is than the application needs.

mod busiest;
mod derive;
mod fresh;
mod headroom;
mod insert;
mod limits;
mod logged;
mod plan_text;
mod slow;
mod written;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use engine::shell::shell_word;
use lab::error::RunError;
use lab::options::TimeLimit;
use migrate::{OtherKind, SourceSchema};
use plan::{Given, Parameter, TransactionBegin};
use record::{Finished, NotMeasured};
use report::Document;
use serde::Serialize;

use self::derive::Derived;
pub use self::headroom::{ExpectedRate, Headroom};
use self::logged::LoggedTransactions;
use self::plan_text::WriterPlan;
use crate::audit::audit_source;
use crate::engines;
use crate::error::{Error, Result};
use crate::names::QuotedNames;
use crate::options::{AssessmentOptions, Caller};
use crate::place::{Copies, WorkFolder, check_outputs};
use crate::plan_file;
use crate::preparation::EnginePreparation;

/// One transaction of the mix.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriteTransaction {
    pub name: String,
    /// Its statements, separated by semicolons, without BEGIN and COMMIT.
    pub text: String,
    /// The text for PostgreSQL where it is another one.
    pub postgres_text: Option<String>,
    /// Several statements, between BEGIN and COMMIT.
    pub is_several: bool,
    pub begin: TransactionBegin,
    pub parameters: BTreeMap<String, Parameter>,
    pub sets: Vec<BTreeMap<String, Given>>,
    /// How often the log has it.
    pub executions: Option<u64>,
    /// Columns that both engines number by themselves.
    pub ignored_columns: Vec<String>,
    /// Its values are those of a log: with several writers it is chance which one comes last.
    pub is_logged: bool,
}

/// How transactions begin on SQLite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BeginChoice {
    /// As the statements or the log say; `BEGIN IMMEDIATE` where they do not.
    #[default]
    Application,
    Immediate,
    Deferred,
}

/// Options of writers, beside those of every try.
#[derive(Clone, Debug, Default)]
pub struct WriterOptions {
    pub begin: BeginChoice,
    /// Write transactions per second that the application needs.
    pub expected: Option<ExpectedRate>,
}

/// The outcome of a try of writers.
pub struct WriterAssessment {
    pub measured: Finished,
    /// Why the figures are not those of writes.
    pub doubt: Option<String>,
    pub headroom: Option<Headroom>,
    pub plan_file: PathBuf,
    /// Sentences beside the answer.
    pub notes: Vec<String>,
}

/// The outcome for programs.
#[derive(Serialize)]
struct WriterJson<'a> {
    doubt: Option<&'a str>,
    headroom: Option<&'a Headroom>,
    notes: &'a [String],
    plan: &'a Path,
    report: &'a Document,
}

impl WriterAssessment {
    /// Everything, for programs; `report` is that of the run.
    #[must_use]
    pub fn to_json<'a>(&'a self, report: &'a Document) -> impl Serialize + 'a {
        let Self { doubt, headroom, notes, plan_file, .. } = self;
        let doubt = doubt.as_deref();
        WriterJson { doubt, headroom: headroom.as_ref(), notes, plan: plan_file, report }
    }

    /// No verdict can be had from it: too few blocks, or no writes.
    #[must_use]
    pub fn is_open(&self) -> bool {
        let blocks = self.measured.run.blocks(&self.measured.plan);
        self.doubt.is_some() || blocks < stats::INTERVAL_MIN_REPLICATES
    }

    /// The notes, and the file that stays, as text.
    #[must_use]
    pub fn closing(&self) -> String {
        let notes: String = self.notes.iter().map(|note| format!("- {note}\n")).collect();
        let word = shell_word(&self.plan_file.display().to_string());
        format!("\nNotes:\n{notes}Plan: {word} (`crossover bench {word}` repeats it)\n")
    }
}

/// Preview of a try of writers, without measuring.
///
/// # Errors
/// Those of reading the file, its statements and logs.
pub fn preview_writers(options: &AssessmentOptions, writers: &WriterOptions) -> Result<String> {
    let given = given(options)?;
    let mut text = format!(
        "Writers on a copy of {}, 1, 4 and 16 at a time and numbers between, within --budget {}, on {}.\n",
        options.source.display(),
        options.budget,
        options.engines.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    );
    match given {
        None => text.push_str(&format!("Transactions would be {}.\n", derive::rule())),
        Some(mut given) => {
            begin_as(&mut given.transactions, writers.begin);
            for one in &given.transactions {
                text.push_str(&format!("- {}: {}\n", one.name, one.text.replace('\n', " ")));
            }
            let begin = about_begin(&given.transactions);
            for note in notes(&given, options).into_iter().chain(begin) {
                text.push_str(&format!("  {note}\n"));
            }
        }
    }
    Ok(text)
}

/// Measures writers on copies of the file.
///
/// # Errors
/// Those of a try; a file of which nothing that writes can be measured alike on both engines.
pub fn assess_writers(
    options: &AssessmentOptions,
    writers: &WriterOptions,
    caller: &Caller<'_>,
) -> Result<WriterAssessment> {
    lab::run::check_processor()?;
    let mut engines = engines::of_writers(&options.engines, caller)?;
    let given = given(options)?;
    check_outputs(&options.runs)?;
    let audit = audit_source(options, caller)?;
    let has_server = engines::first_server(&engines).is_some();
    let copies = Copies { has_steps: false, has_server };
    let place = WorkFolder::new(caller.locations, options.keep, copies)?;
    (caller.done)(&place.space_in_words(&options.source)?);
    let progress = (caller.progress)("copy");
    let copy = place.copy(&options.source, &progress, caller.interrupted)?;
    progress.finish_and_clear();
    let connection = connect::sqlite::open_read_only(&copy)?;
    let schema = migrate::schema(&connection)?;
    let preparation = EnginePreparation { caller, place: &place, copy: &copy };
    let remedies = preparation.remedies(&engines, &audit, &schema)?;
    let mut found = match given {
        Some(given) => given,
        None => {
            let may_take_part = |table: &str| remedies.may_be_measured(table);
            let derived = derive::derive(&schema, &audit, &connection, may_take_part)?;
            let Derived { transactions, left_out } = derived;
            LoggedTransactions { transactions, left_out, ..LoggedTransactions::default() }
        }
    };
    drop(connection);
    slow::leave_out(&mut found, &copy, options.budget, caller.interrupted)?;
    if found.transactions.is_empty() {
        return Err(nothing_to_measure(&options.source, &found.left_out));
    }
    begin_as(&mut found.transactions, writers.begin);
    if !trapped(&found.transactions).is_empty() {
        engines.insert(1, engines::BEGIN_IMMEDIATE.parse()?);
    }
    let mut plan = WriterPlan {
        source: &options.source,
        engines: &engines,
        remedies: &remedies,
        transactions: found.transactions,
        budget: options.budget,
        seed: options.seed,
        command_line: &options.command_line,
    };
    let measured = measure_all(&mut plan, &mut found.left_out, &copy, &place, options, caller)?;
    let plan_file = plan_file::free_path(&options.source, "toml");
    let source = &options.source;
    let source = std::path::absolute(source).map_err(Error::io("find", source))?;
    plan_file::write_new(&plan_file, &plan.write(&source)?)?;
    let expected = writers.expected.clone().or_else(|| found.busiest.clone());
    let doubt = limits::unwritten(&measured);
    found.transactions = plan.transactions;
    let writing = found.transactions.iter().filter(|one| written::writes_somewhere(&one.text));
    let share = weights(writing) / weights(found.transactions.iter()).max(1.0);
    let headroom = expected
        .filter(|_| doubt.is_none())
        .and_then(|expected| Headroom::of(&measured, expected, share));
    let mut notes = notes(&found, options);
    notes.extend(about_begin(&found.transactions));
    let limits = limits::in_memory(&measured).into_iter().chain(limits::retried(&measured));
    notes.splice(0..0, limits);
    notes.extend(about_triggers(&schema).filter(|_| has_server));
    Ok(WriterAssessment { measured, doubt, headroom, plan_file, notes })
}

fn weights<'t>(transactions: impl Iterator<Item = &'t WriteTransaction>) -> f64 {
    transactions.map(|one| one.executions.unwrap_or(1) as f64).sum()
}

/// The transactions of the user's files and logs; none where they are derived.
fn given(options: &AssessmentOptions) -> Result<Option<LoggedTransactions>> {
    if options.sql.is_empty() && options.sql_logs.is_empty() {
        return Ok(None);
    }
    let connection = connect::sqlite::open_read_only(&options.source)?;
    let schema = migrate::schema(&connection)?;
    let names = QuotedNames::of(&schema);
    let mut given = LoggedTransactions::default();
    if !options.sql.is_empty() {
        given.transactions = written::read(&options.sql, &connection, &names)?;
    }
    if !options.sql_logs.is_empty() {
        let of_logs = logged::read_logs(&options.sql_logs, &connection, &schema, &names)?;
        given.transactions.extend(of_logs.transactions);
        given.left_out.extend(of_logs.left_out);
        given.busiest = of_logs.busiest;
    }
    Ok(Some(given))
}

/// Applies the choice to transactions of several statements; a single statement needs no BEGIN.
fn begin_as(transactions: &mut [WriteTransaction], choice: BeginChoice) {
    for transaction in transactions.iter_mut().filter(|one| one.is_several) {
        match choice {
            BeginChoice::Application => {}
            BeginChoice::Immediate => transaction.begin = TransactionBegin::Immediate,
            BeginChoice::Deferred => transaction.begin = TransactionBegin::Deferred,
        }
    }
}

fn measure(
    writer_plan: &WriterPlan<'_>,
    copy: &Path,
    place: &WorkFolder,
    options: &AssessmentOptions,
    caller: &Caller<'_>,
) -> Result<Finished> {
    let mut plan = plan::read(&writer_plan.write(copy)?, "the plan of this try")?;
    plan.wait_for_quiet = options.wait_for_quiet;
    let end = Instant::now() + options.budget.duration();
    let limit = TimeLimit { end, blocks_min: 0 };
    match (caller.measure)(plan, &place.locations, limit) {
        Ok(finished) if finished.trials.is_empty() => {
            let _ = std::fs::remove_dir_all(finished.folder.path());
            Err(Error::Usage(format!(
                "--budget {} was over before the first trial ended: give a longer one (5m is enough for most \
             files)",
                options.budget
            )))
        }
        Ok(finished) => Ok(finished),
        Err(RunError::Interrupted { run }) => {
            // Its data goes with this try, so it could not be taken up again.
            let _ = std::fs::remove_dir_all(options.runs.join(run));
            Err(Error::Interrupted)
        }
        Err(RunError::InterruptedBeforeTrials) => Err(Error::Interrupted),
        Err(RunError::CutShort { source, .. }) => Err((*source).into()),
        Err(error) => Err(error.into()),
    }
}

/// Measures what no engine refuses; the others are left out, each with the reason.
fn measure_all(
    plan: &mut WriterPlan<'_>,
    left_out: &mut Vec<NotMeasured>,
    copy: &Path,
    place: &WorkFolder,
    options: &AssessmentOptions,
    caller: &Caller<'_>,
) -> Result<Finished> {
    loop {
        match measure(plan, copy, place, options, caller) {
            Ok(measured) => return Ok(measured),
            Err(error) => {
                let refused = refused_one(&error, &mut plan.transactions).ok_or(error)?;
                (caller.say)(&format!("not measured: {}: {}", refused.name, refused.why));
                left_out.push(refused);
            }
        }
    }
}

/// Takes out the transaction that an engine refused, with its words; none if no single one is at fault, or
/// no other is left.
fn refused_one(error: &Error, transactions: &mut Vec<WriteTransaction>) -> Option<NotMeasured> {
    let why = error.to_string();
    let is_named = |one: &WriteTransaction| {
        let ends = why.match_indices(&one.name).map(|(start, name)| start + name.len());
        ends.map(|end| why[end..].chars().next())
            .any(|next| next.is_none_or(|next| !next.is_alphanumeric()))
    };
    let place = transactions.iter().position(is_named).filter(|_| transactions.len() > 1)?;
    Some(NotMeasured { name: transactions.remove(place).name, place: None, why })
}

fn nothing_to_measure(source: &Path, left_out: &[NotMeasured]) -> Error {
    let reasons = left_out.iter().map(|one| format!("{}: {}", one.name, one.why));
    let reasons: Vec<String> = reasons.collect();
    Error::Usage(format!(
        "--writes: {} has no write transaction that can be measured ({}); name some by --sql",
        source.display(),
        if reasons.is_empty() { "no table holds rows".to_owned() } else { reasons.join("; ") }
    ))
}

/// Assumptions, what was left out, and the limits of the figures.
fn notes(found: &LoggedTransactions, options: &AssessmentOptions) -> Vec<String> {
    let mut notes = vec![
        "A writer here writes without a pause; a user does not: each stands for many users."
            .to_owned(),
        "SQLite's writers are processes, as workers of gunicorn and puma; threads of one program, as in Go \
         and Node, are clients_as = [\"threads\"] in the plan."
            .to_owned(),
    ];
    if options.sql.is_empty() && options.sql_logs.is_empty() {
        notes.push(format!("Transactions are {} (assumed).", derive::rule()));
    }
    notes.extend(
        found.left_out.iter().map(|one| format!("Not measured: {}: {}.", one.name, one.why)),
    );
    notes
}

/// The transactions that read before they write without the write lock.
fn trapped(transactions: &[WriteTransaction]) -> Vec<String> {
    let reads_first = |one: &&WriteTransaction| {
        one.is_several
            && one.begin == TransactionBegin::Deferred
            && one.text.split(";\n").next().is_some_and(|first| !written::writes(first))
    };
    transactions.iter().filter(reads_first).map(|one| one.name.clone()).collect()
}

/// How transactions of several statements begin on SQLite, and what the other way would change.
fn about_begin(transactions: &[WriteTransaction]) -> Option<String> {
    let trapped = trapped(transactions);
    if !trapped.is_empty() {
        return Some(format!(
            "{} read before they write in a deferred transaction: SQLite refuses the write at once, whatever \
             the timeout, where another has written since. They are tried again, which their times hold. \
             \"SQLite with BEGIN IMMEDIATE\" is the same with the write lock from the beginning on.",
            trapped.join(", ")
        ));
    }
    let is_immediate =
        |one: &WriteTransaction| one.is_several && one.begin == TransactionBegin::Immediate;
    transactions.iter().any(is_immediate).then(|| {
        "Transactions of several statements begin with BEGIN IMMEDIATE; --begin deferred measures what most \
         frameworks send by default."
            .to_owned()
    })
}

/// Work that SQLite does alone.
fn about_triggers(schema: &SourceSchema) -> Option<String> {
    let triggers = schema.others.iter().filter(|other| other.kind == OtherKind::Trigger).count();
    (triggers > 0).then(|| {
        format!(
            "SQLite's copy has {}, PostgreSQL's has none: where a transaction sets one off, SQLite does its \
             work too.",
            notation::counted(triggers as u64, "trigger")
        )
    })
}
