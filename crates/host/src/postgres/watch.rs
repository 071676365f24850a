//! PostgreSQL looked at while load is on it, by a connection of its own: counters, what sessions
//! wait for, and checkpoints that end.

use engine::PostgresUrl;
use tokio_postgres::{Client, Error};

use super::counters::read_counters;
use crate::observe::{ANSWER_AT_MOST, Watch};
use record::Counters;

pub struct PostgresWatch {
    client: Client,
    runtime: tokio::runtime::Handle,
    version: i32,
    /// Where the last checkpoint that ended began, and how many have ended since the first look.
    last_checkpoint: Option<String>,
    checkpoints_ended: u32,
}

/// State of this database's sessions at the moment: running, or waiting for one of these.
const WAITS: &str = "SELECT count(*) FILTER (WHERE wait_event_type IS NULL)::float8
                              AS postgres_sessions_running,
                            count(*) FILTER (WHERE wait_event_type = 'Lock')::float8
                              AS postgres_sessions_waiting_for_locks,
                            count(*) FILTER (WHERE wait_event_type IN
                              ('LWLock', 'LWLockNamed', 'LWLockTranche'))::float8
                              AS postgres_sessions_waiting_for_internal_locks,
                            count(*) FILTER (WHERE wait_event_type IN
                              ('IO', 'BufferPin', 'BufferIO'))::float8
                              AS postgres_sessions_waiting_for_storage
                       FROM pg_stat_activity
                      WHERE datname = current_database() AND state = 'active'
                        AND pid <> pg_backend_pid()";

/// Counters of this database's statistics.
const TRANSACTIONS: &str = "SELECT xact_commit::float8 AS postgres_commits,
                                   xact_rollback::float8 AS postgres_rollbacks,
                                   deadlocks::float8 AS postgres_deadlocks
                              FROM pg_stat_database WHERE datname = current_database()";

/// Since release 14.
const LOG: &str = "SELECT wal_fpi::float8 AS postgres_full_page_images,
                          wal_records::float8 AS postgres_wal_records FROM pg_stat_wal";

impl PostgresWatch {
    pub fn connect(
        url: &PostgresUrl,
        runtime: &tokio::runtime::Handle,
    ) -> Result<Self, connect::Error> {
        let (client, version) = runtime.block_on(async {
            let client = connect::postgres::connect(url).await?;
            let version = "SELECT current_setting('server_version_num')::int";
            let version: i32 = client.query_one(version, &[]).await?.get(0);
            Ok::<_, connect::Error>((client, version))
        })?;
        let runtime = runtime.clone();
        let (last_checkpoint, checkpoints_ended) = (None, 0);
        let mut watch = Self { client, runtime, version, last_checkpoint, checkpoints_ended };
        watch.note_checkpoint();
        watch.checkpoints_ended = 0;
        Ok(watch)
    }

    /// Counts a checkpoint that has ended since the last look. One that is looked for each second
    /// is not missed: they are at least 30 s apart, unless the log's size asks for them.
    fn note_checkpoint(&mut self) {
        let place = match self.version {
            100_000.. => "SELECT checkpoint_lsn::text FROM pg_control_checkpoint()",
            _ => "SELECT checkpoint_location::text FROM pg_control_checkpoint()",
        };
        // A user of a foreign server may not be let see it.
        let Some(row) = self.answer(self.client.query_one(place, &[])) else { return };
        let now: String = row.get(0);
        if self.last_checkpoint.as_ref() != Some(&now) {
            self.last_checkpoint = Some(now);
            self.checkpoints_ended += 1;
        }
    }

    /// None where the server refuses, or is silent.
    fn answer<T>(&self, question: impl Future<Output = Result<T, Error>>) -> Option<T> {
        let in_time = async { tokio::time::timeout(ANSWER_AT_MOST, question).await };
        self.runtime.block_on(in_time).ok()?.ok()
    }

    /// The columns of one row, by their names.
    fn read(&self, sql: &str) -> Counters {
        let Some(row) = self.answer(self.client.query_one(sql, &[])) else {
            return Counters::new();
        };
        let values = row.columns().iter().enumerate().filter_map(|(place, column)| {
            let value = row.try_get::<_, Option<f64>>(place).ok()??;
            Some((column.name().to_owned(), value))
        });
        values.collect()
    }
}

impl Watch for PostgresWatch {
    fn counters(&mut self) -> Counters {
        self.note_checkpoint();
        let mut counters = self.answer(read_counters(&self.client)).unwrap_or_default();
        counters.extend(self.read(TRANSACTIONS));
        if self.version >= 140_000 {
            counters.extend(self.read(LOG));
        }
        if self.last_checkpoint.is_some() {
            let ended = f64::from(self.checkpoints_ended);
            counters.insert("postgres_checkpoints_ended".to_owned(), ended);
        }
        counters
    }

    fn look(&mut self) -> Counters {
        self.note_checkpoint();
        self.read(WAITS)
    }
}
