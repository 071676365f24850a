//! `crossover dashboard`: the commands that make, fill and serve the dashboard's database.

mod account;
mod backup;
mod connections;
mod database;
mod generate;
mod import;
mod init;
mod key;
mod log;
mod mend;
mod replaced;
mod rollup;
mod serve;
mod transfer;
mod upgrade;

use dashboard::rollup::CommandWork;

use crate::shared::{CommandOutcome, Shared};

#[derive(clap::Subcommand)]
pub enum Command {
    Init(init::Arguments),
    Generate(generate::Arguments),
    Mend(mend::Arguments),
    Serve(serve::Arguments),
    Backup(backup::Arguments),
    Move(transfer::Arguments),
    Upgrade(upgrade::Arguments),
    /// Data from elsewhere: articles, traffic
    #[command(subcommand)]
    Import(import::Command),
    /// The totals that the design rollup answers from: make, prove
    #[command(subcommand)]
    Rollup(rollup::Command),
    /// API keys for programs: make, list, revoke
    #[command(subcommand)]
    Key(key::Command),
    /// Accounts of people: make, list, remove, give another password
    #[command(subcommand)]
    Account(account::Command),
}

pub fn run(command: Command, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    match command {
        Command::Init(arguments) => init::run(arguments, shared),
        Command::Generate(arguments) => generate::run(arguments, shared),
        Command::Mend(arguments) => mend::run(arguments, shared),
        Command::Serve(arguments) => serve::run(arguments, shared),
        Command::Import(command) => import::run(command, shared),
        Command::Rollup(command) => rollup::run(command, shared),
        Command::Key(command) => key::run(command, shared),
        Command::Account(command) => account::run(command, shared),
        Command::Backup(arguments) => backup::run(&arguments, shared),
        Command::Move(arguments) => transfer::run(&arguments, shared),
        Command::Upgrade(arguments) => upgrade::run(&arguments, shared),
    }
}

/// Does `work` behind a progress bar, until it ends or the user does not want to wait.
fn in_work<T, E>(
    shared: &Shared,
    label: &'static str,
    work: impl FnOnce(CommandWork<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let progress = shared.progress(label);
    let done = work(CommandWork {
        runtime: shared.runtime().handle(),
        progress: &progress,
        interrupted: shared.interrupted(),
    });
    progress.finish_and_clear();
    done
}
