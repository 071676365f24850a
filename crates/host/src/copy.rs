//! Copies of filled databases, for turns and trials that may change data. A filled database is a
//! template: nothing that is measured writes to it, and each copy is checked against what was
//! noted when the template was filled.

use std::path::{Path, PathBuf};

use engine::sqlite::file as sqlite_file;
use engine::{DatabaseUrl, PostgresUrl};

use crate::database::Database;
use crate::error::DeployError;
use crate::file;
use crate::site::Site;
use crate::template::Template;

/// The copy in a managed server.
pub const TRIAL: &str = "crossover_trial";

/// The first release that copies a database through its log unless told otherwise.
const COPIES_THROUGH_LOG: u32 = 15;

/// Copies a database the way every release can. From release 15 on the default writes the copy to
/// the log, which would leave another state of the log than in older releases.
pub fn copy_statement(version: &str, template: &str, copy: &str) -> String {
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    let by_files = major >= Some(COPIES_THROUGH_LOG);
    let strategy = if by_files { " STRATEGY file_copy" } else { "" };
    let [template, copy] = [template, copy].map(engine::postgres::quote_identifier);
    format!("CREATE DATABASE {copy} TEMPLATE {template}{strategy}")
}

/// Removes the copy. Sessions of clients that are gone may still be about to end.
pub fn drop_statements() -> [String; 2] {
    [
        format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{TRIAL}'"),
        format!("DROP DATABASE IF EXISTS {TRIAL}"),
    ]
}

impl Site<'_> {
    /// Makes the database's copy again from its template; one that is only read has none.
    pub fn renew_copy(&self, database: &mut Database) -> Result<(), DeployError> {
        let Some(template) = database.template.clone() else { return Ok(()) };
        self.progress.set_message(format!("copying the data of {}", database.record.name));
        match template {
            Template::Sqlite { path, contents } => {
                let copy = self.scratch.join("trial.db");
                let io = |source| DeployError::Io { path: copy.clone(), source };
                sqlite_file::remove(&copy).map_err(io)?;
                sqlite_file::copy(&path, &copy).map_err(io)?;
                self.compare(database, &contents, &file::contents(&copy)?)?;
                database.url = DatabaseUrl::Sqlite(copy.clone());
                database.data_paths = vec![copy];
            }
            Template::Postgres { url, version, data_directory, contents } => {
                let copy = self.copy_postgres(&url, &version)?;
                self.compare(database, &contents, &self.contents_of_postgres(&copy)?)?;
                database.data_paths = vec![self.folder_of_postgres(&copy, &data_directory)?];
                database.url = DatabaseUrl::Postgres(copy);
            }
        }
        Ok(())
    }

    fn compare(&self, database: &Database, template: &str, copy: &str) -> Result<(), DeployError> {
        if template == copy {
            return Ok(());
        }
        let (template, copy) = (template.to_owned(), copy.to_owned());
        Err(DeployError::CopyDiffers { engine: database.record.name.clone(), template, copy })
    }

    fn copy_postgres(
        &self,
        template: &PostgresUrl,
        version: &str,
    ) -> Result<PostgresUrl, DeployError> {
        let name = template.database().unwrap_or_default();
        let mut statements = drop_statements().to_vec();
        statements.push(copy_statement(version, name, TRIAL));
        // A copy has the tables of its template, but not its settings (ALTER DATABASE ... SET).
        statements.push(format!(
            "INSERT INTO pg_db_role_setting \
             SELECT copy.oid, setrole, setconfig FROM pg_db_role_setting, pg_database copy \
              WHERE copy.datname = '{TRIAL}' AND setdatabase = \
                    (SELECT oid FROM pg_database WHERE datname = '{}')",
            name.replace('\'', "''")
        ));
        self.administer(template, &statements)?;
        Ok(template.with_database(TRIAL))
    }

    /// Removes the copy, as far as the server still answers.
    pub fn drop_copy(&self, database: &Database) {
        match &database.template {
            Some(Template::Postgres { url, .. }) => {
                let _ = self.administer(url, &drop_statements());
            }
            Some(Template::Sqlite { .. }) => {
                let _ = sqlite_file::remove(&self.scratch.join("trial.db"));
            }
            None => {}
        }
    }

    /// Statements outside of any transaction and of any database of the user's.
    fn administer(&self, url: &PostgresUrl, statements: &[String]) -> Result<(), DeployError> {
        self.runtime.block_on(async {
            let client = engine::postgres::connect(&url.with_database("postgres")).await?;
            for statement in statements {
                client.batch_execute(statement).await.map_err(engine::Error::from)?;
            }
            Ok(())
        })
    }

    /// Number of rows and a digest of all of them, whatever their order.
    pub fn contents_of_postgres(&self, url: &PostgresUrl) -> Result<String, DeployError> {
        let read = async {
            let client = engine::postgres::connect(url).await?;
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
                let sql = format!(
                    "SELECT count(*), coalesce(sum({hash}::numeric), 0)::text FROM ONLY {table} t"
                );
                let found = client.query_one(&sql, &[]).await?;
                let (count, sum): (i64, String) = (found.get(0), found.get(1));
                rows += count;
                text.push_str(&format!("{table} {count} {sum}\n"));
            }
            let digest = xxhash_rust::xxh3::xxh3_128(text.as_bytes());
            Ok::<_, engine::Error>(format!("{rows} rows, digest {digest:032x}"))
        };
        Ok(self.runtime.block_on(read)?)
    }

    /// The folder of one database in a data directory, so that its template is not read with it.
    fn folder_of_postgres(&self, url: &PostgresUrl, data: &Path) -> Result<PathBuf, DeployError> {
        let oid: Result<u32, engine::Error> = self.runtime.block_on(async {
            let client = engine::postgres::connect(url).await?;
            let sql = "SELECT oid FROM pg_database WHERE datname = current_database()";
            Ok(client.query_one(sql, &[]).await?.get(0))
        });
        Ok(data.join("base").join(oid?.to_string()))
    }
}
