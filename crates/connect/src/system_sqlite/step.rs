//! Two plans of SQLite, compared by table, index and order: releases word the same plan differently.

/// An access to a table or an index.
#[derive(Debug, PartialEq, Eq)]
struct PlanStep {
    /// Its alias, where the statement has one.
    table: String,
    /// Whether it seeks, or reads all.
    is_search: bool,
    index: Option<String>,
}

/// Whether both read the same tables in the same order by the same indexes.
#[must_use]
pub fn is_same_plan(one: &str, other: &str) -> bool {
    steps(one) == steps(other)
}

fn steps(plan: &str) -> Vec<PlanStep> {
    plan.lines().filter_map(step).collect()
}

/// `SEARCH TABLE orders AS o USING COVERING INDEX i (a=?)` of release 3.30 is `SEARCH o USING COVERING
/// INDEX i (a=?)` today.
fn step(line: &str) -> Option<PlanStep> {
    let (verb, rest) = line.trim().split_once(' ')?;
    let is_search = match verb {
        "SEARCH" => true,
        "SCAN" => false,
        _ => return None,
    };
    let ends =
        [" USING ", " VIRTUAL TABLE", " LEFT-JOIN", " RIGHT-JOIN", " FULL-JOIN", " EXISTS", " (~"];
    let end = ends.iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
    let (named, how) = rest.split_at(end);
    let named = named.strip_prefix("TABLE ").unwrap_or(named);
    let alias = named.rsplit_once(" AS ").map_or(named, |(_, alias)| alias);
    let table = alias.trim().to_lowercase();
    let is_made = table.starts_with("(subquery") || table.starts_with("subquery ");
    Some(PlanStep {
        // Numbers of subqueries count differently.
        table: if is_made { "(subquery)".to_owned() } else { table },
        is_search,
        index: index(how),
    })
}

fn index(how: &str) -> Option<String> {
    if how.starts_with(" VIRTUAL TABLE") {
        return Some("virtual table".to_owned());
    }
    let using = how.strip_prefix(" USING ")?;
    if using.starts_with("AUTOMATIC ") {
        return Some("automatic".to_owned());
    }
    let using = using.strip_prefix("COVERING ").unwrap_or(using);
    let name = using.strip_prefix("INDEX ").unwrap_or(using);
    let end = name.find(" (").or_else(|| name.find(" LEFT-JOIN")).unwrap_or(name.len());
    Some(name.get(..end)?.trim().to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_other_releases_make_no_difference() {
        for (one, other) in [
            (
                "SEARCH TABLE Orders AS o USING INDEX i (a=?)",
                "SEARCH o USING COVERING INDEX I (a=?)",
            ),
            ("SCAN TABLE t (~100000 rows)", "SCAN t"),
            ("SCAN SUBQUERY 1 AS x\nSCAN u", "SCAN x\nUSE TEMP B-TREE FOR ORDER BY\nSCAN u"),
            ("SCAN SUBQUERY 1", "SCAN (subquery-3)"),
            ("CO-ROUTINE x\n  SCAN t USING INDEX i", "SCAN t USING INDEX i LEFT-JOIN"),
            (
                "SEARCH TABLE t USING INTEGER PRIMARY KEY (rowid=?)",
                "SEARCH t USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN",
            ),
            ("SCAN TABLE f VIRTUAL TABLE INDEX 4:", "SCAN f VIRTUAL TABLE INDEX 0:M1"),
        ] {
            assert!(is_same_plan(one, other), "{:?} {:?}", steps(one), steps(other));
        }
    }

    #[test]
    fn another_table_index_order_or_a_full_scan_is_another_plan() {
        for (one, other) in [
            ("SCAN t", "SCAN u"),
            ("SCAN t USING INDEX i", "SCAN t"),
            ("SCAN t USING INDEX i", "SCAN t USING INDEX j"),
            ("SCAN t USING INDEX i", "SEARCH t USING INDEX i (a=?)"),
            ("SCAN t\nSCAN u", "SCAN u\nSCAN t"),
            ("SEARCH t USING AUTOMATIC COVERING INDEX (a=?)", "SEARCH t USING INDEX i (a=?)"),
        ] {
            assert!(!is_same_plan(one, other), "{one} / {other}");
        }
    }
}
