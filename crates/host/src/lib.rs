//! Hosts of what is measured: a database set up for an engine's turn in a block (filled, analysed,
//! its server started, alone), and applications on it. Workloads put their clients on top.

mod address;
mod copy;
mod counters;
mod database;
mod dataset;
mod deploy;
mod error;
pub mod file;
mod filling;
pub mod observe;
mod one_off;
mod options;
mod postgres;
pub mod prewarm;
pub mod process;
mod site;
mod sqlite;
mod template;
mod write_back;

pub use address::{Address, is_tcp, needs_tcp};
pub use copy::{TRIAL, copy_statement, drop_statements};
pub use database::Database;
pub use dataset::{Datasets, KeptDataset, filled_ahead};
pub use deploy::{check, check_copy, try_copy_settings};
pub use error::DeployError;
pub use filling::DATABASE;
pub use one_off::OneOff;
pub use options::HostOptions;
pub use postgres::read_settings;
pub use site::Site;
pub use sqlite::try_settings;
pub use template::DataUse;
