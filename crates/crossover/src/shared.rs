//! State shared by every command: output format, interruption, the runtime, exit codes.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use lab::options::ExpectedEnd;
use server::Locations;
use tokio::runtime::Runtime;

use crate::progress::{self, say};
use crate::signals;

/// Longest wait for the program's own threads after an interruption.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// Flags that every command understands.
#[derive(Args)]
#[command(next_help_heading = "Options of every command")]
pub struct GlobalArguments {
    /// How data is printed on standard output
    #[arg(long, global = true, value_enum, default_value_t, env = "CROSSOVER_OUTPUT_FORMAT")]
    pub output_format: OutputFormat,
    /// No colours (NO_COLOR is honoured too)
    #[arg(long, global = true, env = "CROSSOVER_NO_COLOR")]
    pub no_color: bool,
    /// Everything by name: of audit, migrate and verify also drafts in SQL of what is not carried over,
    /// of demo the commands with all their output, of bench --dry-run every treatment in its order
    #[arg(short, long, global = true, env = "CROSSOVER_VERBOSE")]
    pub verbose: bool,
    /// No progress on standard error: neither bars nor announced durations
    #[arg(short, long, global = true, env = "CROSSOVER_QUIET")]
    pub quiet: bool,
    /// Fetch no server: releases in the cache and installed ones have to do
    #[arg(long, global = true, env = "CROSSOVER_OFFLINE")]
    pub offline: bool,
}

/// The forms in which a command prints its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
    /// For spreadsheets
    Csv,
}

/// How a command ended that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandOutcome {
    /// Exit code 0
    Done,
    /// Exit code 3: blockers, rejects, differences, undecided
    Findings,
    /// Exit code 99: measured, and a stated threshold was missed
    Missed,
}

impl CommandOutcome {
    /// 0, 3 or 99, as the help says.
    pub fn exit_code(self) -> ExitCode {
        match self {
            Self::Done => ExitCode::SUCCESS,
            Self::Findings => ExitCode::from(3),
            Self::Missed => ExitCode::from(99),
        }
    }
}

/// A mistake in what the user typed that only shows after parsing; exit code 2.
#[derive(Debug)]
pub struct Usage(pub String);

impl std::fmt::Display for Usage {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// The surroundings of a running command.
pub struct Shared {
    /// How data is printed on standard output.
    pub output_format: OutputFormat,
    /// Whether text may be coloured.
    pub color: bool,
    /// Everything is named, nothing is only counted.
    pub verbose: bool,
    /// Progress is not shown.
    quiet: bool,
    offline: bool,
    started: Instant,
    interrupted: Arc<AtomicBool>,
    runtime: Runtime,
}

impl Shared {
    /// Sets up signals and the runtime of a program that has `started`.
    pub fn new(global: &GlobalArguments, started: Instant) -> anyhow::Result<Self> {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Ok(Self {
            output_format: global.output_format,
            color: !global.no_color && !no_color && std::io::stdout().is_terminal(),
            verbose: global.verbose,
            quiet: global.quiet,
            offline: global.offline,
            started,
            interrupted: signals::listen()?,
            runtime: tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .context("cannot start the runtime")?,
        })
    }

    /// Where servers lie, and whether more may be fetched.
    pub fn locations(&self) -> anyhow::Result<Locations> {
        Ok(Locations { offline: self.offline, ..Locations::detect()? })
    }

    /// Set by SIGINT or SIGTERM; long work looks at it and ends cleanly.
    pub fn interrupted(&self) -> &Arc<AtomicBool> {
        &self.interrupted
    }

    /// Whether the user asked to stop.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// The time since the program was started.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// The runtime on which asynchronous work runs.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Ends the program's threads. After an interruption one that waits (for SQLite's lock, for a name
    /// server) is not waited for.
    pub fn close(self) {
        if self.is_interrupted() {
            self.runtime.shutdown_timeout(LAST_WAIT);
        }
    }

    /// A bar on a terminal, a line now and then otherwise; on standard error.
    pub fn progress(&self, label: &str) -> indicatif::ProgressBar {
        if self.quiet { indicatif::ProgressBar::hidden() } else { progress::bar(label) }
    }

    /// The same for the trials of a run, which knows itself when it will end.
    pub fn progress_until(&self, label: &str, end: Arc<ExpectedEnd>) -> indicatif::ProgressBar {
        match self.quiet {
            true => indicatif::ProgressBar::hidden(),
            false => progress::bar_until(label, end),
        }
    }

    /// Says on standard error what is being done and how long that takes.
    pub fn announce(&self, text: &str) {
        if !self.quiet {
            say(text);
        }
    }

    /// Prints data on standard output. A reader that has gone away is not an error.
    pub fn print(&self, text: &str) -> anyhow::Result<()> {
        let mut stdout = std::io::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            other => other.context("cannot write to standard output"),
        }
    }

    /// Prints `value` as pretty JSON and a newline.
    pub fn print_json(&self, value: &impl serde::Serialize) -> anyhow::Result<()> {
        self.print(&format!("{}\n", serde_json::to_string_pretty(value)?))
    }

    /// Prints rows in the form asked for.
    pub fn print_rows<Row: serde::Serialize, const COLUMNS: usize>(
        &self,
        header: [&str; COLUMNS],
        rows: &[Row],
        cells: impl FnMut(&Row) -> [String; COLUMNS],
    ) -> anyhow::Result<()> {
        let cells = rows.iter().map(cells);
        match self.output_format {
            OutputFormat::Json => self.print_json(&rows),
            OutputFormat::Csv => self.print(&notation::csv_table(&header, cells)),
            OutputFormat::Text => {
                let mut table = notation::column_table(header, [], None);
                table.add_rows(cells);
                self.print(&notation::drawn(&table))
            }
        }
    }

    /// Shows `things` and asks `question` on a terminal; elsewhere no user could answer.
    pub fn confirm(&self, things: &[String], question: &str) -> anyhow::Result<bool> {
        if !std::io::stdin().is_terminal() {
            let text = "cannot ask for confirmation: not a terminal; add --yes";
            return Err(Usage(text.to_owned()).into());
        }
        let mut stderr = std::io::stderr().lock();
        for thing in things {
            writeln!(stderr, "{thing}")?;
        }
        write!(stderr, "{question} [y/N] ")?;
        stderr.flush()?;
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer)?;
        Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
    }

    /// Tells the user something on standard error.
    pub fn say(&self, text: &str) {
        say(text);
    }
}

/// The error and its causes; a cause that the error has told already is not told again.
fn in_one_line(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |told, cause| match told.as_str() {
        "" => cause,
        _ if told.contains(&cause) => told,
        _ => format!("{told}: {cause}"),
    })
}

/// A mistake in the command line, a plan, a URL or a setting: exit code 2.
fn is_usage(error: &anyhow::Error) -> bool {
    let of = |cause: &(dyn std::error::Error + 'static)| {
        cause.is::<Usage>()
            || cause.is::<plan::PlanError>()
            || cause.is::<engine::Error>()
            || cause
                .downcast_ref::<lab::error::RunError>()
                .is_some_and(lab::error::RunError::is_usage)
            || cause.downcast_ref::<assessment::Error>().is_some_and(assessment::Error::is_usage)
            || cause.downcast_ref::<host::DeployError>().is_some_and(host::DeployError::is_usage)
            || cause.downcast_ref::<blob::Error>().is_some_and(blob::Error::is_usage)
            || cause.downcast_ref::<connect::Error>().is_some_and(connect::Error::is_usage)
            || cause.downcast_ref::<server::Error>().is_some_and(server::Error::is_usage)
    };
    error.chain().any(of)
}

/// Prints a failure in one line and gives its exit code.
pub fn report_failure(error: &anyhow::Error) -> ExitCode {
    say(&format!("error: {}", in_one_line(error)));
    if is_usage(error) { ExitCode::from(2) } else { ExitCode::FAILURE }
}
