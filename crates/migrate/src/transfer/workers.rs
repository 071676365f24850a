//! Workers: connections that carry out the steps of a migration, in parallel where the steps allow
//! it.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::future::try_join_all;
use parking_lot::Mutex;

use super::state;
use super::step::{MigrationStep, Stage};
use crate::source::{SourceFile, SourceSchema};
use crate::target::{LoadedRows, MatchedTable, TableLoad, TargetSession};
use crate::{Error, Task};

/// Shared input of all steps.
pub struct MigrationJob {
    pub source: Arc<SourceFile>,
    pub schema: SourceSchema,
    /// The tables to load.
    pub matched: Vec<MatchedTable>,
    /// Tables that held the same rows already.
    pub kept: Vec<MatchedTable>,
    /// Each step is a transaction with its mark. Otherwise everything happens in one open
    /// transaction, on one connection.
    pub by_steps: bool,
    /// Tables were made or emptied for this migration.
    pub fresh: bool,
    /// Rows of a reject file are added to those of the tables.
    pub adds: bool,
}

impl MigrationJob {
    /// Runs the unfinished steps of one stage, and marks them in `steps`.
    ///
    /// # Errors
    /// The first step that fails; the others are cancelled.
    pub async fn run(
        &self,
        stage: Stage,
        workers: &[TargetSession],
        steps: &mut [MigrationStep],
        task: Task<'_>,
    ) -> Result<(), Error> {
        let todo = steps.iter().filter(|step| step.stage == stage && !step.done).cloned();
        let queue = Mutex::new(todo.collect::<VecDeque<MigrationStep>>());
        let workers = if stage.is_parallel() { workers } else { &workers[..1] };
        let worker = |session| StepWorker { job: self, session, task };
        let workers: Vec<StepWorker<'_>> = workers.iter().map(worker).collect();
        let working = workers.iter().map(|worker| worker.work(&queue));
        for (number, loaded) in try_join_all(working).await?.into_iter().flatten() {
            for step in steps.iter_mut().filter(|step| step.number == number) {
                (step.done, step.loaded) = (true, loaded.clone());
            }
        }
        Ok(())
    }
}

struct StepWorker<'a> {
    job: &'a MigrationJob,
    session: &'a TargetSession,
    task: Task<'a>,
}

impl StepWorker<'_> {
    /// Takes steps from the queue until it is empty. Returns their numbers and rows.
    async fn work(
        &self,
        queue: &Mutex<VecDeque<MigrationStep>>,
    ) -> Result<Vec<(i32, LoadedRows)>, Error> {
        let mut done = Vec::new();
        loop {
            let next = queue.lock().pop_front();
            let Some(step) = next else { return Ok(done) };
            self.task.check()?;
            let loaded = match step.stage {
                Stage::Load => self.load(&step).await?,
                Stage::Vacuum => self.vacuum(&step).await?,
                _ => self.statement(&step).await?,
            };
            done.push((step.number, loaded));
        }
    }

    async fn load(&self, step: &MigrationStep) -> Result<LoadedRows, Error> {
        let Self { job, session, task } = self;
        let of_step = |table: &&MatchedTable| job.schema.tables[table.source].name == step.table;
        let matched = job.matched.iter().find(of_step).cloned();
        let matched = matched.ok_or_else(|| {
            Error::Target(format!("the unfinished migration knows no table {}", step.table))
        })?;
        let table = job.schema.tables[matched.source].clone();
        task.progress.set_message(table.name.clone());
        // Rows of a relation that is new in this transaction can be written frozen, which saves
        // PostgreSQL a second writing of every page.
        let freeze = job.fresh && step.rowids.is_none() && !matched.partitioned;
        if job.by_steps {
            session.begin().await?;
            if freeze {
                session.run(&format!("TRUNCATE ONLY {}", matched.relation), *task).await?;
            }
        }
        let (rowids, addressed) = (step.rowids, false);
        let load = Arc::new(TableLoad { table, matched, rowids, freeze, addressed });
        let loaded = load.run(&session.client, &job.source, *task).await?;
        self.finish(step, &loaded).await?;
        Ok(loaded)
    }

    async fn statement(&self, step: &MigrationStep) -> Result<LoadedRows, Error> {
        self.task.progress.set_message(short(&step.sql));
        if self.job.by_steps {
            self.session.begin().await?;
        }
        self.session.run(&step.sql, self.task).await?;
        let none = LoadedRows::default();
        self.finish(step, &none).await?;
        Ok(none)
    }

    async fn vacuum(&self, step: &MigrationStep) -> Result<LoadedRows, Error> {
        // VACUUM cannot run in a transaction: there it follows the commit.
        if self.job.by_steps {
            self.task.progress.set_message(short(&step.sql));
            self.session.run(&step.sql, self.task).await?;
            state::mark(self.session, step, &LoadedRows::default(), self.task).await?;
        }
        Ok(LoadedRows::default())
    }

    async fn finish(&self, step: &MigrationStep, loaded: &LoadedRows) -> Result<(), Error> {
        if self.job.by_steps {
            state::mark(self.session, step, loaded, self.task).await?;
            self.session.run("COMMIT", self.task).await?;
        }
        Ok(())
    }
}

/// The beginning of a statement, for a progress bar.
fn short(sql: &str) -> String {
    sql.chars().take(60).map(|each| if each == '\n' { ' ' } else { each }).collect()
}
