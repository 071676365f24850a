//! MariaDB looked at while load is on it, by a connection of its own.

use mysql::prelude::Queryable as _;

use crate::observe::{ANSWER_AT_MOST, Watch};
use record::Counters;

/// Counters of the server, by their names in a trial and what they are multiplied by.
const COUNTED: [(&str, &str, f64); 8] = [
    ("Com_commit", "mariadb_commits", 1.0),
    ("Innodb_row_lock_waits", "mariadb_row_lock_waits", 1.0),
    ("Innodb_row_lock_time", "mariadb_row_lock_wait_seconds", 1e-3),
    ("Innodb_deadlocks", "mariadb_deadlocks", 1.0),
    ("Innodb_os_log_written", "mariadb_log_bytes", 1.0),
    ("Innodb_data_fsyncs", "mariadb_syncs", 1.0),
    ("Innodb_buffer_pool_reads", "mariadb_pages_read", 1.0),
    ("Innodb_buffer_pool_pages_flushed", "mariadb_pages_flushed", 1.0),
];

pub struct MariadbWatch {
    connection: mysql::Conn,
}

impl MariadbWatch {
    pub fn connect(url: &str) -> Result<Self, connect::Error> {
        Ok(Self { connection: connect::mysql::connect(url, ANSWER_AT_MOST)? })
    }
}

impl Watch for MariadbWatch {
    fn counters(&mut self) -> Counters {
        let rows = self.connection.query::<(String, String), _>("SHOW GLOBAL STATUS");
        let rows = rows.unwrap_or_default();
        let counted = COUNTED.iter().filter_map(|(name, ours, factor)| {
            let (_, value) = rows.iter().find(|(known, _)| known == name)?;
            Some(((*ours).to_owned(), value.parse::<f64>().ok()? * factor))
        });
        counted.collect()
    }
}
