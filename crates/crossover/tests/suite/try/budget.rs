//! Tries that get the budget that they ask for, so that a busy machine, on which statements take longer,
//! has as many of them measured.

use std::process::Output;

use crate::place::{Place, error, text};

/// The longest budgets whose trials on two and three engines last a second.
pub const BUDGET_SECONDS: u64 = 39;
pub const BUDGET_TUNED_SECONDS: u64 = 59;
/// A machine that needs more than 32 times as long is no longer busy but broken.
const ATTEMPTS_MAX: u32 = 6;

impl Place {
    pub fn try_within(&self, budget_seconds: u64, words: &[&str]) -> Output {
        self.try_until(budget_seconds, words, Place::run, asked_seconds)
    }

    /// The same, also where blocks took longer than the pilot showed, so that too few were measured.
    pub fn try_with_five_blocks(&self, budget_seconds: u64, words: &[&str]) -> Output {
        self.try_until(budget_seconds, words, Place::run, asked_or_too_few)
    }

    /// The same, where `run` calls the program.
    pub fn try_by(
        &self,
        run: impl Fn(&Self, &[&str]) -> Output,
        budget_seconds: u64,
        words: &[&str],
    ) -> Output {
        self.try_until(budget_seconds, words, run, asked_or_too_few)
    }

    fn try_until(
        &self,
        mut budget_seconds: u64,
        words: &[&str],
        run: impl Fn(&Self, &[&str]) -> Output,
        asked_seconds: impl Fn(&Output) -> Option<u64>,
    ) -> Output {
        let try_once = |budget_seconds: u64| {
            let budget = format!("--budget={budget_seconds}s");
            run(self, &[&["try"], words, &[budget.as_str()]].concat())
        };
        for _ in 1..ATTEMPTS_MAX {
            let output = try_once(budget_seconds);
            let Some(asked_seconds) = asked_seconds(&output) else { return output };
            budget_seconds = 2 * asked_seconds.max(budget_seconds);
            for entry in std::fs::read_dir(self.path("")).unwrap().flatten() {
                if entry.file_name().to_string_lossy().starts_with("try-") {
                    std::fs::remove_file(entry.path()).unwrap();
                }
            }
        }
        try_once(budget_seconds)
    }
}

fn asked_or_too_few(output: &Output) -> Option<u64> {
    let too_few = text(&output.stdout).contains("Repeat with a longer --budget");
    asked_seconds(output).or(too_few.then_some(0))
}

/// The longest of `give --budget 73s or more` and `--budget 2m holds them`.
fn asked_seconds(output: &Output) -> Option<u64> {
    let told = format!("{} {}", text(&output.stdout), error(output));
    let words: Vec<&str> = told.split_whitespace().collect();
    let asked = words.windows(3).filter_map(|words| match words {
        ["--budget" | "(--budget", time, "or" | "holds"] => Some(match time.strip_suffix('m') {
            Some(minutes) => minutes.parse::<u64>().unwrap() * 60,
            None => time.strip_suffix('s').unwrap().parse().unwrap(),
        }),
        _ => None,
    });
    asked.max()
}
