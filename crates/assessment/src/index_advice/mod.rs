//! Indexes that serve given statements, chosen by SQLite's own planner (the method of SQLite's
//! `sqlite3expert.c`): candidates from the terms that the planner could use, made in a database in
//! memory with the statistics of the real one; those that its plans name are proposed.

mod probe;
mod schema;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use connect::sqlite::quote_identifier;
use host::sqlite;
use rusqlite::Connection;

use self::probe::{Probe, SearchTerm, TableScan};
use self::schema::{FileSchema, FileTable, IndexColumn};

/// An index that a plan would use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    pub name: String,
    pub table: String,
    columns: Vec<IndexColumn>,
    /// `CREATE INDEX`, without a semicolon.
    pub sql: String,
}

/// Proposals for `statements`. `file` is only read; its statistics are those of ANALYZE.
pub fn propose(file: &Connection, statements: &[&str]) -> rusqlite::Result<Vec<Proposal>> {
    let schema = FileSchema::read(file)?;
    let probe = Probe::new(&schema.declarations(), &schema.views)?;
    let mut candidates = CandidateIndexes { schema: &schema, found: Vec::new() };
    for sql in statements {
        // One that a virtual table cannot answer gets no proposal.
        for scan in probe.scans(sql).unwrap_or_default() {
            candidates.add(&scan);
        }
    }
    let mut candidates = candidates.found;
    let planner = schema.planner()?;
    let mut statistics = TableStatistics { file, distinct: BTreeMap::new() };
    for candidate in &candidates {
        planner.execute_batch(&candidate.sql)?;
        let stat = statistics.of(candidate)?;
        planner.execute(
            "INSERT INTO sqlite_stat1(tbl, idx, stat) VALUES (?1, ?2, ?3)",
            [&candidate.table, &candidate.name, &stat],
        )?;
    }
    planner.execute_batch("ANALYZE sqlite_schema")?;
    let used = indexes_used(&planner, statements);
    candidates.retain(|candidate| used.iter().any(|used| used.contains(&candidate.name)));
    Ok(without_prefixes(candidates))
}

/// By statement the indexes that its plan names.
pub fn indexes_used(connection: &Connection, statements: &[&str]) -> Vec<BTreeSet<String>> {
    let plans = statements.iter().map(|sql| sqlite::explain(connection, sql, |_| Ok(())));
    plans.map(|plan| named_in(&plan.unwrap_or_default())).collect()
}

/// `SEARCH orders USING COVERING INDEX orders_day (day=?)` names `orders_day`.
fn named_in(plan: &str) -> BTreeSet<String> {
    let words: Vec<&str> = plan.split_whitespace().collect();
    let named = words.windows(2).filter(|pair| pair[0] == "INDEX");
    named.map(|pair| pair[1].to_owned()).collect()
}

/// An index whose columns begin another proposed one serves nothing that the longer does not.
fn without_prefixes(proposals: Vec<Proposal>) -> Vec<Proposal> {
    let begins = |short: &Proposal, long: &Proposal| {
        let backwards = |columns: &[IndexColumn]| -> Vec<IndexColumn> {
            let turned = |one: &IndexColumn| IndexColumn { descends: !one.descends, ..one.clone() };
            columns.iter().map(turned).collect()
        };
        short.table == long.table
            && short.columns.len() < long.columns.len()
            && (long.columns.starts_with(&short.columns)
                || long.columns.starts_with(&backwards(&short.columns)))
    };
    let kept = |one: &&Proposal| !proposals.iter().any(|other| begins(one, other));
    proposals.iter().filter(kept).cloned().collect()
}

struct CandidateIndexes<'s> {
    schema: &'s FileSchema,
    found: Vec<Proposal>,
}

impl CandidateIndexes<'_> {
    /// The equality columns; these and one range; these and the order.
    fn add(&mut self, scan: &TableScan) {
        let Some(table) = self.schema.tables.iter().find(|table| table.name == scan.table) else {
            return;
        };
        let equal: Vec<IndexColumn> = table.searched(&scan.equal);
        self.add_index(table, equal.clone());
        for range in table.searched(&scan.range) {
            self.add_index(table, extended(&equal, &[range]));
        }
        let order: Vec<IndexColumn> = scan
            .order
            .iter()
            .filter_map(|(column, descends)| table.column(*column, *descends))
            .collect();
        if order.len() == scan.order.len() {
            self.add_index(table, extended(&equal, &order));
        }
    }

    fn add_index(&mut self, table: &FileTable, columns: Vec<IndexColumn>) {
        let exists = |one: &Proposal| {
            let turned = one.columns.iter().zip(&columns).all(|(one, other)| {
                (&one.name, &one.collation) == (&other.name, &other.collation)
                    && one.descends != other.descends
            });
            let same = one.columns == columns || one.columns.len() == columns.len() && turned;
            one.table == table.name && same
        };
        let is_known = self.found.iter().any(exists);
        if columns.is_empty() || is_known || table.has_index(&columns) {
            return;
        }
        let name = self.free_name(table, &columns);
        let listed: Vec<String> = columns.iter().map(IndexColumn::sql).collect();
        let (quoted, of) = (plain_or_quoted(&name), plain_or_quoted(&table.name));
        let sql = format!("CREATE INDEX {quoted} ON {of}({})", listed.join(", "));
        self.found.push(Proposal { name, table: table.name.clone(), columns, sql });
    }

    /// `orders_customer_id_day`, with a number where something has that name.
    fn free_name(&self, table: &FileTable, columns: &[IndexColumn]) -> String {
        let mut name = table.name.clone();
        for column in columns {
            name.push('_');
            name.push_str(&column.name);
        }
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
        let name: String = name.chars().map(plain).take(NAME_LENGTH_MAX).collect();
        let is_taken = |name: &str| {
            self.schema.names.contains(name) || self.found.iter().any(|one| one.name == name)
        };
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        std::iter::once(name.clone())
            .chain(numbered)
            .find(|name| !is_taken(name) && !name.starts_with("sqlite_"))
            .unwrap_or(name)
    }
}

/// PostgreSQL takes names of 63 bytes; a number is added to some.
const NAME_LENGTH_MAX: usize = 58;

/// `first` and what of `more` is not in it.
fn extended(first: &[IndexColumn], more: &[IndexColumn]) -> Vec<IndexColumn> {
    let mut all = first.to_vec();
    for column in more {
        if !all.iter().any(|known| known.name == column.name) {
            all.push(column.clone());
        }
    }
    all
}

/// Words beside those of queries that are not names without quotes.
const RESERVED: [&str; 18] = [
    "add",
    "alter",
    "autoincrement",
    "commit",
    "create",
    "default",
    "deferrable",
    "delete",
    "drop",
    "index",
    "insert",
    "primary",
    "references",
    "returning",
    "table",
    "to",
    "transaction",
    "update",
];

fn plain_or_quoted(name: &str) -> String {
    let is_plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && !crate::names::is_grammar(name)
        && !RESERVED.contains(&name);
    if is_plain { name.to_owned() } else { quote_identifier(name) }
}

/// The statistics that ANALYZE would write for an index that does not exist yet.
struct TableStatistics<'c> {
    file: &'c Connection,
    /// By table and columns the number of rows that differ in them.
    distinct: BTreeMap<(String, String), i64>,
}

impl TableStatistics<'_> {
    /// As in `sqlite_stat1`: the rows, then for one, two ... columns the rows of equal values.
    fn of(&mut self, proposal: &Proposal) -> rusqlite::Result<String> {
        let table = quote_identifier(&proposal.table);
        let rows = self.count(&proposal.table, "", &format!("SELECT count(*) FROM {table}"))?;
        let mut stat = rows.to_string();
        let mut columns: Vec<String> = Vec::new();
        for column in &proposal.columns {
            let name = quote_identifier(&column.name);
            columns.push(match &column.collation {
                Some(collation) => format!("{name} COLLATE {}", quote_identifier(collation)),
                None => name,
            });
            let listed = columns.join(", ");
            let sql = format!("SELECT count(*) FROM (SELECT DISTINCT {listed} FROM {table})");
            let distinct = self.count(&proposal.table, &listed, &sql)?.max(1);
            stat.push_str(&format!(" {}", ((rows + distinct - 1) / distinct).max(1)));
        }
        Ok(stat)
    }

    fn count(&mut self, table: &str, columns: &str, sql: &str) -> rusqlite::Result<i64> {
        let key = (table.to_owned(), columns.to_owned());
        if let Some(known) = self.distinct.get(&key) {
            return Ok(*known);
        }
        let count = self.file.query_row(sql, [], |row| row.get(0))?;
        self.distinct.insert(key, count);
        Ok(count)
    }
}

impl FileTable {
    /// Columns of search terms; the rowid needs no index.
    fn searched(&self, terms: &[SearchTerm]) -> Vec<IndexColumn> {
        let mut columns: Vec<IndexColumn> = Vec::new();
        for term in terms {
            let Some(mut column) = self.column(term.column, false) else { continue };
            let own = self.collations.get(&column.name).map_or("BINARY", String::as_str);
            if !term.collation.eq_ignore_ascii_case(own) {
                column.collation = Some(term.collation.clone());
            }
            if !columns.iter().any(|known| known.name == column.name) {
                columns.push(column);
            }
        }
        columns
    }
}
