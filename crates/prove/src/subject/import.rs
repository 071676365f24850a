//! `dashboard import traffic`: each day is the old one or the new one, and the totals agree.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{FaultSubject, begin_from_base, generate, keep_as_base, verify_totals};
use crate::contents::Contents;
use crate::damage::Damage;
use crate::site::FaultSite;

/// The last days of the dataset, which the file replaces; at full size all of it.
const DAYS: i64 = 60;

#[derive(Default)]
pub struct Import {
    days_before: Contents,
    days_after: Contents,
    whole: Contents,
}

impl Import {
    fn words(site: &FaultSite) -> Vec<String> {
        let file = site.kept("traffic.csv").display().to_string();
        let words = ["dashboard", "import", "traffic", &file, "--database", &site.database()];
        words.map(str::to_owned).to_vec()
    }

    /// A file with the days of a SQLite dashboard, one page view more in each row.
    fn write_file(site: &FaultSite) -> anyhow::Result<()> {
        let source = site.kept("source.db");
        let [scale, value] = super::size(site);
        let url = format!("sqlite://{}", source.display());
        site.run(&["dashboard", "generate", scale, value, "--database", &url])?;
        let connection = connect::sqlite::open_read_only(&source)?;
        let first = if site.full {
            "0".to_owned()
        } else {
            format!("(SELECT max(day) - {DAYS} FROM traffic)")
        };
        let mut statement = connection.prepare(&format!(
            "SELECT date(day * 86400, 'unixepoch'), url, code, pageviews + 1, sessions,
                    engagement_seconds
               FROM traffic JOIN articles ON articles.id = article_id
               JOIN countries ON countries.id = country_id WHERE day > {first}"
        ))?;
        let mut rows = statement.query([])?;
        let mut file = BufWriter::new(File::create(site.kept("traffic.csv"))?);
        writeln!(file, "date,url,country,pageviews,sessions,engagement_seconds")?;
        let mut line = String::new();
        while let Some(row) = rows.next()? {
            line.clear();
            let texts: [String; 3] = [row.get(0)?, row.get(1)?, row.get(2)?];
            let counts: [i64; 3] = [row.get(3)?, row.get(4)?, row.get(5)?];
            write!(line, "{}", texts.join(","))?;
            counts.iter().try_for_each(|count| write!(line, ",{count}"))?;
            writeln!(file, "{line}")?;
        }
        Ok(file.flush()?)
    }
}

impl FaultSubject for Import {
    fn name(&self) -> &'static str {
        "import"
    }

    fn prepare(&mut self, site: &FaultSite) -> anyhow::Result<()> {
        Self::write_file(site)?;
        if let Some(postgres) = site.postgres() {
            postgres.renew_trial(false)?;
        }
        generate(site)?;
        self.days_before = Contents::by_day(site, "traffic")?;
        keep_as_base(site)?;
        site.run(&Self::words(site))?;
        self.days_after = Contents::by_day(site, "traffic")?;
        self.whole = Contents::of(site)?;
        Ok(())
    }

    fn begin(&self, site: &FaultSite) -> anyhow::Result<()> {
        begin_from_base(site)
    }

    fn command(&self, site: &FaultSite) -> Command {
        site.command(&Self::words(site))
    }

    /// A server has the file open as well, so that no end of the import settles the log.
    fn accompany(&self, site: &FaultSite, over: &AtomicBool) -> anyhow::Result<()> {
        if site.postgres().is_some() {
            return Ok(());
        }
        let server = connect::sqlite::open_existing(&site.file())?;
        while !over.load(Ordering::Relaxed) {
            // The file may be locked, or may only be read: it is enough to have it open.
            let _ = server.query_row("SELECT max(version) FROM schema_version", [], |_| Ok(()));
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        Ok(())
    }

    fn after_fault(&self, site: &FaultSite) -> anyhow::Result<Damage> {
        let days = Contents::by_day(site, "traffic")?;
        Ok(days.damage_of_parts(&self.days_before, &self.days_after))
    }

    fn finish(&self, site: &FaultSite) -> anyhow::Result<()> {
        site.run(&Self::words(site))?;
        verify_totals(site)
    }

    fn damage(&self, site: &FaultSite) -> anyhow::Result<Damage> {
        Ok(Contents::of(site)?.damage(&self.whole))
    }
}
