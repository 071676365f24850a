//! `crossover dashboard`

use crate::shared::{Outcome, Shared};

#[derive(clap::Subcommand)]
pub enum Command {}

pub fn run(_command: Command, _shared: &Shared) -> anyhow::Result<Outcome> {
    anyhow::bail!("not built yet")
}
