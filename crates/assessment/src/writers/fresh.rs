//! Fresh values for unique columns: an INSERT of a log is measured many times, and each time gives these
//! columns other values of the same kind.

use std::collections::BTreeMap;

use migrate::{SourceSchema, SourceTable};
use plan::{Given, Parameter};
use rusqlite::Connection;
use sql::{rewritten, tokens};

use super::insert::Insert;
use crate::derive::{column_name, quote};

/// Values that a fresh parameter is drawn from in one trial.
pub const FRESH: i64 = 10_000_000;
/// The first fresh number, so that all have as many digits.
const FIRST: i64 = 1_000_000_000;
/// Digits of a fresh number, which end a fresh text.
const DIGITS: usize = 10;

/// A text with fresh values where they must be unique, and the parameters that give them.
pub struct FreshValues {
    pub text: String,
    pub parameters: BTreeMap<String, Parameter>,
}

/// A value that must be another one each time.
struct UniqueValue {
    table: String,
    column: String,
    /// The parameter or literal that the INSERT gives.
    written: String,
    /// Its first byte in the transaction.
    start: usize,
}

/// Replaces the values of unique columns in the INSERTs of a transaction, and the same values in its
/// other statements. `sets` gives values of its parameters, `taken` counts the fresh values of all
/// transactions. An error says which value cannot be made.
pub fn with_fresh_values(
    text: &str,
    sets: &[BTreeMap<String, Given>],
    schema: &SourceSchema,
    connection: &Connection,
    taken: &mut i64,
) -> Result<FreshValues, String> {
    let all = tokens(text);
    let mut parameters = BTreeMap::new();
    let mut replaced: BTreeMap<usize, String> = BTreeMap::new();
    let mut begin = 0;
    for statement in text.split(";\n") {
        for unique in unique_values(schema, statement, begin)? {
            if replaced.contains_key(&unique.start) {
                continue;
            }
            let name = match parameters.len() {
                0 => "fresh".to_owned(),
                count => format!("fresh{}", count + 1),
            };
            let value = unique.fresh(&name, sets)?;
            let same = unique.same(sets);
            for token in &all {
                if token.start == unique.start || same.iter().any(|one| one == token.text) {
                    replaced.entry(token.start).or_insert_with(|| value.clone());
                }
            }
            let is_text = length_of_text(&unique.written, sets).is_some();
            let range = unique.range(is_text, schema, connection, *taken);
            let range = range.map_err(|error| error.to_string())?;
            parameters.insert(name, Parameter::Range { range });
            *taken += 1;
        }
        begin += statement.len() + ";\n".len();
    }
    let text = rewritten(text, |token, _| replaced.get(&token.start).cloned());
    Ok(FreshValues { text, parameters })
}

impl UniqueValue {
    /// The range of fresh numbers after those of `taken` other values. Whole numbers go below all that are
    /// there: above them SQLite itself numbers rows.
    fn range(
        &self,
        is_text: bool,
        schema: &SourceSchema,
        connection: &Connection,
        taken: i64,
    ) -> rusqlite::Result<[i64; 2]> {
        let taken = taken.saturating_mul(FRESH);
        if is_text {
            let first = FIRST.saturating_add(taken);
            return Ok([first, first.saturating_add(FRESH - 1)]);
        }
        let table = schema.table(&self.table);
        let place = table.and_then(|table| Some((table, table.column(&self.column)?)));
        let least = place.map(|(table, column)| below_all(table, column, connection));
        let last = least.transpose()?.unwrap_or_default().min(-FIRST).saturating_sub(taken);
        Ok([last.saturating_sub(FRESH - 1), last])
    }

    /// The expression of a fresh value, from the parameter `name`.
    fn fresh(&self, name: &str, sets: &[BTreeMap<String, Given>]) -> Result<String, String> {
        let written = &self.written;
        match length_of_text(written, sets) {
            None => Ok(format!(":{name}")),
            Some(length) if length >= DIGITS => Ok(format!(
                "substr(CAST({written} AS TEXT), 1, {}) || CAST(:{name} AS TEXT)",
                length - DIGITS
            )),
            Some(length) => Err(format!(
                "it inserts {}.{}, which must be unique, and {} have no room for fresh ones: name it by \
                 --sql with an expression that is new each time",
                self.table,
                self.column,
                notation::counted(length as u64, "character")
            )),
        }
    }

    /// The same value elsewhere in the transaction, as in keys of rows that refer to the inserted one:
    /// an equal text, and parameters that equal it in every set. Equal numbers may mean other things.
    fn same(&self, sets: &[BTreeMap<String, Given>]) -> Vec<String> {
        let written = &self.written;
        match (written.strip_prefix(':'), sets.first()) {
            (Some(name), Some(first)) => {
                let is_same =
                    |other: &&String| sets.iter().all(|set| set.get(*other) == set.get(name));
                first.keys().filter(is_same).map(|name| format!(":{name}")).collect()
            }
            _ if written.starts_with('\'') => vec![written.clone()],
            _ => Vec::new(),
        }
    }
}

/// A number below all of a column.
fn below_all(table: &SourceTable, column: usize, connection: &Connection) -> rusqlite::Result<i64> {
    let (name, of) = (column_name(table, column), quote(&table.name));
    let sql = format!("SELECT coalesce(min(CAST({name} AS INTEGER)), 0) FROM {of}");
    let least: i64 = connection.query_row(&sql, [], |row| row.get(0))?;
    Ok(least.saturating_sub(1))
}

/// A number that no such column holds, nor any greater one.
pub fn beyond_all(
    table: &SourceTable,
    columns: &[usize],
    connection: &Connection,
) -> rusqlite::Result<i64> {
    let mut greatest = 0;
    for column in columns {
        let sql = format!(
            "SELECT coalesce(max(CAST({} AS INTEGER)), 0) FROM {}",
            column_name(table, *column),
            quote(&table.name)
        );
        let found: i64 = connection.query_row(&sql, [], |row| row.get(0))?;
        greatest = greatest.max(found);
    }
    Ok(greatest.saturating_add(1))
}

/// The characters of the shortest value; none of numbers.
fn length_of_text(written: &str, sets: &[BTreeMap<String, Given>]) -> Option<usize> {
    match written.strip_prefix(':') {
        None => Some(tokens(written).first()?.text_value()?.chars().count()),
        Some(name) => {
            let lengths = sets.iter().filter_map(|set| match set.get(name)? {
                Given::Text(text) => Some(text.chars().count()),
                _ => None,
            });
            lengths.min()
        }
    }
}

/// The values of an INSERT that a unique key of its table needs fresh each time; the statement begins at
/// the byte `begin` of its transaction.
fn unique_values(
    schema: &SourceSchema,
    statement: &str,
    begin: usize,
) -> Result<Vec<UniqueValue>, String> {
    let all = tokens(statement);
    let Some(insert) = Insert::read(&all, schema) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for key in insert.given_keys() {
        let names = insert.table.names(key.iter().copied());
        for row in &insert.rows {
            // SQLite numbers a key by itself then; other unique keys take NULL as often as it comes.
            if key.iter().any(|column| insert.is_null(*column, row, &all)) {
                continue;
            }
            let value = key.iter().find_map(|column| insert.free_value(*column, row, &all));
            let (column, token) = value.ok_or_else(|| {
                format!(
                    "it inserts {}.{names}, which must be unique, by values that cannot be made fresh: name \
                     it by --sql with an expression that is new each time",
                    insert.table.name
                )
            })?;
            let table = insert.table.name.clone();
            let column = insert.table.columns[column].name.clone();
            let (written, start) = (token.text.to_owned(), begin + token.start);
            found.push(UniqueValue { table, column, written, start });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = "CREATE TABLE orders(id CHAR(36) PRIMARY KEY, n INTEGER); \
        CREATE TABLE lines(id INTEGER PRIMARY KEY, order_id REFERENCES orders, n INTEGER); \
        CREATE TABLE mails(id INTEGER PRIMARY KEY, mail TEXT UNIQUE, kind TEXT); \
        INSERT INTO mails VALUES (3000000000, 'a', 'b')";

    fn fresh(text: &str, sets: &[&[(&str, Given)]]) -> Result<FreshValues, String> {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(SCHEMA).unwrap();
        let schema = migrate::schema(&connection).unwrap();
        let set = |set: &&[(&str, Given)]| {
            set.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
        };
        let sets: Vec<BTreeMap<String, Given>> = sets.iter().map(set).collect();
        with_fresh_values(text, &sets, &schema, &connection, &mut 0)
    }

    fn text(text: &str) -> Given {
        Given::Text(text.to_owned())
    }

    #[test]
    fn keys_are_fresh_and_rows_that_refer_to_them_follow() {
        let uuid = "0188a5eb-0000-7000-8000-000000000001";
        let sets = [("v1", text(uuid)), ("v2", Given::Integer(2)), ("v3", text(uuid))];
        let found = fresh(
            "INSERT INTO orders (id, n) VALUES (:v1, :v2);\nINSERT INTO lines (order_id, n) VALUES (:v3, :v2)",
            &[&sets],
        );
        let found = found.unwrap();
        let value = "substr(CAST(:v1 AS TEXT), 1, 26) || CAST(:fresh AS TEXT)";
        let expected = format!(
            "INSERT INTO orders (id, n) VALUES ({value}, :v2);\nINSERT INTO lines (order_id, n) VALUES ({value}, :v2)"
        );
        assert_eq!(found.text, expected);
        let range = [1_000_000_000, 1_009_999_999];
        assert_eq!(
            found.parameters,
            BTreeMap::from([("fresh".to_owned(), Parameter::Range { range })])
        );
    }

    #[test]
    fn each_row_and_each_key_has_values_of_its_own() {
        let found = fresh(
            "INSERT INTO mails VALUES (1, 'first@example.org', 'x'), (2, 'other@example.org', 'x')",
            &[],
        );
        let found = found.unwrap();
        assert_eq!(
            found.text,
            "INSERT INTO mails VALUES (:fresh3, substr(CAST('first@example.org' AS TEXT), 1, 7) || \
             CAST(:fresh AS TEXT), 'x'), (:fresh4, substr(CAST('other@example.org' AS TEXT), 1, 7) || \
             CAST(:fresh2 AS TEXT), 'x')"
        );
        let Parameter::Range { range } = &found.parameters["fresh3"] else { unreachable!() };
        // Below all, since above them SQLite numbers rows.
        assert_eq!(*range, [-1_029_999_999, -1_020_000_000]);
    }

    #[test]
    fn conflict_rules_keep_values_and_short_texts_have_no_room() {
        for same in [
            "INSERT INTO mails (mail) VALUES ('a@b') ON CONFLICT (mail) DO NOTHING",
            "INSERT OR REPLACE INTO mails (mail) VALUES ('a@b')",
            "INSERT INTO lines (n) VALUES (1)",
            "INSERT INTO lines VALUES (NULL, 1, 1)",
            "UPDATE mails SET kind = 'x' WHERE id = 1",
        ] {
            assert_eq!(fresh(same, &[]).unwrap().text, same);
        }
        let short = fresh("INSERT INTO mails (mail) VALUES ('a@b')", &[]).err().unwrap();
        assert!(short.contains("mails.mail") && short.contains("3 characters"), "{short}");
        let made = fresh("INSERT INTO mails (mail) VALUES (lower('A@b'))", &[]).err().unwrap();
        assert!(made.contains("cannot be made fresh"), "{made}");
    }
}
