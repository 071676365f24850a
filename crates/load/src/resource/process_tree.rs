//! Resources of the server side: given processes with all their descendants, summed so that
//! nothing is lost when children (PostgreSQL's backends, a web server's workers) come and go.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use rustix::param::clock_ticks_per_second;
use serde::{Deserialize, Serialize};

use super::ResourceError;
use super::process_stat::{ProcessKey, ProcessStat, read_all};

/// How often a tree is read again because it changed while being read.
const ATTEMPTS_MAX: usize = 10;

/// Every process that is not the measuring client: application and database together.
#[derive(Clone, Debug)]
pub struct ServerSide {
    /// Processes that stay during a trial, e.g. the application's first process and the
    /// postmaster. Their descendants, and the members of their process groups, belong to them.
    pub roots: Vec<u32>,
}

/// The counters of a process tree at one moment.
#[derive(Clone, Debug)]
pub struct ResourceSnapshot {
    processes: BTreeMap<ProcessKey, ProcessStat>,
    /// Context switches by thread, since an exited thread takes its count along.
    switches: BTreeMap<ThreadKey, Switches>,
    /// Bytes read and written by storage; `None` where this account may not see them.
    bytes: Option<(u64, u64)>,
    resident_bytes_peak: u64,
}

/// Use of a process tree between two snapshots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResourceUse {
    /// Processor seconds in the programs themselves; steps of a clock tick (10 ms) per process.
    pub cpu_seconds_user: f64,
    /// Processor seconds in the kernel on their behalf.
    pub cpu_seconds_system: f64,
    /// Switches because a thread waited; threads that ended in between are not counted.
    pub voluntary_context_switches: u64,
    /// Switches because the scheduler took the processor away; likewise.
    pub involuntary_context_switches: u64,
    /// Bytes that really came from storage, not from the page cache.
    pub read_bytes: Option<u64>,
    /// Bytes that were made dirty and are to go to storage.
    pub written_bytes: Option<u64>,
    /// Largest resident memory since each process began, summed; of memory that they share
    /// (PostgreSQL's shared_buffers) only what the one has that has most of it. An upper bound:
    /// pages of program files count in each.
    pub resident_bytes_peak: u64,
    /// Processes alive at the end.
    pub processes: usize,
}

impl ResourceUse {
    /// User and system time together.
    #[must_use]
    pub fn cpu_seconds(&self) -> f64 {
        self.cpu_seconds_user + self.cpu_seconds_system
    }
}

type ThreadKey = (u32, u64, u32);

#[derive(Clone, Copy, Debug, Default)]
struct Switches {
    voluntary: u64,
    involuntary: u64,
}

impl ServerSide {
    /// The numbers of all its processes; none where they cannot be read.
    pub fn processes(&self) -> Vec<u32> {
        let tree = read_all().and_then(|all| self.members(all)).unwrap_or_default();
        tree.into_keys().map(|(pid, _)| pid).collect()
    }

    pub fn snapshot(&self) -> Result<ResourceSnapshot, ResourceError> {
        let processes = self.read_tree()?;
        let mut statuses = Vec::new();
        let mut snapshot = ResourceSnapshot {
            processes,
            switches: BTreeMap::new(),
            bytes: Some((0, 0)),
            resident_bytes_peak: 0,
        };
        for &(pid, started) in snapshot.processes.keys() {
            let folder = format!("/proc/{pid}");
            let bytes = read_bytes(&folder);
            snapshot.bytes = snapshot
                .bytes
                .zip(bytes)
                .map(|((read, written), (more, wrote))| (read + more, written + wrote));
            statuses.extend(fs::read_to_string(format!("{folder}/status")));
            for (thread, switches) in read_switches(&folder) {
                snapshot.switches.insert((pid, started, thread), switches);
            }
        }
        snapshot.resident_bytes_peak = resident_bytes_peak(&statuses);
        Ok(snapshot)
    }

    /// The processes of the tree, from a moment at which none of them came, went or was reaped:
    /// else a child's time could be missed, or counted both as its own and as its parent's.
    fn read_tree(&self) -> Result<BTreeMap<ProcessKey, ProcessStat>, ResourceError> {
        let mut tree = self.members(read_all()?)?;
        for _ in 0..ATTEMPTS_MAX {
            let again = self.members(read_all()?)?;
            let same = tree.len() == again.len()
                && tree.iter().zip(&again).all(|((key, process), (other, now))| {
                    key == other && process.reaped_ticks == now.reaped_ticks
                });
            tree = again;
            if same {
                break;
            }
        }
        Ok(tree)
    }

    fn members(
        &self,
        mut all: BTreeMap<ProcessKey, ProcessStat>,
    ) -> Result<BTreeMap<ProcessKey, ProcessStat>, ResourceError> {
        let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut waiting = Vec::new();
        for (&(pid, _), process) in &all {
            children.entry(process.parent).or_default().push(pid);
            if self.roots.contains(&pid) || self.roots.contains(&process.group) {
                waiting.push(pid);
            }
        }
        if let Some(&gone) = self.roots.iter().find(|root| !waiting.contains(root)) {
            return Err(ResourceError::NoSuchProcess(gone));
        }
        let mut members = BTreeSet::new();
        while let Some(pid) = waiting.pop() {
            if members.insert(pid) {
                waiting.extend(children.get(&pid).into_iter().flatten());
            }
        }
        all.retain(|(pid, _), _| members.contains(pid));
        Ok(all)
    }
}

impl ResourceSnapshot {
    /// Use from `earlier` to this snapshot of the same server side.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> ResourceUse {
        let per_second = clock_ticks_per_second() as f64;
        let (user, system) = self.ticks();
        let (user_before, system_before) = earlier.ticks();
        let mut switches = Switches::default();
        for (thread, now) in &self.switches {
            let before = earlier.switches.get(thread).copied().unwrap_or_default();
            switches.voluntary += now.voluntary.saturating_sub(before.voluntary);
            switches.involuntary += now.involuntary.saturating_sub(before.involuntary);
        }
        let bytes = self.bytes.zip(earlier.bytes);
        ResourceUse {
            cpu_seconds_user: user.saturating_sub(user_before) as f64 / per_second,
            cpu_seconds_system: system.saturating_sub(system_before) as f64 / per_second,
            voluntary_context_switches: switches.voluntary,
            involuntary_context_switches: switches.involuntary,
            read_bytes: bytes.map(|(now, before)| now.0.saturating_sub(before.0)),
            written_bytes: bytes.map(|(now, before)| now.1.saturating_sub(before.1)),
            resident_bytes_peak: self.resident_bytes_peak,
            processes: self.processes.len(),
        }
    }

    /// User and system ticks of all that live, and of all that they have waited for. When a child
    /// ends, its ticks move into its parent's reaped ones and the sum stays.
    fn ticks(&self) -> (u64, u64) {
        self.processes.values().fold((0, 0), |(user, system), process| {
            (
                user + process.user_ticks + process.reaped_ticks.0,
                system + process.system_ticks + process.reaped_ticks.1,
            )
        })
    }
}

/// Of processes whose /proc/PID/status these are; shared memory is that of the one with most of it.
fn resident_bytes_peak(statuses: &[String]) -> u64 {
    let (mut own, mut shared_max) = (0, 0);
    for status in statuses {
        let bytes = |name| field(status, name).unwrap_or(0) * 1024;
        let shared = bytes("RssShmem:");
        own += bytes("VmHWM:").saturating_sub(shared);
        shared_max = shared.max(shared_max);
    }
    own + shared_max
}

/// Storage bytes of a process, its ended threads and its reaped children (the kernel adds them).
fn read_bytes(folder: &str) -> Option<(u64, u64)> {
    let text = fs::read_to_string(format!("{folder}/io")).ok()?;
    Some((field(&text, "read_bytes:")?, field(&text, "write_bytes:")?))
}

fn read_switches(folder: &str) -> Vec<(u32, Switches)> {
    let Ok(threads) = fs::read_dir(format!("{folder}/task")) else { return Vec::new() };
    let read = |thread: fs::DirEntry| {
        let status = fs::read_to_string(thread.path().join("status")).ok()?;
        let switches = Switches {
            voluntary: field(&status, "voluntary_ctxt_switches:")?,
            involuntary: field(&status, "nonvoluntary_ctxt_switches:")?,
        };
        Some((thread.file_name().to_str()?.parse().ok()?, switches))
    };
    threads.flatten().filter_map(read).collect()
}

/// The number behind a name at the beginning of a line.
pub(super) fn field(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_of_sessions_counts_once_and_their_own_each() {
        let status = |peak: u32, shared: u32| {
            format!("Name:\tpostgres\nVmHWM:\t{peak:>8} kB\nRssShmem:\t{shared:>8} kB\n")
        };
        let statuses = [status(20, 10), status(130, 100), status(95, 90), String::new()];
        assert_eq!(resident_bytes_peak(&statuses), (10 + 30 + 5 + 100) * 1024);
    }
}
