//! One stored value: its PostgreSQL type, its binary form, the reason why it does not fit.

mod canonical;
pub(crate) mod decimal;
mod encode;
pub(crate) mod json;
pub(crate) mod moment;
mod postgres_type;
mod profile;
mod unfit;

pub use canonical::{Canonical, canonical, comparable, show};
pub use encode::{EXACT_IN_DOUBLE, Field, Nowhere, Out, encode};
pub use moment::Reading;
pub use postgres_type::{PostgresType, declared_parts};
pub use profile::{Form, Looks, Profile};
pub use unfit::{Misfit, StorageClass};
