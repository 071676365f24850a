//! Site of the tries: a folder that is made again for each try, one for files that are kept between
//! tries, and the database under test.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use rustix::process::Pid;
use tempfile::TempDir;

use crate::postgres::{self, Postgres};

/// No command of a proof takes longer.
const LIMIT: Duration = Duration::from_secs(600);
/// How often an end is looked for.
const LOOK: Duration = Duration::from_millis(2);

/// Which engine a subject works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Sqlite,
    Postgres,
}

impl Engine {
    pub fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }
}

pub struct FaultSite {
    /// Stopped before its folder is removed.
    postgres: Option<Postgres>,
    root: TempDir,
    program: PathBuf,
    /// For the command that is disturbed: what records or shifts what it asks of the system.
    environment: Vec<(String, String)>,
    /// The whole reference dataset instead of a hundredth of it.
    pub full: bool,
}

impl FaultSite {
    pub fn new(program: &Path, engine: Engine, full: bool) -> anyhow::Result<Self> {
        let root = tempfile::tempdir()?;
        // The server's account has to pass through.
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755))?;
        for name in ["kept", "try", "server"] {
            fs::create_dir(root.path().join(name))?;
        }
        let data = root.path().join("server");
        let postgres = match engine {
            Engine::Sqlite => None,
            Engine::Postgres => Some(Postgres::start(program, &data)?),
        };
        let program = program.to_owned();
        Ok(Self { root, program, postgres, environment: Vec::new(), full })
    }

    /// Files that all tries have in common.
    pub fn kept(&self, name: &str) -> PathBuf {
        self.root.path().join("kept").join(name)
    }

    /// A file of this try.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    pub fn folder(&self) -> PathBuf {
        self.root.path().join("try")
    }

    /// A folder for what a fault needs.
    pub fn aside(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// The SQLite database of this try.
    pub fn file(&self) -> PathBuf {
        self.path("dashboard.db")
    }

    /// The database of this try.
    pub fn database(&self) -> String {
        match &self.postgres {
            None => format!("sqlite://{}", self.file().display()),
            Some(postgres) => postgres.trial(),
        }
    }

    pub fn postgres(&self) -> Option<&Postgres> {
        self.postgres.as_ref()
    }

    pub fn postgres_mut(&mut self) -> Option<&mut Postgres> {
        self.postgres.as_mut()
    }

    /// The first process of the server that an experiment runs, if there is one now.
    pub fn experiment_server(&self) -> anyhow::Result<Option<Pid>> {
        postgres::first_process(&self.program, &self.kept("data"))
    }

    /// Sets what the disturbed command finds in its environment.
    pub fn set_environment(&mut self, environment: Vec<(String, String)>) {
        self.environment = environment;
    }

    /// Removes everything of the try before.
    pub fn clear(&self) -> anyhow::Result<()> {
        for entry in fs::read_dir(self.folder())? {
            let path = entry?.path();
            if path.is_dir() {
                fs::remove_dir_all(path)?;
            } else {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }

    /// The program with `words`.
    pub fn command<S: AsRef<std::ffi::OsStr>>(&self, words: &[S]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(words)
            .current_dir(self.folder())
            .env("CROSSOVER_DATA_DIR", self.kept("data"))
            .env_remove("CROSSOVER_KEY")
            .env_remove("DATABASE_URL")
            .stdin(Stdio::null());
        command
    }

    /// Runs the program undisturbed, which must succeed; its standard output.
    pub fn run<S: AsRef<std::ffi::OsStr>>(&self, words: &[S]) -> anyhow::Result<String> {
        let output = self.command(words).output()?;
        if !output.status.success() {
            let words: Vec<_> = words.iter().map(|it| it.as_ref().to_string_lossy()).collect();
            let said = String::from_utf8_lossy(&output.stderr);
            bail!("`crossover {}` failed: {said}", words.join(" "));
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Starts the command that is disturbed.
    pub fn start(&self, mut command: Command) -> anyhow::Result<Running> {
        let log = self.aside("output");
        let output = File::create(&log)?;
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        let child = command.stdout(output.try_clone()?).stderr(output).spawn()?;
        Ok(Running { child, log })
    }
}

/// The command that is disturbed.
pub struct Running {
    child: Child,
    log: PathBuf,
}

pub struct Ended {
    /// None where it was killed.
    pub code: Option<i32>,
    pub said: String,
}

impl Running {
    pub fn kill(&mut self) {
        let _ = self.child.kill();
    }

    pub fn has_ended(&mut self) -> anyhow::Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// Its output until now.
    pub fn said(&self) -> anyhow::Result<String> {
        Ok(String::from_utf8_lossy(&fs::read(&self.log)?).into_owned())
    }

    pub fn wait(mut self) -> anyhow::Result<Ended> {
        let begun = Instant::now();
        while !self.has_ended()? {
            if begun.elapsed() > LIMIT {
                self.kill();
                bail!("it did not end in {LIMIT:?}: {}", self.said()?);
            }
            thread::sleep(LOOK);
        }
        let code = self.child.wait().context("waiting for it")?.code();
        Ok(Ended { code, said: self.said()? })
    }
}

impl Ended {
    /// Panics of any of its threads.
    pub fn panics(&self) -> u64 {
        u64::try_from(self.said.matches("panicked at").count()).unwrap_or(u64::MAX)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
        let _ = self.child.wait();
    }
}
