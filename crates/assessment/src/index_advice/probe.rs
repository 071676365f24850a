//! Terms by which SQLite's planner could search or sort a table, as it offers them to a virtual
//! table of the same columns (the method of SQLite's `sqlite3expert.c`).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_int};
use std::sync::Arc;

use parking_lot::Mutex;
use rusqlite::vtab::{
    Context, CreateVTab, Filters, IndexConstraintOp, IndexInfo, Module, VTab, VTabConnection,
    VTabCursor, VTabKind, sqlite3_vtab, sqlite3_vtab_cursor,
};
use rusqlite::{Connection, Result};

/// The module's name in `CREATE VIRTUAL TABLE`.
const MODULE: &str = "crossover_probe";

/// A column in a WHERE or ON clause, with the collation that compares it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SearchTerm {
    pub column: usize,
    pub collation: String,
}

/// One way in which a statement could search or sort a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TableScan {
    pub table: String,
    pub equal: Vec<SearchTerm>,
    pub range: Vec<SearchTerm>,
    /// Columns of ORDER BY, GROUP BY or DISTINCT, and whether each descends.
    pub order: Vec<(usize, bool)>,
}

/// A database in memory whose tables hold nothing but report what the planner asks of them.
pub struct Probe {
    connection: Connection,
    scans: Arc<Mutex<Vec<TableScan>>>,
}

/// The state that all virtual tables of a probe share.
struct ProbeTables {
    /// `CREATE TABLE` by name.
    declared: BTreeMap<String, CString>,
    scans: Arc<Mutex<Vec<TableScan>>>,
}

impl Probe {
    /// `tables` are names with their `CREATE TABLE`, `views` are `CREATE VIEW`s. One that a virtual
    /// table cannot have is left out; statements on it cannot be prepared.
    pub fn new(tables: &[(String, String)], views: &[String]) -> Result<Self> {
        let connection = Connection::open_in_memory()?;
        let scans = Arc::new(Mutex::new(Vec::new()));
        let declared = tables
            .iter()
            .filter_map(|(name, sql)| Some((name.clone(), CString::new(sql.as_str()).ok()?)))
            .collect();
        let known = ProbeTables { declared, scans: scans.clone() };
        connection.create_module(
            MODULE,
            const { &Module::<ProbeTable>::read_only_module() },
            Some(known),
        )?;
        for (name, _) in tables {
            let name = connect::sqlite::quote_identifier(name);
            let _ =
                connection.execute_batch(&format!("CREATE VIRTUAL TABLE {name} USING {MODULE}"));
        }
        for view in views {
            let _ = connection.execute_batch(view);
        }
        Ok(Self { connection, scans })
    }

    /// The searches that the planner considers for a statement, each once.
    pub fn scans(&self, sql: &str) -> Result<Vec<TableScan>> {
        self.seen().clear();
        self.connection.prepare(sql)?;
        let mut scans = std::mem::take(&mut *self.seen());
        scans.sort();
        scans.dedup();
        Ok(scans)
    }

    fn seen(&self) -> parking_lot::MutexGuard<'_, Vec<TableScan>> {
        self.scans.lock()
    }
}

#[repr(C)]
struct ProbeTable {
    /// Has to be the first field.
    base: sqlite3_vtab,
    name: String,
    scans: Arc<Mutex<Vec<TableScan>>>,
}

fn failed(message: &str) -> rusqlite::Error {
    rusqlite::Error::ModuleError(message.to_owned())
}

#[expect(unsafe_code, reason = "sqlite3_vtab is the first field of a repr(C) struct")]
unsafe impl VTab<'_> for ProbeTable {
    type Aux = ProbeTables;
    type Cursor = ProbeCursor;

    fn connect(
        _: &mut VTabConnection,
        known: Option<&ProbeTables>,
        _: &[u8],
        _: &[u8],
        table: &[u8],
        _: &[&[u8]],
    ) -> Result<(Cow<'static, CStr>, Self)> {
        let name = std::str::from_utf8(table)?.to_owned();
        let known = known.ok_or_else(|| failed("no tables"))?;
        let declared = known.declared.get(&name).ok_or_else(|| failed("unknown table"))?;
        let scans = known.scans.clone();
        Ok((Cow::Owned(declared.clone()), Self { base: sqlite3_vtab::default(), name, scans }))
    }

    fn best_index(&self, info: &mut IndexInfo) -> Result<bool> {
        use IndexConstraintOp::{
            SQLITE_INDEX_CONSTRAINT_EQ as Equal, SQLITE_INDEX_CONSTRAINT_GE as AtLeast,
            SQLITE_INDEX_CONSTRAINT_GT as Above, SQLITE_INDEX_CONSTRAINT_LE as AtMost,
            SQLITE_INDEX_CONSTRAINT_LT as Below,
        };
        let mut scan = TableScan { table: self.name.clone(), ..TableScan::default() };
        let mut used = Vec::new();
        for (place, constraint) in info.constraints().enumerate() {
            let Ok(column) = usize::try_from(constraint.column()) else { continue };
            let terms = match constraint.operator() {
                Equal => &mut scan.equal,
                AtLeast | Above | AtMost | Below => &mut scan.range,
                _ => continue,
            };
            if !constraint.is_usable() {
                continue;
            }
            let term = SearchTerm { column, collation: info.collation(place)?.to_owned() };
            if !terms.contains(&term) {
                terms.push(term);
            }
            used.push(place);
        }
        for order in info.order_bys() {
            if let Ok(column) = usize::try_from(order.column()) {
                scan.order.push((column, order.is_order_by_desc()));
            }
        }
        let terms = used.len() + scan.order.len();
        for (number, place) in used.into_iter().enumerate() {
            let number = c_int::try_from(number + 1).unwrap_or(c_int::MAX);
            info.constraint_usage(place).set_argv_index(number);
        }
        info.set_estimated_cost(1e6 / (terms as f64 + 1.0));
        if terms > 0 {
            self.scans.lock().push(scan);
        }
        Ok(true)
    }

    fn open(&mut self) -> Result<ProbeCursor> {
        Ok(ProbeCursor { _base: sqlite3_vtab_cursor::default() })
    }
}

impl CreateVTab<'_> for ProbeTable {
    const KIND: VTabKind = VTabKind::Default;
}

/// A cursor over no row.
#[repr(C)]
struct ProbeCursor {
    /// Has to be the first field.
    _base: sqlite3_vtab_cursor,
}

#[expect(unsafe_code, reason = "sqlite3_vtab_cursor is the first field of a repr(C) struct")]
unsafe impl VTabCursor for ProbeCursor {
    fn filter(&mut self, _: c_int, _: Option<&str>, _: &Filters<'_>) -> Result<()> {
        Ok(())
    }

    fn next(&mut self) -> Result<()> {
        Ok(())
    }

    fn eof(&self) -> bool {
        true
    }

    fn column(&self, _: &mut Context, _: c_int) -> Result<()> {
        Ok(())
    }

    fn rowid(&self) -> Result<i64> {
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scans(sql: &str) -> Vec<TableScan> {
        let tables = [
            ("orders", "CREATE TABLE orders(id INTEGER PRIMARY KEY, customer, day TEXT, total)"),
            ("customers", "CREATE TABLE customers(id INTEGER PRIMARY KEY, name COLLATE NOCASE)"),
        ]
        .map(|(name, sql)| (name.to_owned(), sql.to_owned()));
        let view = "CREATE VIEW large AS SELECT * FROM orders WHERE total > 9".to_owned();
        Probe::new(&tables, &[view]).unwrap().scans(sql).unwrap()
    }

    fn columns(terms: &[SearchTerm]) -> Vec<usize> {
        terms.iter().map(|term| term.column).collect()
    }

    #[test]
    fn equality_range_and_order_are_seen_by_table() {
        let found = scans("SELECT * FROM orders WHERE customer = 3 AND day > 'x' ORDER BY total");
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((columns(&found[0].equal), columns(&found[0].range)), (vec![1], vec![2]));
        assert_eq!(found[0].order, [(3, false)]);
        let view = scans("SELECT day FROM large WHERE day = 'x'");
        assert_eq!((columns(&view[0].equal), columns(&view[0].range)), (vec![2], vec![3]));
    }

    #[test]
    fn both_sides_of_a_join_and_their_collations_are_seen() {
        let sql = "SELECT * FROM customers AS c JOIN orders AS o ON o.customer = c.id \
                   WHERE c.name = 'Ada'";
        let found = scans(sql);
        let has = |table: &str, column| {
            let of = found.iter().filter(|scan| scan.table == table);
            of.flat_map(|scan| &scan.equal).any(|term| term.column == column)
        };
        assert!(has("orders", 1) && has("customers", 0) && has("customers", 1), "{found:?}");
        let name = found.iter().flat_map(|scan| &scan.equal).find(|term| term.column == 1);
        let collations: Vec<&str> = found
            .iter()
            .filter(|scan| scan.table == "customers")
            .flat_map(|scan| &scan.equal)
            .filter(|term| term.column == 1)
            .map(|term| term.collation.as_str())
            .collect();
        assert!(name.is_some() && collations.iter().all(|each| *each == "NOCASE"), "{found:?}");
    }
}
