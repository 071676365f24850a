//! A laboratory of a test's own, in a folder that the test keeps.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use indicatif::ProgressBar;
use lab::options::{ExpectedEnd, RunOptions};
use server::Locations;
use tokio::runtime::Runtime;

pub struct Laboratory {
    runs: PathBuf,
    locations: Locations,
    runtime: Runtime,
    progress: ProgressBar,
    expected_end: ExpectedEnd,
}

impl Laboratory {
    pub fn in_folder(folder: &Path) -> Self {
        let path = |name: &str| folder.join(name);
        Self {
            runs: path("runs"),
            locations: Locations {
                cache: path("cache"),
                data: path("data"),
                runtime: path("runtime"),
                offline: false,
            },
            runtime: Runtime::new().unwrap(),
            progress: ProgressBar::hidden(),
            expected_end: ExpectedEnd::default(),
        }
    }

    pub fn options<'a>(&'a self, interrupted: &'a AtomicBool) -> RunOptions<'a> {
        RunOptions {
            runs: &self.runs,
            command_line: "a test".to_owned(),
            locations: &self.locations,
            runtime: self.runtime.handle(),
            progress: &self.progress,
            expected_end: &self.expected_end,
            say: &|_| {},
            interrupted,
            time_limit: None,
        }
    }
}
