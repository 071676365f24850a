//! `crossover blob`: the steps of the blob experiment, one by one, as SQLite's kvtest has them.

mod export;
mod forms;
mod init;
mod result;
mod run;
mod stat;
mod statistics;

#[cfg(test)]
pub use result::RunResult;

use crate::shared::{CommandOutcome, Shared};

#[derive(clap::Subcommand)]
pub enum Command {
    Init(init::Arguments),
    Stat(stat::Arguments),
    Export(export::Arguments),
    Run(run::Arguments),
}

pub fn run(command: Command, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    match command {
        Command::Init(arguments) => init::run(&arguments, shared),
        Command::Stat(arguments) => stat::run(&arguments, shared),
        Command::Export(arguments) => export::run(&arguments, shared),
        Command::Run(arguments) => run::run(&arguments, shared),
    }
}
