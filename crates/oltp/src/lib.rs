//! Online transaction processing as sysbench's OLTP has it, and what its readers missed: tables
//! filled, transactions of the plan's mixes as statements, which rows they choose, and a closed load
//! of them on PostgreSQL, SQLite and MariaDB. A load generator must cost next to nothing:
//! PostgreSQL is spoken to by crate connect's thin connections, many to a thread.

mod catalog;
mod console;
mod distribution;
mod error;
mod fill;
mod invariants;
mod layout;
mod load;
mod random;
mod row;
mod statement;
mod target;
mod words;

pub use error::{Error, Failure};
pub use fill::{fill, find, remove};
pub use invariants::invariants;
pub use layout::total_rows;
pub use load::{
    ClientTotals, ConnectedClient, Driver, Latencies, OltpJob, OltpLoad, OltpLoadOptions, OltpPart,
    Retries, Sink, StatementTotals, Transaction, Until, run, run_processes,
};
pub use target::OltpTarget;
