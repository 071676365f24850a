//! SQLite libraries of this machine, beside the one that is built in: their versions, compile options and
//! plans. Each is asked in a process of its own, read-only: two libraries in one process would drop each
//! other's locks.

mod shell;
mod step;

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use engine::SystemSqlite;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde::{Deserialize, Serialize};

pub use step::is_same_plan;

/// A library with the plans that it chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemPlans {
    pub library: SystemSqlite,
    /// For each statement EXPLAIN QUERY PLAN, two blanks for each step down, or what the library says.
    pub plans: Vec<Result<String, String>>,
}

/// How long a library may take to answer.
const ANSWER_AT_MOST: Duration = Duration::from_secs(20);

/// The program that asks, for python3.
const ASK: &str = include_str!("ask.py");

/// A question to a library.
#[derive(Serialize)]
struct LibraryQuestion<'a> {
    library: &'static str,
    uri: &'a str,
    statements: &'a [&'a str],
}

#[derive(Debug, Deserialize)]
struct LibraryAnswer {
    #[serde(flatten)]
    library: SystemSqlite,
    /// Whether it is the one that programs of this machine load.
    is_loaders: bool,
    plans: Vec<Result<String, String>>,
}

/// The libraries of this machine: the loader's, and that of python3 where it is another one; without
/// python3 that of the shell `sqlite3`. Empty where there is none.
#[must_use]
pub fn libraries() -> Vec<SystemSqlite> {
    ask("file::memory:", &[]).into_iter().map(|asked| asked.library).collect()
}

/// The plans that the libraries of this machine choose for `statements` on `file`, which is only read, and
/// beside which no file is made.
#[must_use]
pub fn plans(file: &Path, statements: &[&str]) -> Vec<SystemPlans> {
    ask(&read_only_uri(file), statements)
}

fn ask(uri: &str, statements: &[&str]) -> Vec<SystemPlans> {
    let python = |library| ask_python(&LibraryQuestion { library, uri, statements });
    let module = python("module");
    // A python3 with a library of its own says nothing of what other programs load.
    let loader = match &module {
        Some(module) if module.is_loaders => None,
        _ => python("loader"),
    };
    let mut found: Vec<SystemPlans> = Vec::new();
    for LibraryAnswer { library, plans, .. } in loader.into_iter().chain(module) {
        let is_same = |known: &SystemPlans| {
            known.library.source_id == library.source_id
                && known.library.compile_options == library.compile_options
        };
        if !found.iter().any(is_same) {
            found.push(SystemPlans { library, plans });
        }
    }
    if found.is_empty() {
        found.extend(shell::ask(uri, statements));
    }
    found
}

fn ask_python(question: &LibraryQuestion<'_>) -> Option<LibraryAnswer> {
    let input = serde_json::to_string(question).ok()?;
    // Isolated: no module of the working folder takes the place of one of python3's.
    let answer = output(Command::new("python3").args(["-I", "-c", ASK]), &input)?;
    serde_json::from_str(&answer).ok()
}

/// Output of a program that gets `input`; none where there is no such program, it fails, or takes too
/// long.
fn output(command: &mut Command, input: &str) -> Option<String> {
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = child.ok()?;
    let answer = exchange(&mut child, input);
    if answer.is_none() {
        // Ended or stuck, it is of no use.
        let _ = child.kill();
    }
    let status = child.wait().ok()?;
    answer.filter(|_| status.success())
}

fn exchange(child: &mut Child, input: &str) -> Option<String> {
    let (mut stdin, mut stdout) = (child.stdin.take()?, child.stdout.take()?);
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let read = stdout.read_to_string(&mut text).map(|_| text);
        // Without a receiver the answer came too late.
        let _ = send.send(read);
    });
    stdin.write_all(input.as_bytes()).ok()?;
    drop(stdin);
    receive.recv_timeout(ANSWER_AT_MOST).ok()?.ok()
}

/// Characters that mean something in a URI.
const RESERVED: &AsciiSet = &CONTROLS.add(b'%').add(b'?').add(b'#').add(b' ');

/// The file for reading. SQLite would make a shared memory file beside one with a write-ahead log, unless
/// another program has done so; without a log nothing changes while it is read.
fn read_only_uri(file: &Path) -> String {
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let beside = |ending| crate::sqlite::file::beside(&file, ending);
    let in_use =
        beside("-wal").metadata().is_ok_and(|log| log.len() > 0) && beside("-shm").exists();
    let path = file.display().to_string();
    let path = utf8_percent_encode(&path, RESERVED);
    match in_use {
        true => format!("file:{path}?mode=ro"),
        false => format!("file:{path}?mode=ro&immutable=1"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library_file() -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a ?#%b.db");
        let made = "PRAGMA journal_mode = WAL; CREATE TABLE t (a, b); CREATE INDEX t_a ON t (a);
                    CREATE TABLE u (id INTEGER PRIMARY KEY, c); INSERT INTO t VALUES (1, 2)";
        crate::sqlite::create(&path).unwrap().execute_batch(made).unwrap();
        (folder, path)
    }

    const STATEMENTS: [&str; 4] = [
        "SELECT b FROM t WHERE a = :a",
        "SELECT * FROM u JOIN t ON t.a = u.id",
        "SELECT floor(b) FROM t",
        "SELECT * FROM none",
    ];

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_machines_own_library_plans_and_leaves_nothing_behind() {
        let (folder, path) = library_file();
        let asked = plans(&path, &STATEMENTS);
        if asked.is_empty() {
            return testing::skip("neither python3 nor the shell of SQLite");
        }
        assert_eq!(names(folder.path()), ["a ?#%b.db"]);
        for SystemPlans { library, plans } in &asked {
            assert!(library.version.starts_with("3."), "{library:?}");
            assert!(library.compile_options.iter().any(|one| one.starts_with("THREADSAFE")));
            let shown = plans[0].as_ref().unwrap();
            assert!(shown.contains("INDEX t_a (a=?)"), "{shown}");
            assert!(plans[1].as_ref().unwrap().contains("INTEGER PRIMARY KEY"), "{plans:?}");
            assert_eq!(plans[3].as_ref().unwrap_err(), "no such table: none");
        }
        assert!(libraries().iter().eq(asked.iter().map(|one| &one.library)));
    }

    #[test]
    fn a_file_in_use_is_read_with_its_log() {
        let (folder, path) = library_file();
        let writer = crate::sqlite::open_existing(&path).unwrap();
        writer.execute_batch("CREATE TABLE later (n)").unwrap();
        let before = names(folder.path());
        let asked = plans(&path, &["SELECT n FROM later"]);
        for one in &asked {
            assert!(one.plans[0].as_ref().unwrap().starts_with("SCAN"), "{one:?}");
        }
        assert_eq!(names(folder.path()), before);
        writer.execute_batch("INSERT INTO later VALUES (1)").unwrap();
    }

    #[test]
    fn the_loaders_library_answers_as_the_module_that_loads_it() {
        let (_folder, path) = library_file();
        let uri = read_only_uri(&path);
        let ask = |library| {
            let question = LibraryQuestion { library, uri: &uri, statements: &STATEMENTS };
            ask_python(&question)
        };
        let (Some(loader), Some(module)) = (ask("loader"), ask("module")) else {
            return testing::skip("no python3 that loads libsqlite3.so.0");
        };
        assert!(loader.library.origin.starts_with("the loader's, /"), "{loader:?}");
        if loader.library.source_id == module.library.source_id {
            assert_eq!(loader.plans, module.plans);
            assert_eq!(loader.library.compile_options, module.library.compile_options);
        }
    }

    #[test]
    fn the_shell_answers_where_python_is_missing() {
        let (_folder, path) = library_file();
        let Some(asked) = shell::ask(&read_only_uri(&path), &STATEMENTS) else {
            return testing::skip("no shell of SQLite");
        };
        assert!(asked.library.origin.starts_with("the shell "), "{asked:?}");
        assert!(asked.library.compile_options.iter().any(|one| one.starts_with("THREADSAFE")));
        for python in plans(&path, &STATEMENTS) {
            if python.library.source_id == asked.library.source_id {
                assert_eq!(python.plans[..2], asked.plans[..2]);
            }
        }
        assert_eq!(asked.plans[3].as_ref().unwrap_err(), "no such table: none");
    }
}
