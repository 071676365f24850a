//! `migrate --resume`: the target's tables are there as a whole or not at all.

use std::process::Command;

use anyhow::bail;

use super::FaultSubject;
use crate::contents::Contents;
use crate::damage::Damage;
use crate::site::FaultSite;

/// Tables with and without keys, an index, a foreign key.
const SHOP: &str = "
    CREATE TABLE kind(id INTEGER PRIMARY KEY, name TEXT UNIQUE);
    CREATE TABLE item(id INTEGER PRIMARY KEY, kind_id INT NOT NULL REFERENCES kind, body TEXT);
    CREATE INDEX item_kind ON item(kind_id);
    CREATE TABLE event(at DATETIME, note TEXT);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
      INSERT INTO kind SELECT i, 'kind ' || i FROM n;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
      INSERT INTO item SELECT i, 1 + i % 50, hex(i) FROM n;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
      INSERT INTO event SELECT datetime(i * 1000, 'unixepoch'), 'note ' || i % 9 FROM n;";

#[derive(Default)]
pub struct Migrate {
    whole: Contents,
}

impl Migrate {
    fn source(site: &FaultSite) -> String {
        site.kept("source.db").display().to_string()
    }

    fn words(site: &FaultSite) -> Vec<String> {
        let part = if site.full { "16000000" } else { "50000" };
        // The dashboard's triggers are not carried over.
        let words = ["migrate", &Self::source(site), &site.database(), "--resume"];
        let words = words.into_iter().chain(["--accept-losses", "--part-bytes", part]);
        words.map(str::to_owned).collect()
    }

    /// Whether both sides hold the same rows, told by the program itself.
    fn is_moved(site: &FaultSite) -> anyhow::Result<bool> {
        let verify = ["verify", &Self::source(site), &site.database(), "--accept-losses"];
        let verified = site.command(&verify).output()?;
        Ok(verified.status.success())
    }
}

impl FaultSubject for Migrate {
    fn name(&self) -> &'static str {
        "migrate"
    }

    fn prepare(&mut self, site: &FaultSite) -> anyhow::Result<()> {
        if site.full {
            let url = format!("sqlite://{}", Self::source(site));
            site.run(&["dashboard", "generate", "--database", &url])?;
        } else {
            connect::sqlite::create(&site.kept("source.db"))?.execute_batch(SHOP)?;
        }
        self.begin(site)?;
        site.run(&Self::words(site))?;
        self.whole = Contents::of(site)?;
        Ok(())
    }

    fn begin(&self, site: &FaultSite) -> anyhow::Result<()> {
        site.postgres().map_or(Ok(()), |postgres| postgres.renew_trial(false))
    }

    fn command(&self, site: &FaultSite) -> Command {
        site.command(&Self::words(site))
    }

    fn after_fault(&self, site: &FaultSite) -> anyhow::Result<Damage> {
        let found = Contents::of(site)?;
        Ok(if found.is_empty() { Damage::default() } else { found.damage(&self.whole) })
    }

    fn finish(&self, site: &FaultSite) -> anyhow::Result<()> {
        if !Self::is_moved(site)? {
            site.run(&Self::words(site))?;
        }
        if !Self::is_moved(site)? {
            bail!("it says that it is done, and verify finds differences");
        }
        Ok(())
    }

    fn damage(&self, site: &FaultSite) -> anyhow::Result<Damage> {
        Ok(Contents::of(site)?.damage(&self.whole))
    }
}
