//! State of an unfinished migration: a staging schema in the target with the steps, the options,
//! and the tables that are being created. The last transaction removes it, so the target is either
//! unchanged or complete.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tokio_postgres::Client;

use super::options::MigrateOptions;
use super::report::MigratedTable;
use super::step::{MigrationStep, Stage};
use crate::display::sql_text;
use crate::error::Unfinished;
use crate::finding::Losses;
use crate::target::{LoadedRows, Reference, RowConstraint, TargetSession};
use crate::{Error, Task};

/// The staging schema: everything unfinished is in it.
pub const STAGING_SCHEMA: &str = "crossover_migration";

/// Saved data from which a migration can be resumed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SavedMigration {
    pub options: MigrateOptions,
    pub source: PathBuf,
    pub fingerprint: String,
    /// The schema into which the tables are published.
    pub namespace: String,
    /// Existing tables that are loaded: quoted name, partitioned or not. Empty if tables are
    /// created.
    pub loaded: Vec<(String, bool)>,
    /// Tables that held the same rows already.
    pub kept: Vec<MigratedTable>,
    pub references: Vec<Reference>,
    /// Further constraints of the target, if rows may be rejected.
    #[serde(default, rename = "demands")]
    pub constraints: Vec<RowConstraint>,
    /// Faults of the target that existed before.
    pub notices: Vec<String>,
    /// Rows and rules that do not arrive.
    #[serde(default)]
    pub not_carried_over: Losses,
    /// Tables of the source that are left unchanged in the target.
    #[serde(default)]
    pub standing: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct MigrationState {
    pub saved: SavedMigration,
    pub steps: Vec<MigrationStep>,
    /// Time of the beginning, as the server shows it.
    pub started: String,
}

pub async fn find(client: &Client) -> Result<Option<MigrationState>, Error> {
    let failed = || Error::postgres(format!("cannot read the schema {STAGING_SCHEMA}"));
    let exists = client
        .query_one(
            "SELECT EXISTS (SELECT 1 FROM pg_class AS c JOIN pg_namespace AS n \
             ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'crossover_state')",
            &[&STAGING_SCHEMA],
        )
        .await
        .map_err(failed())?;
    if !exists.get::<_, bool>(0) {
        return Ok(None);
    }
    let sql = format!("SELECT saved, started::text FROM {STAGING_SCHEMA}.crossover_state");
    let row = client.query_one(&sql, &[]).await.map_err(failed())?;
    let saved = serde_json::from_str(row.get(0)).map_err(|error| {
        Error::Target(format!(
            "an unfinished migration of another version of Crossover is there ({error}): end it \
             by that version, or drop the schema {STAGING_SCHEMA}"
        ))
    })?;
    let sql = format!(
        "SELECT number, stage, source_table, first_rowid, last_rowid, statement, undo, done, rows, \
         conversions \
         FROM {STAGING_SCHEMA}.crossover_step ORDER BY number"
    );
    let steps = client.query(&sql, &[]).await.map_err(failed())?;
    let steps = steps.iter().filter_map(|row| {
        let span: (Option<i64>, Option<i64>) = (row.get(3), row.get(4));
        Some(MigrationStep {
            number: row.get(0),
            stage: Stage::of(row.get(1))?,
            table: row.get(2),
            rowids: span.0.zip(span.1),
            sql: row.get(5),
            undo: row.get(6),
            done: row.get(7),
            loaded: LoadedRows {
                rows: row.get::<_, i64>(8) as u64,
                conversions: serde_json::from_str(row.get(9)).ok()?,
            },
        })
    });
    Ok(Some(MigrationState { saved, steps: steps.collect(), started: row.get(1) }))
}

impl MigrationState {
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

pub async fn create_staging_schema(session: &TargetSession, task: Task<'_>) -> Result<(), Error> {
    session.run(&format!("CREATE SCHEMA {STAGING_SCHEMA}"), task).await
}

/// Writes the state. Must run in the transaction that touches the target first.
pub async fn write(
    client: &Client,
    saved: &SavedMigration,
    steps: &[MigrationStep],
) -> Result<(), Error> {
    let failed = || Error::postgres("cannot write the steps of the migration down");
    let tables = format!(
        "CREATE TABLE {STAGING_SCHEMA}.crossover_state(saved text NOT NULL, \
             started timestamptz(0) NOT NULL DEFAULT now()); \
         CREATE TABLE {STAGING_SCHEMA}.crossover_step(number int PRIMARY KEY, stage text NOT NULL, \
             source_table text NOT NULL, first_rowid bigint, last_rowid bigint, \
             statement text NOT NULL, undo text NOT NULL, done boolean NOT NULL, \
             rows bigint NOT NULL, conversions text NOT NULL DEFAULT '[]')"
    );
    client.batch_execute(&tables).await.map_err(failed())?;
    let json = serde_json::to_string(saved).map_err(|error| Error::Worker(error.to_string()))?;
    let sql = format!("INSERT INTO {STAGING_SCHEMA}.crossover_state(saved) VALUES ($1)");
    client.execute(&sql, &[&json]).await.map_err(failed())?;
    let sql = format!(
        "INSERT INTO {STAGING_SCHEMA}.crossover_step VALUES ($1, $2, $3, $4, $5, $6, $7, false, 0)"
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
pub async fn mark(
    session: &TargetSession,
    step: &MigrationStep,
    loaded: &LoadedRows,
    task: Task<'_>,
) -> Result<(), Error> {
    let json = serde_json::to_string(&loaded.conversions);
    let json = json.map_err(|error| Error::Worker(error.to_string()))?;
    let sql = format!(
        "UPDATE {STAGING_SCHEMA}.crossover_step SET done = true, rows = {}, conversions = {} \
         WHERE number = {}",
        loaded.rows,
        sql_text(&json),
        step.number
    );
    session.run(&sql, task).await
}

/// Removes the state. Must run in the last transaction; a remaining object in the schema makes it
/// fail.
pub async fn remove(session: &TargetSession, task: Task<'_>) -> Result<(), Error> {
    let sql = format!(
        "DROP TABLE {STAGING_SCHEMA}.crossover_state, {STAGING_SCHEMA}.crossover_step; DROP SCHEMA {STAGING_SCHEMA}"
    );
    session.run(&sql, task).await
}

/// Undoes the migration in the target.
pub async fn put_back(session: &TargetSession, state: &MigrationState) -> Result<(), Error> {
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
            let empty = if *partitioned { "DELETE FROM" } else { "TRUNCATE ONLY" };
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
    run(&format!("DROP SCHEMA {STAGING_SCHEMA} CASCADE")).await?;
    run("COMMIT").await
}
