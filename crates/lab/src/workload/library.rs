//! SQLite by a library, where a plan names one: found or compiled, asked, and held by processes that hold
//! no other.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use connect::sqlite_library::HeldLibrary;
use engine::EngineSpec;
use xxhash_rust::xxh3::xxh3_64;

use super::sql::{LibraryFacts, LibraryFile, RemoteSession, SqlError};
use crate::error::RunError;
use host::sqlite::{BuiltLibrary, build};
use host::{DeployError, HostOptions, Site, file};
use plan::{Design, Plan, PlanError, SqliteOrigin};
use record::Run;

/// The library of an engine's client processes.
pub(super) struct NamedLibrary {
    pub held: HeldLibrary,
    /// None of one that was there before.
    built: Option<BuiltLibrary>,
}

impl NamedLibrary {
    /// None where clients may be in this process. What a build makes is kept, so that only its first
    /// deployment compiles.
    pub(super) fn of(
        plan: &Plan,
        engine: &EngineSpec,
        options: &HostOptions<'_>,
    ) -> Result<Option<Self>, DeployError> {
        let (held, built) = match plan.sqlite_of(engine) {
            None => return Ok(None),
            Some(SqliteOrigin::BuiltIn) => (HeldLibrary::BuiltIn, None),
            Some(SqliteOrigin::Library(path)) => (HeldLibrary::Shared(path), None),
            Some(SqliteOrigin::Build(flags)) => {
                let built = build(&flags, options)?;
                (HeldLibrary::Shared(built.path.clone()), Some(built))
            }
        };
        Ok(Some(Self { held, built }))
    }

    /// Version and settings, the library's own words among them, of a file that it has opened in a
    /// process of its own.
    pub(super) fn opened(
        &self,
        site: &Site<'_>,
        label: &str,
        file: &LibraryFile,
    ) -> Result<(String, Vec<(String, String)>), RunError> {
        let opened = RemoteSession::open(site.program, file, site.interrupted);
        let (_, facts) = opened.map_err(|error| error.at(label))?;
        let mut settings = facts.settings;
        settings.push((SOURCE.to_owned(), facts.source_id));
        settings.push((COMPILE_OPTIONS.to_owned(), facts.compile_options.join(" ")));
        match (&self.built, &self.held) {
            (Some(built), _) => settings.extend(built.made_by.clone()),
            (None, HeldLibrary::Shared(path)) => settings.push(file_of(path)?),
            (None, HeldLibrary::BuiltIn) => {}
        }
        Ok((format!("SQLite {}", facts.version), settings))
    }
}

const SOURCE: &str = "source";
const COMPILE_OPTIONS: &str = "compile options";

/// Refuses a library that cannot be loaded. One that ends its process voids its own trials, and the
/// others are measured.
pub(super) fn check(
    plan: &Plan,
    engine: &EngineSpec,
    options: &HostOptions<'_>,
) -> Result<(), RunError> {
    let Some(library) = NamedLibrary::of(plan, engine, options)? else { return Ok(()) };
    match ask(&library.held, options.interrupted) {
        Ok(_) | Err(SqlError::Ended(_)) => Ok(()),
        Err(error) => Err(refused(engine, error)),
    }
}

/// The library in its own words, loaded by a process of its own.
pub(crate) fn ask(
    library: &HeldLibrary,
    interrupted: &AtomicBool,
) -> Result<LibraryFacts, SqlError> {
    let program = file::program().map_err(|error| SqlError::NotConnected(error.to_string()))?;
    RemoteSession::load(&program, library, interrupted)
}

/// An answer to [`ask`] that is none, as a mistake in the plan where it is one.
pub(crate) fn refused(engine: &EngineSpec, error: SqlError) -> RunError {
    match error {
        SqlError::NotConnected(message) => PlanError::impossible("engines", message).into(),
        SqlError::Interrupted => RunError::InterruptedBeforeTrials,
        error => error.at(&engine.label()),
    }
}

/// The file of a library, by path and content, as a setting.
fn file_of(path: &Path) -> Result<(String, String), RunError> {
    let io = |source| RunError::Io { path: path.to_owned(), source };
    let digest = xxh3_64(&std::fs::read(path).map_err(io)?);
    Ok((host::sqlite::FILE.to_owned(), format!("{} (XXH3 {digest:016x})", path.display())))
}

/// The first library that is another than in the starts of `run`, in words; none is loaded or compiled.
pub(crate) fn changed(plan: &Plan, run: &Run, cache: &Path) -> Result<Option<String>, RunError> {
    let design = Design::of(plan);
    for (index, levels) in design.treatments() {
        let levels = design.deployment_levels(levels);
        let engine = plan.engine_at(*index, &levels)?;
        let label = engine.label();
        let Some(before) = run.engines.get(&design.start_name(&label, &levels)) else { continue };
        let now = match plan.sqlite_of(&engine) {
            Some(SqliteOrigin::Build(flags)) => BuiltLibrary::of(&flags, cache)?.made_by,
            Some(SqliteOrigin::Library(path)) => vec![file_of(&path)?],
            None | Some(SqliteOrigin::BuiltIn) => continue,
        };
        if let Some(what) = difference(&label, &before.settings, &now) {
            return Ok(Some(what));
        }
    }
    Ok(None)
}

/// The part of a library that is another than in an earlier start, in words.
pub(crate) fn difference(
    label: &str,
    before: &[(String, String)],
    now: &[(String, String)],
) -> Option<String> {
    let of = |settings: &[(String, String)], name: &str| {
        settings.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    };
    // A line without a library of its own has none.
    of(before, host::sqlite::FILE)?;
    host::sqlite::MADE_BY.into_iter().find_map(|name| {
        let (was, is) = (of(before, name), of(now, name));
        let shown = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
        (was != is)
            .then(|| format!("the {name} of {label} ({} before, {} now)", shown(was), shown(is)))
    })
}
