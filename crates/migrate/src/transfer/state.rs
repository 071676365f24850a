//! What stands in the target while a migration is unfinished: a schema of Crossover's own with the
//! steps, what is needed to go on, and the tables that are being made. It goes with the last
//! transaction, which is why the target is either as it was or complete.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tokio_postgres::Client;

use super::migration::MigrateOptions;
use super::report::MigratedTable;
use super::step::{Stage, Step};
use crate::error::Unfinished;
use crate::finding::Losses;
use crate::target::{Demand, Reference, Session};
use crate::{Error, Watch};

/// The schema in which everything unfinished lies.
pub const WORKSHOP: &str = "crossover_migration";

/// What a migration has to know to go on later.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Saved {
    pub options: MigrateOptions,
    pub source: PathBuf,
    /// The state of the file from which the rows come.
    pub fingerprint: String,
    /// Where the tables are to stand in the end.
    pub namespace: String,
    /// Existing tables that are loaded: quoted name, partitioned or not. Empty if tables are made.
    pub loaded: Vec<(String, bool)>,
    /// Tables that held the same rows already.
    pub kept: Vec<MigratedTable>,
    /// Foreign keys between the tables.
    pub references: Vec<Reference>,
    /// What the target demands beyond types, if rows are to be rejected.
    #[serde(default)]
    pub demands: Vec<Demand>,
    /// What is not right and was not right before.
    pub notices: Vec<String>,
    /// What of the source does not arrive.
    #[serde(default)]
    pub not_carried_over: Losses,
}

#[derive(Clone, Debug)]
pub struct State {
    /// What it has to know.
    pub saved: Saved,
    pub steps: Vec<Step>,
    /// When it began, as the server shows it.
    pub started: String,
}

/// Finds an unfinished migration in the database.
pub async fn find(client: &Client) -> Result<Option<State>, Error> {
    let failed = || Error::postgres(format!("cannot read the schema {WORKSHOP}"));
    let exists = client
        .query_one(
            "SELECT EXISTS (SELECT 1 FROM pg_class AS c JOIN pg_namespace AS n \
             ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'crossover_state')",
            &[&WORKSHOP],
        )
        .await
        .map_err(failed())?;
    if !exists.get::<_, bool>(0) {
        return Ok(None);
    }
    let sql = format!("SELECT saved, started::text FROM {WORKSHOP}.crossover_state");
    let row = client.query_one(&sql, &[]).await.map_err(failed())?;
    let saved = serde_json::from_str(row.get(0)).map_err(|error| {
        Error::Target(format!(
            "an unfinished migration of another version of Crossover is there ({error}): end it \
             by that version, or drop the schema {WORKSHOP}"
        ))
    })?;
    let sql = format!(
        "SELECT number, stage, source_table, first_rowid, last_rowid, statement, undo, done, rows \
         FROM {WORKSHOP}.crossover_step ORDER BY number"
    );
    let steps = client.query(&sql, &[]).await.map_err(failed())?;
    let steps = steps.iter().filter_map(|row| {
        let span: (Option<i64>, Option<i64>) = (row.get(3), row.get(4));
        Some(Step {
            number: row.get(0),
            stage: Stage::of(row.get(1))?,
            table: row.get(2),
            rowids: span.0.zip(span.1),
            sql: row.get(5),
            undo: row.get(6),
            done: row.get(7),
            rows: row.get::<_, i64>(8) as u64,
        })
    });
    Ok(Some(State { saved, steps: steps.collect(), started: row.get(1) }))
}

impl State {
    /// What a command says of it.
    pub fn unfinished(&self) -> Unfinished {
        Unfinished {
            source: self.saved.source.clone(),
            started: self.started.clone(),
            data_only: self.saved.options.data_only,
            steps_done: self.steps.iter().filter(|step| step.done).count(),
            steps: self.steps.len(),
        }
    }
}

/// Makes the schema for everything unfinished.
pub async fn make_workshop(session: &Session, watch: Watch<'_>) -> Result<(), Error> {
    session.run(&format!("CREATE SCHEMA {WORKSHOP}"), watch).await
}

/// Writes the state down. Must run in the transaction that touches the target first.
pub async fn write(client: &Client, saved: &Saved, steps: &[Step]) -> Result<(), Error> {
    let failed = || Error::postgres("cannot write the steps of the migration down");
    let tables = format!(
        "CREATE TABLE {WORKSHOP}.crossover_state(saved text NOT NULL, \
             started timestamptz(0) NOT NULL DEFAULT now()); \
         CREATE TABLE {WORKSHOP}.crossover_step(number int PRIMARY KEY, stage text NOT NULL, \
             source_table text NOT NULL, first_rowid bigint, last_rowid bigint, \
             statement text NOT NULL, undo text NOT NULL, done boolean NOT NULL, \
             rows bigint NOT NULL)"
    );
    client.batch_execute(&tables).await.map_err(failed())?;
    let json = serde_json::to_string(saved).map_err(|error| Error::Worker(error.to_string()))?;
    let sql = format!("INSERT INTO {WORKSHOP}.crossover_state(saved) VALUES ($1)");
    client.execute(&sql, &[&json]).await.map_err(failed())?;
    let sql = format!(
        "INSERT INTO {WORKSHOP}.crossover_step VALUES ($1, $2, $3, $4, $5, $6, $7, false, 0)"
    );
    let statement = client.prepare(&sql).await.map_err(failed())?;
    for step in steps {
        let (first, last) = step.rowids.unzip();
        client
            .execute(
                &statement,
                &[
                    &step.number,
                    &step.stage.name(),
                    &step.table,
                    &first,
                    &last,
                    &step.sql,
                    &step.undo,
                ],
            )
            .await
            .map_err(failed())?;
    }
    Ok(())
}

/// Marks a step as done. Must run in its transaction.
pub async fn mark(client: &Client, step: &Step, rows: u64) -> Result<(), Error> {
    let sql = format!(
        "UPDATE {WORKSHOP}.crossover_step SET done = true, rows = {rows} WHERE number = {}",
        step.number
    );
    client.batch_execute(&sql).await.map_err(Error::postgres("cannot mark a step as done"))
}

/// Removes the state. Must run in the last transaction; whatever else is left in the schema stops
/// it.
pub async fn remove(session: &Session, watch: Watch<'_>) -> Result<(), Error> {
    let sql = format!(
        "DROP TABLE {WORKSHOP}.crossover_state, {WORKSHOP}.crossover_step; DROP SCHEMA {WORKSHOP}"
    );
    session.run(&sql, watch).await
}

/// Puts the target back as it was before the migration.
pub async fn put_back(session: &Session, state: &State) -> Result<(), Error> {
    let client = &session.client;
    let run = async |sql: &str| {
        client.batch_execute(sql).await.map_err(Error::postgres(format!("`{sql}`")))
    };
    run("BEGIN").await?;
    if state.saved.options.data_only {
        for step in state.steps.iter().rev().filter(|step| !step.undo.is_empty()) {
            run(&step.undo).await?;
        }
        for (table, partitioned) in &state.saved.loaded {
            let empty = if *partitioned { "DELETE FROM" } else { "TRUNCATE" };
            run(&format!("{empty} {table}")).await?;
        }
        let statements = state
            .steps
            .iter()
            .filter(|step| matches!(step.stage, Stage::Index | Stage::Attach | Stage::Validate));
        for step in statements {
            run(&step.sql).await?;
        }
    }
    run(&format!("DROP SCHEMA {WORKSHOP} CASCADE")).await?;
    run("COMMIT").await
}
