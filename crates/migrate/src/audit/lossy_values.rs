//! Values that fit their type but do not come back as written.

use notation::{plural, thousands};

use super::evidence::ColumnEvidence;
use crate::finding::{Finding, RefusedValues, Severity};
use crate::value::{ColumnConversion, ConversionKind, PostgresType, SECOND_DIGITS};

/// The findings on the values of one column.
pub fn findings(evidence: &ColumnEvidence<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = match evidence.field.postgres_type {
        PostgresType::TimestampTz(_) => {
            without_zone(evidence).into_iter().chain(offsets(evidence)).collect()
        }
        _ => Vec::new(),
    };
    let converted = evidence.profile.conversions.iter();
    findings.extend(converted.filter_map(|(kind, values)| conversion(evidence, *kind, values)));
    findings
}

/// Values that go through a stated conversion.
fn conversion(
    evidence: &ColumnEvidence<'_>,
    kind: ConversionKind,
    values: &RefusedValues,
) -> Option<Finding> {
    let own = &evidence.field.postgres_type;
    let conversion = ColumnConversion {
        column: evidence.column().name.clone(),
        kind,
        count: values.count,
        example: values.examples.first()?.clone(),
        postgres_type: own.to_string(),
    };
    let wider = match (kind, own) {
        (ConversionKind::OffsetConverted, _) => Some(PostgresType::TimestampTz(SECOND_DIGITS)),
        (ConversionKind::NumberRounded, PostgresType::Numeric(_)) => {
            Some(PostgresType::Numeric(None))
        }
        (ConversionKind::RepeatedKeys, PostgresType::Jsonb) => Some(PostgresType::Json),
        _ => None,
    };
    let keeping = |wider| format!("to keep them: {}", evidence.retype(&wider));
    let fix = wider.map_or_else(String::new, keeping);
    Some(Finding {
        fix,
        examples: values.examples.clone(),
        ..conversion.finding(&evidence.table.name)
    })
}

fn without_zone(evidence: &ColumnEvidence<'_>) -> Option<Finding> {
    let looks = &evidence.profile.looks;
    let count = looks.dates + looks.timestamps + evidence.profile.finer_moments.0;
    if count == 0 {
        return None;
    }
    let message = format!("{} text{} without a zone: read as UTC", thousands(count), plural(count));
    let fix = match looks.zoned_timestamps + evidence.profile.finer_moments.1 {
        0 => format!(
            "right for moments in UTC, which Django, Rails and TypeORM write by default; to keep them as written: {}",
            evidence.retype(&PostgresType::Timestamp(6))
        ),
        _ => "write their zones if they are others".to_owned(),
    };
    let finding = evidence.finding(Severity::Warning, "zone_assumed", message, fix);
    Some(finding.counted(count, Vec::new()))
}

/// Offsets, which timestamptz does not keep.
fn offsets(evidence: &ColumnEvidence<'_>) -> Option<Finding> {
    let count = evidence.profile.looks.offsets + evidence.profile.finer_moments.2;
    if count == 0 {
        return None;
    }
    let message = format!(
        "{} offset{} from UTC {} not kept: timestamptz holds the moment alone",
        thousands(count),
        plural(count),
        if count == 1 { "is" } else { "are" }
    );
    let fix = format!("to keep the texts: {}", evidence.retype(&PostgresType::Text));
    Some(
        evidence
            .finding(Severity::Warning, "offset_not_kept", message, fix)
            .counted(count, Vec::new()),
    )
}
