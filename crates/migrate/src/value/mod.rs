//! One stored value: its PostgreSQL type, its binary form, the reason why it does not fit.

mod array;
mod canonical;
mod catalog_type;
mod conversion;
pub(crate) mod decimal;
mod encode;
mod interval;
pub(crate) mod json;
pub(crate) mod moment;
mod network;
mod number;
mod postgres_type;
mod profile;
mod reading;
mod short_uuid;
mod unfit;

pub use canonical::{Canonical, canonical, comparable, show};
pub use catalog_type::CatalogType;
pub use conversion::{
    ColumnConversion, ConversionKind, ConversionTally, Conversions, add_conversions,
};
pub use encode::{FieldSink, NoOutput, TargetField, encode};
pub use number::EXACT_IN_DOUBLE;
pub use postgres_type::{PostgresType, SECOND_DIGITS, declared_parts};
pub use profile::{Looks, Profile, TextKind};
pub use reading::ValueReading;
pub use unfit::{StorageClass, Unfit};
