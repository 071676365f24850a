//! PostgreSQL as the judge of rows: those of one table in a temporary table beside their addresses,
//! where the server itself says which of them would break a constraint.

use std::sync::Arc;

use futures_util::TryStreamExt as _;

use super::demand::{ADDRESS, Demand, What};
use super::load::Load;
use super::matching::Matched;
use super::session::Session;
use crate::source::{Source, Table, quoted};
use crate::{Error, Watch};

const JUDGE: &str = "pg_temp.crossover_judge";
/// Identity and generated columns (`server_version_num`).
const IDENTITY_SINCE: i32 = 100_000;
const GENERATED_SINCE: i32 = 120_000;

/// Rows of one table before their judge.
pub struct Judge<'a> {
    session: &'a Session,
}

impl<'a> Judge<'a> {
    /// Makes the temporary table after `matched` and loads the columns that `demands` need, of
    /// every row that fits the target's types and is not set aside.
    pub async fn hear(
        session: &'a Session,
        source: &Arc<Source>,
        table: &Table,
        matched: &Matched,
        demands: &[&Demand],
        watch: Watch<'_>,
    ) -> Result<Self, Error> {
        let judge = Self { session };
        let is_needed =
            |name: &str| demands.iter().any(|demand| demand.needs.iter().any(|each| each == name));
        let kept = judge.make(&matched.relation, is_needed, watch).await?;
        for demand in demands {
            judge.loosen(demand, watch).await?;
        }
        let columns = matched.columns.iter().filter(|column| kept.contains(&column.name));
        let heard = Matched {
            relation: JUDGE.to_owned(),
            columns: columns.cloned().collect(),
            ..matched.clone()
        };
        watch.progress.set_message(format!("{}: asking PostgreSQL", table.name));
        let load = Arc::new(Load {
            table: table.clone(),
            matched: heard,
            rowids: None,
            freeze: false,
            addressed: true,
        });
        load.run(&session.client, source, watch).await?;
        session.run(&format!("ANALYZE {JUDGE}"), watch).await?;
        Ok(judge)
    }

    /// The empty table with the columns that are needed, whose names are returned; with all of them
    /// if one is computed from others.
    async fn make(
        &self,
        relation: &str,
        is_needed: impl Fn(&str) -> bool,
        watch: Watch<'_>,
    ) -> Result<Vec<String>, Error> {
        let Session { client, server_version, .. } = self.session;
        let mut like = format!("LIKE {relation} INCLUDING DEFAULTS");
        for (what, since) in [("IDENTITY", IDENTITY_SINCE), ("GENERATED", GENERATED_SINCE)] {
            if *server_version >= since {
                like.push_str(&format!(" INCLUDING {what}"));
            }
        }
        self.session.run(&format!("DROP TABLE IF EXISTS {JUDGE}"), watch).await?;
        self.session.run(&format!("CREATE TEMP TABLE crossover_judge ({like})"), watch).await?;
        let rows = client
            .query(
                "SELECT attname::text, coalesce(to_jsonb(a) ->> 'attgenerated', '') <> '' \
                 FROM pg_attribute AS a WHERE attrelid = $1::text::regclass \
                 AND attnum > 0 AND NOT attisdropped",
                &[&JUDGE],
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
        let sql = format!("ALTER TABLE {JUDGE} {}", changes.join(", "));
        self.session.run(&sql, watch).await?;
        Ok(kept)
    }

    /// A domain's column takes any value of the type below, and a function tells which fit.
    async fn loosen(&self, demand: &Demand, watch: Watch<'_>) -> Result<(), Error> {
        let What::Domain { column, domain, base } = &demand.what else { return Ok(()) };
        let sql = format!(
            "ALTER TABLE {JUDGE} ALTER COLUMN {column} DROP NOT NULL, \
             ALTER COLUMN {column} TYPE {base}; \
             CREATE OR REPLACE FUNCTION {}(given {base}) RETURNS boolean LANGUAGE plpgsql AS \
             $function$ BEGIN PERFORM given::{domain}; RETURN true; \
             EXCEPTION WHEN check_violation OR not_null_violation THEN RETURN false; \
             END $function$",
            demand.function()
        );
        self.session.run(&sql, watch).await
    }

    /// The addresses of the rows that break a demand, at most one more than `most`. They are
    /// removed, so that none of them takes a key from another.
    pub async fn dismiss(&self, demand: &Demand, most: u64) -> Result<Vec<i64>, Error> {
        let address = quoted(ADDRESS);
        let sql = format!(
            "DELETE FROM {JUDGE} WHERE {address} IN ({}) RETURNING {address}",
            demand.broken_by(JUDGE)
        );
        let failed = || Error::postgres(format!("cannot ask for rows that break {}", demand.name));
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

    /// How many rows break a demand, and the addresses of the first few.
    pub async fn count(&self, demand: &Demand, shown: usize) -> Result<(u64, Vec<i64>), Error> {
        let address = quoted(ADDRESS);
        let sql = format!(
            "SELECT {address}, count(*) OVER () FROM ({}) AS broken ORDER BY 1 LIMIT {shown}",
            demand.broken_by(JUDGE)
        );
        let failed = Error::postgres(format!("cannot ask for rows that break {}", demand.name));
        let rows = self.session.client.query(&sql, &[]).await.map_err(failed)?;
        let count = rows.first().map_or(0, |row| row.get::<_, i64>(1).unsigned_abs());
        Ok((count, rows.iter().map(|row| row.get(0)).collect()))
    }

    pub async fn close(self, watch: Watch<'_>) -> Result<(), Error> {
        self.session.run(&format!("DROP TABLE {JUDGE}"), watch).await
    }
}
