//! `dashboard upgrade` from version 1: the facts never change, and what is added is whole.

use std::process::Command;

use super::{FaultSubject, begin_from_base, keep_as_base, verify_totals};
use crate::contents::Contents;
use crate::damage::Damage;
use crate::site::FaultSite;

/// A database of the program of version 1.
const SQLITE: &str = include_str!("../../../dashboard/tests/fixtures/version-1.sqlite.sql");
const POSTGRES: &str = include_str!("../../../dashboard/tests/fixtures/version-1.postgres.sql");

#[derive(Default)]
pub struct Upgrade {
    facts: Contents,
    whole: Contents,
}

impl Upgrade {
    fn upgrade(site: &FaultSite) -> anyhow::Result<()> {
        site.run(&["dashboard", "upgrade", "--database", &site.database()])?;
        Ok(())
    }

    /// Many more facts of the fixture's four articles, in SQL that both engines understand.
    fn more_facts(days: u32) -> String {
        format!(
            "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {days})
             INSERT INTO traffic
             SELECT 18400 + i, articles.id, countries.id, 1 + i % 7, 1 + i % 3, i % 600
               FROM n CROSS JOIN articles CROSS JOIN countries WHERE true
             ON CONFLICT DO NOTHING"
        )
    }
}

impl FaultSubject for Upgrade {
    fn name(&self) -> &'static str {
        "upgrade"
    }

    fn prepare(&mut self, site: &FaultSite) -> anyhow::Result<()> {
        let more = Self::more_facts(if site.full { 150_000 } else { 1_500 });
        match site.postgres() {
            None => {
                let connection = connect::sqlite::create(&site.file())?;
                connection.execute_batch(SQLITE)?;
                connection.execute_batch(&more)?;
            }
            Some(postgres) => {
                postgres.renew_trial(false)?;
                postgres.execute(POSTGRES)?;
                postgres.execute(&more)?;
            }
        }
        self.facts = Contents::by_day(site, "traffic")?;
        keep_as_base(site)?;
        Self::upgrade(site)?;
        self.whole = Contents::of(site)?;
        Ok(())
    }

    fn begin(&self, site: &FaultSite) -> anyhow::Result<()> {
        begin_from_base(site)
    }

    fn command(&self, site: &FaultSite) -> Command {
        site.command(&["dashboard", "upgrade", "--database", &site.database()])
    }

    fn after_fault(&self, site: &FaultSite) -> anyhow::Result<Damage> {
        Ok(Contents::by_day(site, "traffic")?.damage(&self.facts))
    }

    fn finish(&self, site: &FaultSite) -> anyhow::Result<()> {
        Self::upgrade(site)?;
        verify_totals(site)
    }

    fn damage(&self, site: &FaultSite) -> anyhow::Result<Damage> {
        Ok(Contents::of(site)?.damage(&self.whole))
    }
}
