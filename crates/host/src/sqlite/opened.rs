//! SQLite files that processes have open at a moment, by /proc. One that opens its file for each request is
//! mostly missed, so this explains and proves nothing.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use connect::sqlite::file as sqlite_file;

/// The first bytes of every SQLite file (<https://www.sqlite.org/fileformat2.html>, section 1.3).
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// The SQLite files that these processes have open.
pub fn opened_by(processes: &[u32]) -> BTreeSet<PathBuf> {
    let open = processes.iter().flat_map(|pid| descriptors_of(*pid));
    open.filter(|path| is_sqlite(path)).collect()
}

fn descriptors_of(pid: u32) -> Vec<PathBuf> {
    let Ok(descriptors) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
    descriptors.flatten().filter_map(|one| std::fs::read_link(one.path()).ok()).collect()
}

fn is_sqlite(path: &Path) -> bool {
    let mut first = [0; 16];
    let mut read = || sqlite_file::open(path)?.read_exact(&mut first);
    path.is_file() && read().is_ok() && first == *MAGIC
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_child_are_found_and_told_from_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
        std::fs::write(folder.path().join("b.db"), "no database").unwrap();
        let script = "exec 3<a.db 4<b.db; echo; read line";
        let mut child = std::process::Command::new("sh")
            .args(["-c", script])
            .current_dir(folder.path())
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        child.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
        let found = opened_by(&[child.id()]);
        assert_eq!(found, BTreeSet::from([path.canonicalize().unwrap()]));
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}
