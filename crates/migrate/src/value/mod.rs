//! One stored value: its PostgreSQL type, its binary form, the reason why it does not fit.

mod canonical;
pub(crate) mod decimal;
mod encode;
pub(crate) mod json;
pub(crate) mod moment;
mod postgres_type;
mod profile;
mod short_uuid;
mod unfit;

pub use canonical::{Canonical, canonical, comparable, show};
pub use encode::{EXACT_IN_DOUBLE, FieldSink, NoOutput, TargetField, encode};
pub use moment::ValueReading;
pub use postgres_type::{PostgresType, declared_parts};
pub use profile::{Looks, Profile, TextKind};
pub use unfit::{StorageClass, Unfit};
