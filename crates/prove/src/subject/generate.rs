//! `dashboard generate`: the reference dataset is there as a whole or not at all.

use std::process::Command;

use super::{FaultSubject, size, verify_totals};
use crate::contents::Contents;
use crate::damage::Damage;
use crate::site::FaultSite;

#[derive(Default)]
pub struct Generate {
    whole: Contents,
}

impl Generate {
    fn is_there(site: &FaultSite) -> anyhow::Result<bool> {
        match site.postgres() {
            None => Ok(site.file().exists()),
            Some(_) => Ok(!Contents::of(site)?.is_empty()),
        }
    }
}

impl FaultSubject for Generate {
    fn name(&self) -> &'static str {
        "generate"
    }

    fn prepare(&mut self, site: &FaultSite) -> anyhow::Result<()> {
        self.begin(site)?;
        super::generate(site)?;
        self.whole = Contents::of(site)?;
        Ok(())
    }

    fn begin(&self, site: &FaultSite) -> anyhow::Result<()> {
        site.postgres().map_or(Ok(()), |postgres| postgres.renew_trial(false))
    }

    fn command(&self, site: &FaultSite) -> Command {
        let [scale, value] = size(site);
        site.command(&["dashboard", "generate", scale, value, "--database", &site.database()])
    }

    fn after_fault(&self, site: &FaultSite) -> anyhow::Result<Damage> {
        match Self::is_there(site)? {
            true => self.damage(site),
            false => Ok(Damage::default()),
        }
    }

    fn finish(&self, site: &FaultSite) -> anyhow::Result<()> {
        match Self::is_there(site)? {
            // In PostgreSQL the totals follow the facts in a transaction of their own.
            true => drop(site.run(&[
                "dashboard",
                "rollup",
                "rebuild",
                "--database",
                &site.database(),
            ])?),
            false => super::generate(site)?,
        }
        verify_totals(site)
    }

    fn damage(&self, site: &FaultSite) -> anyhow::Result<Damage> {
        Ok(Contents::of(site)?.damage(&self.whole))
    }
}
