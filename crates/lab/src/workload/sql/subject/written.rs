//! The tables that the statements of a cell change, as a trial has left them: rows counted, and a sum
//! of their hashes in which their order does not count.

use std::collections::BTreeMap;

use engine::EngineKind;
use sql::{ChangedTable, changed_tables};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::SqlSubject;
use crate::error::RunError;
use crate::workload::TableComparison;
use crate::workload::sql::client::{SqlError, SqlSession};
use crate::workload::sql::value::AnswerValue;
use plan::{Levels, ResultComparison, Statement};
use record::WrittenTable;

/// Of a larger table the rows are counted only.
const DIGEST_ROWS_MAX: u64 = 5_000_000;
/// The digits to which numbers with a fraction are rounded: the last ones may differ.
const DIGITS_MAX: u8 = 12;

/// A table with what is known of it.
struct DigestTable {
    name: String,
    columns: Vec<DigestColumn>,
}

struct DigestColumn {
    name: String,
    /// The engine gives new rows a number here.
    numbered: bool,
}

/// The rule by which rows of a cell's tables are digested.
struct DigestRule {
    digits: u8,
    ignored: Vec<String>,
}

impl SqlSubject<'_> {
    /// The tables that the mix of `levels` has changed, by name.
    pub(super) fn tables_after(
        &mut self,
        levels: &Levels,
        wanted: TableComparison,
    ) -> Result<BTreeMap<String, WrittenTable>, RunError> {
        let (changed, rule, wanted) = self.changed_at(levels, wanted)?;
        let mut written = BTreeMap::new();
        if wanted == TableComparison::None || changed.is_empty() {
            return Ok(written);
        }
        let target = self.at(levels)?.0;
        let mut session = self.open(target)?;
        let kind = target.kind();
        let failed = |error: SqlError| error.at(&format!("{}, tables after a trial", self.label()));
        let names = self.stoppable(target, || names(session.as_mut(), kind)).map_err(failed)?;
        for name in names {
            let own: Vec<&ChangedTable> =
                changed.iter().filter(|one| one.name.eq_ignore_ascii_case(&name)).collect();
            if own.is_empty() {
                continue;
            }
            self.site.progress.set_message(format!("{}: comparing {name}", self.label()));
            let table = self.stoppable(target, || {
                let table = DigestTable { columns: columns(session.as_mut(), kind, &name)?, name };
                let state = state(session.as_mut(), &table, &own, &rule, wanted)?;
                Ok((table.name.to_lowercase(), state))
            });
            let (name, state) = table.map_err(failed)?;
            written.insert(name, state);
        }
        Ok(written)
    }

    /// The tables that the mix of `levels` changes, and how far they are compared.
    fn changed_at(
        &mut self,
        levels: &Levels,
        mut wanted: TableComparison,
    ) -> Result<(Vec<ChangedTable>, DigestRule, TableComparison), RunError> {
        let cell = self.cell(levels)?;
        let plan = self.site.plan;
        let mix = plan.operations_at(levels);
        let mut rule = DigestRule { digits: DIGITS_MAX, ignored: Vec::new() };
        let mut changed = Vec::new();
        let writing = cell.iter().zip(&plan.statements).zip(&mix);
        let writing = writing.filter(|((entry, _), one)| entry.script.writes && one.weight > 0);
        for ((entry, statement), _) in writing {
            rule.add(statement);
            wanted = wanted.min(match statement.answer {
                ResultComparison::None => TableComparison::None,
                ResultComparison::Count => TableComparison::Rows,
                _ => TableComparison::Digest,
            });
            changed.extend(entry.script.steps.iter().flat_map(|step| changed_tables(&step.sql)));
        }
        Ok((changed, rule, wanted))
    }
}

impl DigestRule {
    fn add(&mut self, statement: &Statement) {
        self.digits = self.digits.min(statement.digits);
        self.ignored.extend(statement.ignore_columns.iter().cloned());
    }

    /// Whether a column is left out: one that is ignored, or whose numbers the engine gives to new
    /// rows. It gives them to rehearsals too, and what it gave stays given.
    fn leaves_out(&self, column: &DigestColumn, changed: &[&ChangedTable]) -> bool {
        let is = |name: &String| name.eq_ignore_ascii_case(&column.name);
        let is_given = |table: &&ChangedTable| {
            table.columns.as_ref().is_some_and(|columns| !columns.iter().any(is))
        };
        self.ignored.iter().any(is) || (column.numbered && changed.iter().any(is_given))
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn text(value: Option<&AnswerValue>) -> String {
    match value {
        Some(AnswerValue::Text(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

fn names(session: &mut dyn SqlSession, kind: EngineKind) -> Result<Vec<String>, SqlError> {
    let query = match kind {
        EngineKind::Postgres => {
            "SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'p') \
             AND pg_table_is_visible(oid)"
        }
        _ => "SELECT name FROM sqlite_schema WHERE type = 'table'",
    };
    let table = session.query(query)?;
    Ok(table.rows.iter().map(|row| text(row.first())).collect())
}

/// The columns in the order of their names, which is the same on every engine.
fn columns(
    session: &mut dyn SqlSession,
    kind: EngineKind,
    table: &str,
) -> Result<Vec<DigestColumn>, SqlError> {
    let name = table.replace('\'', "''");
    let query = match kind {
        EngineKind::Postgres => format!(
            "SELECT a.attname::text, CASE WHEN pg_get_serial_sequence('{}', a.attname) IS NOT NULL \
             OR pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%' THEN 1 ELSE 0 END \
             FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid \
             AND d.adnum = a.attnum WHERE a.attrelid = '{}'::regclass AND a.attnum > 0 \
             AND NOT a.attisdropped",
            quoted(table).replace('\'', "''"),
            quoted(table).replace('\'', "''")
        ),
        _ => format!(
            "SELECT name, pk = 1 AND upper(type) = 'INTEGER' \
             AND (SELECT count(*) FROM pragma_table_info('{name}') WHERE pk > 0) = 1 \
             FROM pragma_table_info('{name}')"
        ),
    };
    let answer = session.query(&query)?;
    let column = |row: &Vec<AnswerValue>| DigestColumn {
        name: text(row.first()),
        numbered: row.get(1) == Some(&AnswerValue::Integer(1)),
    };
    let mut columns: Vec<DigestColumn> = answer.rows.iter().map(column).collect();
    columns.sort_by_key(|column| column.name.to_lowercase());
    Ok(columns)
}

fn state(
    session: &mut dyn SqlSession,
    table: &DigestTable,
    changed: &[&ChangedTable],
    rule: &DigestRule,
    wanted: TableComparison,
) -> Result<WrittenTable, SqlError> {
    let name = quoted(&table.name);
    let counted = session.query(&format!("SELECT count(*) FROM {name}"))?;
    let rows = match counted.rows.first().and_then(|row| row.first()) {
        Some(AnswerValue::Integer(rows)) => u64::try_from(*rows).unwrap_or_default(),
        _ => 0,
    };
    let mut state = WrittenTable { rows, ..WrittenTable::default() };
    if wanted == TableComparison::Rows || rows > DIGEST_ROWS_MAX {
        return Ok(state);
    }
    let (left_out, compared): (Vec<_>, Vec<_>) =
        table.columns.iter().partition(|column| rule.leaves_out(column, changed));
    state.left_out = left_out.iter().map(|column| column.name.to_lowercase()).collect();
    if compared.is_empty() {
        return Ok(state);
    }
    let columns: Vec<String> = compared.iter().map(|column| quoted(&column.name)).collect();
    let (mut sum, mut of_columns) = (0_u128, vec![0_u64; compared.len()]);
    let query = format!("SELECT {} FROM {name}", columns.join(", "));
    session.scan(&query, &mut |row| {
        let mut bytes = Vec::new();
        for (value, of_column) in row.iter().zip(&mut of_columns) {
            let begun = bytes.len();
            push(&value.rounded(rule.digits), &mut bytes);
            *of_column = of_column.wrapping_add(xxh3_64(bytes.get(begun..).unwrap_or_default()));
        }
        sum = sum.wrapping_add(xxh3_128(&bytes));
    })?;
    state.digest = Some(format!("{sum:032x}"));
    let of_columns = compared.iter().zip(of_columns);
    state.columns = of_columns
        .map(|(column, sum)| (column.name.to_lowercase(), format!("{sum:016x}")))
        .collect();
    Ok(state)
}

/// Adds a value so that no two rows of other values have the same bytes.
fn push(value: &AnswerValue, bytes: &mut Vec<u8>) {
    let mut add = |kind: u8, value: &[u8]| {
        bytes.push(kind);
        bytes.extend((value.len() as u64).to_le_bytes());
        bytes.extend(value);
    };
    match value {
        AnswerValue::Null => add(0, &[]),
        AnswerValue::Integer(integer) => add(1, &integer.to_le_bytes()),
        AnswerValue::Double(double) => add(2, &double.to_bits().to_le_bytes()),
        // SQLite keeps the text of a date, where other engines make it a time at midnight.
        AnswerValue::Text(text) => {
            add(3, text.strip_suffix(" 00:00:00").unwrap_or(text).as_bytes());
        }
        AnswerValue::Bytes(blob) => add(4, blob),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_digits_do_not_count_and_places_do() {
        let hash = |row: &[AnswerValue]| {
            let mut bytes = Vec::new();
            row.iter().for_each(|value| push(&value.rounded(12), &mut bytes));
            bytes
        };
        let double = AnswerValue::Double;
        assert_eq!(hash(&[double(0.1 + 0.2)]), hash(&[double(0.3)]));
        assert_eq!(hash(&[double(3.000_000_000_000_000_4)]), hash(&[AnswerValue::Integer(3)]));
        assert_ne!(hash(&[double(0.3)]), hash(&[double(0.300_001)]));
        let (text, null) = (AnswerValue::text, AnswerValue::Null);
        assert_ne!(hash(&[text("a"), text("bc")]), hash(&[text("ab"), text("c")]));
        assert_ne!(hash(&[null.clone(), text("a")]), hash(&[text("a"), null]));
        assert_eq!(hash(&[text("2022-01-01")]), hash(&[text("2022-01-01T00:00:00Z")]));
        let key = 9_007_199_254_740_993;
        assert_ne!(hash(&[AnswerValue::Integer(key)]), hash(&[AnswerValue::Integer(key + 1)]));
    }
}
