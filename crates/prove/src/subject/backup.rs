//! `dashboard backup`: the copy is there as a whole or not at all, and the original stays.

use std::process::Command;

use super::{FaultSubject, begin_from_base, generate, keep_as_base};
use crate::contents::Contents;
use crate::damage::Damage;
use crate::site::FaultSite;

const COPY: &str = "copy.db";

#[derive(Default)]
pub struct Backup {
    whole: Contents,
}

impl FaultSubject for Backup {
    fn name(&self) -> &'static str {
        "backup"
    }

    fn prepare(&mut self, site: &FaultSite) -> anyhow::Result<()> {
        generate(site)?;
        self.whole = Contents::of(site)?;
        keep_as_base(site)
    }

    fn begin(&self, site: &FaultSite) -> anyhow::Result<()> {
        begin_from_base(site)
    }

    fn command(&self, site: &FaultSite) -> Command {
        site.command(&["dashboard", "backup", COPY, "--database", &site.database()])
    }

    fn after_fault(&self, site: &FaultSite) -> anyhow::Result<Damage> {
        let original = Contents::of(site)?.damage(&self.whole);
        match site.path(COPY).exists() {
            true => Ok(original + self.damage(site)?),
            false => Ok(original),
        }
    }

    fn finish(&self, site: &FaultSite) -> anyhow::Result<()> {
        if !site.path(COPY).exists() {
            site.run(&["dashboard", "backup", COPY, "--database", &site.database()])?;
        }
        Ok(())
    }

    fn damage(&self, site: &FaultSite) -> anyhow::Result<Damage> {
        Ok(Contents::of_file(&site.path(COPY))?.damage(&self.whole))
    }
}
