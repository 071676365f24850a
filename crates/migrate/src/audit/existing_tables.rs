//! Findings on existing tables as a whole, the same in an audit and before a move.

use std::sync::Arc;

use super::framework_versions;
use super::target_numbering::target_numbering;
use crate::finding::Finding;
use crate::source::{SourceFile, SourceSchema};
use crate::target::{MatchedTable, TargetSession};
use crate::{Error, Task};

/// `adds`: the rows of the tables stay.
pub async fn existing_tables(
    session: &TargetSession,
    source: &Arc<SourceFile>,
    schema: &SourceSchema,
    matched: &[MatchedTable],
    adds: bool,
    task: Task<'_>,
) -> Result<Vec<Finding>, Error> {
    let mut findings = target_numbering(session, source, schema, matched, adds, task).await?;
    if !adds {
        findings
            .extend(framework_versions::findings(session, source, schema, matched, task).await?);
    }
    Ok(findings)
}
