//! `crossover try FILE.db`: an assessment of a user's own file.

use std::path::PathBuf;

use assessment::{
    Assessment, AssessmentOptions, BeginChoice, Caller, ExpectedRate, Headroom, WriterAssessment,
    WriterOptions, assess, assess_writers,
};
use engine::EngineSpec;
use engine::shell::shell_word;
use lab::options::RunOptions;
use plan::{EnoughBound, Seconds};
use record::Finished;

use crate::command::bench::{DistanceArguments, shown_command_line, with_locations};
use crate::command::report;
use crate::flag::sqlite_file;
use crate::shared::{CommandOutcome, OutputFormat, Shared};

/// Try your own SQLite file on PostgreSQL: audit, a copy moved, both measured, the verdict.
///
/// The file is only read, also while another program writes to it. Both engines are measured step by
/// step: unchanged, then with ANALYZE, with the indexes that the statements ask for, and with settings; the
/// answer names the smallest step that is enough. --on sqlite measures the steps of SQLite alone, which needs
/// no network. Every statement is measured in randomised blocks with
/// checked answers. Exits 3 if something blocks a migration, is undecided or was not measured, 99 if
/// --enough is missed at every step.
#[derive(clap::Args)]
pub struct Arguments {
    /// The SQLite file
    #[arg(env = "CROSSOVER_SOURCE", value_parser = sqlite_file())]
    source: PathBuf,
    /// Statements to measure: a file with one or several, or a folder of .sql files; repeatable.
    /// FILE.postgres.sql beside FILE.sql replaces it on PostgreSQL. Absent: derived from the tables
    #[arg(long, value_name = "FILE.sql", env = "CROSSOVER_SQL", value_delimiter = ',')]
    sql: Vec<PathBuf>,
    /// Measure the queries of a log: Django's django.db.backends at DEBUG, Rails' at :debug,
    /// SQLAlchemy's sqlalchemy.engine at INFO; repeatable. Queries repeated within a request and locks
    /// are reported too
    #[arg(long, value_name = "FILE", env = "CROSSOVER_SQL_LOG", value_delimiter = ',')]
    sql_log: Vec<PathBuf>,
    /// The engines to compare with: postgres:18, 'postgres:18[work_mem=64MB]'; repeatable. Only sqlite: SQLite
    /// is measured alone, and no server fetched or started
    #[arg(long = "on", value_name = "ENGINE", default_value = "postgres:18")]
    engines: Vec<EngineSpec>,
    /// Measure SQLite by this shared library, which your program loads: libsqlite3.so.0. Absent: by the
    /// one that is built in
    #[arg(long, value_name = "PATH", env = "CROSSOVER_SQLITE_LIBRARY")]
    sqlite_library: Option<PathBuf>,
    /// Measure both engines unchanged only: without ANALYZE, indexes and settings
    #[arg(long, env = "CROSSOVER_NO_TUNED")]
    no_tuned: bool,
    /// How long the measurement may take; audit and move come before it [default: 3m, with --writes 6m]
    #[arg(long, value_name = "TIME", env = "CROSSOVER_BUDGET")]
    budget: Option<Seconds>,
    /// The bound that makes a step enough, of every statement: 'mean < 50ms', 'p95 < 100ms'. Absent: a
    /// step is enough that is not slower than PostgreSQL, with --on sqlite than a later step
    #[arg(long, value_name = "BOUND", env = "CROSSOVER_ENOUGH")]
    enough: Option<EnoughBound>,
    /// Measure writers: how many at a time SQLite carries beside PostgreSQL, at equal durability.
    /// Transactions are those of --sql (INSERT, UPDATE, DELETE, REPLACE; several between BEGIN and COMMIT) or
    /// --sql-log, otherwise derived from the tables
    #[arg(long, env = "CROSSOVER_WRITES", conflicts_with_all = ["delays", "enough", "sqlite_library"])]
    writes: bool,
    /// With --writes: how transactions of several statements begin on SQLite [default: application]
    #[arg(long, value_enum, value_name = "HOW", requires = "writes", env = "CROSSOVER_BEGIN")]
    begin: Option<Begin>,
    /// With --writes: the write transactions that the application needs, as 50/s, 3000/min or 1000/h; the
    /// answer says how many times as many SQLite takes. Absent: the busiest minute of --sql-log
    #[arg(long, value_name = "RATE", requires = "writes", env = "CROSSOVER_EXPECT")]
    expect: Option<ExpectedRate>,
    #[command(flatten)]
    distance: DistanceArguments,
    /// Say what would be copied and measured, and do nothing
    #[arg(long, env = "CROSSOVER_DRY_RUN")]
    dry_run: bool,
    /// Starts every random choice; chosen and printed where it is not given
    #[arg(long, value_name = "NUMBER", env = "CROSSOVER_SEED")]
    seed: Option<u64>,
    /// Do not wait, up to a minute before a trial, until other programs leave the machine alone
    #[arg(long, env = "CROSSOVER_NO_WAIT_FOR_QUIET")]
    no_wait_for_quiet: bool,
    /// Keep the copies and PostgreSQL's data directory
    #[arg(long, env = "CROSSOVER_KEEP")]
    keep: bool,
    /// The folder of all runs
    #[arg(long, value_name = "FOLDER", default_value = "runs", env = "CROSSOVER_RUNS")]
    runs: PathBuf,
}

/// How transactions of several statements begin on SQLite.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Begin {
    /// As --sql or --sql-log say; BEGIN IMMEDIATE where transactions are derived
    Application,
    /// BEGIN IMMEDIATE: the lock is taken at once
    Immediate,
    /// BEGIN: the lock is taken at the first write
    Deferred,
}

impl From<Begin> for BeginChoice {
    fn from(begin: Begin) -> Self {
        match begin {
            Begin::Application => Self::Application,
            Begin::Immediate => Self::Immediate,
            Begin::Deferred => Self::Deferred,
        }
    }
}

/// Runs `crossover try`.
pub fn run(arguments: Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let dry_run = arguments.dry_run;
    let writers = arguments.writes.then(|| WriterOptions {
        begin: arguments.begin.map(BeginChoice::from).unwrap_or_default(),
        expected: arguments.expect.clone(),
    });
    let options = options(arguments)?;
    let locations = shared.locations()?;
    let caller = Caller {
        locations: &locations,
        runtime: shared.runtime().handle(),
        interrupted: shared.interrupted(),
        progress: &|part| shared.progress(part),
        say: &|text| shared.say(text),
        done: &|line| {
            if shared.output_format == OutputFormat::Text {
                shared.announce(line);
            }
        },
        measure: &|plan, locations, limit| {
            let command_line = options.command_line.clone();
            with_locations(locations, &options.runs, command_line, shared, |run| {
                lab::run::start(plan, &RunOptions { time_limit: Some(limit), ..run.clone() })
            })
        },
    };
    if dry_run {
        let preview = match &writers {
            Some(writers) => assessment::preview_writers(&options, writers)?,
            None => assessment::preview(&options, shared.interrupted())?,
        };
        shared.print(&preview)?;
        return Ok(CommandOutcome::Done);
    }
    let shown = match &writers {
        Some(writers) => {
            assess_writers(&options, writers, &caller).map(|done| show_writers(&done, shared))
        }
        None => assess(&options, &caller).map(|assessment| show(&assessment, shared)),
    };
    match shown {
        // A failure that follows from the interruption is not worth a line.
        Err(_) if shared.is_interrupted() => Err(assessment::Error::Interrupted.into()),
        Err(error) => Err(error.into()),
        Ok(shown) => shown,
    }
}

/// The answer in a few lines for others, at the end.
fn to_post(finished: &Finished, first: Option<String>) -> String {
    let run = shell_word(&finished.run.id);
    format!(
        "\nTo post it, without your names (crossover report {run} --format post):\n\n{}",
        ::report::post(finished, first, false)
    )
}

/// The headroom first, then the run's own answer, then the notes.
fn show_writers(done: &WriterAssessment, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    if shared.output_format == OutputFormat::Json {
        let document = ::report::document(&done.measured);
        shared.print_json(&done.to_json(&document))?;
        return Ok(report::outcome(&document));
    }
    let first = done.doubt.clone().or(done.headroom.as_ref().map(ToString::to_string));
    if let Some(first) = first.filter(|_| shared.output_format == OutputFormat::Text) {
        shared.print(&format!("{first}\n\n"))?;
    }
    let outcome = match report::show(&done.measured, shared)? {
        CommandOutcome::Done if done.is_open() => CommandOutcome::Findings,
        outcome => outcome,
    };
    let notes = done.closing();
    match shared.output_format {
        OutputFormat::Text => {
            shared.print(&notes)?;
            let first = done.doubt.clone().or(done.headroom.as_ref().map(Headroom::without_names));
            shared.print(&to_post(&done.measured, first))?;
        }
        _ => shared.say(notes.trim_end()),
    }
    Ok(outcome)
}

fn options(arguments: Arguments) -> anyhow::Result<AssessmentOptions> {
    Ok(AssessmentOptions {
        source: arguments.source,
        sql: arguments.sql,
        sql_logs: arguments.sql_log,
        sqlite_library: arguments.sqlite_library.map(std::path::absolute).transpose()?,
        engines: arguments.engines,
        delays: arguments.distance.delays,
        tuned: !arguments.no_tuned,
        budget: arguments.budget.unwrap_or(Seconds(if arguments.writes { 360 } else { 180 })),
        seed: arguments.seed.map_or_else(lab::run::random_seed, Ok)?,
        enough: arguments.enough,
        wait_for_quiet: !arguments.no_wait_for_quiet,
        keep: arguments.keep,
        runs: arguments.runs,
        command_line: shown_command_line(std::env::args()),
        command_on_sqlite: shown_command_line(
            without_engines(std::env::args()).chain(["--on", "sqlite"].map(str::to_owned)),
        ),
        command_on_postgres: shown_command_line(without_engines(std::env::args())),
    })
}

/// The words of the command line without `--on`.
fn without_engines(words: impl Iterator<Item = String>) -> impl Iterator<Item = String> {
    let mut is_value = false;
    words.filter(move |word| {
        let is_flag = word == "--on";
        let is_engine = is_flag || is_value || word.starts_with("--on=");
        is_value = is_flag;
        !is_engine
    })
}

/// The run's own answer, in every format, and its exit code; something that blocks a migration is a
/// finding besides.
fn show(assessment: &Assessment, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let measured = assessment.measured.as_ref();
    let shown = match (measured, shared.output_format) {
        (Some(finished), OutputFormat::Text) => {
            let outcome = report::show(finished, shared)?;
            shared.print(&assessment.files())?;
            shared.print(&to_post(finished, None))?;
            outcome
        }
        (Some(finished), _) => {
            let document = ::report::document(finished);
            // The figures are there; a page that cannot be drawn or written does not undo them.
            if let Err(error) = report::write_page(finished, &document) {
                shared.say(&format!("no report.html: {error:#}"));
            }
            match shared.output_format {
                OutputFormat::Csv => {
                    shared.print(&::report::csv(std::slice::from_ref(&document)))?;
                    shared.say(assessment.files().trim_end());
                }
                _ => shared.print_json(&assessment.to_json(Some(&document)))?,
            }
            report::outcome(&document)
        }
        (None, OutputFormat::Json) => {
            shared.print_json(&assessment.to_json(None))?;
            CommandOutcome::Findings
        }
        (None, _) => {
            shared.print(&assessment.without_measurement())?;
            CommandOutcome::Findings
        }
    };
    Ok(match shown {
        CommandOutcome::Done if assessment.has_blockers() => CommandOutcome::Findings,
        outcome => outcome,
    })
}
