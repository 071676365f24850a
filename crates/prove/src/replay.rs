//! The state of a folder after a power failure. Modelled on a journalling file system: a sync makes
//! the file's content durable, and all entries of folders until then; later entries survive in
//! their order up to some point; later writes survive or not, each for itself, and may be torn.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use rand::RngExt as _;

use crate::random::SeededRandom;

/// Writes are torn at multiples of a sector.
const SECTOR_BYTES: usize = 512;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Write = 1,
    Truncate,
    Create,
    Rename,
    Unlink,
    Sync,
    MakeFolder,
    Link,
    /// Not asked by the command: a client had its answer.
    Acknowledged,
}

const KINDS: [Kind; 9] = [
    Kind::Write,
    Kind::Truncate,
    Kind::Create,
    Kind::Rename,
    Kind::Unlink,
    Kind::Sync,
    Kind::MakeFolder,
    Kind::Link,
    Kind::Acknowledged,
];

/// One thing that was asked.
#[derive(Debug)]
pub struct WriteRecord {
    pub kind: Kind,
    pub path: String,
    /// Bytes, or a second path.
    rest: Vec<u8>,
    offset: usize,
}

/// Notes in a record, if there is one, that something was answered.
pub fn note_acknowledgement(record: &Path, what: &str) {
    let Ok(mut record) = OpenOptions::new().append(true).open(record) else { return };
    let mut bytes = Vec::new();
    let head = [Kind::Acknowledged as u64, what.len() as u64, 0, 0, 0, 0];
    head.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    bytes.extend_from_slice(what.as_bytes());
    let _ = record.write_all(&bytes);
}

/// Reads what recorder.c has written.
pub fn read_records(mut bytes: &[u8]) -> anyhow::Result<Vec<WriteRecord>> {
    let mut records = Vec::new();
    while !bytes.is_empty() {
        let (head, after) = bytes.split_first_chunk::<48>().context("a head that is cut off")?;
        let number = |index: usize| {
            let at = head.get(8 * index..8 * index + 8).and_then(|it| it.try_into().ok());
            usize::try_from(at.map_or(0, u64::from_le_bytes))
        };
        let kind = number(0)?.checked_sub(1).and_then(|kind| KINDS.get(kind));
        let (path, after) = after.split_at_checked(number(1)?).context("a path")?;
        let (rest, after) = after.split_at_checked(number(2)?).context("data")?;
        bytes = after;
        records.push(WriteRecord {
            kind: *kind.context("an unknown kind")?,
            path: String::from_utf8(path.to_owned())?,
            rest: rest.to_owned(),
            offset: number(3)?,
        });
    }
    Ok(records)
}

enum Change {
    Write(usize, Vec<u8>),
    Truncate(usize),
}

/// A file, whatever its names.
#[derive(Default)]
struct Inode {
    durable: Vec<u8>,
    changes: Vec<Change>,
}

enum Entry {
    Name(String, usize),
    Folder(String),
    Rename(String, String),
    Remove(String),
}

/// A folder as its disk has it.
#[derive(Default)]
pub struct Disk {
    inodes: Vec<Inode>,
    names: BTreeMap<String, usize>,
    durable_names: BTreeMap<String, usize>,
    durable_folders: Vec<String>,
    entries: Vec<Entry>,
}

impl Disk {
    /// A folder whose content is durable.
    pub fn of(folder: &Path) -> anyhow::Result<Self> {
        let mut disk = Self::default();
        disk.add(folder)?;
        disk.durable_names = disk.names.clone();
        Ok(disk)
    }

    fn add(&mut self, folder: &Path) -> anyhow::Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.display().to_string();
            if path.is_dir() {
                self.durable_folders.push(name);
                self.add(&path)?;
            } else {
                self.names.insert(name, self.inodes.len());
                self.inodes.push(Inode { durable: fs::read(&path)?, changes: Vec::new() });
            }
        }
        Ok(())
    }

    /// Does what a record says.
    pub fn apply(&mut self, record: &WriteRecord) -> anyhow::Result<()> {
        let path = record.path.clone();
        // Files that have no name any more are of no interest.
        let inode = self.names.get(&path).copied();
        let file = inode.and_then(|inode| self.inodes.get_mut(inode));
        let second = || String::from_utf8(record.rest.clone());
        match record.kind {
            Kind::Write => {
                if let Some(file) = file {
                    file.changes.push(Change::Write(record.offset, record.rest.clone()));
                }
            }
            Kind::Truncate => {
                if let Some(file) = file {
                    file.changes.push(Change::Truncate(record.offset));
                }
            }
            Kind::Create => {
                self.inodes.push(Inode::default());
                let inode = self.inodes.len() - 1;
                self.names.insert(path.clone(), inode);
                self.entries.push(Entry::Name(path, inode));
            }
            Kind::Link => {
                let inode = inode.context("a link to a file that is not known")?;
                self.names.insert(second()?, inode);
                self.entries.push(Entry::Name(second()?, inode));
            }
            Kind::Rename => {
                rename(&mut self.names, &path, &second()?);
                self.entries.push(Entry::Rename(path, second()?));
            }
            Kind::Unlink => {
                self.names.remove(&path);
                self.entries.push(Entry::Remove(path));
            }
            Kind::MakeFolder => self.entries.push(Entry::Folder(path)),
            Kind::Sync => {
                if let Some(file) = file {
                    file.settle();
                }
                let entries = std::mem::take(&mut self.entries);
                self.make_durable(entries);
            }
            Kind::Acknowledged => {}
        }
        Ok(())
    }

    fn make_durable(&mut self, entries: impl IntoIterator<Item = Entry>) {
        for entry in entries {
            match entry {
                Entry::Name(path, inode) => drop(self.durable_names.insert(path, inode)),
                Entry::Rename(from, to) => {
                    rename(&mut self.durable_names, &from, &to);
                    for folder in &mut self.durable_folders {
                        *folder = renamed(folder, &from, &to).unwrap_or_else(|| folder.clone());
                    }
                }
                Entry::Remove(path) => {
                    self.durable_names.remove(&path);
                    self.durable_folders.retain(|folder| *folder != path);
                }
                Entry::Folder(path) => self.durable_folders.push(path),
            }
        }
    }

    /// Throws away what a failure may take, and writes the rest below `folder`, which is empty.
    pub fn fail(mut self, random: &mut SeededRandom, folder: &Path) -> anyhow::Result<()> {
        let surviving = random.random_range(0..=self.entries.len());
        let entries: Vec<Entry> = std::mem::take(&mut self.entries);
        self.make_durable(entries.into_iter().take(surviving));
        // Nothing, all, or about half of what was not synced.
        let share = [0.0, 0.5, 1.0][random.random_range(0..3)];
        for path in &self.durable_folders {
            fs::create_dir_all(path)?;
        }
        for (path, inode) in &self.durable_names {
            if !Path::new(path).starts_with(folder) {
                bail!("{path} is outside of {}", folder.display());
            }
            let inode = self.inodes.get_mut(*inode).context("no such file")?;
            let changes = std::mem::take(&mut inode.changes);
            let survivors = changes.into_iter().filter(|_| random.random_bool(share));
            inode.changes = survivors.collect();
            tear(&mut inode.changes, random, share);
            inode.settle();
            if let Some(parent) = Path::new(path).parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(path, &inode.durable)?;
        }
        Ok(())
    }
}

/// Cuts the last surviving write at a sector.
fn tear(changes: &mut [Change], random: &mut SeededRandom, share: f64) {
    if let Some(Change::Write(_, data)) = changes.last_mut()
        && share < 1.0
    {
        let sectors = data.len() / SECTOR_BYTES;
        data.truncate(SECTOR_BYTES * random.random_range(0..=sectors));
    }
}

impl Inode {
    fn settle(&mut self) {
        for change in self.changes.drain(..) {
            match change {
                Change::Truncate(length) => self.durable.resize(length, 0),
                Change::Write(offset, data) => {
                    let end = offset + data.len();
                    if self.durable.len() < end {
                        self.durable.resize(end, 0);
                    }
                    if let Some(place) = self.durable.get_mut(offset..end) {
                        place.copy_from_slice(&data);
                    }
                }
            }
        }
    }
}

/// Renames a file, or all files of a folder.
fn rename(names: &mut BTreeMap<String, usize>, from: &str, to: &str) {
    let moved: Vec<(String, String)> =
        names.keys().filter_map(|name| Some((name.clone(), renamed(name, from, to)?))).collect();
    for (old, new) in moved {
        if let Some(inode) = names.remove(&old) {
            names.insert(new, inode);
        }
    }
}

fn renamed(name: &str, from: &str, to: &str) -> Option<String> {
    let rest = name.strip_prefix(from)?;
    (rest.is_empty() || rest.starts_with('/')).then(|| format!("{to}{rest}"))
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;

    fn record(kind: Kind, path: &Path, rest: &[u8], offset: usize) -> WriteRecord {
        WriteRecord { kind, path: path.display().to_string(), rest: rest.to_owned(), offset }
    }

    /// A file that is written, synced and renamed is there as a whole under either name, however
    /// the failure falls; one that is not synced may be anything.
    #[test]
    fn what_was_synced_before_it_was_renamed_is_never_torn() {
        for seed in 0..200 {
            let folder = tempfile::tempdir().unwrap();
            let [old, new] = ["a.new", "a"].map(|name| folder.path().join(name));
            let mut disk = Disk::of(folder.path()).unwrap();
            let bytes = vec![7; 2000];
            for record in [
                record(Kind::Create, &old, b"", 0),
                record(Kind::Write, &old, &bytes, 0),
                record(Kind::Sync, &old, b"", 0),
                record(Kind::Rename, &old, new.display().to_string().as_bytes(), 0),
                record(Kind::Write, &new, b"more", 2000),
            ] {
                disk.apply(&record).unwrap();
            }
            disk.fail(&mut SeededRandom::seed_from_u64(seed), folder.path()).unwrap();
            let found = fs::read(&new).or_else(|_| fs::read(&old)).unwrap();
            assert!(found.starts_with(&bytes), "seed {seed}: {} bytes", found.len());
        }
    }
}
