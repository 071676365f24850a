//! Place of a test of the whole program: a folder of its own, the program called there, and the runs
//! that it leaves.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A folder of its own for data, datasets and runs; fetched releases are shared.
pub struct Place {
    pub folder: TempDir,
}

impl Place {
    pub fn new() -> Self {
        Self::of(tempfile::tempdir().unwrap())
    }

    /// On a disk, where the other tests may have their folders in memory.
    pub fn on_disk() -> Self {
        Self::of(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap())
    }

    fn of(folder: TempDir) -> Self {
        // The account that the server runs as has to reach its data.
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(folder.path(), mode).unwrap();
        Self { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_crossover"));
        command
            .args(words)
            .current_dir(self.folder.path())
            .env("CROSSOVER_DATA_DIR", self.path("data"))
            .env_remove("DATABASE_URL")
            .env_remove("CROSSOVER_DATABASE")
            .env_remove("CROSSOVER_KEY")
            .env_remove("CROSSOVER_RUNS")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// Standard output, where the exit code is `code`.
    pub fn expect(&self, code: i32, words: &[&str]) -> String {
        let output = self.run(words);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {}", error(&output));
        text(&output.stdout)
    }

    /// Standard error, where the exit code is `code` and nothing is printed.
    pub fn refused(&self, code: i32, words: &[&str]) -> String {
        let output = self.run(words);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {}", error(&output));
        assert_eq!(text(&output.stdout), "", "{words:?}");
        error(&output)
    }

    /// The folders of all runs, by name.
    pub fn runs(&self) -> Vec<PathBuf> {
        let runs = std::fs::read_dir(self.path("runs")).into_iter().flatten();
        let mut runs: Vec<PathBuf> = runs.map(|run| run.unwrap().path()).collect();
        runs.sort();
        runs
    }

    pub fn only_run(&self) -> PathBuf {
        let mut runs = self.runs();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs.remove(0)
    }

    /// The whole trials of all runs, as far as written.
    pub fn trial_files(&self) -> Vec<PathBuf> {
        let folders = self.runs().into_iter().map(|run| run.join("trials"));
        let files = folders.flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten());
        let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        paths.sort();
        paths
    }

    /// The trials of the only run, as far as written.
    pub fn trials(&self) -> Vec<Value> {
        self.only_run();
        self.trial_files().iter().map(|path| read_json(path)).collect()
    }

    /// Waits until `count` trials are on disk while `child` runs.
    pub fn wait_for_trials(&self, child: &mut Child, count: usize) {
        while self.trial_files().len() < count {
            assert!(child.try_wait().unwrap().is_none(), "it ended before {count} trials");
            std::thread::yield_now();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // A failed test must not leave a server running.
        if self.path("data/postgres").exists() {
            let _ = self.command(&["server", "stop", "--all"]).output();
        }
    }
}

pub fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

pub fn error(output: &Output) -> String {
    text(&output.stderr)
}
