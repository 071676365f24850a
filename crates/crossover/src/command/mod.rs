//! Subcommands of the command line: for each one variant here, and one file beside it.

pub mod audit;
pub mod bench;
pub mod blob;
pub mod compare;
pub mod dashboard;
pub mod demo;
pub mod migrate;
#[cfg(test)]
mod reference;
pub mod report;
pub mod runs;
#[cfg(test)]
mod schemas;
pub mod secret;
pub mod server;
mod suggestion;
pub mod r#try;
pub mod verify;
pub mod watch;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anyhow::Context as _;
use clap::{Parser, Subcommand};

use crate::shared::{CommandOutcome, GlobalArguments, Shared};

pub use suggestion::parse;

/// Crossover finds, on your machine and with your data, where the lines cross.
///
/// Exit codes: 0 done; 1 failed; 2 wrong usage; 3 done, with findings; 99 a threshold missed.
#[derive(Parser)]
#[command(name = "crossover", version = version(), propagate_version = true)]
pub struct CommandLine {
    #[command(flatten)]
    pub global: GlobalArguments,
    #[command(subcommand)]
    pub command: Command,
}

/// `0.1.0 (release build of commit 50d70fa2)`; the commit is known in packages alone (packaging/dist).
fn version() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
        let commit = option_env!("CROSSOVER_COMMIT").map(|commit| format!(" of commit {commit}"));
        format!("{} ({profile} build{})", env!("CARGO_PKG_VERSION"), commit.unwrap_or_default())
    });
    &TEXT
}

#[derive(Subcommand)]
pub enum Command {
    /// The whole story on this machine, in minutes: audit, migration, experiment, report
    Demo(demo::Arguments),
    /// Your own SQLite file: audit, a copy in PostgreSQL, both measured, the verdict
    Try(r#try::Arguments),
    /// The content-traffic dashboard: make its database, fill it, serve it
    #[command(subcommand)]
    Dashboard(dashboard::Command),
    /// What PostgreSQL would refuse in a SQLite file
    Audit(audit::Arguments),
    /// Move a SQLite file into PostgreSQL
    Migrate(migrate::Arguments),
    /// Prove that a SQLite file and a PostgreSQL database hold the same rows
    Verify(verify::Arguments),
    /// Measure engines against each other, in blocks, with checked answers
    Bench(bench::Arguments),
    /// Blobs in a SQLite file or in files: make them, export them, time reading and overwriting
    #[command(subcommand)]
    Blob(blob::Command),
    /// Name the holders of a SQLite file's lock, from outside while an application runs
    Watch(watch::Arguments),
    /// Draw the report of a recorded run again, or of several side by side
    Report(report::Arguments),
    /// Compare two recorded runs, or several sittings of each
    Compare(compare::Arguments),
    /// List the recorded runs, remove some
    Runs(runs::Arguments),
    /// Database servers that Crossover fetches, starts and stops
    #[command(subcommand)]
    Server(server::Command),
    /// A client of SQLite that is a process; `bench` starts it
    #[command(name = lab::client::CLIENT, hide = true)]
    Client,
    /// A relay between clients and a server that delays; `bench` starts it
    #[command(name = host::relay::RELAY, hide = true)]
    Relay {
        /// Nanoseconds of a round trip
        delay: u64,
        /// The path of a Unix socket, or addresses
        upstream: Vec<String>,
    },
    /// Print a completion script for a shell
    Completion { shell: clap_complete::Shell },
    /// Print the manual page, or write those of all commands
    Man {
        /// A folder that exists, for a page of each command
        folder: Option<PathBuf>,
    },
}

/// Runs one command to its end.
pub fn run(command: Command, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    match command {
        Command::Demo(arguments) => demo::run(arguments, shared),
        Command::Try(arguments) => r#try::run(arguments, shared),
        Command::Dashboard(command) => dashboard::run(command, shared),
        Command::Audit(arguments) => audit::run(arguments, shared),
        Command::Migrate(arguments) => migrate::run(arguments, shared),
        Command::Verify(arguments) => verify::run(arguments, shared),
        Command::Bench(arguments) => bench::run(arguments, shared),
        Command::Blob(command) => blob::run(command, shared),
        Command::Watch(arguments) => watch::run(&arguments, shared),
        Command::Report(arguments) => report::run(arguments, shared),
        Command::Compare(arguments) => compare::run(&arguments, shared),
        Command::Runs(arguments) => runs::run(arguments, shared),
        Command::Server(command) => server::run(command, shared),
        Command::Client => {
            lab::client::serve()?;
            Ok(CommandOutcome::Done)
        }
        Command::Relay { delay, upstream } => {
            host::relay::serve(host::relay::RelayArguments::read(delay, &upstream)?)?;
            Ok(CommandOutcome::Done)
        }
        Command::Completion { shell } => completion(shell, shared),
        Command::Man { folder } => manual(folder.as_deref(), shared),
    }
}

fn completion(shell: clap_complete::Shell, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let mut script = Vec::new();
    let mut command = <CommandLine as clap::CommandFactory>::command();
    clap_complete::generate(shell, &mut command, "crossover", &mut script);
    shared.print(&String::from_utf8_lossy(&script))?;
    Ok(CommandOutcome::Done)
}

fn manual(folder: Option<&Path>, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let command = <CommandLine as clap::CommandFactory>::command();
    if let Some(folder) = folder {
        clap_mangen::generate_to(command, folder)
            .with_context(|| format!("{} cannot be filled with manual pages", folder.display()))?;
        return Ok(CommandOutcome::Done);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    shared.print(&String::from_utf8_lossy(&page))?;
    Ok(CommandOutcome::Done)
}
