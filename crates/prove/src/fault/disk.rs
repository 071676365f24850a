//! A disk that becomes full at a random point of the command's writes: a small file system in
//! memory, which only root may mount.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{bail, ensure};
use rand::RngExt as _;

use super::{Fault, SERVED, expect_end, judge, let_run, while_it_runs};
use crate::damage::Damage;
use crate::random::Random;
use crate::site::{Engine, Site};
use crate::subject::Subject;

/// More than any subject needs.
const ROOM: &str = "size=2g";

/// What a subject writes, found out by an undisturbed try.
#[derive(Default)]
pub struct FullDisk {
    needed_bytes: u64,
}

impl Fault for FullDisk {
    fn name(&self) -> &'static str {
        "the disk full"
    }

    /// PostgreSQL's own disk is `migrate`'s business in its tests; here it is ours.
    fn suits(&self, _: &dyn Subject, engine: Engine) -> bool {
        engine == Engine::Sqlite
    }

    fn prepare(&mut self, site: &mut Site, subject: &dyn Subject) -> anyhow::Result<()> {
        let disk = Disk::mount(&site.folder())?;
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
        site: &mut Site,
        subject: &dyn Subject,
        random: &mut Random,
    ) -> anyhow::Result<Option<Damage>> {
        let disk = Disk::mount(&site.folder())?;
        subject.begin(site)?;
        let free = random.random_range(0..self.needed_bytes);
        disk.resize(&format!("size={}", disk.used_bytes()? + free))?;
        let ((), ended) = while_it_runs(site, subject, |running| let_run(subject, running))?;
        disk.resize(ROOM)?;
        let failed = subject.ends() && !matches!(ended.code, Some(0 | 3));
        let said = ended.said.to_lowercase();
        ensure!(
            !failed || said.contains("disk") || said.contains("space") || said.contains("room"),
            "it does not say that the disk is full: {}",
            ended.said
        );
        let damage = judge(site, subject, &ended)?;
        Ok((failed || !subject.ends()).then_some(damage))
    }
}

/// A mounted file system, removed with all it holds.
struct Disk(std::path::PathBuf);

impl Disk {
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

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = run(&["umount", "--lazy"], &self.0);
    }
}

pub(super) fn run(words: &[&str], last: &Path) -> anyhow::Result<()> {
    let [program, rest @ ..] = words else { bail!("no program") };
    let output = Command::new(program).args(rest).arg(last).output()?;
    ensure!(
        output.status.success(),
        "`{} {}`: {}",
        words.join(" "),
        last.display(),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(())
}
