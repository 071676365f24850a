//! Values that fit their type but do not come back as written.

use notation::{plural, thousands};

use super::evidence::ColumnEvidence;
use crate::finding::{Finding, Severity};
use crate::value::PostgresType;

/// The findings on the values of one column.
pub fn findings(evidence: &ColumnEvidence<'_>) -> Vec<Finding> {
    match evidence.field.postgres_type {
        PostgresType::TimestampTz(_) => {
            without_zone(evidence).into_iter().chain(offsets(evidence)).collect()
        }
        PostgresType::Jsonb => repeated_keys(evidence).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn without_zone(evidence: &ColumnEvidence<'_>) -> Option<Finding> {
    let looks = &evidence.profile.looks;
    let count = looks.dates + looks.timestamps;
    if count == 0 {
        return None;
    }
    let message = format!("{} text{} without a zone: read as UTC", thousands(count), plural(count));
    let fix = match looks.zoned_timestamps {
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
    let count = evidence.profile.looks.offsets;
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

/// Documents of which jsonb drops a part.
fn repeated_keys(evidence: &ColumnEvidence<'_>) -> Option<Finding> {
    let refused = &evidence.profile.repeated_keys;
    if refused.count == 0 {
        return None;
    }
    let message = format!(
        "{} document{} a key more than once: jsonb keeps the last",
        thousands(refused.count),
        if refused.count == 1 { " has" } else { "s have" }
    );
    let fix = format!("to keep them as written: {}", evidence.retype(&PostgresType::Json));
    let finding = evidence.finding(Severity::Warning, "repeated_keys", message, fix);
    Some(finding.counted(refused.count, refused.examples.clone()))
}
