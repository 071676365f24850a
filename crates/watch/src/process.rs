//! Processes by their numbers: command lines, and those that have a file open.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;

use crate::file::FileIdentity;

/// Longest command line that is shown.
const COMMAND_CHARACTERS: usize = 80;

/// The command lines of processes, remembered after their ends.
#[derive(Debug, Default)]
pub struct CommandLines(BTreeMap<i32, String>);

impl CommandLines {
    /// Looks at a process that is seen for the first time.
    pub fn remember(&mut self, pid: i32) {
        self.0.entry(pid).or_insert_with(|| command_line(pid));
    }

    pub fn of(&self, pid: i32) -> String {
        self.0.get(&pid).cloned().unwrap_or_default()
    }
}

fn command_line(pid: i32) -> String {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = String::from_utf8_lossy(&words);
    let (program, arguments) = words.split_once('\0').unwrap_or((&words, ""));
    // Its folder tells little and takes much room.
    let program = program.rsplit('/').next().unwrap_or_default();
    let mut line = format!("{program} {}", arguments.replace('\0', " ")).trim().to_owned();
    if line.is_empty() {
        line = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    }
    let line: String =
        line.chars().map(|each| if each.is_control() { ' ' } else { each }).collect();
    let line = line.trim();
    match line.char_indices().nth(COMMAND_CHARACTERS) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_owned(),
    }
}

/// Processes that have a file open.
#[derive(Debug, Default)]
pub struct Openers {
    pub pids: Vec<i32>,
    /// Processes whose open files this account may not see.
    pub hidden: usize,
}

/// Looks through all processes.
pub fn openers(file: FileIdentity) -> Openers {
    let mut found = Openers::default();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    for pid in pids {
        let descriptors = match fs::read_dir(format!("/proc/{pid}/fd")) {
            Ok(descriptors) => descriptors,
            Err(error) => {
                found.hidden += usize::from(error.kind() == ErrorKind::PermissionDenied);
                continue;
            }
        };
        let is_file = |path: std::path::PathBuf| {
            fs::metadata(path).is_ok_and(|at| at.dev() == file.device && at.ino() == file.inode)
        };
        if descriptors.flatten().any(|descriptor| is_file(descriptor.path())) {
            found.pids.push(pid);
        }
    }
    let own = i32::try_from(std::process::id()).unwrap_or_default();
    found.pids.retain(|pid| *pid != own);
    found
}
