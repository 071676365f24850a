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
    ValueReading::named(name).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FrameworkChoice;

    #[test]
    fn intervals_are_read_as_their_framework_stores_them() {
        for (name, expected) in [
            ("django", Some(ValueReading::Microseconds)),
            ("sqlalchemy", Some(ValueReading::Since1970)),
            ("rails", None),
        ] {
            let Ok(FrameworkChoice::Named(framework)) = name.parse() else {
                unreachable!("{name}")
            };
            assert_eq!(preset_reading(Some(framework), &PostgresType::Interval(6)), expected);
        }
        assert_eq!(preset_reading(None, &PostgresType::Interval(6)), None);
    }
}
