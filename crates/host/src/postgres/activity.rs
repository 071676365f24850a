//! Activity at a database of PostgreSQL: sessions of clients that come or are given something to do, by
//! the server's own views.

use std::thread;
use std::time::{Duration, Instant};

use engine::PostgresUrl;
use load::resource::ServerSide;
use tokio_postgres::Client;

use crate::activity::{Activity, Sight};
use crate::observe::ANSWER_AT_MOST;

/// Before release 15 sessions that have ended are in the statistics by then.
const ENDED_KNOWN_WITHIN: Duration = Duration::from_millis(1200);
/// From release 15 on a session is counted before it is given its first statement.
const SESSION_KNOWN_WITHIN: Duration = Duration::from_millis(200);
/// Statistics of older releases may be that old when they are read.
const STATISTICS_AGE_MAX: Duration = Duration::from_millis(600);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// From here on the sessions of a database are counted as they begin.
const COUNTS_SESSIONS: i32 = 150_000;

/// One of the server's databases, looked at by a session of our own in it.
pub(super) struct SessionActivity {
    client: Client,
    runtime: tokio::runtime::Handle,
    database: String,
    release: i32,
    before: Option<SessionState>,
}

/// The clients of a database at one moment.
#[derive(Clone, Copy, Debug)]
struct SessionState {
    /// Sessions at this moment.
    sessions: i64,
    /// When the last of them came, or was given a statement or ended one, microseconds.
    latest_us: Option<i64>,
    /// Sessions so far; before release 15 the scans and changes of tables, which autovacuum has no
    /// part in.
    counted: f64,
}

impl SessionActivity {
    pub(super) fn watch(
        url: &PostgresUrl,
        runtime: &tokio::runtime::Handle,
    ) -> Result<Self, String> {
        let (client, release) = runtime
            .block_on(async {
                let client = connect::postgres::connect(url).await?;
                let release = "SELECT current_setting('server_version_num')::int";
                let release: i32 = client.query_one(release, &[]).await?.get(0);
                Ok::<_, connect::Error>((client, release))
            })
            .map_err(|error| error.to_string())?;
        let (runtime, database) = (runtime.clone(), url.database().unwrap_or_default().to_owned());
        let mut activity = Self { client, runtime, database, release, before: None };
        activity.wait_until_left();
        activity.begin();
        match activity.before {
            Some(_) => Ok(activity),
            None => Err("the server does not show its sessions".to_owned()),
        }
    }

    /// Sessions of the laboratory that are about to end would report their work after the beginning.
    fn wait_until_left(&self) {
        if self.release >= COUNTS_SESSIONS {
            return;
        }
        let deadline = Instant::now() + ENDED_KNOWN_WITHIN;
        while self.state().is_some_and(|state| state.sessions > 0) && Instant::now() < deadline {
            thread::sleep(LOOK_EVERY);
        }
    }

    fn state(&self) -> Option<SessionState> {
        let sql = statement(self.release);
        let question = self.client.query_one(&sql, &[]);
        let answer = async { tokio::time::timeout(ANSWER_AT_MOST, question).await.ok() };
        let row = self.runtime.block_on(answer)?.ok()?;
        Some(SessionState { sessions: row.get(0), latest_us: row.get(1), counted: row.get(2) })
    }
}

fn statement(release: i32) -> String {
    // Workers of the server are not clients; autovacuum alone was shown among these before release 10.
    let clients = match release {
        100_000.. => "backend_type = 'client backend'",
        _ => "query NOT LIKE 'autovacuum:%'",
    };
    let counted = match release {
        COUNTS_SESSIONS.. => {
            "SELECT sessions FROM pg_stat_database WHERE datname = current_database()"
        }
        _ => {
            "SELECT coalesce(sum(seq_scan + coalesce(idx_scan, 0)
                                 + n_tup_ins + n_tup_upd + n_tup_del), 0)
               FROM pg_stat_user_tables"
        }
    };
    format!(
        "SELECT count(*),
                (extract(epoch FROM max(greatest(backend_start, xact_start, query_start,
                                                 state_change))) * 1000000)::bigint,
                ({counted})::float8
           FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid() AND {clients}"
    )
}

impl Activity for SessionActivity {
    fn begin(&mut self) {
        if self.release < COUNTS_SESSIONS {
            // What sessions that are gone did to tables is in the statistics by then.
            thread::sleep(STATISTICS_AGE_MAX);
        }
        self.before = self.state();
    }

    fn sight(&mut self, _application: &ServerSide) -> Sight {
        let counts_sessions = self.release >= COUNTS_SESSIONS;
        let known_within = if counts_sessions { SESSION_KNOWN_WITHIN } else { ENDED_KNOWN_WITHIN };
        let deadline = Instant::now() + known_within;
        loop {
            let Some((before, now)) = self.before.zip(self.state()) else {
                return Sight::Hidden("the server no longer shows its sessions".to_owned());
            };
            let has_grown = now.counted > before.counted;
            let is_certain = counts_sessions || now.sessions == 0;
            if now.latest_us > before.latest_us || has_grown && is_certain {
                return Sight::Used;
            }
            if Instant::now() >= deadline {
                // Sessions that stay report what they did to tables after they did it.
                let why = "sessions that stay report late what they did, before release 15";
                return if has_grown { Sight::Hidden(why.to_owned()) } else { Sight::Unused };
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    fn looked_at(&self) -> String {
        format!("brought a session or a statement to the database {}", self.database)
    }
}
