//! Online transaction processing as sysbench's OLTP has it, and what its readers missed: tables
//! and the rows in them, transactions as lists of statements, which rows they choose, and a closed
//! load of them on PostgreSQL, SQLite and MariaDB. A load generator must cost next to nothing:
//! PostgreSQL is spoken to by crate engine's thin connections, many to a thread.

mod catalog;
mod console;
mod distribution;
mod error;
mod fill;
mod invariants;
mod layout;
mod load;
mod mix;
mod random;
mod row;
mod statement;
mod table;
mod target;
mod words;

pub use distribution::Distribution;
pub use error::{Error, Failure};
pub use fill::{fill, find, remove};
pub use invariants::invariants;
pub use load::{
    ClientTotals, Driver, Latencies, OltpLoad, OltpLoadOptions, Retries, Sink, StatementTotals,
    Transaction, Until, run,
};
pub use mix::Mix;
pub use statement::MixStatement;
pub use table::{CharacterSet, Collation, Schema, TableOptions};
pub use target::OltpTarget;
