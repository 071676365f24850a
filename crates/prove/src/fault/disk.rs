//! A disk that becomes full at a random point of the command's writes: a small file system in
//! memory, which only root may mount. It holds the SQLite file, or all that PostgreSQL writes.

use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use anyhow::ensure;
use rand::RngExt as _;
use tempfile::TempDir;

use super::{Fault, SERVED, expect_end, judge, wait_for_end, while_it_runs};
use crate::damage::Damage;
use crate::postgres::Postgres;
use crate::random::SeededRandom;
use crate::site::{Engine, FaultSite};
use crate::subject::FaultSubject;
use crate::tool::run;

/// More than any subject needs.
const ROOM: &str = "size=2g";

#[derive(Default)]
pub struct FullDisk {
    /// Growth of the disk during an undisturbed try.
    needed_bytes: u64,
    /// Of PostgreSQL; unmounted before its folder is removed.
    server: Option<(Rc<SmallDisk>, TempDir)>,
}

impl FullDisk {
    /// Moves the server to a disk of its own.
    fn move_server(&mut self, postgres: &mut Postgres) -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let disk = SmallDisk::mount(folder.path())?;
        postgres.move_to(folder.path())?;
        self.server = Some((Rc::new(disk), folder));
        Ok(())
    }

    /// The one that becomes full; of SQLite a new one for each try.
    fn disk(&self, site: &FaultSite) -> anyhow::Result<Rc<SmallDisk>> {
        match &self.server {
            Some((disk, _)) => Ok(Rc::clone(disk)),
            None => Ok(Rc::new(SmallDisk::mount(&site.folder())?)),
        }
    }
}

impl Fault for FullDisk {
    fn name(&self) -> &'static str {
        "the disk full"
    }

    fn suits(&self, subject: &dyn FaultSubject, engine: Engine) -> bool {
        // An experiment keeps the data of its server itself.
        engine == Engine::Sqlite || subject.name() != "bench"
    }

    fn prepare(&mut self, site: &mut FaultSite, subject: &dyn FaultSubject) -> anyhow::Result<()> {
        if let Some(postgres) = site.postgres_mut() {
            self.move_server(postgres)?;
            // A server whose log has no room ends, and it starts again only after the command.
            site.set_environment(vec![("CROSSOVER_RECONNECTS".to_owned(), "1".to_owned())]);
        }
        let disk = self.disk(site)?;
        subject.begin(site)?;
        let before = disk.used_bytes()?;
        let (most, ended) = while_it_runs(site, subject, |running| {
            let (mut most, begun) = (before, Instant::now());
            while !running.has_ended()? && (subject.ends() || begun.elapsed() < SERVED) {
                most = most.max(disk.used_bytes()?);
            }
            Ok(most)
        })?;
        expect_end(subject, &ended)?;
        self.needed_bytes = (most - before).max(4096);
        Ok(())
    }

    fn attempt(
        &self,
        site: &mut FaultSite,
        subject: &dyn FaultSubject,
        random: &mut SeededRandom,
    ) -> anyhow::Result<Option<Damage>> {
        let disk = self.disk(site)?;
        subject.begin(site)?;
        let free = random.random_range(0..self.needed_bytes);
        disk.resize(&format!("size={}", disk.used_bytes()? + free))?;
        let ((), ended) = while_it_runs(site, subject, |running| wait_for_end(subject, running))?;
        disk.resize(ROOM)?;
        let failed = subject.ends() && !matches!(ended.code, Some(0 | 3));
        let said = ended.said.to_lowercase();
        let why: &[&str] = match site.postgres() {
            None => &["disk", "space", "room"],
            // The server ends where its log has no room, and its clients learn only that.
            Some(_) => &["disk", "space", "room", "connection", "connect to", "recovery"],
        };
        ensure!(
            !failed || why.iter().any(|word| said.contains(word)),
            "it does not say that the disk is full: {}",
            ended.said
        );
        let damage = judge(site, subject, &ended)?;
        Ok((failed || !subject.ends()).then_some(damage))
    }
}

/// A mounted file system, removed with all it holds.
struct SmallDisk(std::path::PathBuf);

impl SmallDisk {
    fn mount(folder: &Path) -> anyhow::Result<Self> {
        run(&["mount", "-t", "tmpfs", "-o", &format!("{ROOM},mode=0755"), "tmpfs"], folder)?;
        Ok(Self(folder.to_owned()))
    }

    fn resize(&self, size: &str) -> anyhow::Result<()> {
        run(&["mount", "-o", &format!("remount,{size}")], &self.0)
    }

    fn used_bytes(&self) -> anyhow::Result<u64> {
        let found = rustix::fs::statvfs(&self.0)?;
        Ok((found.f_blocks - found.f_bfree) * found.f_frsize)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = run(&["umount", "--lazy"], &self.0);
    }
}
