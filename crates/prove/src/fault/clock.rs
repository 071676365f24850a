//! A clock that jumps, days back or forward, while the command runs: libfaketime stands between it
//! and the system's clock. Debian has it as `faketime`.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use rand::RngExt as _;

use super::{Fault, expect_end, judge, usual_time, wait_for_end, while_it_runs};
use crate::damage::Damage;
use crate::random::SeededRandom;
use crate::site::{Engine, FaultSite};
use crate::subject::FaultSubject;

/// Less than a session lasts.
const DAYS_MOST: i32 = 10;

/// An undisturbed try takes so long.
#[derive(Default)]
pub struct Jump {
    usual: Duration,
}

impl Fault for Jump {
    fn name(&self) -> &'static str {
        "the clock jumps"
    }

    /// PostgreSQL keeps its own time: there only the command's clock jumps.
    fn suits(&self, subject: &dyn FaultSubject, engine: Engine) -> bool {
        engine == Engine::Sqlite || subject.name() != "bench"
    }

    fn prepare(&mut self, site: &mut FaultSite, subject: &dyn FaultSubject) -> anyhow::Result<()> {
        let library = library().context("there is no libfaketime; install `faketime`")?;
        let offset = site.aside("offset");
        fs::write(&offset, "+0")?;
        site.set_environment(
            [
                ("LD_PRELOAD", library.display().to_string()),
                ("FAKETIME_TIMESTAMP_FILE", offset.display().to_string()),
                ("FAKETIME_NO_CACHE", "1".to_owned()),
                ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
            ]
            .map(|(name, value)| (name.to_owned(), value))
            .into(),
        );
        self.usual = usual_time(site, subject)?;
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
        fs::write(site.aside("offset"), "+0")?;
        let moment = self.usual.mul_f64(random.random_range(0.0..1.0));
        let days = random.random_range(-DAYS_MOST..=DAYS_MOST);
        let (in_time, ended) = while_it_runs(site, subject, |running| {
            thread::sleep(moment);
            let in_time = !running.has_ended()?;
            fs::write(site.aside("offset"), format!("{days:+}d"))?;
            wait_for_end(subject, running)?;
            Ok(in_time)
        })?;
        expect_end(subject, &ended)?;
        let damage = judge(site, subject, &ended)?;
        Ok(in_time.then_some(damage))
    }
}

fn library() -> Option<PathBuf> {
    let folders = fs::read_dir("/usr/lib").ok()?.flatten().map(|entry| entry.path());
    folders.map(|it| it.join("faketime/libfaketime.so.1")).find(|path| path.exists())
}
