//! Constraints of the target beyond column types: CHECK, unique keys, domains, foreign keys to
//! tables outside the migration. They are read before indexes are suspended, and saved with the
//! migration, so that each row can be tested against them.

use serde::{Deserialize, Serialize};

use super::matching::MatchedTable;
use crate::ddl::{MadeFor, PlannedTable, Statements};
use crate::display::list;
use crate::source::{Affinity, Index, Rowid, SourceSchema, SourceTable, quoted};
use crate::value::{PostgresType, TargetField};

/// Column of the probe table with the address of a row: [`SourceTable::address`].
pub const ADDRESS: &str = "crossover address";

/// A constraint on the rows of one table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RowConstraint {
    pub table: usize,
    pub name: String,
    /// Columns of the source in the constraint; the first is named with a violating row.
    pub columns: Vec<usize>,
    /// All columns of the target that its test reads.
    pub needs: Vec<String>,
    #[serde(rename = "what")]
    pub kind: ConstraintKind,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ConstraintKind {
    Check(String),
    /// A value that a domain takes.
    Domain {
        column: String,
        /// The domain, as the server shows it.
        domain: String,
        base: String,
    },
    /// The value that the target computes for a column.
    Generated {
        column: String,
        /// Column of the probe table with the source's value.
        given: String,
        /// It is json, which has no equality.
        is_json: bool,
        expression: String,
    },
    /// A row of another table.
    Reference {
        /// Pairs of columns, quoted: here and there.
        pairs: Vec<(String, String)>,
        /// The other table, quoted, with its schema.
        parent: String,
        /// Either all columns are NULL or none.
        full: bool,
    },
    /// No row of the target that is equal in all columns that are written.
    New {
        /// The target's table, quoted, with its schema.
        relation: String,
        columns: Vec<String>,
    },
    /// No other row with the same key.
    Unique {
        keys: Vec<String>,
        /// Only rows for which this holds.
        predicate: Option<String>,
        nulls_are_equal: bool,
        /// Columns of the source in which rows with the same key are equal.
        equal: Vec<usize>,
    },
}

impl RowConstraint {
    /// No constraint, but the columns of the target that a probe then has.
    pub fn of_columns(matched: &MatchedTable, needs: Vec<String>) -> Self {
        let kind = ConstraintKind::Check("true".to_owned());
        Self { table: matched.source, name: String::new(), columns: Vec::new(), needs, kind }
    }

    /// That no row of `matched` is equal to a row.
    pub fn new_row(table: &SourceTable, matched: &MatchedTable) -> Self {
        let needs: Vec<String> = matched.written().map(|column| column.name.clone()).collect();
        let columns = needs.iter().map(|name| quoted(name)).collect();
        let kind = ConstraintKind::New { relation: matched.relation.clone(), columns };
        let (name, columns) = (table.name.clone(), Vec::new());
        Self { table: matched.source, name, columns, needs, kind }
    }

    /// A query for the addresses of rows in the table `rows` that violate it. The first of several
    /// rows with one key is not a violation.
    pub fn violations_in(&self, rows: &str) -> String {
        let address = quoted(ADDRESS);
        match &self.kind {
            ConstraintKind::Check(condition) => {
                format!("SELECT {address} FROM {rows} WHERE NOT ({condition})")
            }
            ConstraintKind::Domain { column, .. } => {
                let fits = self.function();
                format!("SELECT {address} FROM {rows} WHERE NOT {fits}({column})")
            }
            ConstraintKind::Generated { column, given, is_json, .. } => {
                let cast = if *is_json { "::text" } else { "" };
                let (column, given) = (quoted(column), quoted(given));
                format!(
                    "SELECT {address} FROM {rows} WHERE {column}{cast} IS DISTINCT FROM {given}{cast}"
                )
            }
            ConstraintKind::Reference { pairs, parent, full } => {
                let set: Vec<String> =
                    pairs.iter().map(|(here, _)| format!("j.{here} IS NOT NULL")).collect();
                let same: Vec<String> =
                    pairs.iter().map(|(here, there)| format!("p.{there} = j.{here}")).collect();
                let here: Vec<String> = pairs.iter().map(|(here, _)| format!("j.{here}")).collect();
                let partly = format!(
                    " OR num_nulls({}) BETWEEN 1 AND {}",
                    here.join(", "),
                    pairs.len().saturating_sub(1)
                );
                format!(
                    "SELECT {address} FROM {rows} AS j WHERE ({} AND NOT EXISTS \
                     (SELECT 1 FROM {parent} AS p WHERE {})){}",
                    set.join(" AND "),
                    same.join(" AND "),
                    if *full && pairs.len() > 1 { &partly } else { "" }
                )
            }
            ConstraintKind::New { relation, columns } => {
                // As texts NULLs are equal too, and json, which has no equality.
                let row = |of: &str| {
                    let parts = columns.iter().map(|column| format!("{of}.{column}"));
                    format!("ROW({})::text", list(parts))
                };
                format!(
                    "SELECT DISTINCT j.{address} FROM {rows} AS j JOIN {relation} AS t ON {} = {}",
                    row("j"),
                    row("t")
                )
            }
            ConstraintKind::Unique { keys, predicate, nulls_are_equal, .. } => {
                let mut conditions: Vec<String> = match nulls_are_equal {
                    true => Vec::new(),
                    false => keys.iter().map(|key| format!("({key}) IS NOT NULL")).collect(),
                };
                conditions.extend(predicate.iter().map(|predicate| format!("({predicate})")));
                conditions.push("true".to_owned());
                format!(
                    "SELECT {address} FROM (SELECT {address}, row_number() OVER \
                     (PARTITION BY {} ORDER BY {address}) AS place FROM {rows} WHERE {}) AS rows \
                     WHERE place > 1",
                    keys.join(", "),
                    conditions.join(" AND ")
                )
            }
        }
    }

    /// The temporary function that tests a domain: one for each column.
    pub fn function(&self) -> String {
        let place = self.columns.first().copied().unwrap_or_default();
        format!("pg_temp.crossover_fits_{}_{place}", self.table)
    }

    /// The reason for a reject file.
    pub fn reason(&self) -> String {
        let name = quoted(&self.name);
        match &self.kind {
            ConstraintKind::Check(condition) => {
                format!("it violates the CHECK {name} of the target: {condition}")
            }
            ConstraintKind::Domain { domain, .. } => {
                format!("the domain {domain} of the target refuses it")
            }
            ConstraintKind::Generated { column, expression, .. } => {
                format!("the target computes another value for {}: {expression}", quoted(column))
            }
            ConstraintKind::Reference { parent, .. } => format!(
                "by the foreign key {name} of the target it refers to a row of {parent} that is \
                 not there"
            ),
            ConstraintKind::New { relation, .. } => {
                format!("{relation} has a row that is equal to it")
            }
            ConstraintKind::Unique { keys, .. } => format!(
                "a row before it has the same key under {name} of the target: {}",
                keys.join(", ").replace(" COLLATE pg_catalog.\"default\"", "")
            ),
        }
    }

    /// Columns in which a violating row equals one that stays.
    pub fn equal_columns(&self) -> &[usize] {
        match &self.kind {
            ConstraintKind::Unique { equal, .. } => equal,
            _ => &[],
        }
    }
}

/// Constraints of a schema that migration creates.
pub fn of_source(
    schema: &SourceSchema,
    fields: &[Vec<TargetField>],
    statements: &Statements,
    made_for: MadeFor,
) -> Vec<RowConstraint> {
    let mut constraints = Vec::new();
    for (place, (table, fields)) in schema.tables.iter().zip(fields).enumerate() {
        let all: Vec<String> =
            table.columns.iter().map(|column| column.target_name.clone()).collect();
        for check in &statements.tables[place].checks {
            let columns = named_in(&check.condition, table);
            let kind = ConstraintKind::Check(check.condition.clone());
            let (name, needs) = (check.name.clone(), all.clone());
            constraints.push(RowConstraint { table: place, name, columns, needs, kind });
        }
        let mut unique = |name, equal: Vec<usize>, keys: Vec<String>, predicate: Option<String>| {
            let type_of = |column: usize| Some(&fields[column].postgres_type);
            let of_columns = keys.len() == equal.len();
            let is_whole = of_columns && predicate.is_none();
            if is_whole && is_ensured(table, &equal, type_of) {
                return;
            }
            let columns = match of_columns {
                true => equal.clone(),
                false => named_in(&keys.join(" "), table),
            };
            let needs = match is_whole {
                true => columns.iter().map(|column| all[*column].clone()).collect(),
                false => all.clone(),
            };
            let kind = ConstraintKind::Unique { keys, predicate, nulls_are_equal: false, equal };
            constraints.push(RowConstraint { table: place, name, columns, needs, kind });
        };
        let planned = PlannedTable { table, fields, made_for };
        if !table.primary_key.is_empty() {
            let keys = table.primary_key.iter().map(|column| planned.name(*column)).collect();
            unique(format!("{}_pkey", table.target_name), table.primary_key.clone(), keys, None);
        }
        for index in table.indexes.iter().filter(|index| index.unique) {
            let Some((keys, predicate)) = planned.index(index) else { continue };
            let columns = index.parts.iter().filter_map(|part| part.column).collect();
            unique(index.name.clone(), columns, keys, predicate);
        }
    }
    constraints
}

/// Positions of the columns whose quoted names occur in a condition.
fn named_in(condition: &str, table: &SourceTable) -> Vec<usize> {
    let named = |place: &usize| condition.contains(&quoted(&table.columns[*place].target_name));
    (0..table.columns.len()).filter(named).collect()
}

/// `true` if SQLite itself has ensured that no two rows have the same key in these columns, and the
/// target's types keep different values different.
pub fn is_ensured<'a>(
    table: &SourceTable,
    columns: &[usize],
    type_of: impl Fn(usize) -> Option<&'a PostgresType>,
) -> bool {
    let within = |key: &[usize]| !key.is_empty() && key.iter().all(|each| columns.contains(each));
    let plain = |index: &&Index| index.unique && !index.partial;
    let keys = table.indexes.iter().filter(plain).filter_map(Index::columns);
    let mut keys: Vec<Vec<usize>> = keys.filter(|key| within(key)).collect();
    if within(&table.primary_key) {
        keys.push(table.primary_key.clone());
    }
    let keeps = |column: &usize| {
        let (affinity, rowid) = (table.columns[*column].affinity, &table.rowid);
        match type_of(*column) {
            Some(postgres_type) if postgres_type.is_integer() => {
                *rowid == Rowid::Alias(*column)
                    || matches!(affinity, Affinity::Integer | Affinity::Numeric)
            }
            Some(postgres_type) => postgres_type.is_text() && affinity == Affinity::Text,
            None => false,
        }
    };
    keys.iter().any(|key| key.iter().all(keeps))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violations_in(kind: ConstraintKind) -> String {
        let (name, columns, needs) = ("n".to_owned(), vec![0], Vec::new());
        RowConstraint { table: 0, name, columns, needs, kind }.violations_in("probe")
    }

    #[test]
    fn a_violating_row_is_found_by_its_address() {
        let pairs = vec![("\"a\"".to_owned(), "\"x\"".to_owned()), ("b".into(), "y".into())];
        let reference = ConstraintKind::Reference { pairs, parent: "p".to_owned(), full: true };
        assert_eq!(
            violations_in(reference),
            "SELECT \"crossover address\" FROM probe AS j WHERE (j.\"a\" IS NOT NULL AND j.b IS NOT \
             NULL AND NOT EXISTS (SELECT 1 FROM p AS p WHERE p.\"x\" = j.\"a\" AND p.y = j.b)) OR \
             num_nulls(j.\"a\", j.b) BETWEEN 1 AND 1"
        );
        let unique = ConstraintKind::Unique {
            keys: vec!["lower(a)".to_owned()],
            predicate: Some("b > 0".to_owned()),
            nulls_are_equal: false,
            equal: Vec::new(),
        };
        assert!(violations_in(unique).contains(
            "(PARTITION BY lower(a) ORDER BY \"crossover address\") AS place FROM probe WHERE \
             (lower(a)) IS NOT NULL AND (b > 0) AND true"
        ));
    }
}
