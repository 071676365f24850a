//! Faults of a command: it or its server is killed, the disk is full, connections are cut,
//! the clock jumps, the file may only be read, the power fails.

mod clock;
mod connection;
mod disk;
mod kill;
mod power;
mod read_only;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::damage::Damage;
use crate::random::SeededRandom;
use crate::site::{Ended, Engine, FaultSite, Running};
use crate::subject::FaultSubject;

/// A server that never ends by itself is disturbed within this time.
const SERVED: Duration = Duration::from_millis(1500);
/// How often an end is looked for.
const LOOK: Duration = Duration::from_millis(2);

/// A kind of fault, as set up on a site for a subject.
pub trait Fault {
    /// Ends the name of a row in the table: "our process killed".
    fn name(&self) -> &'static str;

    fn suits(&self, subject: &dyn FaultSubject, engine: Engine) -> bool;

    /// Set-up that is needed once, and the time of an undisturbed try.
    fn prepare(&mut self, site: &mut FaultSite, subject: &dyn FaultSubject) -> anyhow::Result<()>;

    /// One try; none where the fault came too late to be one.
    fn attempt(
        &self,
        site: &mut FaultSite,
        subject: &dyn FaultSubject,
        random: &mut SeededRandom,
    ) -> anyhow::Result<Option<Damage>>;
}

/// The faults of a part of the proofs.
pub fn of_part(part: &str) -> Vec<Box<dyn Fault>> {
    match part {
        "kills" => kill::all(),
        "disk" => vec![Box::new(disk::FullDisk::default())],
        "connections" => vec![Box::new(connection::Cut::default())],
        "clock" => vec![Box::new(clock::Jump::default())],
        "read-only" => vec![Box::new(read_only::ReadOnly)],
        "power" => vec![Box::new(power::Power)],
        _ => Vec::new(),
    }
}

/// How long the subject takes undisturbed, after everything is begun.
fn usual_time(site: &FaultSite, subject: &dyn FaultSubject) -> anyhow::Result<Duration> {
    if !subject.ends() {
        return Ok(SERVED);
    }
    site.clear()?;
    subject.begin(site)?;
    let begun = Instant::now();
    let ended = site.start(subject.command(site))?.wait()?;
    expect_end(subject, &ended)?;
    Ok(begun.elapsed())
}

fn expect_end(subject: &dyn FaultSubject, ended: &Ended) -> anyhow::Result<()> {
    match ended.code {
        _ if !subject.ends() => Ok(()),
        // 3: done, with findings.
        Some(0 | 3) => Ok(()),
        code => bail!("undisturbed it ended with {code:?}: {}", ended.said),
    }
}

/// Starts the subject, and calls `disturb` with it while what accompanies it goes on. Then its end
/// is waited for; a server that has none is killed.
fn while_it_runs<T>(
    site: &FaultSite,
    subject: &dyn FaultSubject,
    disturb: impl FnOnce(&mut Running) -> anyhow::Result<T>,
) -> anyhow::Result<(T, Ended)> {
    let mut running = site.start(subject.command(site))?;
    let over = AtomicBool::new(false);
    let disturbed = thread::scope(|scope| {
        let accompany = scope.spawn(|| subject.accompany(site, &over));
        let disturbed = disturb(&mut running);
        over.store(true, Ordering::Relaxed);
        match accompany.join() {
            Ok(accompanied) => accompanied.and(disturbed),
            Err(_) => bail!("the load panicked"),
        }
    })?;
    if !subject.ends() {
        running.kill();
    }
    Ok((disturbed, running.wait()?))
}

/// Waits for the end of the subject, or as long as one without end is served.
fn wait_for_end(subject: &dyn FaultSubject, running: &mut Running) -> anyhow::Result<()> {
    let begun = Instant::now();
    while !running.has_ended()? && (subject.ends() || begun.elapsed() < SERVED) {
        thread::sleep(LOOK);
    }
    Ok(())
}

/// Goes on after a fault, and adds up the damage.
fn judge(
    site: &mut FaultSite,
    subject: &dyn FaultSubject,
    ended: &Ended,
) -> anyhow::Result<Damage> {
    if let Some(postgres) = site.postgres_mut() {
        postgres.start_again()?;
    }
    let damage = subject.after_fault(site).context("right after the fault")?;
    subject.finish(site).context("going on after the fault")?;
    let end = subject.damage(site).context("in the end")?;
    Ok(damage + end + Damage { panics: ended.panics(), ..Damage::default() })
}
