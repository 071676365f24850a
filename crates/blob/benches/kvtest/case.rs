//! What is measured, as the words of kvtest and as settings of ours.

use std::path::PathBuf;
use std::process::Command;

use crate::Data;

/// One kind of work on one target.
pub struct Case {
    pub name: &'static str,
    pub target: &'static str,
    /// kvtest's own words; ours are the same ones, see `ours`.
    pub words: &'static [&'static str],
}

impl Case {
    pub fn updates(&self) -> bool {
        self.words.contains(&"--update")
    }
}

const MMAP: &str = "2000000000";

pub static CASES: [Case; 12] = [
    Case { name: "read by SQL", target: "blobs.db", words: &["--random"] },
    Case { name: "read by blob API", target: "blobs.db", words: &["--random", "--blob-api"] },
    Case { name: "read by SQL, mmap", target: "blobs.db", words: &["--random", "--mmap", MMAP] },
    Case {
        name: "read by blob API, mmap",
        target: "blobs.db",
        words: &["--random", "--blob-api", "--mmap", MMAP],
    },
    Case {
        name: "read by SQL, a transaction each",
        target: "blobs.db",
        words: &["--random", "--multitrans"],
    },
    Case { name: "read dir", target: "dir", words: &["--random"] },
    Case { name: "read tree", target: "tree", words: &["--random"] },
    Case { name: "update by SQL", target: "blobs.db", words: &["--random", "--update"] },
    Case {
        name: "update by blob API",
        target: "blobs.db",
        words: &["--random", "--update", "--blob-api"],
    },
    Case {
        name: "update by SQL, no sync",
        target: "blobs.db",
        words: &["--random", "--update", "--nosync"],
    },
    Case { name: "update dir", target: "dir", words: &["--random", "--update"] },
    Case { name: "update dir, fsync", target: "dir", words: &["--random", "--update", "--fsync"] },
];

/// A program that is measured.
pub enum Tool {
    Ours,
    Kvtest(PathBuf),
    Distribution(PathBuf),
}

impl Tool {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Kvtest(_) => "kvtest with our SQLite",
            Self::Distribution(_) => "kvtest with the distribution's SQLite",
        }
    }

    /// Whether ours must be no slower.
    pub fn is_yardstick(&self) -> bool {
        matches!(self, Self::Kvtest(_))
    }

    /// Runs one pass in a process of its own.
    pub fn measure(&self, case: &Case, data: &Data) -> Measured {
        let count = if case.updates() { data.updates } else { data.reads };
        let mut command = match self {
            Self::Ours => {
                let mut command = Command::new(std::env::current_exe().unwrap());
                command.arg("ours");
                command
            }
            Self::Kvtest(program) | Self::Distribution(program) => {
                let mut command = Command::new(program);
                command.arg("run");
                command
            }
        };
        // Without --max-id kvtest reads only the first thousand files of a folder.
        command.arg(data.path(case.target)).args(case.words);
        command.args(["--count", &count.to_string(), "--max-id", &data.blobs.to_string()]);
        let before = children_cpu_seconds();
        let output = command.output().unwrap();
        let cpu_us = (children_cpu_seconds() - before) * 1e6 / count as f64;
        let text = String::from_utf8_lossy(&output.stdout);
        let line = text.lines().find(|line| line.starts_with("Microseconds per BLOB"));
        let told = line.and_then(|line| line.rsplit_once(": ")?.1.parse().ok());
        let time_us = told.unwrap_or_else(|| {
            let errors = String::from_utf8_lossy(&output.stderr);
            panic!("{}, {}: {text}\n{errors}", self.name(), case.name)
        });
        Measured { time_us, cpu_us }
    }
}

#[derive(Clone, Copy)]
pub struct Measured {
    /// By the program's own clock.
    pub time_us: f64,
    /// CPU time of the whole process, which a busy machine disturbs less.
    pub cpu_us: f64,
}

/// CPU time of all children that have ended (fields 16 and 17 of /proc/self/stat).
fn children_cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let ticks = fields.split_whitespace().skip(13).take(2);
    let ticks: u64 = ticks.map(|field| field.parse::<u64>().unwrap()).sum();
    ticks as f64 / rustix::param::clock_ticks_per_second() as f64
}
