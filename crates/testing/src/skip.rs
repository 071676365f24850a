//! Tests that need what a machine may not have say so, and are counted at the end of `make test`.

use std::fs::OpenOptions;
use std::io::Write as _;

/// The tests that may skip wherever they run, each with the reason.
const MAY_SKIP: &str = include_str!("../may-skip.txt");

/// Notes that the test of this thread does less than it could, and why. `CROSSOVER_TEST_SKIPS`
/// names the file of the notes.
///
/// # Panics
/// With `CROSSOVER_TEST_NO_SKIPS=1`, unless may-skip.txt names the test.
#[expect(clippy::print_stderr, clippy::panic, reason = "it is for tests")]
pub fn skip(why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test").to_owned();
    let no_skips = std::env::var("CROSSOVER_TEST_NO_SKIPS").is_ok_and(|value| value == "1");
    if no_skips && !may_skip(&test) {
        panic!("{test} was skipped where nothing may be: {why}");
    }
    eprintln!("skipped: {test}: {why}");
    if let Some(notes) = std::env::var_os("CROSSOVER_TEST_SKIPS") {
        let notes = OpenOptions::new().append(true).create(true).open(notes);
        let noted = notes.and_then(|mut notes| writeln!(notes, "{test}: {why}"));
        if let Err(error) = noted {
            panic!("the skip of {test} could not be noted: {error}");
        }
    }
}

fn may_skip(test: &str) -> bool {
    let names = MAY_SKIP.lines().filter(|line| !line.starts_with('#'));
    let mut names = names.filter_map(|line| line.split_once(": ")).map(|(name, _)| name);
    names.any(|name| name == test)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_that_may_skip_has_a_reason() {
        for line in MAY_SKIP.lines().filter(|line| !line.starts_with('#')) {
            let (name, why) = line.split_once(": ").expect(line);
            assert!(!name.contains(' ') && !why.is_empty(), "{line}");
        }
        assert!(!may_skip("no such test"));
    }
}
