//! `crossover dashboard`: the commands that make, fill and serve the dashboard's database.

mod database;
mod generate;
mod init;
mod key;
mod mend;
mod rollup;
mod serve;

use crate::shared::{Outcome, Shared};

#[derive(clap::Subcommand)]
pub enum Command {
    Init(init::Arguments),
    Generate(generate::Arguments),
    Mend(mend::Arguments),
    /// Answer questions over HTTP
    Serve(serve::Arguments),
    /// The totals that the design rollup answers from: make, prove
    #[command(subcommand)]
    Rollup(rollup::Command),
    /// API keys: make, list, revoke
    #[command(subcommand)]
    Key(key::Command),
}

pub fn run(command: Command, shared: &Shared) -> anyhow::Result<Outcome> {
    match command {
        Command::Init(arguments) => init::run(arguments, shared),
        Command::Generate(arguments) => generate::run(arguments, shared),
        Command::Mend(arguments) => mend::run(arguments, shared),
        Command::Serve(arguments) => serve::run(arguments, shared),
        Command::Rollup(command) => rollup::run(command, shared),
        Command::Key(command) => key::run(command, shared),
    }
}
