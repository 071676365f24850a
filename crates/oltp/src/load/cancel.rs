//! Cancellation of running statements at the end of a load: by a session of its own, since the
//! clients' sessions wait. Clients of a server that admits no further session end by their timeout.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::OltpTarget;
use crate::console::Console;
use crate::statement::EngineDialect;

/// A server that has fallen silent is asked no longer.
const ANSWER_AT_MOST: Duration = Duration::from_secs(10);

pub(super) struct Canceller<'a> {
    target: &'a OltpTarget,
    interrupted: &'a AtomicBool,
    /// The server's numbers of the sessions, by worker.
    sessions: Vec<Vec<u32>>,
    /// Opened when it is needed.
    console: Option<Console<'a>>,
}

impl<'a> Canceller<'a> {
    pub(super) fn new(
        target: &'a OltpTarget,
        sessions: Vec<Vec<u32>>,
        interrupted: &'a AtomicBool,
    ) -> Self {
        Self { target, interrupted, sessions, console: None }
    }

    /// Has the statements of these workers cancelled, and no session ended: each has an answer
    /// then, which says whether it has changed rows.
    pub(super) fn cancel(&mut self, workers: &[usize]) {
        if self.console.is_none() {
            let console = Console::open_for(self.target, ANSWER_AT_MOST, self.interrupted);
            self.console = console.ok();
        }
        let Some(console) = &mut self.console else { return };
        let sessions = workers.iter().filter_map(|worker| self.sessions.get(*worker)).flatten();
        // A failed attempt is repeated as long as a client waits.
        match console.dialect() {
            EngineDialect::Postgres => {
                let whose = match self.target {
                    // A pool gives a client another session each time; its user has no others.
                    OltpTarget::Postgres { url, behind_pool: Some(_), .. } => {
                        format!("usename = '{}'", url.user().unwrap_or_default())
                    }
                    _ => {
                        let list: Vec<String> = sessions.map(u32::to_string).collect();
                        format!("pid = ANY ('{{{}}}') AND usename = current_user", list.join(","))
                    }
                };
                let sql = format!(
                    "SELECT pg_cancel_backend(pid) FROM pg_stat_activity \
                     WHERE {whose} AND state = 'active'"
                );
                let _ = console.run(&sql);
            }
            EngineDialect::Mysql => sessions.for_each(|session| {
                let _ = console.run(&format!("KILL QUERY {session}"));
            }),
            EngineDialect::Sqlite => {}
        }
    }
}
