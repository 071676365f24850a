//! Types and readings that the preset of a framework gives.

use crate::source::{Framework, SourceColumn};
use crate::value::{PostgresType, ValueReading};

/// The type of what the framework declares like this.
pub fn preset_type(framework: Option<Framework>, column: &SourceColumn) -> Option<PostgresType> {
    framework?.type_of(column)?.parse().ok()
}

/// The reading of what the framework stores for this type.
pub fn preset_reading(
    framework: Option<Framework>,
    postgres_type: &PostgresType,
) -> Option<ValueReading> {
    let name = framework?.reading(&postgres_type.to_string())?;
    ValueReading::NAMES.iter().find(|(known, _)| *known == name).map(|(_, reading)| *reading)
}
