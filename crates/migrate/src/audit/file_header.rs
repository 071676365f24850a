//! File header and conflict clauses: numbers and rules of a SQLite file that PostgreSQL has no
//! equal for.

use rusqlite::Connection;

use crate::finding::{Finding, Lost};
use crate::source::SourceSchema;
use sql::tokens;

/// Findings on the header, and on the conflict clauses of tables that migration would create.
pub fn findings(
    connection: &Connection,
    schema: &SourceSchema,
    creates: bool,
) -> rusqlite::Result<Vec<Finding>> {
    let mut findings = header(connection)?;
    if !creates {
        return Ok(findings);
    }
    let mut written = connection.prepare(
        "SELECT coalesce(sql, '') FROM main.sqlite_schema WHERE type = 'table' AND name = ?1",
    )?;
    for table in &schema.tables {
        let sql: String = written.query_row([&table.name], |row| row.get(0))?;
        let clauses = conflict_clauses(&sql).into_iter();
        findings.extend(clauses.map(|clause| conflict(&table.name, &clause)));
    }
    Ok(findings)
}

fn header(connection: &Connection) -> rusqlite::Result<Vec<Finding>> {
    let number = |pragma: &str| {
        connection.query_row(&format!("PRAGMA main.{pragma}"), [], |row| row.get::<_, i64>(0))
    };
    let mut findings = Vec::new();
    let version = number("user_version")?;
    if version != 0 {
        let message = format!("{version} is not carried over: PostgreSQL has no such number");
        let fix = "keep it in a table if the application reads it";
        findings.push(Finding::warning("user_version", "PRAGMA user_version", message, fix));
    }
    let application = number("application_id")?;
    if application != 0 {
        let message = format!("{application} is not carried over: it tells kinds of files apart");
        findings.push(Finding::note("application_id", "PRAGMA application_id", message, ""));
    }
    Ok(findings)
}

/// The distinct actions after `ON CONFLICT` in a CREATE TABLE statement, except ABORT, which is
/// PostgreSQL's own.
fn conflict_clauses(sql: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for words in tokens(sql).windows(3) {
        let clause = words[2].text.to_ascii_uppercase();
        let is_clause = words[0].is_word("ON") && words[1].is_word("CONFLICT");
        if is_clause && clause != "ABORT" && !found.contains(&clause) {
            found.push(clause);
        }
    }
    found
}

fn conflict(table: &str, clause: &str) -> Finding {
    let message = format!(
        "ON CONFLICT {clause} is not carried over: PostgreSQL refuses a row that breaks a \
         constraint"
    );
    let fix = match clause {
        "REPLACE" => "write INSERT ... ON CONFLICT (key) DO UPDATE SET ... in the application",
        "IGNORE" => "write INSERT ... ON CONFLICT DO NOTHING in the application",
        _ => "PostgreSQL undoes the whole statement: see what the application expects",
    };
    Finding::warning("conflict_clause", table, message, fix).losing(Lost::ConflictClause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_conflict_clauses_outside_quotes() {
        let found = conflict_clauses(
            "CREATE TABLE t(a PRIMARY KEY ON CONFLICT Replace, b UNIQUE ON CONFLICT abort, \
             \"ON CONFLICT FAIL\" TEXT DEFAULT 'ON CONFLICT ROLLBACK', UNIQUE (a, b) ON /* so */ \
             CONFLICT ignore, c NOT NULL ON CONFLICT REPLACE)",
        );
        assert_eq!(found, ["REPLACE", "IGNORE"]);
        assert!(conflict_clauses("CREATE TABLE t(a UNIQUE ON CONFLICT").is_empty());
    }
}
