//! `crossover demo`

use crate::shared::{Outcome, Shared};

#[derive(clap::Args)]
pub struct Arguments {}

pub fn run(_arguments: Arguments, _shared: &Shared) -> anyhow::Result<Outcome> {
    anyhow::bail!("not built yet")
}
