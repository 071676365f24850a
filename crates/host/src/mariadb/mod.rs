//! MariaDB and MySQL as the laboratory hosts them, one file for each verb: `check`, `start` (fill,
//! copy for a trial), `settings`, `durability`, `watch` and `plan_shape`.

mod check;
mod durability;
mod plan_shape;
mod settings;
mod start;
mod watch;

use std::time::Duration;

pub use check::{check_managed, check_yours};
pub use settings::read_record;
pub use start::ManagedMariadb;
pub use watch::MariadbWatch;

pub(crate) use durability::durability;
pub(crate) use plan_shape::shape;

/// Statements of this program take no longer.
pub const TIMEOUT: Duration = Duration::from_secs(600);
