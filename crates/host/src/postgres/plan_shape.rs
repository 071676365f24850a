//! The shape of PostgreSQL's plans in text format.

use crate::plan_text::without_values;

/// Lines of PostgreSQL's plans that report estimates, the machine or one execution.
const NOT_SHAPE: [&str; 12] = [
    "Planned Partitions:",
    "Buckets:",
    "Batches:",
    "Memory Usage:",
    "Sort Method:",
    "Rows Removed",
    "Heap Fetches:",
    "Planning Time:",
    "Execution Time:",
    "Query Identifier:",
    "Disabled:",
    "Buffers:",
];

pub(crate) fn shape(text: &str) -> String {
    let mut shape = String::new();
    for line in text.lines() {
        let words = line.trim_start();
        if NOT_SHAPE.iter().any(|begin| words.starts_with(begin)) {
            continue;
        }
        if words.starts_with("JIT:") {
            // Whether code is compiled follows from the estimated cost alone.
            break;
        }
        let line = before_estimates(line).trim_end();
        // How many processes share a plan is part of it; no value of the statement is there.
        match words.starts_with("Workers Planned:") {
            true => shape.push_str(line),
            false => shape.push_str(&without_values(line)),
        }
        shape.push('\n');
    }
    shape
}

/// A node without `(cost=... rows=... width=...)` and what an execution adds behind it.
fn before_estimates(line: &str) -> &str {
    ["(cost=", "(actual "]
        .iter()
        .filter_map(|begin| line.find(begin))
        .min()
        .and_then(|end| line.get(..end))
        .unwrap_or(line)
}
