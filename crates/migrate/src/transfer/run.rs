//! Run of a migration: its steps, verification, the last transaction, and recovery after a failed
//! step.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use engine::PostgresUrl;

use super::begin::PreparedMigration;
use super::comparison::verify;
use super::load_rejects::refuse_orphans;
use super::publish::{Destination, publish_tables};
use super::reconnect::Outages;
use super::reject_file::RejectFile;
use super::report::{MigratedTable, MigrationReport, PhaseSeconds};
use super::sequences::{self, NumberedRows};
use super::state::{self, MigrationState};
use super::step::{MigrationStep, Stage};
use crate::audit::key_findings;
use crate::display::flag;
use crate::finding::{Finding, Severity};
use crate::source::{FrameworkChoice, SourceApplication};
use crate::target::{MatchedTable, TargetSession, cancelled_by_user};
use crate::task::{PATIENCE, blocking};
use crate::value::{ColumnConversion, add_conversions};
use crate::verify::VerificationReport;
use crate::{Error, Task};

/// Time to empty tables and to make their keys again once the user asked to stop.
const PATIENCE_TO_PUT_BACK: Duration = Duration::from_secs(10);

pub struct Migration<'a> {
    /// The connection that begins and ends it.
    pub session: TargetSession,
    pub prepared: PreparedMigration,
    pub seconds: PhaseSeconds,
    pub outages: &'a mut Outages,
    /// The last commit was asked for and is not answered.
    pub is_committing: bool,
}

impl Migration<'_> {
    /// Carries out the migration. After an error the target is unchanged, or the migration can be
    /// resumed.
    pub async fn run(
        mut self,
        target: &PostgresUrl,
        task: Task<'_>,
    ) -> Result<MigrationReport, Error> {
        let done = if self.prepared.job.by_steps {
            self.by_steps(target, task).await
        } else {
            // On the heap, as below: such a future is large.
            let canceller = [self.session.canceller.clone()];
            let moving = Box::pin(self.in_one_transaction(task));
            let done = cancelled_by_user(target, &canceller, task, moving).await;
            let done = done.map_err(|error| self.or_unknown(error));
            if done.is_err() {
                self.session.roll_back().await;
            }
            done
        };
        match done {
            Ok(verification) => Ok(self.finish(target, verification, task).await),
            Err(error) => Err(self.name_orphans(error, task).await),
        }
    }

    /// All steps on the one connection whose transaction is open.
    async fn in_one_transaction(
        &mut self,
        task: Task<'_>,
    ) -> Result<Option<VerificationReport>, Error> {
        let workers = std::slice::from_ref(&self.session);
        do_steps(&mut self.prepared, workers, &mut self.seconds, task).await?;
        if self.prepared.job.adds {
            refuse_orphans(&self.session, &self.prepared.job, task).await?;
        }
        let verification = verify(&self.prepared, workers, &mut self.seconds, task).await?;
        self.complete(task).await?;
        if self.prepared.saved.options.dry_run {
            self.session.roll_back().await;
        } else {
            self.commit().await?;
        }
        Ok(verification)
    }

    /// Each step in a transaction of its own, on parallel connections.
    async fn by_steps(
        &mut self,
        target: &PostgresUrl,
        task: Task<'_>,
    ) -> Result<Option<VerificationReport>, Error> {
        let working = Box::pin(self.work_with_reconnects(target, task));
        let worked = task.patiently(PATIENCE, working).await;
        let worked = worked.map_err(|error| self.or_unknown(error));
        let dry_run = self.prepared.saved.options.dry_run;
        let error = match worked {
            Ok(verification) if !dry_run => return Ok(verification),
            Ok(verification) => match self.put_back(task).await {
                Ok(()) => return Ok(verification),
                Err(error) => return Err(self.cut_off(error, task).await),
            },
            Err(error @ Error::CommitUnknown { .. }) => return Err(error),
            Err(error) => error,
        };
        // After a clean stop existing tables get their keys and indexes back at once.
        let clean_stop =
            matches!(error, Error::Interrupted) && self.prepared.saved.options.data_only;
        if error.is_cut_off() && !clean_stop {
            return Err(self.cut_off(error, task).await);
        }
        match self.put_back(task).await {
            Ok(()) => Err(error),
            Err(_) => Err(self.cut_off(error, task).await),
        }
    }

    /// Repeats the work over new connections whenever they are lost and can be replaced.
    async fn work_with_reconnects(
        &mut self,
        target: &PostgresUrl,
        task: Task<'_>,
    ) -> Result<Option<VerificationReport>, Error> {
        loop {
            let mut workers = Vec::new();
            let worked = self.work(&mut workers, target, task).await;
            for session in workers {
                match &worked {
                    Ok(_) => drop(session),
                    Err(_) => session.cancel().await,
                }
            }
            match worked {
                Err(error) if error.is_lost_connection() => {
                    self.reconnect(error, target, task).await?;
                }
                worked => return worked,
            }
        }
    }

    async fn work(
        &mut self,
        workers: &mut Vec<TargetSession>,
        target: &PostgresUrl,
        task: Task<'_>,
    ) -> Result<Option<VerificationReport>, Error> {
        for _ in 0..self.prepared.job.source.connections() {
            workers.push(task.unless_interrupted(TargetSession::worker(target)).await?);
        }
        let sessions: Vec<_> = workers.iter().map(|worker| worker.canceller.clone()).collect();
        let working = async {
            do_steps(&mut self.prepared, workers, &mut self.seconds, task).await?;
            verify(&self.prepared, workers, &mut self.seconds, task).await
        };
        let working = Box::pin(working);
        let verification = cancelled_by_user(target, &sessions, task, working).await?;
        let canceller = [self.session.canceller.clone()];
        let finishing = Box::pin(self.last_transaction(task));
        cancelled_by_user(target, &canceller, task, finishing).await?;
        Ok(verification)
    }

    async fn last_transaction(&mut self, task: Task<'_>) -> Result<(), Error> {
        self.session.begin().await?;
        let completed = self.complete(task).await;
        if completed.is_ok() && !self.prepared.saved.options.dry_run {
            return self.commit().await;
        }
        self.session.roll_back().await;
        completed
    }

    /// Before the last commit: sets sequences, publishes the staged tables, and makes the reject file
    /// durable.
    async fn complete(&mut self, task: Task<'_>) -> Result<(), Error> {
        task.check()?;
        let PreparedMigration { job, saved, rejects, sequences_set, .. } = &mut self.prepared;
        let all: Vec<MatchedTable> = job.matched.iter().chain(&job.kept).cloned().collect();
        let (schema, matched) = (&job.schema, &all[..]);
        let rows = NumberedRows { schema, matched, dry_run: saved.options.dry_run };
        *sequences_set = sequences::set(&self.session, &rows).await?;
        if job.by_steps && !saved.options.data_only {
            let destination = Destination {
                schema: &job.schema,
                namespace: &saved.namespace,
                make_namespace: saved.options.schema.is_some(),
                replace: saved.options.replace,
            };
            publish_tables(&self.session, &destination, task).await?;
        }
        if job.by_steps {
            state::remove(&self.session, task).await?;
        }
        match rejects {
            Some(rejects) if saved.options.dry_run => rejects.sync(),
            Some(rejects) => rejects.publish(),
            None => Ok(()),
        }
    }

    /// The last commit. A refused commit removes the reject file, an unanswered one keeps it.
    async fn commit(&mut self) -> Result<(), Error> {
        self.is_committing = true;
        let committed = self.session.commit().await;
        self.is_committing = false;
        let Err(error) = committed else { return Ok(()) };
        let Some(rejects) = &mut self.prepared.rejects else { return Err(error) };
        if let Error::CommitUnknown { .. } = error {
            return Err(Error::CommitUnknown { rejects: rejects.published().map(Path::to_owned) });
        }
        rejects.withdraw();
        Err(error)
    }

    /// The error itself, unless a commit was interrupted that the server may have carried out.
    fn or_unknown(&self, error: Error) -> Error {
        let rejects = || self.prepared.rejects.as_ref().and_then(RejectFile::published);
        match error {
            Error::Interrupted if self.is_committing => {
                Error::CommitUnknown { rejects: rejects().map(Path::to_owned) }
            }
            error => error,
        }
    }

    /// Waits for steps that the server may still be committing, even after an interruption.
    async fn wait_for_workers(&self, task: Task<'_>) -> Result<(), Error> {
        let never = AtomicBool::new(false);
        self.session.wait_for_workers(Task { progress: task.progress, interrupted: &never }).await
    }

    /// Puts the target back, even after an interruption.
    async fn put_back(&self, task: Task<'_>) -> Result<(), Error> {
        let putting_back = async {
            self.wait_for_workers(task).await?;
            let found = state::find(&self.session.client).await?;
            match found {
                Some(found) => state::put_back(&self.session, &found).await,
                None => Ok(()),
            }
        };
        task.patiently(PATIENCE_TO_PUT_BACK, Box::pin(putting_back)).await
    }

    /// The error of an interrupted migration, with the finished steps as read from the target, or
    /// as last known.
    async fn cut_off(&self, cause: Error, task: Task<'_>) -> Error {
        // A worker's step may be committed after the failure of another's: it counts as done. If
        // the server cannot be asked, the last known count stays.
        let asking = async {
            self.wait_for_workers(task).await?;
            state::find(&self.session.client).await
        };
        let state = match task.patiently(PATIENCE, asking).await {
            Ok(Some(state)) => state,
            _ => {
                let (saved, steps) = (self.prepared.saved.clone(), self.prepared.steps.clone());
                MigrationState { saved, steps, started: self.prepared.started.clone() }
            }
        };
        Error::CutOff { cause: Box::new(cause), unfinished: state.unfinished() }
    }

    /// Explains a violated foreign key by the rows of the source.
    async fn name_orphans(&self, error: Error, task: Task<'_>) -> Error {
        let Error::Constraint(message) = error else { return error };
        let (source, schema) = (self.prepared.job.source.clone(), self.prepared.job.schema.clone());
        let rules = self.prepared.saved.options.rules.clone();
        let found = blocking(task, move |_| {
            source.with(|connection| key_findings(&source, connection, &schema, &rules))
        });
        let findings = found.await.unwrap_or_default();
        let orphans = findings.iter().filter(|finding| finding.severity == Severity::Blocker);
        let lines: Vec<String> = orphans.map(ToString::to_string).collect();
        let named =
            if lines.is_empty() { String::new() } else { format!("\n{}", lines.join("\n")) };
        Error::Constraint(format!("{message}{named}"))
    }

    /// Vacuum after the commit, and the report.
    async fn finish(
        self,
        target: &PostgresUrl,
        verification: Option<VerificationReport>,
        task: Task<'_>,
    ) -> MigrationReport {
        let Self { session, prepared, mut seconds, outages, .. } = self;
        let PreparedMigration { job, saved, steps, mut findings, rejects, .. } = prepared;
        let dry_run = saved.options.dry_run;
        let mut after_commit = Vec::new();
        let clock = Instant::now();
        let vacuum = steps.iter().filter(|step| step.stage == Stage::Vacuum);
        for step in vacuum.filter(|_| !job.by_steps && !dry_run) {
            if session.run(&step.sql, task).await.is_err() {
                after_commit.push(format!("the rows are committed, but {} was not done", step.sql));
            }
        }
        seconds.vacuum += clock.elapsed().as_secs_f64();
        let rejected_rows = rejects.as_ref().map_or(0, RejectFile::count);
        if job.source.has_changed().unwrap_or(false) {
            after_commit.push(format!(
                "{} was changed while it was read: what was committed to it since is not in the \
                 target (crossover verify names it)",
                job.source.path().display()
            ));
        }
        let loaded = job.matched.iter().map(|matched| {
            let table = job.schema.tables[matched.source].name.clone();
            let rows = steps.iter().filter(|step| step.stage == Stage::Load && step.table == table);
            let rows = rows.map(|step| step.loaded.rows).sum();
            let rejected_rows = matched.rejected.len() as u64;
            MigratedTable { table, rows, rejected_rows, kept: false }
        });
        findings.extend(conversions(&steps));
        let mut flags = saved.options.flags();
        flags.extend(saved.standing.iter().map(|table| flag("--exclude", table)));
        // A reject file does not tell it.
        if let (Some(framework), FrameworkChoice::Auto) =
            (job.schema.framework(), saved.options.selection.framework)
            && rejected_rows > 0
        {
            flags.push(format!("--framework {}", FrameworkChoice::Named(framework)));
        }
        MigrationReport {
            source: job.source.path().to_owned(),
            target: target.to_string(),
            schema: saved.namespace,
            dry_run,
            schema_only: saved.options.schema_only,
            tables: saved.kept.iter().cloned().chain(loaded).collect(),
            findings,
            not_carried_over: saved.not_carried_over,
            application: SourceApplication::of(&job.schema).filter(|_| !saved.options.data_only),
            sequences_set: prepared.sequences_set,
            verification,
            rejected_rows,
            first_rejected: rejects.as_ref().map(|file| file.first().to_vec()).unwrap_or_default(),
            reject_file: rejects.as_ref().and_then(RejectFile::published).map(Path::to_owned),
            notices: saved.notices,
            steps: steps.len(),
            steps_done_before: prepared.steps_done_before,
            reconnects: outages.replaced,
            after_commit,
            seconds,
            flags,
        }
    }
}

/// The stated conversions of the rows that were loaded, by table and column.
fn conversions(steps: &[MigrationStep]) -> Vec<Finding> {
    let mut tables: BTreeMap<&str, Vec<ColumnConversion>> = BTreeMap::new();
    for step in steps.iter().filter(|step| step.stage == Stage::Load) {
        add_conversions(tables.entry(&step.table).or_default(), step.loaded.conversions.clone());
    }
    let mut findings = Vec::new();
    for (table, of_table) in tables {
        findings.extend(of_table.iter().map(|each| each.finding(table)));
    }
    findings
}

/// Does all steps that are not done.
async fn do_steps(
    prepared: &mut PreparedMigration,
    workers: &[TargetSession],
    seconds: &mut PhaseSeconds,
    task: Task<'_>,
) -> Result<(), Error> {
    for stage in Stage::ALL.iter().copied() {
        let clock = Instant::now();
        prepared.job.run(stage, workers, &mut prepared.steps, task).await?;
        let of_stage = match stage {
            Stage::Load => &mut seconds.copy,
            Stage::Vacuum => &mut seconds.vacuum,
            Stage::Index | Stage::Attach | Stage::Validate => &mut seconds.keys,
        };
        *of_stage += clock.elapsed().as_secs_f64();
    }
    Ok(())
}
