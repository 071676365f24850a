//! `make prove PART=...`: faults at random moments and mutated input. Every try is counted in
//! RELIABILITY.md at its end; a part that is interrupted or repeated adds to its counts.

mod contents;
mod damage;
mod document;
mod fault;
mod fuzz;
mod postgres;
mod random;
mod replay;
mod site;
mod subject;
mod tool;

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, ensure};
use clap::Parser;
use rand::SeedableRng as _;

use document::ReliabilityTable;
use fault::Fault;
use random::SeededRandom;
use site::{Engine, FaultSite};
use subject::FaultSubject;

/// Disturb every command at random moments, and count what is lost
#[derive(Parser)]
struct Arguments {
    /// The part to prove: kills, disk, connections, clock, read-only, power, or fuzz
    part: String,
    /// The program under test
    #[arg(long, default_value = "target/release/crossover")]
    program: PathBuf,
    /// Where tries are counted
    #[arg(long, default_value = "RELIABILITY.md")]
    document: PathBuf,
    /// Tries of each row, together with those that are counted already
    #[arg(long, default_value_t = 50)]
    tries: u64,
    /// The reference dataset instead of a hundredth of it
    #[arg(long)]
    full: bool,
    /// Only rows whose name contains this
    #[arg(long, default_value = "")]
    only: String,
    /// How long each fuzzer runs, in seconds
    #[arg(long, default_value_t = 600)]
    seconds: u64,
    /// Repeats the random choices of a run
    #[arg(long)]
    seed: Option<u64>,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let seed = arguments.seed.unwrap_or(u64::try_from(now.as_micros())?);
    say(&format!("seed {seed} (--seed {seed} repeats the choices)"));
    let mut document = ReliabilityTable::read(&arguments.document)?;
    let program = arguments.program.canonicalize().with_context(|| {
        format!("there is no {}; `make release` makes it", arguments.program.display())
    })?;
    if arguments.part == "fuzz" {
        let duration = Duration::from_secs(arguments.seconds);
        return fuzz::run(&program, &mut document, duration, &arguments.only, seed);
    }
    let faults = fault::of_part(&arguments.part);
    ensure!(!faults.is_empty(), "there is no part `{}`; --help names them", arguments.part);
    for engine in [Engine::Sqlite, Engine::Postgres] {
        for mut subject in subject::all(engine) {
            let rows = ChosenRows { arguments: &arguments, engine, seed };
            rows.count(subject.as_mut(), &program, &mut document)?;
        }
    }
    Ok(())
}

/// The rows of the table that belong to one engine.
struct ChosenRows<'a> {
    arguments: &'a Arguments,
    engine: Engine,
    seed: u64,
}

impl ChosenRows<'_> {
    fn count(
        &self,
        subject: &mut dyn FaultSubject,
        program: &std::path::Path,
        document: &mut ReliabilityTable,
    ) -> anyhow::Result<()> {
        for mut fault in fault::of_part(&self.arguments.part) {
            let size = if self.arguments.full { ", full size" } else { "" };
            let name =
                format!("{}, {}{size}: {}", subject.name(), self.engine.name(), fault.name());
            let wanted = self.arguments.tries.saturating_sub(document.tried(&name));
            if wanted == 0
                || !fault.suits(subject, self.engine)
                || !name.contains(&self.arguments.only)
            {
                continue;
            }
            say(&format!("{name}: {wanted} tries"));
            let mut site = FaultSite::new(program, self.engine, self.arguments.full)?;
            subject.prepare(&site).with_context(|| name.clone())?;
            fault.prepare(&mut site, subject).with_context(|| name.clone())?;
            self.tries(subject, fault.as_ref(), &mut site, (&name, wanted), document)?;
        }
        Ok(())
    }

    fn tries(
        &self,
        subject: &dyn FaultSubject,
        fault: &dyn Fault,
        site: &mut FaultSite,
        (name, wanted): (&str, u64),
        document: &mut ReliabilityTable,
    ) -> anyhow::Result<()> {
        let full = if self.arguments.full { " FULL=1" } else { "" };
        let again = format!("`make prove PART={}{full}`", self.arguments.part);
        let mut random = SeededRandom::seed_from_u64(self.seed);
        let mut counted = 0;
        // A fault after the command's end does not count; this many tries mean that none comes.
        let most = 20 * wanted + 20;
        for number in 0..most {
            if counted == wanted {
                return Ok(());
            }
            let context = || format!("{name}, try {number} of seed {}", self.seed);
            match fault.attempt(site, subject, &mut random).with_context(context)? {
                None => {}
                Some(damage) => {
                    counted += 1;
                    document.add(name, 1, damage, &again)?;
                    if damage != damage::Damage::default() {
                        say(&format!("{}: {damage:?}", context()));
                    }
                }
            }
        }
        ensure!(counted == wanted, "{name}: the fault came too late {most} times");
        Ok(())
    }
}

#[expect(clippy::print_stderr, reason = "progress")]
fn say(text: &str) {
    eprintln!("{text}");
}
