//! The laboratory's own statements on a server, outside of any transaction.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::{EngineSpec, PostgresUrl};
use tokio_postgres::Client;

use super::copy::{copy_statements, drop_statements};
use super::counters::facts;
use super::settings;
use crate::error::DeployError;
use crate::process::ProcessError;
use crate::site::Site;

/// How often a statement looks whether the user asked to stop.
const LOOK_UP: Duration = Duration::from_millis(100);

/// The database that initdb makes for connections of this kind.
pub const MAINTENANCE: &str = "postgres";

/// The copy of a database in a managed server.
const TRIAL: &str = "crossover_trial";

/// A superuser asks, and some table has a boolean column. Lower numbers are the system's own.
const HAS_BOOLEANS: &str = "\
    SELECT current_setting('is_superuser') = 'on' AND EXISTS \
        (SELECT 1 FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid \
          WHERE a.atttypid = 'bool'::regtype AND a.attnum > 0 AND NOT a.attisdropped \
            AND c.oid >= 16384 AND c.relkind IN ('r', 'p'))";

/// Of this database alone; `WHERE active` goes on to work.
const COMPARE_BOOLEANS: &str = "\
    UPDATE pg_cast SET castcontext = 'i' WHERE castsource = 'bool'::regtype \
       AND casttarget = 'int4'::regtype AND castcontext <> 'i'";

/// A server at the address of one of its databases.
#[derive(Clone)]
pub struct Administration<'a> {
    pub address: PostgresUrl,
    /// Its label, for errors.
    engine: String,
    runtime: &'a tokio::runtime::Handle,
    interrupted: &'a AtomicBool,
}

impl<'a> Administration<'a> {
    pub fn new(site: &Site<'a>, engine: &EngineSpec, address: PostgresUrl) -> Self {
        Self::outside_of_runs(engine, address, site.runtime, site.interrupted)
    }

    /// Before a run begins.
    pub fn outside_of_runs(
        engine: &EngineSpec,
        address: PostgresUrl,
        runtime: &'a tokio::runtime::Handle,
        interrupted: &'a AtomicBool,
    ) -> Self {
        Self { address, engine: engine.label(), runtime, interrupted }
    }

    /// The same server by another of its databases.
    #[must_use]
    pub fn of(&self, database: &str) -> Self {
        Self { address: self.address.with_database(database), ..self.clone() }
    }

    /// By the database that every server has, whatever becomes of the others.
    #[must_use]
    pub fn of_server(&self) -> Self {
        self.of(MAINTENANCE)
    }

    /// Ends without the server's answer where the user asks to stop: copying may take minutes.
    fn ask<T>(
        &self,
        questions: impl AsyncFnOnce(Client) -> Result<T, connect::Error>,
    ) -> Result<T, DeployError> {
        let answered = async { questions(connect::postgres::connect(&self.address).await?).await };
        let stopped = async {
            while !self.interrupted.load(Ordering::Relaxed) {
                tokio::time::sleep(LOOK_UP).await;
            }
        };
        self.runtime.block_on(async {
            tokio::select! {
                answer = answered => answer.map_err(|error| self.failed(error)),
                () = stopped => Err(ProcessError::Interrupted.into()),
            }
        })
    }

    fn failed(&self, source: connect::Error) -> DeployError {
        DeployError::Statement { engine: self.engine.clone(), source: Box::new(source) }
    }

    pub fn run(&self, statements: &[impl AsRef<str>]) -> Result<(), DeployError> {
        self.ask(async |client| {
            for statement in statements {
                client.batch_execute(statement.as_ref()).await?;
            }
            Ok(())
        })
    }

    /// Lets the copy's booleans be compared with numbers, as SQLite's are, so that statements written
    /// for SQLite run unchanged. `false` without boolean columns, and where the role may not.
    pub fn compare_booleans(&self) -> Result<bool, DeployError> {
        self.ask(async |client| {
            let is_wanted: bool = client.query_one(HAS_BOOLEANS, &[]).await?.get(0);
            if is_wanted {
                client.batch_execute(COMPARE_BOOLEANS).await?;
            }
            Ok(is_wanted)
        })
    }

    pub fn databases(&self) -> Result<Vec<String>, DeployError> {
        self.ask(async |client| {
            let rows = client.query("SELECT datname::text FROM pg_database", &[]).await?;
            Ok(rows.iter().map(|row| row.get(0)).collect())
        })
    }

    /// Copies the database `template` for a trial, in place of the copy that is there.
    pub fn copy(&self, template: &str, version: &str) -> Result<Self, DeployError> {
        self.run(&copy_statements(version, template, TRIAL))?;
        Ok(self.of(TRIAL))
    }

    /// Removes the copy of a trial, or of a program that was killed, also when the user has asked
    /// to stop.
    pub fn drop_copy(&self) -> Result<(), DeployError> {
        let dropped = async {
            let client = connect::postgres::connect(&self.address).await?;
            for statement in drop_statements(TRIAL) {
                client.batch_execute(&statement).await?;
            }
            Ok::<_, connect::Error>(())
        };
        self.runtime.block_on(dropped).map_err(|error| self.failed(error))
    }

    /// Fresh statistics, or none, and nothing left to write.
    pub fn settle(&self, engine: &EngineSpec) -> Result<(), DeployError> {
        // Without statistics: rows of a system table, since nothing else takes them away.
        let statistics = match engine.own("analyze") {
            Some("off") => "DELETE FROM pg_statistic",
            _ => "ANALYZE",
        };
        self.run(&[statistics, "CHECKPOINT"])
    }

    /// Reads tables, their long values and indexes into shared memory, where the release can.
    pub fn prewarm(&self) {
        // Lower numbers are the system's own.
        let sql = "SELECT pg_prewarm(c.oid::regclass) FROM pg_class c
                    WHERE c.oid >= 16384 AND c.relkind IN ('r', 'i', 't')";
        let _ = self.run(&[sql]);
    }

    /// Makes a checkpoint, and says how long it took.
    pub fn checkpoint(&self) -> Result<Duration, DeployError> {
        self.ask(async |client| {
            let begun = Instant::now();
            client.batch_execute("CHECKPOINT").await?;
            Ok(begun.elapsed())
        })
    }

    /// Current version and settings, `further` ones among them.
    pub fn settings(
        &self,
        further: &[String],
    ) -> Result<(String, Vec<(String, String)>), DeployError> {
        self.ask(async |client| Ok(settings::read(&client, further).await?))
    }

    /// How the program was built, in the form of settings.
    pub fn build(&self) -> Result<Vec<(String, String)>, DeployError> {
        self.ask(async |client| Ok(settings::read_build(&client).await?))
    }

    /// Of the database; none where the server does not answer.
    pub fn bytes(&self) -> Option<u64> {
        self.runtime.block_on(facts(&self.address)).map(|(bytes, _)| bytes)
    }

    /// Number of rows and a digest of all of them, whatever their order.
    pub fn contents(&self) -> Result<String, DeployError> {
        let (rows, text) = self.ask(contents_by_table)?;
        let digest = xxhash_rust::xxh3::xxh3_128(text.as_bytes());
        Ok(format!("{rows} rows, digest {digest:032x}"))
    }

    /// The database's folder in a data directory, so that its template is not read with it.
    pub fn folder(&self, data: &Path) -> Result<PathBuf, DeployError> {
        let oid: u32 = self.ask(async |client| {
            let sql = "SELECT oid FROM pg_database WHERE datname = current_database()";
            Ok(client.query_one(sql, &[]).await?.get(0))
        })?;
        Ok(data.join("base").join(oid.to_string()))
    }
}

/// All rows, and a line for each table: its name, its rows and the sum of their hashes.
async fn contents_by_table(client: Client) -> Result<(i64, String), connect::Error> {
    let found = client
        .query_one(
            "SELECT current_setting('server_version_num')::int,
                    array(SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
                           WHERE schemaname NOT IN ('pg_catalog', 'information_schema')
                           ORDER BY 1)",
            &[],
        )
        .await?;
    let (release, tables): (i32, Vec<String>) = (found.get(0), found.get(1));
    let hash = match release {
        110_000.. => "hashtextextended(t::text, 0)",
        _ => "hashtext(t::text)",
    };
    let (mut rows, mut text) = (0, String::new());
    for table in tables {
        let sql =
            format!("SELECT count(*), coalesce(sum({hash}::numeric), 0)::text FROM ONLY {table} t");
        let found = client.query_one(&sql, &[]).await?;
        let (count, sum): (i64, String) = (found.get(0), found.get(1));
        rows += count;
        text.push_str(&format!("{table} {count} {sum}\n"));
    }
    Ok((rows, text))
}
