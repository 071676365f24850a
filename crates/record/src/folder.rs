//! The folder of one run: found by name, read, written, listed, removed.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use engine::shell::shell_word;
use jiff::Timestamp;

use crate::{RecordError, Run, Trial, file};
use plan::Plan;

/// The folder of all runs, unless a command names another one.
const RUNS: &str = "runs";

/// The folder of one run.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Makes the folder of a new run below `runs`.
    pub fn create(runs: &Path, workload: &str, started: Timestamp) -> Result<Self, RecordError> {
        let mut random = [0; 2];
        getrandom::fill(&mut random).map_err(|error| RecordError::Io {
            path: runs.to_owned(),
            source: std::io::Error::other(error.to_string()),
        })?;
        let [a, b] = random;
        let time = started.strftime("%Y%m%d-%H%M%S");
        let path = runs.join(format!("{time}-{workload}-{a:02x}{b:02x}"));
        let trials = path.join("trials");
        std::fs::create_dir_all(&trials)
            .map_err(|source| RecordError::Io { path: trials, source })?;
        Ok(Self { path })
    }

    /// Finds a run by id, path or `latest`.
    pub fn find(runs: &Path, name: &str) -> Result<Self, RecordError> {
        let unknown = || RecordError::Unknown { name: name.to_owned(), folder: runs.to_owned() };
        let path = if name == "latest" {
            Self::all(runs)?.into_iter().next().ok_or_else(unknown)?.path
        } else if Path::new(name).join("run.json").is_file() {
            std::path::absolute(name).unwrap_or_else(|_| PathBuf::from(name))
        } else {
            runs.join(name)
        };
        if path.join("run.json").is_file() { Ok(Self { path }) } else { Err(unknown()) }
    }

    /// All runs below `runs`, the newest first; none where there is no such folder.
    pub fn all(runs: &Path) -> Result<Vec<Self>, RecordError> {
        let entries = match std::fs::read_dir(runs) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(|source| RecordError::Io { path: runs.to_owned(), source })?,
        };
        let mut folders: Vec<Self> = entries
            .filter_map(|entry| Some(Self { path: entry.ok()?.path() }))
            .filter(|folder| folder.path.join("run.json").is_file())
            .collect();
        folders.sort_by_key(|folder| std::cmp::Reverse(folder.id()));
        Ok(folders)
    }

    /// Locks the run for this process, as long as the returned file is open: no other process
    /// measures into it or removes it. The kernel frees the lock however the process ends.
    pub fn claim(&self) -> Result<File, RecordError> {
        let io = |source| RecordError::Io { path: self.path.clone(), source };
        let folder = File::open(&self.path).map_err(io)?;
        match folder.try_lock() {
            Ok(()) => Ok(folder),
            Err(TryLockError::WouldBlock) => Err(RecordError::InProgress { run: self.id() }),
            Err(TryLockError::Error(source)) => Err(io(source)),
        }
    }

    /// Whether the folder may be removed: a real folder whose run.json names it, and no run that
    /// is being measured.
    pub fn check_removable(&self) -> Result<(), RecordError> {
        let kept = |why: String| RecordError::Kept { path: self.path.clone(), why };
        if self.path.is_symlink() {
            return Err(kept("it is a link".to_owned()));
        }
        let run: Run = file::read_json(&self.path.join("run.json"))
            .map_err(|_| kept("its run.json cannot be read".to_owned()))?;
        if run.id != self.id() {
            return Err(kept(format!("its run.json belongs to the run {}", run.id)));
        }
        self.claim().map(drop)
    }

    /// Removes the run with everything in it.
    pub fn remove(self) -> Result<(), RecordError> {
        self.check_removable()?;
        std::fs::remove_dir_all(&self.path)
            .map_err(|source| RecordError::Io { path: self.path, source })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn id(&self) -> String {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Its name in a command that finds it: with the folder of all runs where that is another one than
    /// commands look in.
    pub fn as_argument(&self) -> String {
        let runs = self.path.parent().map(|runs| runs.display().to_string());
        match runs.filter(|runs| runs != RUNS) {
            Some(runs) => format!("{} --runs {}", self.id(), shell_word(&runs)),
            None => self.id(),
        }
    }

    pub fn write_run(&self, run: &Run) -> Result<(), RecordError> {
        file::write_json(&self.path.join("run.json"), run)
    }

    pub fn read_run(&self) -> Result<Run, RecordError> {
        let path = self.path.join("run.json");
        let read = || {
            file::refuse_newer(&path)?;
            file::read_json(&path)
        };
        read().map_err(|error| self.with_remedy(error))
    }

    /// An error about a file that no other file of the run can replace.
    fn with_remedy(&self, error: RecordError) -> RecordError {
        let (path, message) = match error {
            RecordError::Damaged { path, message } => (path, message),
            RecordError::Io { path, source } if source.kind() == std::io::ErrorKind::NotFound => {
                (path, "it is missing".to_owned())
            }
            other => return other,
        };
        let folder = shell_word(&self.path.display().to_string());
        let message =
            format!("{message}; restore it from a copy, or remove the run: rm -r {folder}");
        RecordError::Damaged { path, message }
    }

    pub fn write_plan(&self, text: &str) -> Result<(), RecordError> {
        file::write(&self.path.join("plan.toml"), text.as_bytes())
    }

    /// The plan as written: the text, and what it says.
    pub fn read_plan(&self) -> Result<(String, Plan), RecordError> {
        let path = self.path.join("plan.toml");
        let read = || {
            let text = std::fs::read_to_string(&path).map_err(file::failed(&path))?;
            let plan = toml::from_str(&text).map_err(|error| {
                let message = error.message().to_owned();
                RecordError::Damaged { path: path.clone(), message }
            })?;
            Ok((text, plan))
        };
        read().map_err(|error| self.with_remedy(error))
    }

    pub fn write_trial(&self, trial: &Trial) -> Result<(), RecordError> {
        file::write_json(&self.trial_path(trial.number), trial)
    }

    /// Reads all trials, by number.
    pub fn read_trials(&self) -> Result<Vec<Trial>, RecordError> {
        let folder = self.path.join("trials");
        let io = file::failed(&folder);
        let mut trials: Vec<Trial> = Vec::new();
        let entries = std::fs::read_dir(&folder).map_err(&io);
        for entry in entries.map_err(|error| self.with_remedy(error))? {
            let path = entry.map_err(&io)?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                trials.push(read_trial(&path)?);
            }
        }
        trials.sort_by_key(|trial| trial.number);
        Ok(trials)
    }

    fn trial_path(&self, number: usize) -> PathBuf {
        self.path.join("trials").join(format!("{number:04}.json"))
    }

    /// Where the raw observations of a trial lie.
    pub fn observations_path(&self, number: usize) -> PathBuf {
        self.path.join("trials").join(format!("{number:04}.observations.zst"))
    }

    /// Where the distribution of a trial's response times lies.
    pub fn histogram_path(&self, number: usize) -> PathBuf {
        self.path.join("trials").join(format!("{number:04}.histogram"))
    }
}

/// Only a trial that was cut short by a full disk or by hand fails here: it can be measured again.
fn read_trial(path: &Path) -> Result<Trial, RecordError> {
    file::read_json(path).map_err(|error| match error {
        RecordError::Damaged { path, message } => RecordError::Damaged {
            path,
            message: format!("{message}; remove this file, and --resume measures the trial again"),
        },
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_finds_the_run_in_another_folder_of_runs() {
        let at = |path: &str| RunFolder { path: PathBuf::from(path) }.as_argument();
        assert_eq!(at("runs/20261101-080000-sql-000a"), "20261101-080000-sql-000a");
        assert_eq!(
            at("../my runs/20261101-080000-sql-000a"),
            "20261101-080000-sql-000a --runs '../my runs'"
        );
    }
}
