//! Several runs in one report: machines, settings, development beside production.

use crate::comparison::{Difference, differences};
use crate::compose::{SCHEMA_VERSION, document};
use crate::document::Several;
use crate::warning::in_order;
use record::Finished;

/// One document for all runs, with what makes them hard to compare.
pub fn several(runs: &[Finished], common_axes: bool) -> Several {
    let mut found: Vec<Difference> = Vec::new();
    if let Some((first, others)) = runs.split_first() {
        for other in others {
            let new = differences(first, other).into_iter();
            found.extend(new.filter(|difference| !found.contains(difference)).collect::<Vec<_>>());
        }
    }
    Several {
        schema_version: SCHEMA_VERSION,
        documents: runs.iter().map(document).collect(),
        common_axes,
        warnings: in_order(found.into_iter().map(Difference::warning).collect()),
    }
}
