//! SQLite's counters of queries, for `/metrics`. The names are the laboratory's (with Prometheus's
//! `_total`), without a prefix: any application may offer them.

use connect::SqliteCounters;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;

/// A counter for each of [`SqliteCounters::named`].
#[derive(Debug, Clone, Default)]
pub struct SqliteMetrics {
    counters: [Counter; 6],
}

impl SqliteMetrics {
    pub(super) fn count(&self, counted: &SqliteCounters) {
        for (counter, (_, _, count)) in self.counters.iter().zip(counted.named()) {
            counter.inc_by(count);
        }
    }

    /// Makes them part of what `registry` prints.
    pub(crate) fn register(&self, registry: &mut Registry) {
        let named = SqliteCounters::default().named();
        for (counter, (name, help, _)) in self.counters.iter().zip(named) {
            registry.register(name, help, counter.clone());
        }
    }
}
