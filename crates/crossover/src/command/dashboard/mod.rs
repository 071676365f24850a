//! `crossover dashboard`: the commands that make, fill and serve the dashboard's database.

mod account;
mod backup;
mod database;
mod generate;
mod import;
mod init;
mod key;
mod log;
mod mend;
mod rollup;
mod serve;
mod span;

use crate::shared::{Outcome, Shared};

#[derive(clap::Subcommand)]
pub enum Command {
    Init(init::Arguments),
    Generate(generate::Arguments),
    Mend(mend::Arguments),
    Serve(serve::Arguments),
    Backup(backup::Arguments),
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

pub fn run(command: Command, shared: &Shared) -> anyhow::Result<Outcome> {
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
    }
}
