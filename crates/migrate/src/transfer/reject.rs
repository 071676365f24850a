//! Search for the rows to reject (`--on-error reject`), before the first row is copied: values that
//! do not fit, violated constraints, and references to missing or rejected rows. They are kept
//! whole in the reject file.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::reject_file::RejectFile;
use crate::audit::ParentLookup;
use crate::source::{SourceFile, SourceSchema};
use crate::target::{
    ConstraintProbe, MatchedTable, Reference, RowConstraint, TargetSession, parents_first,
};
use crate::task::blocking;
use crate::value::{NoOutput, TargetField, comparable, encode};
use crate::{Error, Task};

/// Beyond this count the source needs repair, not a list kept in memory.
const MOST_REJECTS: u64 = 1_000_000;

/// The rules that decide whether a row can be moved.
pub struct RejectCriteria {
    pub source: Arc<SourceFile>,
    pub schema: SourceSchema,
    pub references: Vec<Reference>,
    pub constraints: Vec<RowConstraint>,
}

/// Finds all rows that cannot be moved, writes them to a new reject file, and marks them in
/// `matched`, so that load and verification skip them.
pub async fn reject(
    session: &TargetSession,
    criteria: RejectCriteria,
    mut matched: Vec<MatchedTable>,
    path: PathBuf,
    task: Task<'_>,
) -> Result<(Vec<MatchedTable>, RejectFile), Error> {
    let mut order = matched.clone();
    parents_first(&mut order, &criteria.references);
    let tables: Vec<usize> = order.iter().map(|table| table.source).collect();
    let mut search = blocking(task, move |task| {
        let mut search = RejectSearch::begin(criteria, order, path, task)?;
        search.refuse_rows(tables, task)?;
        Ok(search)
    })
    .await?;
    // Parents first: a row rejected with its parent takes no key from another.
    for place in 0..search.matched.len() {
        let violations = probe(session, &search, place, task).await?;
        if violations.is_empty() {
            continue;
        }
        search = blocking(task, move |task| {
            let table = search.matched[place].source;
            search.violations[table] = violations;
            search.refuse_rows(vec![table], task)?;
            Ok(search)
        })
        .await?;
    }
    for table in &mut matched {
        table.rejected = Arc::new(std::mem::take(&mut search.rejected[table.source]));
    }
    Ok((matched, search.file))
}

/// Addresses of rows that PostgreSQL would refuse, each with the constraint that it violates.
async fn probe(
    session: &TargetSession,
    search: &RejectSearch,
    place: usize,
    task: Task<'_>,
) -> Result<HashMap<i64, usize>, Error> {
    let RejectCriteria { source, schema, constraints, .. } = &search.criteria;
    let of_table = &search.matched[place];
    let own: Vec<(usize, &RowConstraint)> = constraints
        .iter()
        .enumerate()
        .filter(|(_, constraint)| constraint.table == of_table.source)
        .collect();
    let mut violations = HashMap::new();
    if own.is_empty() {
        return Ok(violations);
    }
    let table = &schema.tables[of_table.source];
    let rejected = Arc::new(search.rejected[of_table.source].clone());
    let standing = MatchedTable { rejected, ..of_table.clone() };
    let all: Vec<&RowConstraint> = own.iter().map(|(_, constraint)| *constraint).collect();
    let probe = ConstraintProbe::load(session, source, table, &standing, &all, task).await?;
    for (number, constraint) in own {
        for address in probe.take_violations(constraint, MOST_REJECTS).await? {
            violations.insert(address, number);
        }
        if violations.len() as u64 > MOST_REJECTS {
            return Err(search.file.too_many(MOST_REJECTS));
        }
    }
    probe.drop_table(task).await?;
    Ok(violations)
}

/// A key in the form in which the target holds it.
type KeyBytes = Vec<u8>;

struct RejectSearch {
    criteria: RejectCriteria,
    matched: Vec<MatchedTable>,
    rejected: Vec<HashSet<i64>>,
    /// By table: addresses of rows that violate a constraint, with its number.
    violations: Vec<HashMap<i64, usize>>,
    /// By reference: keys of missing or rejected parents.
    missing: Vec<HashSet<KeyBytes>>,
    file: RejectFile,
}

struct RowRefusal<'a> {
    column: usize,
    reason: String,
    /// Columns in which it is equal to a row that stays.
    equal: &'a [usize],
}

impl RejectSearch {
    fn begin(
        criteria: RejectCriteria,
        matched: Vec<MatchedTable>,
        path: PathBuf,
        task: Task<'_>,
    ) -> Result<Self, Error> {
        let tables = criteria.schema.tables.len();
        let mut search = Self {
            criteria,
            matched,
            rejected: vec![HashSet::new(); tables],
            violations: vec![HashMap::new(); tables],
            missing: Vec::new(),
            file: RejectFile::create(&path)?,
        };
        for reference in &search.criteria.references {
            let missing = search.without_parent(reference, task)?;
            search.missing.push(missing);
        }
        Ok(search)
    }

    /// Reads these tables, then those that refer to newly rejected rows, and so on.
    fn refuse_rows(&mut self, tables: Vec<usize>, task: Task<'_>) -> Result<(), Error> {
        let mut to_scan: HashSet<usize> = tables.into_iter().collect();
        while !to_scan.is_empty() {
            for place in 0..self.matched.len() {
                if to_scan.remove(&self.matched[place].source) {
                    to_scan.extend(self.scan(place, task)?);
                }
            }
            // Unmatched tables have nothing to scan.
            to_scan.retain(|table| self.matched.iter().any(|matched| matched.source == *table));
        }
        Ok(())
    }

    /// Keys to which rows of the source refer without a parent.
    fn without_parent(
        &self,
        reference: &Reference,
        task: Task<'_>,
    ) -> Result<HashSet<KeyBytes>, Error> {
        let lookup = ParentLookup::of(&self.criteria.schema, reference);
        let (parent, columns) = (lookup.parent, lookup.parent_columns);
        let source = &self.criteria.source;
        source.with(|connection| {
            let explain = |error| source.explain(error);
            let mut statement = connection.prepare(&lookup.missing_keys()).map_err(explain)?;
            let mut rows = statement.query([]).map_err(explain)?;
            let mut keys = HashSet::new();
            while let Some(row) = rows.next().map_err(explain)? {
                let places = 0..reference.columns.len();
                keys.extend(key(row, places, &reference.parent_fields));
            }
            if keys.is_empty() {
                return Ok(keys);
            }
            // Two keys in SQLite can be one in the target: two forms of one UUID.
            source.each_row(connection, parent, columns, None, task, |row| {
                if let Some(found) = key(row, 1..=columns.len(), &reference.parent_fields) {
                    keys.remove(&found);
                }
                Ok(())
            })?;
            Ok(keys)
        })
    }

    /// Reads a table and rejects further rows. Returns the tables that refer to them.
    fn scan(&mut self, place: usize, task: Task<'_>) -> Result<Vec<usize>, Error> {
        let Self { criteria, matched, rejected, violations, missing, file } = self;
        let matched = &matched[place];
        let table = &criteria.schema.tables[matched.source];
        let columns: Vec<usize> = (0..table.columns.len()).collect();
        let source = &criteria.source;
        let mut counted = 0_i64;
        let mut children = Vec::new();
        source.with(|connection| {
            source.each_row(connection, table, &columns, None, task, |row| {
                counted += 1;
                let address = table.address(row, counted);
                if rejected[matched.source].contains(&address) {
                    return Ok(());
                }
                let constraint = violations[matched.source].get(&address);
                let constraint = constraint.map(|number| &criteria.constraints[*number]);
                let refusal = match constraint {
                    Some(constraint) => Some(RowRefusal {
                        column: constraint.columns.first().copied().unwrap_or_default(),
                        reason: constraint.reason(),
                        equal: constraint.equal_columns(),
                    }),
                    None => refusal(criteria, missing, matched, row)?,
                };
                let Some(RowRefusal { column, reason, equal }) = refusal else { return Ok(()) };
                rejected[matched.source].insert(address);
                file.add(table, &columns, row, column, &reason)?;
                if file.count() > MOST_REJECTS {
                    return Err(file.too_many(MOST_REJECTS));
                }
                for (number, reference) in criteria.references.iter().enumerate() {
                    // Its key still exists if an equal row stays.
                    let stays = reference.parent_columns.iter().all(|each| equal.contains(each));
                    if reference.parent == matched.source && !stays {
                        let places = reference.parent_columns.iter().map(|column| column + 1);
                        let lost = key(row, places, &reference.parent_fields);
                        if lost.is_some_and(|lost| missing[number].insert(lost)) {
                            children.push(reference.child);
                        }
                    }
                }
                Ok(())
            })
        })?;
        Ok(children)
    }
}

/// The refusal of a row for its own values or a missing parent.
fn refusal(
    criteria: &RejectCriteria,
    missing: &[HashSet<KeyBytes>],
    matched: &MatchedTable,
    row: &Row<'_>,
) -> Result<Option<RowRefusal<'static>>, Error> {
    let refused =
        |column: usize, reason: String| Ok(Some(RowRefusal { column, reason, equal: &[] }));
    // What the target computes is compared.
    for column in &matched.columns {
        let value =
            row.get_ref(column.source + 1).map_err(|error| criteria.source.explain(error))?;
        if let Err(unfit) = encode(&column.field, value, &mut NoOutput) {
            let type_name = column.field.postgres_type.to_string();
            return refused(column.source, unfit.explain(&type_name));
        }
    }
    for (reference, missing) in criteria.references.iter().zip(missing) {
        if reference.child != matched.source || missing.is_empty() {
            continue;
        }
        let places = reference.columns.iter().map(|column| column + 1);
        let refers = key(row, places, &reference.parent_fields);
        if refers.is_some_and(|refers| missing.contains(&refers)) {
            let parent = &criteria.schema.tables[reference.parent].name;
            let reason = format!("it refers to a row of {parent} that is missing or refused");
            return refused(reference.columns[0], reason);
        }
    }
    Ok(None)
}

/// The key at these places of a row; `None` if a part is NULL or would not fit the parent.
fn key(
    row: &Row<'_>,
    places: impl IntoIterator<Item = usize>,
    fields: &[TargetField],
) -> Option<KeyBytes> {
    let mut key = Vec::new();
    for (place, field) in places.into_iter().zip(fields) {
        match row.get_ref(place).ok()? {
            ValueRef::Null => return None,
            value => comparable(field, value, &mut key).ok()?,
        }
    }
    Some(key)
}
