//! The commands that are disturbed: each makes what its tries begin from, goes on after a fault,
//! and says what should be there.

mod backup;
mod bench;
mod generate;
mod import;
mod migrate;
mod serve;
mod upgrade;

use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use rustix::process::Pid;

use crate::damage::Damage;
use crate::postgres::Postgres;
use crate::site::{Engine, FaultSite};

/// One command on one engine.
pub trait FaultSubject: Sync {
    fn name(&self) -> &'static str;

    /// Makes what every try begins from, once.
    fn prepare(&mut self, site: &FaultSite) -> anyhow::Result<()>;

    /// Makes the data of a try, in an empty folder.
    fn begin(&self, site: &FaultSite) -> anyhow::Result<()>;

    fn command(&self, site: &FaultSite) -> Command;

    /// Does something to the running command until `over`.
    fn accompany(&self, _site: &FaultSite, _over: &AtomicBool) -> anyhow::Result<()> {
        Ok(())
    }

    /// Whether it ends by itself.
    fn ends(&self) -> bool {
        true
    }

    /// The first process of the server that it works on, if there is one now.
    fn server(&self, site: &FaultSite) -> anyhow::Result<Option<Pid>> {
        Ok(site.postgres().map(Postgres::pid))
    }

    /// Forgets what was acknowledged after the fault; `known` is what was before.
    fn only_acknowledged(&self, _known: &[String]) {}

    /// Damage that shows before anything is repaired.
    fn after_fault(&self, site: &FaultSite) -> anyhow::Result<Damage>;

    /// Goes on as the messages say, until everything is done.
    fn finish(&self, site: &FaultSite) -> anyhow::Result<()>;

    fn damage(&self, site: &FaultSite) -> anyhow::Result<Damage>;
}

/// All of them on one engine.
pub fn all(engine: Engine) -> Vec<Box<dyn FaultSubject>> {
    let mut all: Vec<Box<dyn FaultSubject>> = vec![
        Box::new(generate::Generate::default()),
        Box::new(import::Import::default()),
        Box::new(upgrade::Upgrade::default()),
        Box::new(serve::Serve::default()),
    ];
    match engine {
        Engine::Sqlite => all.push(Box::new(backup::Backup::default())),
        Engine::Postgres => all.push(Box::new(migrate::Migrate::default())),
    }
    all.push(Box::new(bench::Bench::new(engine)));
    all
}

/// How many articles and rows `dashboard generate` makes.
fn size(site: &FaultSite) -> [&'static str; 2] {
    ["--scale", if site.full { "1" } else { "0.01" }]
}

/// Makes a dashboard in the try's database.
fn generate(site: &FaultSite) -> anyhow::Result<()> {
    let [scale, value] = size(site);
    site.run(&["dashboard", "generate", scale, value, "--database", &site.database()])?;
    Ok(())
}

/// Keeps the try's database for [`begin_from_base`].
fn keep_as_base(site: &FaultSite) -> anyhow::Result<()> {
    match site.postgres() {
        None => copy(&site.file(), &site.kept("base.db")),
        Some(postgres) => postgres.keep_trial_as_base(),
    }
}

/// Gives the try a copy of what was kept.
fn begin_from_base(site: &FaultSite) -> anyhow::Result<()> {
    match site.postgres() {
        None => copy(&site.kept("base.db"), &site.file()),
        Some(postgres) => postgres.renew_trial(true),
    }
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    std::fs::copy(from, to)?;
    Ok(())
}

/// Proves the totals of the try's database.
fn verify_totals(site: &FaultSite) -> anyhow::Result<()> {
    site.run(&["dashboard", "rollup", "verify", "--database", &site.database()])?;
    Ok(())
}
