//! Workers: connections that carry out the steps of a migration, in parallel where the steps allow
//! it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::try_join_all;

use super::state;
use super::step::{MigrationStep, Stage};
use crate::source::{SourceFile, SourceSchema};
use crate::target::{MatchedTable, TableLoad, TargetSession};
use crate::{Error, TaskControl};

/// Shared input of all steps.
pub struct MigrationJob {
    pub source: Arc<SourceFile>,
    pub schema: SourceSchema,
    pub matched: Vec<MatchedTable>,
    /// Each step is a transaction with its mark. Otherwise everything happens in one open
    /// transaction, on one connection.
    pub by_steps: bool,
    /// Tables were made or emptied for this migration.
    pub fresh: bool,
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
        control: TaskControl<'_>,
    ) -> Result<(), Error> {
        let todo = steps.iter().filter(|step| step.stage == stage && !step.done).cloned();
        let queue = Mutex::new(todo.collect::<VecDeque<MigrationStep>>());
        let workers = if stage.is_side_by_side() { workers } else { &workers[..1] };
        let working = workers.iter().map(|session| self.work(session, &queue, control));
        for (number, rows) in try_join_all(working).await?.into_iter().flatten() {
            for step in steps.iter_mut().filter(|step| step.number == number) {
                (step.done, step.rows) = (true, rows);
            }
        }
        Ok(())
    }

    /// Takes steps from the queue until it is empty. Returns their numbers and rows.
    async fn work(
        &self,
        session: &TargetSession,
        queue: &Mutex<VecDeque<MigrationStep>>,
        control: TaskControl<'_>,
    ) -> Result<Vec<(i32, u64)>, Error> {
        let mut done = Vec::new();
        loop {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let Some(step) = next else { return Ok(done) };
            control.check()?;
            let rows = match step.stage {
                Stage::Load => self.load(session, &step, control).await?,
                Stage::Vacuum => self.vacuum(session, &step, control).await?,
                _ => self.statement(session, &step, control).await?,
            };
            done.push((step.number, rows));
        }
    }

    async fn load(
        &self,
        session: &TargetSession,
        step: &MigrationStep,
        control: TaskControl<'_>,
    ) -> Result<u64, Error> {
        let of_step = |table: &&MatchedTable| self.schema.tables[table.source].name == step.table;
        let matched = self.matched.iter().find(of_step).cloned();
        let matched = matched.ok_or_else(|| {
            Error::Target(format!("the unfinished migration knows no table {}", step.table))
        })?;
        let table = self.schema.tables[matched.source].clone();
        control.progress.set_message(table.name.clone());
        // Rows of a relation that is new in this transaction can be written frozen, which saves
        // PostgreSQL a second writing of every page.
        let whole = self.fresh && step.rowids.is_none() && !matched.partitioned;
        if self.by_steps {
            session.begin().await?;
            if whole {
                session.run(&format!("TRUNCATE {}", matched.relation), control).await?;
            }
        }
        let load = Arc::new(TableLoad {
            table,
            matched,
            rowids: step.rowids,
            freeze: whole,
            addressed: false,
        });
        let rows = load.run(&session.client, &self.source, control).await?;
        self.finish(session, step, rows, control).await?;
        Ok(rows)
    }

    async fn statement(
        &self,
        session: &TargetSession,
        step: &MigrationStep,
        control: TaskControl<'_>,
    ) -> Result<u64, Error> {
        control.progress.set_message(short(&step.sql));
        if self.by_steps {
            session.begin().await?;
        }
        session.run(&step.sql, control).await?;
        self.finish(session, step, 0, control).await?;
        Ok(0)
    }

    async fn vacuum(
        &self,
        session: &TargetSession,
        step: &MigrationStep,
        control: TaskControl<'_>,
    ) -> Result<u64, Error> {
        // VACUUM cannot run in a transaction: there it follows the commit.
        if self.by_steps {
            control.progress.set_message(short(&step.sql));
            session.run(&step.sql, control).await?;
            state::mark(&session.client, step, 0).await?;
        }
        Ok(0)
    }

    async fn finish(
        &self,
        session: &TargetSession,
        step: &MigrationStep,
        rows: u64,
        control: TaskControl<'_>,
    ) -> Result<(), Error> {
        if self.by_steps {
            state::mark(&session.client, step, rows).await?;
            session.run("COMMIT", control).await?;
        }
        Ok(())
    }
}

/// The beginning of a statement, for a progress bar.
fn short(sql: &str) -> String {
    sql.chars().take(60).map(|each| if each == '\n' { ' ' } else { each }).collect()
}
