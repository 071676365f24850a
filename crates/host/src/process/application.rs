//! One application: a process group of its own with given environment, its output in log files.
//! It ends when it is stopped or dropped, and when we end.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::keeper::{Keeper, KeeperError};
use super::{ProcessError, ReadyQuestion, group, parent_death};
use load::http::{Connection, Target};

/// Interval between two looks at a state that is not announced.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// How long one question whether the application is ready may take.
const READY_ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the end of an application may take to be known once its port refuses connections.
const KNOWN_WITHIN: Duration = Duration::from_secs(10);
/// How much of the log's end an error shows.
const TAIL_BYTES: u64 = 2000;
const TAIL_LINES: usize = 20;
/// How long an application that is dropped, not stopped, may take to end by itself.
const DROP_GRACE: Duration = Duration::from_secs(5);

/// A command, and how to start it.
#[derive(Clone, Debug)]
pub struct ApplicationOptions {
    /// Name for messages and log files, e.g. `application-sqlite`.
    pub name: String,
    /// Program and arguments; no shell is involved.
    pub command: Vec<String>,
    /// Added to our own environment.
    pub environment: Vec<(String, String)>,
    /// Working directory; `None`: ours.
    pub directory: Option<PathBuf>,
    /// Where `NAME.stdout.log` and `NAME.stderr.log` are written; existing ones are continued.
    pub log_directory: PathBuf,
    /// Processors that it may use; `None`: all.
    pub cpus: Option<Vec<usize>>,
    /// User and group that it runs as; `None`: ours.
    pub account: Option<(u32, u32)>,
}

pub struct ChildApplication {
    name: String,
    keeper: Keeper,
    stdout: ApplicationLog,
    stderr: ApplicationLog,
}

impl ChildApplication {
    /// Starts it; it need not be ready yet.
    pub fn start(options: &ApplicationOptions) -> Result<Self, ProcessError> {
        let name = options.name.clone();
        let [program, arguments @ ..] = options.command.as_slice() else {
            return Err(ProcessError::EmptyCommand { name });
        };
        let (stdout, stdout_file) = ApplicationLog::open(options, "stdout")?;
        let (stderr, stderr_file) = ApplicationLog::open(options, "stderr")?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .envs(options.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(stdout_file)
            .stderr(stderr_file)
            .process_group(0);
        if let Some(directory) = &options.directory {
            command.current_dir(directory);
        }
        if let Some((user, group)) = options.account {
            command.uid(user).gid(group);
        }
        parent_death::end_with_parent(&mut command);
        let program = program.clone();
        match Keeper::start(command, options.cpus.clone()) {
            Ok(keeper) => Ok(Self { name, keeper, stdout, stderr }),
            Err(KeeperError::Start(source)) => Err(ProcessError::Start { name, program, source }),
            Err(KeeperError::Cpus(source)) => Err(ProcessError::Cpus { name, source }),
        }
    }

    /// Number of its first process, which is also the number of its group.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.keeper.pid()
    }

    pub fn check(&self) -> Result<(), ProcessError> {
        match self.keeper.ending() {
            None => Ok(()),
            Some(ending) => Err(self.ended(ending.how)),
        }
    }

    /// [`Self::check`] after work at `target`: an application that dies loses its connections a moment
    /// before its end is known.
    pub fn check_at(&self, target: &Target, interrupted: &AtomicBool) -> Result<(), ProcessError> {
        if Connection::open(target, READY_ANSWER_TIMEOUT, interrupted).is_err() {
            self.keeper.wait(KNOWN_WITHIN);
        }
        self.check()
    }

    /// Waits until GET of a path is answered with a status below a bound.
    pub fn wait_until_answering(
        &self,
        target: &Target,
        path_and_below: (&str, u16),
        timeout: Duration,
        say: &dyn Fn(&str),
        interrupted: &AtomicBool,
    ) -> Result<(), ProcessError> {
        let answer_within = READY_ANSWER_TIMEOUT;
        let question = ReadyQuestion::new(target, path_and_below, answer_within, say, interrupted)
            .map_err(|error| self.not_ready(timeout, error.to_string()))?;
        self.wait_for(timeout, interrupted, || question.ask())
    }

    /// Waits for the first line on its standard output and returns it.
    pub fn wait_for_line(
        &self,
        timeout: Duration,
        interrupted: &AtomicBool,
    ) -> Result<String, ProcessError> {
        self.wait_for(timeout, interrupted, || {
            let text = self.stdout.text().unwrap_or_default();
            match text.split_once('\n') {
                Some((line, _)) => Ok(line.trim_end().to_owned()),
                None => Err("no line on its standard output".to_owned()),
            }
        })
    }

    /// Ends it: SIGTERM to its group, and SIGKILL to what still runs after `grace`.
    pub fn stop(mut self, grace: Duration) {
        self.end(grace);
    }

    fn end(&mut self, grace: Duration) {
        if self.keeper.is_released() {
            return;
        }
        let pid = self.keeper.pid();
        let deadline = Instant::now() + grace;
        group::signal(pid, Signal::TERM);
        while self.is_running() && Instant::now() < deadline {
            self.keeper.wait(LOOK_EVERY);
            if self.keeper.ending().is_some() && self.is_running() {
                thread::sleep(LOOK_EVERY);
            }
        }
        group::signal(pid, Signal::KILL);
        self.keeper.release();
    }

    /// Whether its first process, or any other of its group, is still there.
    fn is_running(&self) -> bool {
        self.keeper.ending().is_none() || group::is_running(self.keeper.pid()).unwrap_or(false)
    }

    pub(crate) fn wait_for<T>(
        &self,
        timeout: Duration,
        interrupted: &AtomicBool,
        mut attempt: impl FnMut() -> Result<T, String>,
    ) -> Result<T, ProcessError> {
        let deadline = Instant::now() + timeout;
        loop {
            let seen = attempt();
            if interrupted.load(Ordering::Relaxed) {
                return Err(ProcessError::Interrupted);
            }
            // Asked after the attempt: what answered may be a stranger on the same port.
            self.check()?;
            match seen {
                Ok(found) => return Ok(found),
                Err(last) if Instant::now() >= deadline => {
                    return Err(self.not_ready(timeout, last));
                }
                Err(_) => {
                    self.keeper.wait(LOOK_EVERY);
                }
            }
        }
    }

    fn ended(&self, how: String) -> ProcessError {
        ProcessError::Ended { name: self.name.clone(), how, tail: self.tail() }
    }

    fn not_ready(&self, timeout: Duration, last: String) -> ProcessError {
        ProcessError::NotReady { name: self.name.clone(), timeout, last, tail: self.tail() }
    }

    /// The end of what it said, errors first choice.
    fn tail(&self) -> String {
        for log in [&self.stderr, &self.stdout] {
            if let Some(tail) = log.tail() {
                return format!("; the end of {}:\n{tail}", log.path.display());
            }
        }
        format!("; it wrote nothing ({} is empty)", self.stderr.path.display())
    }
}

impl Drop for ChildApplication {
    fn drop(&mut self) {
        self.end(DROP_GRACE);
    }
}

/// Runs a command to its end, e.g. one that prepares a database.
///
/// # Errors
/// As [`Application::start`]; [`ProcessError::Ended`] where it fails, with the end of its output;
/// [`ProcessError::Interrupted`], after the command and all it started are stopped.
pub fn run_to_end(
    options: &ApplicationOptions,
    interrupted: &AtomicBool,
) -> Result<(), ProcessError> {
    let application = ChildApplication::start(options)?;
    loop {
        match application.keeper.wait(LOOK_EVERY) {
            Some(ending) if ending.success => return Ok(()),
            Some(ending) => return Err(application.ended(ending.how)),
            None if interrupted.load(Ordering::Relaxed) => return Err(ProcessError::Interrupted),
            None => {}
        }
    }
}

/// A log file, and where this application's part of it begins.
struct ApplicationLog {
    path: PathBuf,
    begin: u64,
}

impl ApplicationLog {
    fn open(options: &ApplicationOptions, stream: &str) -> Result<(Self, File), ProcessError> {
        let path = options.log_directory.join(format!("{}.{stream}.log", options.name));
        let failed = |source| ProcessError::Log { path: path.clone(), source };
        let file = File::options().create(true).append(true).open(&path).map_err(failed)?;
        let begin = file.metadata().map_err(failed)?.len();
        Ok((Self { path, begin }, file))
    }

    fn text(&self) -> io::Result<String> {
        read_from(&self.path, self.begin)
    }

    /// The last lines, or nothing if there are none.
    fn tail(&self) -> Option<String> {
        let length = fs::metadata(&self.path).ok()?.len();
        let text = read_from(&self.path, self.begin.max(length.saturating_sub(TAIL_BYTES))).ok()?;
        let lines: Vec<&str> = text.trim().lines().collect();
        let last = &lines[lines.len().saturating_sub(TAIL_LINES)..];
        (!last.is_empty()).then(|| last.join("\n"))
    }
}

fn read_from(path: &Path, begin: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(begin))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
