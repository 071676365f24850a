//! What processes use, from /proc.

use std::collections::BTreeMap;
use std::fs;

/// Seconds of CPU: user, system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu {
    pub user: f64,
    pub system: f64,
}

impl Cpu {
    pub fn since(self, earlier: Self) -> Self {
        Self { user: self.user - earlier.user, system: self.system - earlier.system }
    }

    pub fn total(self) -> f64 {
        self.user + self.system
    }
}

/// Of all children that have ended.
pub fn ended_children() -> Cpu {
    let fields = stat("self").expect("/proc/self/stat");
    seconds(&fields[13..15])
}

/// Of a process, its children that run, and those that have ended.
pub fn family(pid: u32) -> Cpu {
    let mut sum = stat(&pid.to_string()).map_or_else(Cpu::default, |fields| {
        let (own, ended) = (seconds(&fields[11..13]), seconds(&fields[13..15]));
        Cpu { user: own.user + ended.user, system: own.system + ended.system }
    });
    for fields in all().into_values() {
        if fields[1] == u64::from(pid) {
            let child = seconds(&fields[11..13]);
            (sum.user, sum.system) = (sum.user + child.user, sum.system + child.system);
        }
    }
    sum
}

/// The most memory that a process has had at once, bytes.
pub fn memory_peak(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? * 1024)
}

fn all() -> BTreeMap<String, Vec<u64>> {
    let names = fs::read_dir("/proc").unwrap().flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    let pids = names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    pids.filter_map(|pid| stat(&pid).map(|fields| (pid, fields))).collect()
}

/// The fields of proc_pid_stat(5) from the third on; what is not a number is 0.
fn stat(pid: &str) -> Option<Vec<u64>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = text.rsplit_once(')')?;
    let fields: Vec<u64> =
        fields.split_whitespace().map(|field| field.parse().unwrap_or(0)).collect();
    (fields.len() > 20).then_some(fields)
}

fn seconds(ticks: &[u64]) -> Cpu {
    let per_second = rustix::param::clock_ticks_per_second() as f64;
    Cpu { user: ticks[0] as f64 / per_second, system: ticks[1] as f64 / per_second }
}
