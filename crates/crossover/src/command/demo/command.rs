//! Commands of this program as the demo runs them: each a child process whose output is kept, and
//! shown where the user asked for it.

use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;

use crate::shared::Shared;

/// Interval between two checks of a child command.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Grace period of a command that a terminal has interrupted, before it gets SIGTERM.
const LAST_WAIT: Duration = Duration::from_secs(2);

pub(super) struct Commands<'a> {
    shared: &'a Shared,
    program: PathBuf,
}

impl<'a> Commands<'a> {
    pub(super) fn new(shared: &'a Shared, program: PathBuf) -> Self {
        Self { shared, program }
    }

    /// The text that a command prints, which must succeed.
    pub(super) fn run(&self, words: &[&str]) -> anyhow::Result<String> {
        let printed = self.printed(words, &[0])?;
        if self.shared.verbose {
            self.shared.print(&printed)?;
        }
        Ok(printed)
    }

    /// The JSON of a command that must succeed.
    pub(super) fn json(&self, words: &[&str]) -> anyhow::Result<Value> {
        self.json_of(words, &[0])
    }

    /// The JSON of a command that may end with these exit codes.
    pub(super) fn json_of(&self, words: &[&str], codes: &[i32]) -> anyhow::Result<Value> {
        let words = [words, &["--output-format=json"]].concat();
        let printed = self.printed(&words, codes)?;
        let value: Value = serde_json::from_str(&printed)
            .with_context(|| format!("`crossover {}` printed no JSON", words.join(" ")))?;
        if self.shared.verbose {
            // A recorded run is not measured again to be shown.
            match value["run"]["id"].as_str() {
                Some(run) => self.show_run(run, &words)?,
                None => self.shared.print(&printed)?,
            }
        }
        Ok(value)
    }

    fn show_run(&self, run: &str, words: &[&str]) -> anyhow::Result<()> {
        let runs = words.iter().find(|word| word.starts_with("--runs=")).copied();
        let words: Vec<&str> = ["report", run, "--format=text"].into_iter().chain(runs).collect();
        let text = self.printed(&words, &[0])?;
        self.shared.print(&text)
    }

    /// Runs a command with our own output until it ends; its exit code.
    pub(super) fn serve(&self, words: &[&str]) -> anyhow::Result<i32> {
        self.show(words)?;
        let mut child = self.command(words).spawn().context("cannot start this program again")?;
        self.ended(&self.wait(&mut child)?, words)
    }

    fn printed(&self, words: &[&str], codes: &[i32]) -> anyhow::Result<String> {
        self.show(words)?;
        let mut child = self
            .command(words)
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start this program again")?;
        let mut stdout = child.stdout.take().context("no output to read")?;
        let reader = std::thread::spawn(move || {
            let mut text = String::new();
            stdout.read_to_string(&mut text).map(|_| text)
        });
        let code = self.ended(&self.wait(&mut child)?, words)?;
        let printed = match reader.join() {
            Ok(text) => text.context("cannot read what the command printed")?,
            Err(_) => bail!("cannot read what the command printed"),
        };
        ensure!(
            codes.contains(&code),
            "`crossover {}` ended with {code}; see above\n{printed}",
            words.join(" ")
        );
        Ok(printed)
    }

    fn show(&self, words: &[&str]) -> anyhow::Result<()> {
        match self.shared.verbose {
            true => self.shared.print(&format!("$ crossover {}\n", words.join(" "))),
            false => Ok(()),
        }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(words).stdin(Stdio::null());
        command
    }

    fn ended(&self, status: &ExitStatus, words: &[&str]) -> anyhow::Result<i32> {
        if self.shared.is_interrupted() {
            bail!("interrupted");
        }
        status
            .code()
            .with_context(|| format!("`crossover {}` was killed: {status}", words.join(" ")))
    }

    /// Waits for `child`. A signal that only this process got is passed on; from a terminal the
    /// child has it already and is ending.
    fn wait(&self, child: &mut Child) -> anyhow::Result<ExitStatus> {
        let mut told = false;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            if self.shared.is_interrupted() && !told {
                told = true;
                std::thread::sleep(LAST_WAIT);
                if child.try_wait()?.is_none() {
                    let pid = rustix::process::Pid::from_child(child);
                    rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
                }
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }
}
