//! All processes as /proc/PID/stat lists them: their parents and groups, their use of processors.

use std::collections::BTreeMap;
use std::fs;

use super::ResourceError;

/// A process number may be used again; with its start time it is unique.
pub type ProcessKey = (u32, u64);

/// One process, proc_pid_stat(5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessStat {
    pub state: char,
    pub parent: u32,
    /// 0, which no group has, in a process that its parent has waited for while it is read.
    pub group: u32,
    pub user_ticks: u64,
    pub system_ticks: u64,
    /// User and system ticks of the descendants that it has waited for.
    pub reaped_ticks: (u64, u64),
}

impl ProcessStat {
    /// Whether it has ended, and only its parent has not asked for its status yet.
    pub fn has_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }
}

/// Every process of the machine.
pub fn read_all() -> Result<BTreeMap<ProcessKey, ProcessStat>, ResourceError> {
    let unavailable = ResourceError::LinuxOnly("what processes do (/proc)");
    let folder = fs::read_dir("/proc").map_err(|_| unavailable)?;
    let mut processes = BTreeMap::new();
    for entry in folder.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        // A process may end between the listing and the reading.
        let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { continue };
        let (started, process) = parse(&stat).ok_or_else(|| ResourceError::Unreadable {
            path: format!("/proc/{pid}/stat"),
            reason: "not in the form of proc_pid_stat(5)".to_owned(),
        })?;
        processes.insert((pid, started), process);
    }
    Ok(processes)
}

/// Processor seconds of a process so far; none where there is no such process.
pub fn cpu_seconds(pid: u32) -> Option<f64> {
    let (_, process) = parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?;
    let ticks = process.user_ticks + process.system_ticks;
    Some(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// When a process began, in clock ticks since the machine started; `None` where there is none.
pub fn started(pid: u32) -> Option<u64> {
    let (started, process) = parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?;
    (!process.has_ended()).then_some(started)
}

/// The program's name, in brackets, may hold anything, brackets and blanks too; the fields behind
/// it begin with the third.
fn parse(stat: &str) -> Option<(u64, ProcessStat)> {
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    let small = |field: usize| fields.get(field - 3)?.parse::<u32>().ok();
    let process = ProcessStat {
        state: fields.first()?.chars().next()?,
        parent: small(4)?,
        group: if fields.get(2) == Some(&"-1") { 0 } else { small(5)? },
        user_ticks: number(14)?,
        system_ticks: number(15)?,
        reaped_ticks: (number(16)?, number(17)?),
    };
    Some((number(22)?, process))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_name_may_hold_brackets_and_blanks() {
        let stat = "42 (a) b (c) S 7 41 41 0 -1 4194304 1 2 3 4 50 60 70 80 20 0 1 0 9000 1 1";
        let (started, process) = parse(stat).unwrap();
        assert_eq!(started, 9000);
        let expected = ProcessStat {
            state: 'S',
            parent: 7,
            group: 41,
            user_ticks: 50,
            system_ticks: 60,
            reaped_ticks: (70, 80),
        };
        assert_eq!(process, expected);
    }

    #[test]
    fn a_process_that_is_just_gone_belongs_to_no_group() {
        let stat = "21801 (sh) X 0 -1 -1 0 -1 4227148 196 0 0 0 0 0 0 0 20 0 0 0 7979558 0 0";
        let (_, process) = parse(stat).unwrap();
        assert_eq!((process.group, process.has_ended()), (0, true));
    }

    #[test]
    fn what_is_cut_short_is_not_guessed() {
        assert_eq!(parse("42 (a) S 7 41"), None);
        assert_eq!(parse(""), None);
    }
}
