//! What the target demands of rows beyond their types: CHECK constraints, unique keys, domains,
//! foreign keys to tables that are not moved. Read before anything is taken down, and written down
//! with the migration, so that it can be asked whether a row would break them.

use serde::{Deserialize, Serialize};
use tokio_postgres::{Client, Row};

use super::encode::Field;
use super::matching::Matched;
use super::schema::Statements;
use crate::Error;
use crate::inspect::{Affinity, Index, Rowid, Schema, Table, quoted};
use crate::mapping::PostgresType;

/// The column by which a row that is judged is known: [`Table::address`].
pub const ADDRESS: &str = "crossover address";

/// A demand on the rows of one table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Demand {
    /// The source's table.
    pub table: usize,
    /// The constraint's or index's name.
    pub name: String,
    /// Columns of the source that it is about; the first is named with a row that breaks it.
    pub columns: Vec<usize>,
    /// Names of all columns of the target that it needs.
    pub needs: Vec<String>,
    /// What is demanded.
    pub what: What,
}

/// What is demanded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum What {
    /// A CHECK constraint's condition.
    Check(String),
    /// A value that a domain takes.
    Domain {
        /// The column, quoted.
        column: String,
        /// The domain, as the server shows it.
        domain: String,
        /// The type below it.
        base: String,
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
    /// No other row with the same key.
    Unique {
        /// Columns or expressions.
        keys: Vec<String>,
        /// Only rows for which this holds.
        predicate: Option<String>,
        /// Two NULLs are the same.
        nulls_are_equal: bool,
        /// Columns of the source in which rows with the same key are equal.
        equal: Vec<usize>,
    },
}

impl Demand {
    /// A query for the addresses of rows in the table `judge` that break it. Of rows with the same
    /// key the first may stay.
    pub fn broken_by(&self, judge: &str) -> String {
        let address = quoted(ADDRESS);
        match &self.what {
            What::Check(condition) => {
                format!("SELECT {address} FROM {judge} WHERE NOT ({condition})")
            }
            What::Domain { column, .. } => {
                let fits = self.function();
                format!("SELECT {address} FROM {judge} WHERE NOT {fits}({column})")
            }
            What::Reference { pairs, parent, full } => {
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
                    "SELECT {address} FROM {judge} AS j WHERE ({} AND NOT EXISTS \
                     (SELECT 1 FROM {parent} AS p WHERE {})){}",
                    set.join(" AND "),
                    same.join(" AND "),
                    if *full && pairs.len() > 1 { &partly } else { "" }
                )
            }
            What::Unique { keys, predicate, nulls_are_equal, .. } => {
                let mut conditions: Vec<String> = match nulls_are_equal {
                    true => Vec::new(),
                    false => keys.iter().map(|key| format!("({key}) IS NOT NULL")).collect(),
                };
                conditions.extend(predicate.iter().map(|predicate| format!("({predicate})")));
                conditions.push("true".to_owned());
                format!(
                    "SELECT {address} FROM (SELECT {address}, row_number() OVER \
                     (PARTITION BY {} ORDER BY {address}) AS place FROM {judge} WHERE {}) AS rows \
                     WHERE place > 1",
                    keys.join(", "),
                    conditions.join(" AND ")
                )
            }
        }
    }

    /// The temporary function that tells whether a domain takes a value: one for each column.
    pub fn function(&self) -> String {
        let place = self.columns.first().copied().unwrap_or_default();
        format!("pg_temp.crossover_fits_{}_{place}", self.table)
    }

    /// Why a row is refused.
    pub fn reason(&self) -> String {
        let name = quoted(&self.name);
        match &self.what {
            What::Check(condition) => {
                format!("it violates the CHECK {name} of the target: {condition}")
            }
            What::Domain { domain, .. } => format!("the domain {domain} of the target refuses it"),
            What::Reference { parent, .. } => format!(
                "by the foreign key {name} of the target it refers to a row of {parent} that is \
                 not there"
            ),
            What::Unique { keys, .. } => format!(
                "a row before it has the same key under {name} of the target: {}",
                keys.join(", ").replace(" COLLATE pg_catalog.\"default\"", "")
            ),
        }
    }

    /// Columns in which a row that breaks it is equal to one that stays.
    pub fn equal_columns(&self) -> &[usize] {
        match &self.what {
            What::Unique { equal, .. } => equal,
            _ => &[],
        }
    }
}

/// What a schema that migration makes will demand.
pub fn of_source(schema: &Schema, fields: &[Vec<Field>], statements: &Statements) -> Vec<Demand> {
    let mut demands = Vec::new();
    for (place, (table, fields)) in schema.tables.iter().zip(fields).enumerate() {
        let all: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
        for check in &statements.tables[place].checks {
            let columns = named_in(&check.condition, table);
            let what = What::Check(check.condition.clone());
            let (name, needs) = (check.name.clone(), all.clone());
            demands.push(Demand { table: place, name, columns, needs, what });
        }
        let mut unique = |name: String, columns: Vec<usize>, predicate: Option<String>| {
            let type_of = |column: usize| Some(&fields[column].postgres_type);
            if predicate.is_none() && is_ensured(table, &columns, type_of) {
                return;
            }
            let keys = columns.iter().map(|column| quoted(&all[*column])).collect();
            let needs = match predicate {
                None => columns.iter().map(|column| all[*column].clone()).collect(),
                Some(_) => all.clone(),
            };
            let equal = columns.clone();
            let what = What::Unique { keys, predicate, nulls_are_equal: false, equal };
            demands.push(Demand { table: place, name, columns, needs, what });
        };
        if !table.primary_key.is_empty() {
            unique(format!("{}_pkey", table.name), table.primary_key.clone(), None);
        }
        for index in table.indexes.iter().filter(|index| index.unique) {
            let predicate = super::schema::index_predicate(index, table, fields);
            if let Some(columns) = index.columns()
                && (predicate.is_some() || !index.partial)
            {
                unique(index.name.clone(), columns, predicate);
            }
        }
    }
    demands
}

/// Positions of the columns whose quoted names stand in a condition.
fn named_in(condition: &str, table: &Table) -> Vec<usize> {
    let named = |place: &usize| condition.contains(&quoted(&table.columns[*place].name));
    (0..table.columns.len()).filter(named).collect()
}

/// Whether SQLite itself has ensured that no two rows have the same key in these columns, and the
/// target's types keep different values different.
fn is_ensured<'a>(
    table: &Table,
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

/// CHECK constraints, also those not validated: new rows must obey them.
const CHECKS: &str = "\
    SELECT c.conrelid, c.conname::text, pg_get_expr(c.conbin, c.conrelid), \
        ARRAY(SELECT a.attname::text FROM pg_attribute AS a \
              WHERE a.attrelid = c.conrelid AND a.attnum = ANY(c.conkey) ORDER BY a.attnum) \
    FROM pg_constraint AS c \
    WHERE c.contype = 'c' AND c.conrelid = ANY($1) \
      AND coalesce((to_jsonb(c) ->> 'conenforced')::boolean, true) ORDER BY c.oid";

/// Unique indexes: their keys with collations, the columns that they need, the plain columns among
/// the keys, and whether keys are equal exactly if their bytes are.
const UNIQUES: &str = "\
    SELECT i.indrelid, x.relname::text, \
        ARRAY(SELECT pg_get_indexdef(i.indexrelid, k.place::int, false) \
                  || CASE WHEN l.oid IS NULL THEN '' \
                     ELSE format(' COLLATE %I.%I', n.nspname, l.collname) END \
              FROM unnest(i.indcollation::oid[]) WITH ORDINALITY AS k(oid, place) \
              LEFT JOIN pg_collation AS l ON l.oid = k.oid \
              LEFT JOIN pg_namespace AS n ON n.oid = l.collnamespace ORDER BY k.place), \
        pg_get_expr(i.indpred, i.indrelid), \
        coalesce((to_jsonb(i) ->> 'indnullsnotdistinct')::boolean, false), \
        ARRAY(SELECT a.attname::text FROM pg_attribute AS a \
              WHERE a.attrelid = i.indrelid AND a.attnum > 0 AND NOT a.attisdropped \
                AND (a.attnum = ANY(i.indkey::int2[]) OR EXISTS \
                    (SELECT 1 FROM pg_depend AS d \
                     WHERE d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid \
                       AND d.refclassid = 'pg_class'::regclass AND d.refobjid = i.indrelid \
                       AND d.refobjsubid = a.attnum)) ORDER BY a.attnum), \
        ARRAY(SELECT a.attname::text \
              FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k(number, place) \
              JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.number \
              WHERE k.place <= array_length(i.indcollation::oid[], 1) ORDER BY k.place), \
        i.indexprs IS NULL AND i.indpred IS NULL \
            AND NOT EXISTS (SELECT 1 FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid \
                WHERE a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey::int2[]) \
                  AND t.typname NOT IN ('int2', 'int4', 'int8', 'text', 'varchar')) \
            AND NOT EXISTS (SELECT 1 FROM pg_collation AS l WHERE l.oid = ANY(i.indcollation::oid[]) \
                AND NOT coalesce((to_jsonb(l) ->> 'collisdeterministic')::boolean, true)) \
    FROM pg_index AS i JOIN pg_class AS x ON x.oid = i.indexrelid \
    WHERE i.indisunique AND i.indisvalid AND i.indrelid = ANY($1) ORDER BY i.indexrelid";

/// Foreign keys to tables that are not moved.
const REFERENCES: &str = "\
    SELECT f.conrelid, f.conname::text, format('%I.%I', n.nspname, p.relname), \
        f.confmatchtype = 'f', \
        ARRAY(SELECT a.attname::text FROM unnest(f.conkey) WITH ORDINALITY AS k(number, place) \
              JOIN pg_attribute AS a ON a.attrelid = f.conrelid AND a.attnum = k.number \
              ORDER BY k.place), \
        ARRAY(SELECT a.attname::text FROM unnest(f.confkey) WITH ORDINALITY AS k(number, place) \
              JOIN pg_attribute AS a ON a.attrelid = f.confrelid AND a.attnum = k.number \
              ORDER BY k.place) \
    FROM pg_constraint AS f \
    JOIN pg_class AS p ON p.oid = f.confrelid JOIN pg_namespace AS n ON n.oid = p.relnamespace \
    WHERE f.contype = 'f' AND f.conrelid = ANY($1) AND NOT f.confrelid = ANY($1) \
      AND coalesce((to_jsonb(f) ->> 'conenforced')::boolean, true) ORDER BY f.oid";

/// Domains of columns.
const DOMAINS: &str = "\
    SELECT a.attrelid, t.typname::text, a.attname::text, format_type(t.oid, NULL), \
           format_type(t.typbasetype, t.typtypmod) \
    FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid \
    WHERE a.attrelid = ANY($1) AND a.attnum > 0 AND NOT a.attisdropped AND t.typtype = 'd' \
    ORDER BY a.attrelid, a.attnum";

/// Reads one row of the catalog.
type Make = fn(&Row, &Matched, &Table) -> Option<Demand>;

/// What the existing tables demand; conditions before keys, so that a row that breaks a condition
/// takes no key from another.
pub async fn of_target(
    client: &Client,
    schema: &Schema,
    matched: &[Matched],
) -> Result<Vec<Demand>, Error> {
    let tables: Vec<u32> = matched.iter().map(|table| table.oid).collect();
    let read = async |sql: &str| {
        let failed = Error::postgres("cannot read the target's constraints");
        client.query(sql, &[&tables]).await.map_err(failed)
    };
    let mut demands = Vec::new();
    let kinds: [(&str, Make); 4] =
        [(CHECKS, check), (DOMAINS, domain), (REFERENCES, reference), (UNIQUES, unique)];
    for (sql, make) in kinds {
        for row in read(sql).await? {
            let oid: u32 = row.get(0);
            let table = matched.iter().find(|table| table.oid == oid);
            demands.extend(table.and_then(|table| make(&row, table, &schema.tables[table.source])));
        }
    }
    Ok(demands)
}

fn demand(table: &Matched, name: String, needs: Vec<String>, what: What) -> Demand {
    let columns = sources(table, &needs);
    Demand { table: table.source, name, columns, needs, what }
}

/// The source's columns behind those of the target.
fn sources(table: &Matched, names: &[String]) -> Vec<usize> {
    let place = |name: &String| table.columns.iter().find(|column| column.name == *name);
    names.iter().filter_map(place).map(|column| column.source).collect()
}

fn check(row: &Row, matched: &Matched, _: &Table) -> Option<Demand> {
    Some(demand(matched, row.get(1), row.get(3), What::Check(row.get::<_, Option<_>>(2)?)))
}

fn domain(row: &Row, matched: &Matched, _: &Table) -> Option<Demand> {
    let column: String = row.get(2);
    let what = What::Domain { column: quoted(&column), domain: row.get(3), base: row.get(4) };
    Some(demand(matched, row.get(1), vec![column], what))
}

fn reference(row: &Row, matched: &Matched, _: &Table) -> Option<Demand> {
    let (here, there): (Vec<String>, Vec<String>) = (row.get(4), row.get(5));
    let pairs = here.iter().zip(&there).map(|(here, there)| (quoted(here), quoted(there)));
    let what = What::Reference { pairs: pairs.collect(), parent: row.get(2), full: row.get(3) };
    Some(demand(matched, row.get(1), here, what))
}

fn unique(row: &Row, matched: &Matched, table: &Table) -> Option<Demand> {
    let (keys, needs, plain): (Vec<String>, Vec<String>, Vec<String>) =
        (row.get(2), row.get(5), row.get(6));
    let columns = sources(matched, &plain);
    let type_of = |wanted: usize| {
        let column = matched.columns.iter().find(|column| column.source == wanted);
        column.map(|column| &column.field.postgres_type)
    };
    let exact: bool = row.get(7);
    if exact && columns.len() == plain.len() && is_ensured(table, &columns, type_of) {
        return None;
    }
    // Equal expressions do not make columns equal.
    let what = What::Unique {
        keys,
        predicate: row.get(3),
        nulls_are_equal: row.get(4),
        equal: columns.clone(),
    };
    let demand = demand(matched, row.get(1), needs, what);
    let columns = if columns.is_empty() { demand.columns } else { columns };
    Some(Demand { columns, ..demand })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken_by(what: What) -> String {
        let (name, columns, needs) = ("n".to_owned(), vec![0], Vec::new());
        Demand { table: 0, name, columns, needs, what }.broken_by("judge")
    }

    #[test]
    fn a_row_that_breaks_a_demand_is_found_by_its_address() {
        let pairs = vec![("\"a\"".to_owned(), "\"x\"".to_owned()), ("b".into(), "y".into())];
        let reference = What::Reference { pairs, parent: "p".to_owned(), full: true };
        assert_eq!(
            broken_by(reference),
            "SELECT \"crossover address\" FROM judge AS j WHERE (j.\"a\" IS NOT NULL AND j.b IS NOT \
             NULL AND NOT EXISTS (SELECT 1 FROM p AS p WHERE p.\"x\" = j.\"a\" AND p.y = j.b)) OR \
             num_nulls(j.\"a\", j.b) BETWEEN 1 AND 1"
        );
        let unique = What::Unique {
            keys: vec!["lower(a)".to_owned()],
            predicate: Some("b > 0".to_owned()),
            nulls_are_equal: false,
            equal: Vec::new(),
        };
        assert!(broken_by(unique).contains(
            "(PARTITION BY lower(a) ORDER BY \"crossover address\") AS place FROM judge WHERE \
             (lower(a)) IS NOT NULL AND (b > 0) AND true"
        ));
    }
}
