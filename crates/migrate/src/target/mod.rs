//! The PostgreSQL side: sessions, existing tables and their constraints, rows by binary COPY.

mod catalog;
mod constraint_probe;
pub(crate) mod demand;
mod load;
pub(crate) mod locks;
mod matching;
pub(crate) mod references;
mod session;
pub(crate) mod target_demands;

pub use catalog::{Catalog, catalog, current_schema, read_catalog};
pub use constraint_probe::Judge;
pub use demand::{Demand, What};
pub use load::Load;
pub use matching::{Matched, MatchedColumn, match_tables};
pub use references::{Reference, parents_first};
pub use session::{Session, create_database, drop_database};
