//! A small dashboard in a folder of its own, and how the program is run on it.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;
use testing::dashboard::Server;

pub const PASSWORD: &str = "correct horse battery staple";

pub fn crossover(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crossover"));
    command.args(words).env_remove("CROSSOVER_KEY").stdin(Stdio::null());
    command
}

pub fn run(words: &[&str]) -> Output {
    crossover(words).output().unwrap()
}

/// A folder with a small dashboard in it.
pub struct Place {
    pub folder: TempDir,
}

impl Place {
    pub fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        let made = run(&["dashboard", "generate", "--scale", "0.002", "--database", &place.url()]);
        assert!(made.status.success(), "{made:?}");
        place
    }

    pub fn file(&self) -> PathBuf {
        self.folder.path().join("dashboard.db")
    }

    pub fn url(&self) -> String {
        format!("sqlite://{}", self.file().display())
    }

    pub fn serve(&self) -> Server {
        let url = self.url();
        let words = ["dashboard", "serve", "--listen", "127.0.0.1:0", "--database", &url];
        Server::start(&mut crossover(&words)).unwrap()
    }
}
