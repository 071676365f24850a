//! The libraries of SQLite that a plan names, loaded before anything is measured.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use connect::sqlite_library::HeldLibrary;
use serde::Serialize;
use server::Locations;

use super::Preview;
use crate::error::RunError;
use crate::workload::library::{ask, refused};
use host::sqlite::BuiltLibrary;
use plan::{Design, Plan, SqliteOrigin};

/// A line of SQLite by a library.
#[derive(Clone, Debug, Serialize)]
pub struct PreviewLibrary {
    pub engine: String,
    /// As `3.40.1`; none of one that is compiled when the run begins.
    pub version: Option<String>,
    /// Its path, or the flags and the compiler that make it.
    pub origin: String,
    pub compile_options: Vec<String>,
}

impl PreviewLibrary {
    pub fn in_words(&self) -> String {
        let Self { engine, origin, .. } = self;
        match &self.version {
            Some(version) => format!("{engine}: SQLite {version}, {origin}"),
            None => format!("{engine}: {origin}, when the run begins"),
        }
    }
}

/// The version of a shared library, loaded by a process of its own; otherwise why it cannot be used.
///
/// # Errors
/// The reason, in words.
pub fn library_version(path: &Path, interrupted: &AtomicBool) -> Result<String, String> {
    let asked = ask(&HeldLibrary::Shared(path.to_owned()), interrupted);
    asked.map(|facts| facts.version).map_err(|error| error.to_string())
}

impl Preview {
    /// Loads each library that the plan names, in a process of its own.
    ///
    /// # Errors
    /// A library that cannot be loaded, or has ended its process; flags that a build does not take.
    pub fn load_libraries(
        &mut self,
        plan: &Plan,
        locations: &Locations,
        interrupted: &AtomicBool,
    ) -> Result<(), RunError> {
        let mut seen = BTreeSet::new();
        for (index, levels) in Design::of(plan).treatments() {
            let engine = plan.engine_at(*index, levels)?;
            if !seen.insert(engine.clone()) {
                continue;
            }
            let (path, origin) = match plan.sqlite_of(&engine) {
                None | Some(SqliteOrigin::BuiltIn) => continue,
                Some(SqliteOrigin::Library(path)) => {
                    let origin = path.display().to_string();
                    (Some(path), origin)
                }
                Some(SqliteOrigin::Build(flags)) => {
                    let built = BuiltLibrary::of(&flags, &locations.cache);
                    let built = built.map_err(|error| RunError::from(error).of_engine(*index))?;
                    let origin = format!("compiled with {flags} by {}", built.compiler());
                    (Some(built.path).filter(|path| path.is_file()), origin)
                }
            };
            let asked = path.map(|path| ask(&HeldLibrary::Shared(path), interrupted));
            let facts = asked.transpose();
            let facts = facts.map_err(|error| refused(&engine, error).of_engine(*index))?;
            let (version, compile_options) =
                facts.map(|facts| (facts.version, facts.compile_options)).unzip();
            self.libraries.push(PreviewLibrary {
                engine: engine.label(),
                version,
                origin,
                compile_options: compile_options.unwrap_or_default(),
            });
        }
        Ok(())
    }
}
