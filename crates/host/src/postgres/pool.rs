//! A pool of connections between clients and a managed server: PgBouncer, started for one turn.

use std::time::Duration;

use engine::{EngineSpec, PostgresUrl};
use plan::{ConnectionBy, Levels};
use record::POOL_PROGRAM;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use server::{POOL_ROLE, Pgbouncer, PoolFolder};

use super::administration::Administration;
use crate::error::DeployError;
use crate::process::{ApplicationOptions, ChildApplication, ProcessError};
use crate::site::{Site, file_name};

/// How long the program may take to listen, and to answer a command.
const STARTED_WITHIN: Duration = Duration::from_secs(10);
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);
/// PgBouncer's own database, for its commands.
const CONSOLE: &str = "pgbouncer";

/// PgBouncer before a server. Dropping it stops the program, then removes its folder.
pub struct ConnectionPool {
    process: ChildApplication,
    folder: PoolFolder,
    /// For the record: the pool and its program.
    record: Vec<(String, String)>,
}

/// Refuses a pool without a program that can do it.
pub(crate) fn check_pool(engine: &EngineSpec) -> Result<(), DeployError> {
    let Some(request) = engine.pool().map_err(server::Error::from)? else { return Ok(()) };
    Ok(Pgbouncer::find(request).map(drop)?)
}

impl ConnectionPool {
    /// Starts the pool that `engine` asks for, before the server of `administration`; sessions of its
    /// clients have `settings`.
    pub fn start(
        site: &Site<'_>,
        engine: &EngineSpec,
        levels: &Levels,
        administration: &Administration<'_>,
        settings: &[(&str, &str)],
    ) -> Result<Option<Self>, DeployError> {
        let Some(request) = engine.pool().map_err(server::Error::from)? else { return Ok(None) };
        let found = Pgbouncer::find(request)?;
        administration.of_server().run(&role_statements(settings))?;
        let folder =
            PoolFolder::create(request, &administration.address, site.plan.most_clients())?;
        let mut command = vec![found.program.display().to_string()];
        command.extend(folder.arguments());
        let process = ChildApplication::start(&ApplicationOptions {
            name: format!("pool-{}", file_name(&engine.label())),
            command,
            environment: Vec::new(),
            directory: Some("/".into()),
            log_directory: site.logs.to_owned(),
            cpus: site.plan.server_cpus_at(levels)?,
            account: folder.user_and_group(),
        })?;
        let record = vec![
            ("pool".to_owned(), format!("{request}, to the server by Unix socket")),
            (POOL_PROGRAM.to_owned(), format!("PgBouncer {}", found.version)),
        ];
        allow_files(process.pid());
        let pool = Self { process, folder, record };
        pool.wait_until_listening(site)?;
        Ok(Some(pool))
    }

    fn wait_until_listening(&self, site: &Site<'_>) -> Result<(), DeployError> {
        let ask =
            || site.runtime.block_on(self.ask("SHOW VERSION")).map_err(|error| error.to_string());
        Ok(self.process.wait_for(STARTED_WITHIN, site.interrupted, ask)?)
    }

    /// One of the program's own commands.
    async fn ask(&self, command: &str) -> Result<(), connect::Error> {
        let url = self.folder.url(CONSOLE);
        let answer = async {
            let client = connect::postgres::connect(&url).await?;
            Ok(client.batch_execute(command).await?)
        };
        let late = |_| connect::Error::CannotConnect {
            server: url.to_string(),
            problem: format!("the pool did not answer {command}; does a client keep a session?"),
        };
        tokio::time::timeout(ANSWERS_WITHIN, answer).await.map_err(late)?
    }

    /// Closes the pool's connections to the server, which no client uses any more: a database that is
    /// copied must have none.
    pub fn let_go(&self, site: &Site<'_>) -> Result<(), DeployError> {
        let closed = async {
            self.ask("PAUSE").await?;
            self.ask("RESUME").await
        };
        Ok(site.runtime.block_on(closed)?)
    }

    /// The address of a database for clients.
    #[must_use]
    pub fn url(&self, database: &str, by: ConnectionBy) -> PostgresUrl {
        match by {
            ConnectionBy::Socket => self.folder.url(database),
            ConnectionBy::Tcp => self.folder.tcp_url(database),
        }
    }

    /// The pool and its program, in the form of settings.
    #[must_use]
    pub fn record(&self) -> &[(String, String)] {
        &self.record
    }

    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    pub fn check_alive(&self) -> Result<(), ProcessError> {
        self.process.check()
    }
}

/// Raises the number of files that a process may open to what the system allows: each client of a
/// pool is one. Where that fails, the pool refuses clients in its own words.
fn allow_files(pid: u32) {
    let maximum = getrlimit(Resource::Nofile).maximum;
    if let Some(pid) = pid.try_into().ok().and_then(Pid::from_raw) {
        let _ = prlimit(Some(pid), Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}

/// The user of a pool's clients, with the settings of their sessions: a pool that shares connections
/// would lose what a session sets.
fn role_statements(settings: &[(&str, &str)]) -> Vec<String> {
    let mut statements = vec![
        format!(
            "DO $$BEGIN CREATE ROLE {POOL_ROLE} LOGIN SUPERUSER; \
             EXCEPTION WHEN duplicate_object THEN NULL; END$$"
        ),
        format!("ALTER ROLE {POOL_ROLE} RESET ALL"),
    ];
    let set =
        |(name, value): &(&str, &str)| format!("ALTER ROLE {POOL_ROLE} SET {name} = '{value}'");
    statements.extend(settings.iter().map(set));
    statements
}
