//! Types chosen for a table, and findings on its CHECKs and on columns whose types are not written.

use super::parallel::ScannedTable;
use super::tried_types::TriedTypes;
use super::{structure, unwritten};
use crate::ddl::PlannedTable;
use crate::finding::{Finding, RefusedValues};
use crate::mapping::{Candidate, choose};
use crate::source::{SourceCheck, SourceSchema};
use crate::value::{Profile, TargetField};

pub fn chosen_fields(
    candidates: &[Vec<Candidate>],
    scanned: &[ScannedTable],
) -> Vec<Vec<TargetField>> {
    let chosen = |(candidates, scanned): (&Vec<Candidate>, &ScannedTable)| {
        let each = candidates.iter().zip(&scanned.scan.profiles);
        each.map(|(candidate, profile)| choose(candidate, profile)).collect()
    };
    candidates.iter().zip(scanned).map(chosen).collect()
}

pub fn on_unwritten(
    schema: &SourceSchema,
    tried: &TriedTypes,
    table: usize,
    profiles: &[Profile],
) -> Vec<Finding> {
    let of_table = tried.unwritten.iter().filter(|each| each.table == table);
    of_table.map(|each| unwritten::finding(schema, each, &profiles[each.source])).collect()
}

/// Findings on the CHECKs of a table that its own rows violate, or that could not be tested.
pub fn on_checks(
    planned: PlannedTable<'_>,
    violations: Vec<(usize, RefusedValues)>,
    untested: Vec<(usize, String)>,
    creates: bool,
) -> Vec<Finding> {
    let table = planned.table;
    let is_kept = |check: &SourceCheck| creates && planned.check(check).is_some();
    let violated = violations.into_iter().map(|(check, refused)| {
        let check = &table.checks[check];
        structure::check_violation(table, check, refused, is_kept(check))
    });
    let untested = untested.into_iter().map(|(check, reason)| {
        let check = &table.checks[check];
        structure::check_not_tested(table, check, &reason, is_kept(check))
    });
    violated.chain(untested).collect()
}
