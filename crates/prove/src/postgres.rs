//! PostgreSQL server of a proof, started as by a user and killed as by a fault.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};
use engine::PostgresUrl;
use rustix::process::Pid;
use tokio::runtime::Runtime;

use crate::tool::run;

/// The release that the proofs run on.
const RELEASE: &str = "postgres:18";
/// The database of each try.
const TRIAL: &str = "trial";
/// Tables that are not compared: the one counts what happened and not what is there; the other
/// follows from the facts, and is proved against them by the program itself.
pub const LEFT_OUT: [&str; 2] = ["schema_version", "totals"];
/// The data directory that each try begins from.
const BASE: &str = "base";

/// A managed server, its databases `base` and `trial`.
pub struct Postgres {
    program: PathBuf,
    data: PathBuf,
    runtime: Runtime,
    url: PostgresUrl,
    pid: Pid,
    /// Where clients connect instead: a proxy.
    detour: Option<PathBuf>,
}

impl Postgres {
    /// Starts one whose data lie in `data`.
    pub fn start(program: &Path, data: &Path) -> anyhow::Result<Self> {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let (url, pid) = started(program, data)?;
        let (program, data) = (program.to_owned(), data.to_owned());
        Ok(Self { program, data, runtime, url, pid, detour: None })
    }

    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Starts it again on its data if it does not run.
    pub fn start_again(&mut self) -> anyhow::Result<()> {
        if self.runtime.block_on(connect::postgres::connect(&self.url)).is_ok() {
            return Ok(());
        }
        (self.url, self.pid) = started(&self.program, &self.data)?;
        Ok(())
    }

    /// Moves all that it keeps to the folder `to`.
    pub fn move_to(&mut self, to: &Path) -> anyhow::Result<()> {
        self.stop()?;
        run(&["chmod", "0755"], to)?;
        run(&["cp", "--archive", &format!("{}/.", self.data.display())], to)?;
        self.data = to.to_owned();
        self.start_again()
    }

    fn stop(&self) -> anyhow::Result<()> {
        let stopped = command(&self.program, &self.data, &["server", "stop", "--all"]).output()?;
        let said = String::from_utf8_lossy(&stopped.stderr);
        ensure!(stopped.status.success(), "{RELEASE} does not stop: {said}");
        Ok(())
    }

    /// The folder of its socket.
    pub fn socket(&self) -> Option<PathBuf> {
        self.url.host().map(PathBuf::from)
    }

    /// Sends clients through the socket of a proxy.
    pub fn detour(&mut self, folder: Option<PathBuf>) {
        self.detour = folder;
    }

    /// The URL of the try's database.
    pub fn trial(&self) -> String {
        match &self.detour {
            Some(folder) => {
                let user = self.url.user().unwrap_or("postgres");
                PostgresUrl::unix_socket(&folder.display().to_string(), None, user, TRIAL).expose()
            }
            None => self.url.with_database(TRIAL).expose(),
        }
    }

    /// Makes the try's database an empty one, or a copy of the base.
    pub fn renew_trial(&self, from_base: bool) -> anyhow::Result<()> {
        let template = if from_base { BASE } else { "template0" };
        self.administer(&[
            &format!("DROP DATABASE IF EXISTS {TRIAL} WITH (FORCE)"),
            &format!("CREATE DATABASE {TRIAL} TEMPLATE {template} STRATEGY file_copy"),
        ])
    }

    /// The try's database is what all further ones begin from.
    pub fn keep_trial_as_base(&self) -> anyhow::Result<()> {
        self.administer(&[
            &format!("DROP DATABASE IF EXISTS {BASE} WITH (FORCE)"),
            &format!("ALTER DATABASE {TRIAL} RENAME TO {BASE}"),
            &format!("CREATE DATABASE {TRIAL} TEMPLATE {BASE} STRATEGY file_copy"),
        ])
    }

    fn administer(&self, statements: &[&str]) -> anyhow::Result<()> {
        self.runtime.block_on(async {
            let client = connect::postgres::connect(&self.url.with_database("postgres")).await?;
            for statement in statements {
                client.batch_execute(statement).await?;
            }
            Ok(())
        })
    }

    /// Executes a script in the try's database.
    pub fn execute(&self, script: &str) -> anyhow::Result<()> {
        self.runtime.block_on(async {
            let client = connect::postgres::connect(&self.url.with_database(TRIAL)).await?;
            Ok(client.batch_execute(script).await?)
        })
    }

    /// Rows and digest of every table of the try's database.
    pub fn tables(&self) -> anyhow::Result<BTreeMap<String, (u64, u128)>> {
        let names = self
            .query("SELECT tablename, 0::bigint, '0' FROM pg_tables WHERE schemaname = 'public'")?;
        let mut tables = BTreeMap::new();
        for name in names.into_keys().filter(|name| !LEFT_OUT.contains(&name.as_str())) {
            let sql = format!(
                "SELECT '{name}', count(*), coalesce(sum(hashtextextended(t::text, 0)::numeric
                        + 9223372036854775808), 0)::text FROM \"{name}\" t"
            );
            tables.extend(self.query(&sql)?);
        }
        Ok(tables)
    }

    /// Rows and digest of a table's days.
    pub fn days(&self, table: &str) -> anyhow::Result<BTreeMap<String, (u64, u128)>> {
        self.query(&format!(
            "SELECT day::text, count(*), sum(hashtextextended(t::text, 0)::numeric
                    + 9223372036854775808)::text FROM {table} t GROUP BY day"
        ))
    }

    fn query(&self, sql: &str) -> anyhow::Result<BTreeMap<String, (u64, u128)>> {
        self.runtime.block_on(async {
            let client = connect::postgres::connect(&self.url.with_database(TRIAL)).await?;
            let rows = client.query(sql, &[]).await?;
            rows.iter()
                .map(|row| {
                    let (name, count, sum): (String, i64, String) =
                        (row.get(0), row.get(1), row.get(2));
                    Ok((name, (u64::try_from(count)?, sum.parse()?)))
                })
                .collect()
        })
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}

fn command(program: &Path, data: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(words).env("CROSSOVER_DATA_DIR", data);
    command
}

/// Starts the server that belongs to the data: its URL and first process.
fn started(program: &Path, data: &Path) -> anyhow::Result<(PostgresUrl, Pid)> {
    let started = command(program, data, &["server", "start", RELEASE]).output()?;
    if !started.status.success() {
        bail!("{RELEASE} does not start: {}", String::from_utf8_lossy(&started.stderr));
    }
    let pid = first_process(program, data)?;
    let url = String::from_utf8(started.stdout)?.trim().parse()?;
    Ok((url, pid.context("the status names no process")?))
}

/// The first process of the server that runs on these data, if one does.
pub fn first_process(program: &Path, data: &Path) -> anyhow::Result<Option<Pid>> {
    let words = ["server", "status", "--output-format", "json"];
    let status = command(program, data, &words).output()?;
    let servers: serde_json::Value = serde_json::from_slice(&status.stdout)?;
    let pid = servers.get(0).and_then(|server| server.get("pid")?.as_i64());
    Ok(pid.and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?)))
}

/// Kills a server's first process, after which the others end by themselves.
pub fn kill(pid: Pid) {
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    // A zombie that its parent has not waited for yet still looks alive to the next start.
    while rustix::process::test_kill_process(pid).is_ok() {
        std::thread::yield_now();
    }
}
