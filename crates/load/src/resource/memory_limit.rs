//! A limit on the memory of application and database together, page cache included: a group of
//! the kernel's memory controller, made for one deployment and removed after it.

mod error;

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::{Mutex, MutexGuard};
use rustix::param::page_size;

use super::memory_controller::{Controller, Version};
use super::process_stat;
pub use error::MemoryLimitError;
use error::{no_controller, no_group_possible};

/// Prefix of the names of Crossover's groups; the owner's process number and start time follow.
const PREFIX: &str = "crossover-";

/// Counts processes that the kernel ended because the group was full.
const OUT_OF_MEMORY_KILLS: &str = "cgroup_out_of_memory_kills";

/// One at a time: it is the whole process that moves into a group.
static MOVING: Mutex<()> = Mutex::new(());

/// Tells groups of one process apart.
static COUNT: AtomicU64 = AtomicU64::new(0);

struct GroupNames {
    limit: &'static str,
    swap: &'static str,
    kills: &'static str,
    /// Refaults of file pages: newer kernels, older ones.
    refaults: [&'static str; 2],
}

impl Version {
    fn names(self) -> GroupNames {
        match self {
            Self::V1 => GroupNames {
                limit: "memory.limit_in_bytes",
                swap: "memory.memsw.limit_in_bytes",
                kills: "memory.oom_control",
                refaults: ["total_workingset_refault_file", "total_workingset_refault"],
            },
            Self::V2 => GroupNames {
                limit: "memory.max",
                swap: "memory.swap.max",
                kills: "memory.events",
                refaults: ["workingset_refault_file", "workingset_refault"],
            },
        }
    }

    /// Version 1 limits memory and swap together, version 2 swap for itself.
    fn swap_limit(self, limit_bytes: u64) -> u64 {
        match self {
            Self::V1 => limit_bytes,
            Self::V2 => 0,
        }
    }
}

/// A group with limited memory and no swap. Dropping it removes it.
#[derive(Debug)]
pub struct MemoryGroup {
    version: Version,
    folder: PathBuf,
    /// The group that this process belongs to.
    home: PathBuf,
    limit_bytes: u64,
    /// This process is there now.
    is_here: AtomicBool,
}

impl MemoryGroup {
    /// Makes a group, after removing those that killed programs left.
    pub fn create(limit_bytes: u64) -> Result<Self, MemoryLimitError> {
        let controller = find_controller()?;
        let mut refused = None;
        for place in controller.places() {
            sweep(&place);
            let name = format!("{}-{}", owner_name(), COUNT.fetch_add(1, Ordering::Relaxed));
            let folder = place.join(name);
            if let Err(error) = fs::create_dir(&folder) {
                refused.get_or_insert((folder, error));
                continue;
            }
            let mut group = Self {
                version: controller.version,
                folder,
                home: controller.own.clone(),
                limit_bytes,
                is_here: AtomicBool::new(false),
            };
            group.limit()?;
            match group.enter() {
                Ok(inside) => drop(inside),
                Err(MemoryLimitError::Io { path, source }) => {
                    refused.get_or_insert((path, source));
                    continue;
                }
                Err(error) => return Err(error),
            }
            return Ok(group);
        }
        Err(no_group_possible(controller.version, refused))
    }

    fn limit(&mut self) -> Result<(), MemoryLimitError> {
        let names = self.version.names();
        self.write(names.limit, self.limit_bytes)?;
        let found = self.read(names.limit)?;
        // The kernel rounds down to whole pages.
        let taken = found.parse::<u64>().ok().filter(|bytes| {
            *bytes <= self.limit_bytes && self.limit_bytes - bytes < page_size() as u64
        });
        let Some(taken) = taken else {
            return Err(MemoryLimitError::NotTaken { asked: self.limit_bytes, found });
        };
        self.limit_bytes = taken;
        if let Err(error) = self.write(names.swap, self.version.swap_limit(taken))
            && machine_has_swap()
        {
            return Err(MemoryLimitError::Unavailable {
                missing: format!("this kernel does not limit swap ({error})"),
                way_out: "Switch swap off (swapoff -a), or start the kernel with swapaccount=1.",
            });
        }
        Ok(())
    }

    /// The limit, as the kernel has it.
    #[must_use]
    pub fn limit_bytes(&self) -> u64 {
        self.limit_bytes
    }

    /// Moves this process into the group until the answer is dropped: what it starts meanwhile
    /// belongs to the group from its first page on, and files that it reads are charged to it.
    pub fn enter(&self) -> Result<Inside<'_>, MemoryLimitError> {
        let alone = MOVING.lock();
        move_here(&self.folder)?;
        self.is_here.store(true, Ordering::Relaxed);
        Ok(Inside { group: self, _alone: alone })
    }

    /// Back out of the group until the answer is dropped, where this process is in it.
    pub fn step_out(&self) -> Result<Outside<'_>, MemoryLimitError> {
        let returns = self.is_here.load(Ordering::Relaxed);
        if returns {
            move_here(&self.home)?;
            self.is_here.store(false, Ordering::Relaxed);
        }
        Ok(Outside { group: self, returns })
    }

    /// Counters of the group since it was made, by the names that a trial gives them.
    /// `cgroup_refaults`: file pages that were read again after the limit had pushed them out;
    /// a kernel that does not count these tells `cgroup_major_page_faults` instead.
    #[must_use]
    pub fn counters(&self) -> BTreeMap<String, f64> {
        let names = self.version.names();
        let text = fs::read_to_string(self.folder.join("memory.stat")).unwrap_or_default();
        let mut counters = BTreeMap::new();
        let refaults = names.refaults.iter().find_map(|name| number(&text, name));
        match refaults {
            Some(pages) => counters.insert("cgroup_refaults".to_owned(), pages),
            None => number(&text, "pgmajfault")
                .and_then(|faults| counters.insert("cgroup_major_page_faults".to_owned(), faults)),
        };
        let kills = fs::read_to_string(self.folder.join(names.kills)).unwrap_or_default();
        if let Some(kills) = number(&kills, "oom_kill") {
            counters.insert(OUT_OF_MEMORY_KILLS.to_owned(), kills);
        }
        counters
    }

    /// `what` explained by the kernel's having ended a process of the group, if it has.
    #[must_use]
    pub fn explain(&self, what: &str) -> Option<MemoryLimitError> {
        let kills = self.counters().get(OUT_OF_MEMORY_KILLS).copied().unwrap_or_default();
        (kills > 0.0)
            .then(|| MemoryLimitError::TooLittle { bytes: self.limit_bytes, what: what.to_owned() })
    }

    /// Memory charged to the group now, page cache included.
    #[must_use]
    pub fn used_bytes(&self) -> Option<u64> {
        let name = match self.version {
            Version::V1 => "memory.usage_in_bytes",
            Version::V2 => "memory.current",
        };
        self.read(name).ok()?.parse().ok()
    }

    fn write(&self, name: &str, value: u64) -> Result<(), MemoryLimitError> {
        let path = self.folder.join(name);
        write(&path, &value.to_string())
    }

    fn read(&self, name: &str) -> Result<String, MemoryLimitError> {
        let path = self.folder.join(name);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(text.trim().to_owned()),
            Err(source) => Err(MemoryLimitError::Io { path, source }),
        }
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        // A process that is only just ending keeps its group for a moment; then the next sweep
        // removes it.
        for _ in 0..50 {
            match fs::remove_dir(&self.folder) {
                Err(error) if error.kind() == ErrorKind::ResourceBusy => {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                }
                _ => return,
            }
        }
    }
}

/// This process is in a group until this is dropped.
#[derive(Debug)]
pub struct Inside<'a> {
    group: &'a MemoryGroup,
    _alone: MutexGuard<'static, ()>,
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        // We came from there, so the way back is open; and if the group there is gone, staying
        // inside the limit is the safe side.
        if move_here(&self.group.home).is_ok() {
            self.group.is_here.store(false, Ordering::Relaxed);
        }
    }
}

/// This process has left the group that it was inside of, until this is dropped.
#[derive(Debug)]
pub struct Outside<'a> {
    group: &'a MemoryGroup,
    returns: bool,
}

impl Drop for Outside<'_> {
    fn drop(&mut self) {
        if self.returns && move_here(&self.group.folder).is_ok() {
            self.group.is_here.store(true, Ordering::Relaxed);
        }
    }
}

/// Zero stands for the process that writes.
fn move_here(folder: &Path) -> Result<(), MemoryLimitError> {
    write(&folder.join("cgroup.procs"), "0")
}

/// Writes to a file of the kernel, which is never created or cut.
fn write(path: &Path, text: &str) -> Result<(), MemoryLimitError> {
    use std::io::Write as _;
    fs::File::options()
        .write(true)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|source| MemoryLimitError::Io { path: path.to_owned(), source })
}

fn find_controller() -> Result<Controller, MemoryLimitError> {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let found = Controller::find(&read("/proc/self/mountinfo"), &read("/proc/self/cgroup"));
    found.ok_or_else(no_controller)
}

fn machine_has_swap() -> bool {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    number(&text, "SwapTotal:").is_none_or(|kibibytes| kibibytes > 0.0)
}

/// The number behind a name that begins a line.
fn number(text: &str, name: &str) -> Option<f64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix([' ', '\t']))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// Names this process so that another one cannot be taken for it: numbers are used again.
fn owner_name() -> String {
    let pid = std::process::id();
    format!("{PREFIX}{pid}-{}", process_stat::started(pid).unwrap_or_default())
}

/// Removes empty groups below `place` whose owner is gone. One that still holds processes (a
/// server that outlived its program) stays until they are stopped.
fn sweep(place: &Path) {
    let Ok(entries) = fs::read_dir(place) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { continue };
        let mut numbers = rest.split('-').map(str::parse::<u64>);
        if let (Some(Ok(pid)), Some(Ok(started))) = (numbers.next(), numbers.next())
            && u32::try_from(pid).ok().and_then(process_stat::started) != Some(started)
        {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use plan::SERVER_MEMORY_BYTES_MIN;

    use super::*;

    #[test]
    fn a_name_that_is_the_beginning_of_another_is_not_it() {
        let text = "workingset_refault_file 7\nworkingset_refault 9\n";
        assert_eq!(number(text, "workingset_refault"), Some(9.0));
        assert_eq!(number("SwapTotal:        0 kB", "SwapTotal:"), Some(0.0));
        assert_eq!(number(text, "pgmajfault"), None);
    }

    #[test]
    fn groups_are_swept_only_if_their_program_was_killed() {
        let group = match MemoryGroup::create(SERVER_MEMORY_BYTES_MIN) {
            Ok(group) => group,
            Err(error) => return testing::skip(&error.to_string()),
        };
        let place = group.folder.parent().unwrap();
        // No process has this number: it is beyond what Linux gives.
        let ended = 4_194_304 + std::process::id();
        let left_over = place.join(format!("{PREFIX}{ended}-1-0"));
        fs::create_dir(&left_over).unwrap();
        let other = MemoryGroup::create(SERVER_MEMORY_BYTES_MIN).unwrap();
        assert!(!left_over.exists());
        assert!(group.folder.exists());
        let folder = other.folder.clone();
        drop(other);
        assert!(!folder.exists());
    }

    #[test]
    fn only_who_is_inside_steps_out_and_back() {
        let group = match MemoryGroup::create(SERVER_MEMORY_BYTES_MIN) {
            Ok(group) => group,
            Err(error) => return testing::skip(&error.to_string()),
        };
        let is_inside = || {
            let all = fs::read_to_string(group.folder.join("cgroup.procs")).unwrap();
            all.lines().any(|pid| pid == std::process::id().to_string())
        };
        drop(group.step_out().unwrap());
        assert!(!is_inside());
        let inside = group.enter().unwrap();
        let outside = group.step_out().unwrap();
        assert!(!is_inside());
        drop(outside);
        assert!(is_inside());
        drop(inside);
        assert!(!is_inside());
    }
}
