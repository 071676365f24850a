//! The summary in words: the answer first.

use notation::{bytes, capitalised, column_table, counted, digits, drawn, thousands};
use stats::Estimate;

use crate::file::JournalForm;
use crate::summary::{LockSummary, OldStateReader, OpenProcess, ProcessShare};

/// Most readers that a writer is said to wait for.
const READERS_NAMED: usize = 3;

impl LockSummary {
    /// For a terminal of this width.
    pub fn to_text(&self, width: Option<u16>) -> String {
        let mut lines = vec![self.answer()];
        lines.extend(self.bound());
        lines.extend(self.log_in_words());
        lines.extend(self.waiting());
        let mut text = lines.join("\n") + "\n";
        if !self.writers.is_empty() || !self.checkpointers.is_empty() || !self.open.is_empty() {
            text += "\n";
            text += &self.processes(width);
        }
        text += "\n";
        for remark in self.remarks() {
            text += &format!("- {remark}\n");
        }
        text
    }

    /// One line while the watch goes on.
    pub fn to_line(&self) -> String {
        let held = self.write_lock_held.map_or(0.0, |held| held.value);
        let writer = self.writers.first().map_or(String::new(), |writer| {
            format!(", most by {}", name(writer.pid, &writer.command))
        });
        format!(
            "{:.0} s: write lock held {}{writer}; {} a second",
            self.seconds,
            percent(held),
            counted_commits(self.commits_per_second)
        )
    }

    fn answer(&self) -> String {
        let held = self.write_lock_held.as_ref();
        let seconds = format!("{:.0} s", self.seconds);
        let file = &self.file;
        match (&self.writers[..], self.commits) {
            ([], 0) => format!(
                "No process was seen with the write lock of {file} in {seconds} ({} looks), and nothing was \
                 committed.",
                thousands(self.looks)
            ),
            ([], commits) => format!(
                "Writes hold the lock of {file} too shortly to be seen: {} in {seconds}, and no look of {} \
                 met one.",
                counted(commits, "commit"),
                thousands(self.looks)
            ),
            ([only], _) if self.is_held_exclusively => format!(
                "{} held the whole of {file} locked at every look in {seconds}, against readers too, as \
                 locking_mode=EXCLUSIVE does: its commits cannot be counted.",
                capitalised(&name(only.pid, &only.command))
            ),
            ([only], _) => format!(
                "{} held the write lock of {file} {} of {seconds}; no other process was seen with it.",
                capitalised(&name(only.pid, &only.command)),
                share(held)
            ),
            ([first, others @ ..], _) => format!(
                "{} held the write lock of {file} longest: {} of {seconds}; with {}: {}.",
                capitalised(&name(first.pid, &first.command)),
                share(first.share.as_ref()),
                counted(others.len(), "other process"),
                share(held)
            ),
        }
    }

    fn bound(&self) -> Option<String> {
        let (hold, bound) = (self.mean_hold_ms?, self.commits_per_second_at_most?);
        Some(format!(
            "A write holds it {} ms on average{}: at most {} writes a second fit one after another{}. \
             {} a second were committed.",
            digits(hold.value),
            interval(&hold, digits),
            digits(bound.value),
            interval(&bound, digits),
            capitalised(&digits(self.commits_per_second)),
        ))
    }

    fn log_in_words(&self) -> Option<String> {
        let log = self.log.as_ref()?;
        let size = match log.largest_bytes == log.last_bytes {
            true => format!("The log has {}", bytes(log.last_bytes)),
            false => {
                format!(
                    "The log had up to {} and has {}",
                    bytes(log.largest_bytes),
                    bytes(log.last_bytes)
                )
            }
        };
        let resets = match log.resets {
            0 => "it was not seen to begin again".to_owned(),
            resets => format!("it began again {}", counted(resets, "time")),
        };
        let kept = match log.readers.first() {
            None => String::new(),
            Some(reader) => format!(". {}", kept_by(reader, log.readers.len())),
        };
        Some(format!("{size}; {resets}{kept}."))
    }

    fn waiting(&self) -> Option<String> {
        let waited = self.writer_waited.filter(|waited| waited.value > 0.0)?;
        let waited = share(Some(&waited));
        let readers = self.waited_for.iter().take(READERS_NAMED).map(|reader| {
            let of_waits = reader.share_of_waits * 100.0;
            format!("process {} ({}) in {of_waits:.0}% of the looks", reader.pid, reader.command)
        });
        let readers: Vec<String> = readers.collect();
        let readers = match readers.is_empty() {
            true => String::new(),
            false => format!(": {}", readers.join(", ")),
        };
        Some(format!("A writer waited for readers to end {waited} of the time{readers}."))
    }

    fn processes(&self, width: Option<u16>) -> String {
        let header = ["pid", "process", "lock", "share of time", "longest seen"];
        let mut table = column_table(header, [0, 3, 4], width);
        let mut add = |process: &ProcessShare, lock: &str| {
            table.add_row([
                process.pid.map_or("?".to_owned(), |pid| pid.to_string()),
                process.command.clone(),
                lock.to_owned(),
                share(process.share.as_ref()),
                format!("{} ms", digits(process.longest_seen_ms)),
            ]);
        };
        self.writers.iter().for_each(|process| add(process, "write"));
        self.checkpointers.iter().for_each(|process| add(process, "checkpoint"));
        let readers = self.log.as_ref().map_or(&[][..], |log| &log.readers);
        for reader in readers.iter().take(OPEN_NAMED) {
            let longest = format!("{} s", digits(reader.seconds_at_least));
            let pid = reader.pid.to_string();
            table.add_row([&pid, &reader.command, "read, old state", "", &longest]);
        }
        let is_reader = |pid: i32| readers.iter().any(|reader| reader.pid == pid);
        let open: Vec<&OpenProcess> =
            self.open.iter().filter(|open| !is_reader(open.pid)).collect();
        for open in open.iter().take(OPEN_NAMED) {
            table.add_row([&open.pid.to_string(), &open.command, "none seen", "", ""]);
        }
        let mut text = drawn(&table);
        if let Some(more) = open.len().checked_sub(OPEN_NAMED).filter(|more| *more > 0) {
            text += &format!("  and {} more that have it open\n", thousands(more));
        }
        text
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = vec![format!(
            "{} looks, one each {} ms on average; the watch itself took {} of a core.",
            thousands(self.looks),
            digits(self.interval_ms),
            percent(self.own_cpu_share)
        )];
        if self.is_replaced {
            remarks.push(
                "The name is that of another file now, or of none; the file of the beginning was watched.".to_owned(),
            );
        }
        if self.mode_changed {
            remarks
                .push("The journal mode changed in that time: the figures are of both.".to_owned());
        }
        if self.journal_mode == JournalForm::Wal && self.log.is_none() && self.writers.is_empty() {
            remarks.push("No program was seen that has it open in WAL mode.".to_owned());
        }
        if self.journal_mode == JournalForm::Wal {
            remarks.push(
                "In WAL mode SQLite asks again and again for a lock, so writers that wait are not seen."
                    .to_owned(),
            );
        }
        if self.mean_hold_ms.is_some() {
            let measured = digits(self.hold_measured_from_ms);
            let show = |value: Option<f64>| value.map_or(format!("under {measured}"), digits);
            remarks.push(format!(
                "Holds in ms: median {}, 95% {}, 99% {}. The bound is by the mean; users who wait between \
                 writes reach less.",
                show(self.hold_p50_ms),
                show(self.hold_p95_ms),
                show(self.hold_p99_ms)
            ));
            remarks.push("A hold that ends without a commit adds to the mean.".to_owned());
        }
        remarks.push("Threads of one process share its locks, so they are one line.".to_owned());
        if self.hidden_processes > 0 {
            remarks.push(format!(
                "{} of other accounts may have it open too: only root sees their files.",
                counted(self.hidden_processes, "process")
            ));
        }
        remarks
    }
}

/// Most processes without a lock that are named.
const OPEN_NAMED: usize = 10;

fn kept_by(reader: &OldStateReader, readers: usize) -> String {
    let (verb, others) = match (reader.is_there, readers) {
        (true, 1) => ("reads", String::new()),
        (true, _) => ("reads", format!(", and {} more", readers - 1)),
        (false, 1) => ("read", String::new()),
        (false, _) => ("read", format!(", and {} more", readers - 1)),
    };
    format!(
        "{} {verb} a state that is {} s old or more ({} behind){others}: the log cannot begin again before \
         that ends",
        capitalised(&name(Some(reader.pid), &reader.command)),
        digits(reader.seconds_at_least),
        bytes(reader.behind_bytes)
    )
}

/// `pid 4711 (python app.py)`
fn name(pid: Option<i32>, command: &str) -> String {
    match pid {
        Some(pid) if command.is_empty() => format!("process {pid}"),
        Some(pid) => format!("process {pid} ({command})"),
        None => format!("a process {command}"),
    }
}

fn counted_commits(per_second: f64) -> String {
    format!("{} commits", digits(per_second))
}

fn share(estimate: Option<&Estimate>) -> String {
    let Some(estimate) = estimate else { return "?".to_owned() };
    format!("{}{}", percent(estimate.value), interval(estimate, percent))
}

/// ` (28.9% to 31.3%)`; nothing without an interval.
fn interval(estimate: &Estimate, show: impl Fn(f64) -> String) -> String {
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) if estimate.confidence_level > 0.0 => {
            format!(" ({} to {})", show(low.max(0.0)), show(high))
        }
        _ => String::new(),
    }
}

fn percent(share: f64) -> String {
    format!("{}%", digits(share * 100.0))
}
