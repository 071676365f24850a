//! Options of a load: its mix, its clients, its duration.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use plan::oltp::{CharacterSet, Distribution, Mix};

/// A closed load: every client begins its next transaction when it has the answer to the last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OltpLoadOptions {
    pub mix: Mix,
    pub distribution: Distribution,
    /// Connections, from 1.
    pub clients: u16,
    /// How the measured part ends.
    pub until: Until,
    /// Offered before it, and not counted.
    pub warmup: Duration,
    /// The same seed gives every client the same transactions again.
    pub seed: u64,
    /// For one answer of a server; then the client ends. SQLite answers when it has done.
    pub timeout: Duration,
    /// How long the transactions under way when the time is over are waited for. What is not over
    /// then is cancelled and counted ([`crate::ClientTotals::cut_off`]), so that a load ends
    /// however long its clients wait for each other.
    pub grace: Duration,
    /// SQLite: how long the busy handler waits for a lock. A transaction that did not get one is
    /// tried again and counted.
    pub busy_timeout: Duration,
    /// In which the client's texts travel ([`Mix::Encoding`]): PostgreSQL and MariaDB.
    pub character_set: CharacterSet,
    /// How the clients are driven.
    pub driver: Driver,
}

impl OltpLoadOptions {
    /// `clients` clients for `time`, after a second of warm-up.
    #[must_use]
    pub fn new(mix: Mix, clients: u16, time: Duration) -> Self {
        Self {
            mix,
            distribution: Distribution::default(),
            clients,
            until: Until::Time(time),
            warmup: Duration::from_secs(1),
            seed: 1,
            timeout: Duration::from_secs(60),
            grace: Duration::from_secs(10),
            busy_timeout: Duration::from_secs(5),
            character_set: CharacterSet::Utf8,
            driver: Driver::Fitting,
        }
    }
}

/// When the measured part is over. A transaction that has begun is finished and counted, within
/// [`LoadOptions::grace`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Until {
    /// No transaction begins after this time, but every client's first.
    Time(Duration),
    /// Every client does this many.
    Transactions(u64),
}

/// How the clients of PostgreSQL are driven; those of the other engines have a thread each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Driver {
    /// A thread for each of up to eight clients, above that an event loop per processor.
    #[default]
    Fitting,
    /// A thread per client, which waits in poll().
    Threads,
    /// A thread per processor, which waits in epoll for all its clients.
    EventLoops,
}
