//! Constraint probe: a temporary table with the rows of one table, in which the server itself finds
//! those that would violate a constraint.

use std::sync::Arc;

use futures_util::TryStreamExt as _;

use super::load::TableLoad;
use super::matching::{MatchedColumn, MatchedTable};
use super::row_constraint::{ADDRESS, ConstraintKind, RowConstraint};
use super::session::TargetSession;
use crate::source::{SourceFile, SourceTable, quoted};
use crate::value::TargetField;
use crate::{Error, Task};

const PROBE_TABLE: &str = "pg_temp.crossover_probe";
/// Identity and generated columns (`server_version_num`).
const IDENTITY_SINCE: i32 = 100_000;
const GENERATED_SINCE: i32 = 120_000;

/// A temporary table with the rows of one table.
pub struct ConstraintProbe<'a> {
    session: &'a TargetSession,
}

impl<'a> ConstraintProbe<'a> {
    /// Creates the temporary table after `matched` and loads the columns that `constraints` need,
    /// of every row that fits the target's types and is not rejected.
    pub async fn load(
        session: &'a TargetSession,
        source: &Arc<SourceFile>,
        table: &SourceTable,
        matched: &MatchedTable,
        constraints: &[&RowConstraint],
        task: Task<'_>,
    ) -> Result<Self, Error> {
        let probe = Self { session };
        let is_needed = |name: &str| {
            constraints.iter().any(|constraint| constraint.needs.iter().any(|each| each == name))
        };
        let kept = probe.make(&matched.relation, is_needed, task).await?;
        let columns = matched.columns.iter().filter(|column| kept.contains(&column.name));
        let mut columns: Vec<MatchedColumn> = columns.cloned().collect();
        for constraint in constraints {
            probe.relax(constraint, task).await?;
            columns.extend(probe.add_given(constraint, matched, task).await?);
        }
        let probed = MatchedTable { relation: PROBE_TABLE.to_owned(), columns, ..matched.clone() };
        task.progress.set_message(format!("{}: asking PostgreSQL", table.name));
        let load = Arc::new(TableLoad {
            table: table.clone(),
            matched: probed,
            rowids: None,
            freeze: false,
            addressed: true,
        });
        load.run(&session.client, source, task).await?;
        session.run(&format!("ANALYZE {PROBE_TABLE}"), task).await?;
        Ok(probe)
    }

    /// Creates the empty table with the needed columns, or with all of them if one is computed from
    /// others. Returns their names.
    async fn make(
        &self,
        relation: &str,
        is_needed: impl Fn(&str) -> bool,
        task: Task<'_>,
    ) -> Result<Vec<String>, Error> {
        let TargetSession { client, server_version, .. } = self.session;
        let mut like = format!("LIKE {relation} INCLUDING DEFAULTS");
        for (what, since) in [("IDENTITY", IDENTITY_SINCE), ("GENERATED", GENERATED_SINCE)] {
            if *server_version >= since {
                like.push_str(&format!(" INCLUDING {what}"));
            }
        }
        self.session.run(&format!("DROP TABLE IF EXISTS {PROBE_TABLE}"), task).await?;
        self.session.run(&format!("CREATE TEMP TABLE crossover_probe ({like})"), task).await?;
        let rows = client
            .query(
                "SELECT attname::text, coalesce(to_jsonb(a) ->> 'attgenerated', '') <> '' \
                 FROM pg_attribute AS a WHERE attrelid = $1::text::regclass \
                 AND attnum > 0 AND NOT attisdropped",
                &[&PROBE_TABLE],
            )
            .await
            .map_err(Error::postgres("cannot read the columns of a temporary table"))?;
        let is_computed = rows.iter().any(|row| row.get(1));
        let names = rows.iter().map(|row| row.get::<_, String>(0));
        let (kept, dropped): (Vec<String>, Vec<String>) =
            names.partition(|name| is_computed || is_needed(name));
        let mut changes: Vec<String> =
            dropped.iter().map(|name| format!("DROP COLUMN {}", quoted(name))).collect();
        changes.push(format!("ADD COLUMN {} bigint", quoted(ADDRESS)));
        let sql = format!("ALTER TABLE {PROBE_TABLE} {}", changes.join(", "));
        self.session.run(&sql, task).await?;
        Ok(kept)
    }

    /// Gives a column the base type of its domain, and creates a function that tests the domain.
    async fn relax(&self, constraint: &RowConstraint, task: Task<'_>) -> Result<(), Error> {
        let ConstraintKind::Domain { column, domain, base } = &constraint.kind else {
            return Ok(());
        };
        let sql = format!(
            "ALTER TABLE {PROBE_TABLE} ALTER COLUMN {column} DROP NOT NULL, \
             ALTER COLUMN {column} TYPE {base}; \
             CREATE OR REPLACE FUNCTION {}(given {base}) RETURNS boolean LANGUAGE plpgsql AS \
             $function$ BEGIN PERFORM given::{domain}; RETURN true; \
             EXCEPTION WHEN check_violation OR not_null_violation THEN RETURN false; \
             END $function$",
            constraint.function()
        );
        self.session.run(&sql, task).await
    }

    /// Adds a column for the source's values of one that the target computes.
    async fn add_given(
        &self,
        constraint: &RowConstraint,
        matched: &MatchedTable,
        task: Task<'_>,
    ) -> Result<Option<MatchedColumn>, Error> {
        let ConstraintKind::Generated { column, given, .. } = &constraint.kind else {
            return Ok(None);
        };
        let mut computed = matched.columns.iter().filter(|each| each.name == *column);
        let Some(computed) = computed.next() else { return Ok(None) };
        let (name, postgres_type) = (quoted(given), &computed.field.postgres_type);
        let sql = format!("ALTER TABLE {PROBE_TABLE} ADD COLUMN {name} {postgres_type}");
        self.session.run(&sql, task).await?;
        let field = TargetField { not_null: false, ..computed.field.clone() };
        let (name, generated) = (given.clone(), None);
        Ok(Some(MatchedColumn { name, field, generated, ..computed.clone() }))
    }

    /// Deletes the rows that violate a constraint, so that none of them takes a key from another.
    /// Returns their addresses, at most one more than `most`.
    pub async fn take_violations(
        &self,
        constraint: &RowConstraint,
        most: u64,
    ) -> Result<Vec<i64>, Error> {
        let address = quoted(ADDRESS);
        let sql = format!(
            "DELETE FROM {PROBE_TABLE} WHERE {address} IN ({}) RETURNING {address}",
            constraint.violations_in(PROBE_TABLE)
        );
        let failed =
            || Error::postgres(format!("cannot ask for rows that break {}", constraint.name));
        let parameters: [&str; 0] = [];
        let rows = self.session.client.query_raw(&sql, parameters).await.map_err(failed())?;
        let mut rows = std::pin::pin!(rows);
        let mut addresses = Vec::new();
        while let Some(row) = rows.try_next().await.map_err(failed())? {
            if addresses.len() as u64 <= most {
                addresses.push(row.get(0));
            }
        }
        Ok(addresses)
    }

    /// The number of rows that violate a constraint, and the addresses of the first few.
    pub async fn count_violations(
        &self,
        constraint: &RowConstraint,
        shown: usize,
    ) -> Result<(u64, Vec<i64>), Error> {
        let address = quoted(ADDRESS);
        let sql = format!(
            "SELECT {address}, count(*) OVER () FROM ({}) AS broken ORDER BY 1 LIMIT {shown}",
            constraint.violations_in(PROBE_TABLE)
        );
        let failed = Error::postgres(format!("cannot ask for rows that break {}", constraint.name));
        let rows = self.session.client.query(&sql, &[]).await.map_err(failed)?;
        let count_violations = rows.first().map_or(0, |row| row.get::<_, i64>(1).unsigned_abs());
        Ok((count_violations, rows.iter().map(|row| row.get(0)).collect()))
    }

    /// The number of rows `c` of another table under a condition to which no row `p` is `same`.
    pub async fn count_without_row(
        &self,
        relation: &str,
        condition: &str,
        same: &str,
    ) -> Result<u64, Error> {
        let sql = format!(
            "SELECT count(*) FROM {relation} AS c WHERE {condition} \
             AND NOT EXISTS (SELECT FROM {PROBE_TABLE} AS p WHERE {same})"
        );
        let failed = Error::postgres(format!("cannot read {relation}"));
        let row = self.session.client.query_one(&sql, &[]).await.map_err(failed)?;
        Ok(row.get::<_, i64>(0).unsigned_abs())
    }

    pub async fn drop_table(self, task: Task<'_>) -> Result<(), Error> {
        self.session.run(&format!("DROP TABLE {PROBE_TABLE}"), task).await
    }
}
