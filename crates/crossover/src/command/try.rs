//! `crossover try FILE.db`: an assessment of a user's own file.

use std::path::PathBuf;

use assessment::{Assessment, AssessmentOptions, Caller, assess};
use engine::EngineSpec;
use plan::Seconds;

use crate::command::bench::{shown_command_line, with_locations};
use crate::command::report::write_page;
use crate::shared::{CommandOutcome, OutputFormat, Shared, sqlite_file};

/// Try your own SQLite file on PostgreSQL: audit, a copy moved, both measured, the verdict.
///
/// The file is only read, also while another program writes to it. Measured are the file as it is, a
/// copy of it that is tuned, and PostgreSQL; the verdict names the smallest step that is enough.
/// Every statement is measured in randomised blocks with checked answers. Exits 3 if something blocks
/// a migration or a statement has no verdict.
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
    /// The engines to compare with: postgres:18, 'postgres:18[work_mem=64MB]'; repeatable
    #[arg(long = "on", value_name = "ENGINE", default_value = "postgres:18")]
    engines: Vec<EngineSpec>,
    /// Measure no tuned copy of the file: ANALYZE, indexes for the statements, a write-ahead log and
    /// a larger page cache
    #[arg(long, env = "CROSSOVER_NO_TUNED")]
    no_tuned: bool,
    /// How long the measurement may take; audit and move come before it
    #[arg(long, value_name = "TIME", default_value = "2m", env = "CROSSOVER_BUDGET")]
    budget: Seconds,
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

/// Runs `crossover try`.
pub fn run(arguments: Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let options = options(arguments);
    let caller = Caller {
        runtime: shared.runtime().handle(),
        interrupted: shared.interrupted(),
        progress: &|part| shared.progress(part),
        say: &|text| shared.say(text),
        done: &|line| {
            if shared.output_format == OutputFormat::Text {
                shared.announce(line);
            }
        },
        measure: &|plan, locations| {
            let command_line = options.command_line.clone();
            with_locations(locations, &options.runs, command_line, shared, |run| {
                lab::run::start(plan, run)
            })
        },
    };
    match assess(&options, &caller) {
        // A failure that follows from the interruption is not worth a line.
        Err(_) if shared.is_interrupted() => Err(assessment::Error::Interrupted.into()),
        Err(error) => Err(error.into()),
        Ok(assessment) => show(&assessment, shared),
    }
}

fn options(arguments: Arguments) -> AssessmentOptions {
    AssessmentOptions {
        source: arguments.source,
        sql: arguments.sql,
        sql_logs: arguments.sql_log,
        engines: arguments.engines,
        tuned: !arguments.no_tuned,
        budget: arguments.budget,
        seed: arguments.seed,
        wait_for_quiet: !arguments.no_wait_for_quiet,
        keep: arguments.keep,
        runs: arguments.runs,
        command_line: shown_command_line(std::env::args()),
    }
}

fn show(assessment: &Assessment, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    // The figures are there; a page that cannot be drawn or written does not undo them.
    let page = assessment.measured().and_then(|(finished, document)| {
        write_page(finished, document)
            .inspect_err(|error| shared.say(&format!("no report.html: {error:#}")))
            .ok()
    });
    match shared.output_format {
        OutputFormat::Json => shared.print_json(&assessment.to_json())?,
        OutputFormat::Csv => {
            shared.print(&assessment.to_csv())?;
            assessment.files().for_each(|path| shared.say(&path.display().to_string()));
        }
        OutputFormat::Text => shared.print(&assessment.to_text(page.as_deref()))?,
    }
    Ok(if assessment.is_complete() { CommandOutcome::Done } else { CommandOutcome::Findings })
}
