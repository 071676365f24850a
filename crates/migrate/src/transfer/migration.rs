//! Entry points: migrate, resume, abandon, load repaired rows. Each works by steps and publishes in
//! one last transaction.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use engine::PostgresUrl;
use indicatif::ProgressBar;

use super::begin::PreparedMigration;
use super::load_rejects::to_database;
use super::options::MigrateOptions;
use super::reconnect::Outages;
use super::report::{MigrationReport, PhaseSeconds};
use super::run::Migration;
use super::{begin, state};
use crate::error::Unfinished;
use crate::source::schema;
use crate::target::TargetSession;
use crate::{Error, Task};

/// Moves a SQLite file into a PostgreSQL database.
///
/// # Errors
/// The target is unchanged after any error but [`Error::CutOff`], after which the migration can be
/// resumed or abandoned. Each error names the place and the remedy.
pub async fn migrate(
    source: &Path,
    target: &PostgresUrl,
    options: &MigrateOptions,
    progress: &ProgressBar,
    interrupted: &AtomicBool,
) -> Result<MigrationReport, Error> {
    let task = Task { progress, interrupted };
    let prepare = async |session: &TargetSession| match state::find(&session.client).await? {
        Some(found) if !options.resume => Err(Error::Unfinished(found.unfinished())),
        Some(found) => {
            refuse_other_options(options, &found.saved.options)?;
            session.wait_for_workers(task).await?;
            // Workers of the earlier run may have finished steps in the meantime.
            let mut found = state::find(&session.client).await?.unwrap_or(found);
            found.saved.options.workers = options.workers;
            begin::resume(source, session, found, task).await
        }
        None => begin::start(source, session, options, task).await,
    };
    carry_out(target, options, task, prepare).await
}

/// Carries out what `prepare` begins. A migration in one transaction leaves nothing when its
/// connection is lost, and begins again.
async fn carry_out(
    target: &PostgresUrl,
    options: &MigrateOptions,
    task: Task<'_>,
    prepare: impl AsyncFn(&TargetSession) -> Result<PreparedMigration, Error>,
) -> Result<MigrationReport, Error> {
    let called = Instant::now();
    let mut outages = Outages::at_most(options.reconnects);
    let mut session = task.unless_interrupted(TargetSession::claimed(target)).await?;
    let mut in_one_transaction = false;
    loop {
        let started = Instant::now();
        let preparing = Box::pin(prepare(&session));
        let done = match session.cancelled_by_user(target, task, preparing).await {
            Ok(prepared) => {
                in_one_transaction = !prepared.job.by_steps;
                let inspect = prepared.seconds.inspect;
                let prepare = started.elapsed().as_secs_f64() - inspect;
                let seconds = PhaseSeconds { prepare, ..prepared.seconds };
                let outages = &mut outages;
                let is_committing = false;
                let migration = Migration { session, prepared, seconds, outages, is_committing };
                migration.run(target, task).await
            }
            Err(error) => Err(error),
        };
        match done {
            Err(lost) if in_one_transaction && lost.is_lost_connection() => {
                let connect = async || TargetSession::claimed(target).await;
                session = outages.replace(lost, task, connect).await?;
            }
            Ok(mut report) => {
                report.seconds.elapsed = called.elapsed().as_secs_f64();
                return Ok(report);
            }
            Err(error) => return Err(error),
        }
    }
}

/// Refuses options that differ from those with which the migration began.
fn refuse_other_options(given: &MigrateOptions, own: &MigrateOptions) -> Result<(), Error> {
    let keys = |options: &MigrateOptions| {
        let options = MigrateOptions { resume: false, ..options.clone() };
        match serde_json::to_value(options) {
            Ok(serde_json::Value::Object(keys)) => keys,
            _ => serde_json::Map::new(),
        }
    };
    let (given, own, none) = (keys(given), keys(own), keys(&MigrateOptions::default()));
    let other = given
        .iter()
        .filter(|(key, value)| none.get(*key) != Some(*value) && own.get(*key) != Some(*value));
    let other: Vec<&str> = other.map(|(key, _)| key.as_str()).collect();
    if other.is_empty() { Ok(()) } else { Err(Error::OtherOptions(other.join(", "))) }
}

/// Adds the rows of a reject file, after their repair, to the tables of the target: all or none.
pub async fn load_rejects(
    file: &Path,
    target: &PostgresUrl,
    options: &MigrateOptions,
    progress: &ProgressBar,
    interrupted: &AtomicBool,
) -> Result<MigrationReport, Error> {
    let called = Instant::now();
    let unusable = |error: std::io::Error| Error::RejectFile {
        path: file.to_owned(),
        reason: format!("no room for a temporary file: {error}"),
    };
    let folder = tempfile::tempdir().map_err(unusable)?;
    let database = folder.path().join("rejects.db");
    let names = to_database(file, &database)?;
    let held = schema(&connect::sqlite::open_read_only(&database)?)
        .map_err(|source| Error::Sqlite { path: database.clone(), source })?;
    let options = MigrateOptions {
        data_only: true,
        verify: false,
        rules: options.rules.for_part(&held),
        selection: options.selection.for_part(&held),
        ..options.clone()
    };
    let task = Task { progress, interrupted };
    let prepare = async |session: &TargetSession| match state::find(&session.client).await? {
        Some(found) => Err(Error::Unfinished(found.unfinished())),
        None => begin::append(&database, session, &options, names.clone(), task).await,
    };
    let mut report = carry_out(target, &options, task, prepare).await?;
    report.source = file.to_owned();
    // A verification needs the source itself.
    report.flags.clear();
    report.seconds.elapsed = called.elapsed().as_secs_f64();
    Ok(report)
}

/// Undoes an unfinished migration in the target, and returns it.
pub async fn abandon(
    target: &PostgresUrl,
    progress: &ProgressBar,
    interrupted: &AtomicBool,
) -> Result<Unfinished, Error> {
    let task = Task { progress, interrupted };
    let session = task.unless_interrupted(TargetSession::claimed(target)).await?;
    let putting_back = async {
        let nothing = || Error::Target(format!("no unfinished migration is in {target}"));
        state::find(&session.client).await?.ok_or_else(nothing)?;
        session.wait_for_workers(task).await?;
        let found = state::find(&session.client).await?.ok_or_else(nothing)?;
        state::put_back(&session, &found).await?;
        Ok(found.unfinished())
    };
    session.cancelled_by_user(target, task, Box::pin(putting_back)).await
}

/// The unfinished migration in a database, for commands that would meet it.
pub async fn unfinished(target: &PostgresUrl) -> Result<Option<Unfinished>, Error> {
    let client = connect::postgres::connect(target).await?;
    Ok(state::find(&client).await?.map(|found| found.unfinished()))
}
