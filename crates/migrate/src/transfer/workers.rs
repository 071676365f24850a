//! The connections that do the steps of a migration, side by side where the steps allow it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::try_join_all;

use super::state;
use super::step::{Stage, Step};
use crate::source::{Schema, Source};
use crate::target::{Load, Matched, Session};
use crate::{Error, Watch};

/// What every step works from.
pub struct Job {
    pub source: Arc<Source>,
    pub schema: Schema,
    pub matched: Vec<Matched>,
    /// Each step is a transaction of its own, with its mark. Otherwise everything happens in one
    /// transaction that is open already, on one connection.
    pub by_steps: bool,
    /// Tables were made or emptied for this migration.
    pub fresh: bool,
}

impl Job {
    /// Does the steps of one stage that are not done, and marks them in `steps`.
    ///
    /// # Errors
    /// The first step that fails; the others are given up with it.
    pub async fn run(
        &self,
        stage: Stage,
        crew: &[Session],
        steps: &mut [Step],
        watch: Watch<'_>,
    ) -> Result<(), Error> {
        let todo = steps.iter().filter(|step| step.stage == stage && !step.done).cloned();
        let queue = Mutex::new(todo.collect::<VecDeque<Step>>());
        let workers = if stage.is_side_by_side() { crew } else { &crew[..1] };
        let working = workers.iter().map(|session| self.work(session, &queue, watch));
        for (number, rows) in try_join_all(working).await?.into_iter().flatten() {
            for step in steps.iter_mut().filter(|step| step.number == number) {
                (step.done, step.rows) = (true, rows);
            }
        }
        Ok(())
    }

    /// Takes steps from the queue until it is empty; their numbers and rows.
    async fn work(
        &self,
        session: &Session,
        queue: &Mutex<VecDeque<Step>>,
        watch: Watch<'_>,
    ) -> Result<Vec<(i32, u64)>, Error> {
        let mut done = Vec::new();
        loop {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let Some(step) = next else { return Ok(done) };
            watch.check()?;
            let rows = match step.stage {
                Stage::Load => self.load(session, &step, watch).await?,
                Stage::Vacuum => self.vacuum(session, &step, watch).await?,
                _ => self.statement(session, &step, watch).await?,
            };
            done.push((step.number, rows));
        }
    }

    async fn load(&self, session: &Session, step: &Step, watch: Watch<'_>) -> Result<u64, Error> {
        let of_step = |table: &&Matched| self.schema.tables[table.source].name == step.table;
        let matched = self.matched.iter().find(of_step).cloned();
        let matched = matched.ok_or_else(|| {
            Error::Target(format!("the unfinished migration knows no table {}", step.table))
        })?;
        let table = self.schema.tables[matched.source].clone();
        watch.progress.set_message(table.name.clone());
        // Rows of a file that is new in this transaction can be written frozen, which saves
        // PostgreSQL a second writing of every page.
        let whole = self.fresh && step.rowids.is_none() && !matched.partitioned;
        if self.by_steps {
            session.begin().await?;
            if whole {
                session.run(&format!("TRUNCATE {}", matched.relation), watch).await?;
            }
        }
        let load =
            Arc::new(Load { table, matched, rowids: step.rowids, freeze: whole, addressed: false });
        let rows = load.run(&session.client, &self.source, watch).await?;
        self.finish(session, step, rows, watch).await?;
        Ok(rows)
    }

    async fn statement(
        &self,
        session: &Session,
        step: &Step,
        watch: Watch<'_>,
    ) -> Result<u64, Error> {
        watch.progress.set_message(short(&step.sql));
        if self.by_steps {
            session.begin().await?;
        }
        session.run(&step.sql, watch).await?;
        self.finish(session, step, 0, watch).await?;
        Ok(0)
    }

    async fn vacuum(&self, session: &Session, step: &Step, watch: Watch<'_>) -> Result<u64, Error> {
        // Not possible in a transaction: there it follows the commit.
        if self.by_steps {
            watch.progress.set_message(short(&step.sql));
            session.run(&step.sql, watch).await?;
            state::mark(&session.client, step, 0).await?;
        }
        Ok(0)
    }

    async fn finish(
        &self,
        session: &Session,
        step: &Step,
        rows: u64,
        watch: Watch<'_>,
    ) -> Result<(), Error> {
        if self.by_steps {
            state::mark(&session.client, step, rows).await?;
            session.run("COMMIT", watch).await?;
        }
        Ok(())
    }
}

/// The beginning of a statement, for a progress bar.
fn short(sql: &str) -> String {
    sql.chars().take(60).map(|each| if each == '\n' { ' ' } else { each }).collect()
}
