//! Limit of the connections that `serve` holds at once. A browser keeps up to six for a while, so
//! that 200 users need more than 1,024 open files, the usual limit of a process at its start.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Enough for hundreds of browsers; each connection costs some kilobytes.
const MOST: usize = 4_000;

/// Where files are few, connections do not go without.
const LEAST: usize = 100;

/// A connection to SQLite has the database, its log, the log's index and what it sorts open.
const FILES_OF_A_QUERY: usize = 4;

/// For everything else that the program does.
const OTHER_FILES: usize = 64;

/// Raises the limit on open files as far as need be and the system lets it; the connections that
/// it leaves room for beside `queries` at once.
pub fn allowed(queries: usize) -> usize {
    let others = FILES_OF_A_QUERY.saturating_mul(queries).saturating_add(OTHER_FILES);
    beside(others, open_files(MOST.saturating_add(others)))
}

fn beside(others: usize, files: usize) -> usize {
    files.saturating_sub(others).clamp(LEAST, MOST)
}

/// How many files may be open, which are not more than `wanted`.
fn open_files(wanted: usize) -> usize {
    let limit = getrlimit(Resource::Nofile);
    let few = |files: Option<u64>| {
        files.and_then(|files| usize::try_from(files).ok()).filter(|files| *files < wanted)
    };
    let Some(current) = few(limit.current) else { return wanted };
    let raised = few(limit.maximum).unwrap_or(wanted);
    let raise = Rlimit { current: u64::try_from(raised).ok(), ..limit };
    if setrlimit(Resource::Nofile, raise).is_ok() { raised } else { current }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_room_for_the_database() {
        assert_eq!(beside(96, 10_000), 4_000);
        assert_eq!(beside(96, 1_024), 928);
        assert_eq!(beside(1_088, 1_024), 100);
        assert!((LEAST..=MOST).contains(&allowed(8)));
    }
}
