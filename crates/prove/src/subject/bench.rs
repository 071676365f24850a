//! `bench`: every whole trial stays unchanged, and none is measured twice.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use anyhow::bail;
use parking_lot::Mutex;
use rustix::process::Pid;

use super::FaultSubject;
use crate::damage::Damage;
use crate::site::{Engine, FaultSite};

const DATA: &str = "
    CREATE TABLE item (id INTEGER PRIMARY KEY, number INTEGER NOT NULL);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
      INSERT INTO item SELECT i, i * 7 % 100 FROM n;";

/// Blocks, and levels of the only factor.
const BLOCKS: usize = 2;
const LEVELS: usize = 2;

pub struct Bench {
    engine: Engine,
    /// The trials that were whole when the fault came.
    whole: Mutex<BTreeMap<PathBuf, Vec<u8>>>,
}

impl Bench {
    pub fn new(engine: Engine) -> Self {
        Self { engine, whole: Mutex::default() }
    }

    fn engines(&self) -> &'static [&'static str] {
        match self.engine {
            Engine::Sqlite => &["sqlite"],
            Engine::Postgres => &["sqlite", "postgres:18"],
        }
    }

    fn run(site: &FaultSite) -> Option<PathBuf> {
        let runs = std::fs::read_dir(site.path("runs")).ok()?;
        runs.flatten().map(|run| run.path()).find(|run| run.join("run.json").exists())
    }

    fn trials(site: &FaultSite) -> anyhow::Result<BTreeMap<PathBuf, Vec<u8>>> {
        let Some(run) = Self::run(site) else { return Ok(BTreeMap::new()) };
        let Ok(entries) = std::fs::read_dir(run.join("trials")) else { return Ok(BTreeMap::new()) };
        let paths = entries.flatten().map(|entry| entry.path());
        let json = paths.filter(|path| path.extension().is_some_and(|ending| ending == "json"));
        json.map(|path| Ok((path.clone(), std::fs::read(path)?))).collect()
    }
}

impl FaultSubject for Bench {
    fn name(&self) -> &'static str {
        "bench"
    }

    fn prepare(&mut self, site: &FaultSite) -> anyhow::Result<()> {
        connect::sqlite::create(&site.kept("data.db"))?.execute_batch(DATA)?;
        let plan = format!(
            "title = \"a plan\"\nworkload = \"sql\"\nengines = {:?}\ndata = \"data.db\"\n\
             replicates = {BLOCKS}\nwait_for_quiet = false\ntrial = {{ mode = \"passes\", passes = 20 }}\n\
             factors = {{ low = {{ levels = [10, 50], swept = \"linear\" }} }}\n\
             [[statement]]\nname = \"count\"\n\
             text = \"SELECT count(*) FROM item WHERE number < {{low}}\"\n",
            self.engines(),
        );
        std::fs::write(site.kept("plan.toml"), plan)?;
        self.begin(site)?;
        self.finish(site)
    }

    fn begin(&self, site: &FaultSite) -> anyhow::Result<()> {
        self.whole.lock().clear();
        std::fs::copy(site.kept("plan.toml"), site.path("plan.toml"))?;
        std::fs::copy(site.kept("data.db"), site.path("data.db"))?;
        Ok(())
    }

    fn command(&self, site: &FaultSite) -> Command {
        site.command(&["bench", "plan.toml"])
    }

    /// It starts one of its own.
    fn server(&self, site: &FaultSite) -> anyhow::Result<Option<Pid>> {
        site.experiment_server()
    }

    fn after_fault(&self, site: &FaultSite) -> anyhow::Result<Damage> {
        *self.whole.lock() = Self::trials(site)?;
        Ok(Damage::default())
    }

    fn finish(&self, site: &FaultSite) -> anyhow::Result<()> {
        let words = match Self::run(site) {
            Some(_) => vec!["bench", "--resume", "latest"],
            None => vec!["bench", "plan.toml"],
        };
        let output = site.command(&words).output()?;
        // 3: two blocks decide nothing.
        if !matches!(output.status.code(), Some(0 | 3)) {
            bail!("`crossover {}`: {}", words.join(" "), String::from_utf8_lossy(&output.stderr));
        }
        site.run(&["report", "latest"])?;
        Ok(())
    }

    fn damage(&self, site: &FaultSite) -> anyhow::Result<Damage> {
        let trials = Self::trials(site)?;
        let before = self.whole.lock();
        let changed = before.iter().filter(|(path, text)| trials.get(*path) != Some(*text)).count();
        let mut measured: BTreeMap<String, usize> = BTreeMap::new();
        for text in trials.values() {
            let trial: serde_json::Value = serde_json::from_slice(text)?;
            // A trial whose engine the fault ended is void, and kept.
            let treatment = ["engine", "levels", "block"].map(|key| trial[key].to_string());
            *measured.entry(treatment.join(" ")).or_default() += 1;
        }
        let expected = self.engines().len() * BLOCKS * LEVELS;
        let twice: usize = measured.values().map(|count| count - 1).sum();
        Ok(Damage {
            rows_lost: u64::try_from(expected.saturating_sub(measured.len()) + changed)?,
            rows_doubled: u64::try_from(twice)?,
            panics: 0,
        })
    }
}
