//! A folder for the blobs of one test.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use blob::{BlobForm, ExportOptions, InitOptions, Recipe};
use indicatif::ProgressBar;
use tempfile::TempDir;

/// Nobody asks these tests to stop.
pub static NEVER: AtomicBool = AtomicBool::new(false);

pub fn quiet() -> ProgressBar {
    ProgressBar::hidden()
}

pub fn recipe(count: u64, blob_bytes: u64, variance_bytes: u64) -> Recipe {
    Recipe { count, blob_bytes, variance_bytes, page_bytes: None, seed: 1 }
}

pub struct Place {
    folder: TempDir,
    exports: AtomicU32,
}

impl Place {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), exports: AtomicU32::new(0) }
    }

    /// Where files surely lie on a disk.
    pub fn on_disk() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        Self { folder, exports: AtomicU32::new(0) }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.unwrap().file_name().into_string().unwrap()
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }

    pub fn init(&self, recipe: &Recipe) -> PathBuf {
        let path = self.path("blobs.db");
        blob::init(&path, recipe, &InitOptions::default(), &quiet(), &NEVER).unwrap();
        path
    }

    /// Into a new folder each time.
    pub fn export(&self, database: &Path, form: BlobForm) -> PathBuf {
        let number = self.exports.fetch_add(1, Ordering::Relaxed);
        let folder = self.path(&format!("export-{number}"));
        let options = ExportOptions { form, replace: false };
        blob::export(database, &folder, &options, &quiet(), &NEVER).unwrap();
        folder
    }
}
