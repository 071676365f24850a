//! Hosts of what is measured: a database set up for an engine's turn in a block (filled, analysed,
//! its server started, alone), and applications on it. Workloads put their clients on top.

mod activity;
mod address;
mod database;
mod dataset;
mod deploy;
mod distance;
mod error;
pub mod file;
mod filling;
mod kinds;
pub mod mariadb;
pub mod observe;
mod one_off;
mod options;
mod plan_text;
pub mod postgres;
pub mod prewarm;
pub mod process;
pub mod relay;
mod site;
pub mod sqlite;
mod stoppable;

pub use activity::{Activity, Sight};
pub use address::{Address, is_tcp, needs_tcp};
pub use database::{DataUse, Database, HostedDatabase, Template};
pub use dataset::{Datasets, KeptDataset, filled_ahead};
pub use deploy::{check, check_copy, deploy, try_copy_settings};
pub use distance::{Distance, NOTHING_FORWARDED};
pub use error::DeployError;
pub use filling::DATABASE;
pub use kinds::{durability, plan_hash};
pub use one_off::OneOff;
pub use options::HostOptions;
pub use site::Site;
pub use sqlite::try_settings;
pub use stoppable::while_stoppable;
