//! A power failure: what the command asked of the file system is recorded (recorder.c stands
//! between them), and the state is made that a failure at a random moment may leave: writes that
//! were not synced yet are thrown away, some of them or all.

use std::fs;

use anyhow::Context as _;
use rand::RngExt as _;

use super::{Fault, expect_end, judge, wait_for_end, while_it_runs};
use crate::damage::Damage;
use crate::random::SeededRandom;
use crate::replay::{Disk, Kind, WriteRecord, read_records};
use crate::site::{Engine, FaultSite};
use crate::subject::FaultSubject;
use crate::tool::run;

const RECORDER: &str = include_str!("recorder.c");

/// The share of failures that come right after the command has said that it is done.
const AFTER_THE_END: f64 = 0.25;

pub struct Power;

impl Fault for Power {
    fn name(&self) -> &'static str {
        "the power fails"
    }

    /// PostgreSQL's files are its own affair.
    fn suits(&self, _: &dyn FaultSubject, engine: Engine) -> bool {
        engine == Engine::Sqlite
    }

    fn prepare(&mut self, site: &mut FaultSite, _: &dyn FaultSubject) -> anyhow::Result<()> {
        let (source, library) = (site.aside("recorder.c"), site.aside("recorder.so"));
        fs::write(&source, RECORDER)?;
        let output = library.display().to_string();
        run(&["cc", "-shared", "-fPIC", "-O2", "-o", &output], &source)?;
        site.set_environment(
            [
                ("LD_PRELOAD", output),
                ("RECORD_FOLDER", site.folder().display().to_string()),
                ("RECORD_FILE", site.aside("record").display().to_string()),
            ]
            .map(|(name, value)| (name.to_owned(), value))
            .into(),
        );
        Ok(())
    }

    fn attempt(
        &self,
        site: &mut FaultSite,
        subject: &dyn FaultSubject,
        random: &mut SeededRandom,
    ) -> anyhow::Result<Option<Damage>> {
        site.clear()?;
        subject.begin(site)?;
        let mut disk = Disk::of(&site.folder())?;
        let record = site.aside("record");
        fs::write(&record, [])?;
        let ((), ended) = while_it_runs(site, subject, |running| wait_for_end(subject, running))?;
        expect_end(subject, &ended)?;
        let records = read_records(&fs::read(&record)?).context("the record")?;
        let after_end = subject.ends() && random.random_bool(AFTER_THE_END);
        let moment = if after_end { records.len() } else { random.random_range(0..records.len()) };
        let until = records.get(..moment).unwrap_or_default();
        until.iter().try_for_each(|record| disk.apply(record))?;
        site.clear()?;
        disk.fail(random, &site.folder())?;
        subject.only_acknowledged(&acknowledged(until));
        let mut damage = Damage::default();
        if after_end {
            damage += subject.damage(site).context("after the end of the command")?;
        }
        Ok(Some(damage + judge(site, subject, &ended)?))
    }
}

fn acknowledged(records: &[WriteRecord]) -> Vec<String> {
    let notes = records.iter().filter(|record| record.kind == Kind::Acknowledged);
    notes.map(|record| record.path.clone()).collect()
}
