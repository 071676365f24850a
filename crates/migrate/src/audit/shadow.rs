//! The tables behind virtual tables: what is passed over has a name.

use super::finding::{Finding, Severity};
use crate::inspect::{OtherObject, Schema};

/// A note on each virtual table that has tables of its own.
pub fn findings(schema: &Schema) -> Vec<Finding> {
    let note = |owner: &OtherObject| {
        let names = schema.shadows_of(owner);
        if names.is_empty() {
            return None;
        }
        let message = format!("its own tables are passed over: {}", names.join(", "));
        let (severity, kind) = (Severity::Note, "shadow_tables");
        let finding = Finding::on_table(severity, kind, &owner.name, message, "");
        Some(finding.counted(names.len() as u64, Vec::new()))
    };
    schema.others.iter().filter_map(note).collect()
}
