//! Database servers that Crossover fetches, starts and stops: releases, the account they run as,
//! their data directories, and what is left behind by a program that was killed.

mod account;
mod affinity;
mod cluster;
mod error;
mod fetching;
mod folder;
mod inventory;
mod locations;
mod mariadb;
mod options;
mod pgbouncer;
mod port;
mod postmaster;
mod process;
mod record;
mod release;
mod running;
mod server;
mod settings;
mod status;
mod sweep;

pub use error::{Error, elsewhere};
pub use inventory::{DataDirectory, data_directories, remove_data_directory, size_on_disk};
pub use locations::Locations;
pub use mariadb::{MariadbOptions, MariadbPrograms, MariadbServer, fetched_mariadb_releases};
pub use options::{InitdbChoices, StartOptions};
pub use pgbouncer::{POOL_ROLE, Pgbouncer, PoolFolder};
pub use port::free_port;
pub use release::{Origin, Release, fetched_releases, installed_releases};
pub use running::{running_servers, stop_orphans, stop_server};
pub use server::{PostgresServer, create_database};
pub use status::{Lifetime, ServerStatus};
