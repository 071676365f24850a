//! SQLite as this program carries it, for programs in C that are compared with ours: they differ in
//! what is around SQLite alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The library that cargo built for a program, and its header.
pub struct BundledSqlite {
    pub archive: PathBuf,
    include: PathBuf,
}

impl BundledSqlite {
    /// The library of this very program: the newest among those of its profile.
    ///
    /// # Errors
    /// When cargo has left none beside it.
    pub fn find() -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let builds =
            program.ancestors().nth(2).ok_or("this program lies in no folder")?.join("build");
        let newest = fs::read_dir(&builds)
            .map_err(|error| format!("{}: {error}", builds.display()))?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                path.file_name()
                    .is_some_and(|name| name.to_string_lossy().starts_with("libsqlite3-sys-"))
            })
            .filter_map(|path| {
                let archive = path.join("out/libsqlite3.a");
                let made = archive.metadata().ok()?.modified().ok()?;
                Some((made, path, archive))
            })
            .max();
        let (_, build, archive) = newest.ok_or("cargo's build of libsqlite3-sys is not there")?;
        let told = fs::read_to_string(build.join("output")).map_err(|error| error.to_string())?;
        let include = told.lines().find_map(|line| line.strip_prefix("cargo:include="));
        let include = include.ok_or("libsqlite3-sys does not say where its header is")?;
        Ok(Self { archive, include: include.into() })
    }

    /// Compiles a program in C with it.
    ///
    /// # Errors
    /// As [`compile_c`].
    pub fn compile(&self, source: &Path, program: &Path) -> Result<(), String> {
        let header = format!("-I{}", self.include.display());
        let archive = self.archive.display().to_string();
        compile_c(source, program, &[&header, &archive, "-lm", "-lpthread", "-ldl"])
    }
}

/// Compiles a program in C with these further words.
///
/// # Errors
/// When there is no compiler, or it refuses: its last line.
pub fn compile_c(source: &Path, program: &Path, words: &[&str]) -> Result<(), String> {
    let mut command = Command::new("cc");
    run(command.arg("-O2").arg("-o").arg(program).arg(source).args(words))
}

/// Runs a command to its end.
///
/// # Errors
/// When it fails: its last line.
pub fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(format!("{command:?}: {}", told.lines().last().unwrap_or_default()))
}
