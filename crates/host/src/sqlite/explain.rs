//! The plan of one statement of SQLite, asked for without running it.

use std::collections::BTreeMap;

use rusqlite::{Connection, Statement};

/// SQLite's EXPLAIN QUERY PLAN, two blanks for each step down. `bind` gives the parameters their
/// values, on which a plan depends where ANALYZE has left samples (`sqlite_stat4`); without them
/// SQLite plans for any value.
pub fn explain(
    connection: &Connection,
    sql: &str,
    bind: impl FnOnce(&mut Statement<'_>) -> Result<(), rusqlite::Error>,
) -> Result<String, rusqlite::Error> {
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
    bind(&mut statement)?;
    let mut rows = statement.raw_query();
    let mut steps: Vec<(i64, i64, String)> = Vec::new();
    while let Some(row) = rows.next()? {
        steps.push((row.get(0)?, row.get(1)?, row.get(3)?));
    }
    Ok(plan_tree(steps))
}

/// Number, parent and text of each step of a plan, as lines.
pub fn plan_tree(steps: impl IntoIterator<Item = (i64, i64, String)>) -> String {
    let mut depths: BTreeMap<i64, usize> = BTreeMap::new();
    let line = |(id, parent, detail): (i64, i64, String)| {
        let depth = depths.get(&parent).map_or(0, |depth| depth + 1);
        depths.insert(id, depth);
        format!("{}{detail}", "  ".repeat(depth))
    };
    steps.into_iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::shape;

    #[test]
    fn sqlite_tells_index_from_scan_and_values_do_not_matter() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE t (a INTEGER PRIMARY KEY, b)").unwrap();
        let plan = |sql: &str| explain(&connection, sql, |_| Ok(())).unwrap();
        let hash = |sql: &str| shape(&plan(sql));
        let search = plan("SELECT b FROM t WHERE a BETWEEN ?1 AND ?2");
        assert!(search.starts_with("SEARCH t USING"), "{search}");
        assert_eq!(
            hash("SELECT b FROM t WHERE a BETWEEN 1 AND 7"),
            hash("SELECT b FROM t WHERE a BETWEEN 1 AND 365")
        );
        assert_ne!(
            hash("SELECT b FROM t WHERE a > 7"),
            hash("SELECT b FROM t WHERE b > 7"),
            "{search}"
        );
        let nested = plan("SELECT * FROM (SELECT b FROM t UNION SELECT a FROM t)");
        assert!(nested.lines().any(|line| line.starts_with("  ")), "{nested}");
    }
}
