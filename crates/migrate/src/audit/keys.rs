//! Foreign keys that SQLite never checked: it does so only on connections that ask for it.

use notation::thousands;
use rusqlite::Connection;

use crate::Error;
use crate::display::{flag, list};
use crate::finding::{Example, Finding, Lost};
use crate::mapping::MapRules;
use crate::source::{
    Affinity, SourceColumn, SourceFile, SourceSchema, SourceTable, quoted, resolve,
};
use crate::target::Reference;
use crate::value::{PostgresType, TargetField};

/// Foreign keys that cannot be carried over, and rows that refer to nothing.
pub fn findings(
    source: &SourceFile,
    connection: &Connection,
    schema: &SourceSchema,
    table: &SourceTable,
    rules: &MapRules,
) -> Result<Vec<Finding>, Error> {
    let mut findings = Vec::new();
    for resolved in resolve(schema, table) {
        let key = resolved.key;
        let names = table.names(key.columns.iter().copied());
        let Some((parent, columns)) = resolved.parent else {
            let message = format!(
                "the foreign key ({names}) refers to {}, which is not there or has no matching \
                 unique key: not carried over",
                key.parent
            );
            let fix = "add the parent's key, or drop the foreign key";
            let finding =
                Finding::warning("foreign_key_not_carried_over", &table.name, message, fix);
            findings.push(finding.losing(Lost::ForeignKey));
            continue;
        };
        let parent = &schema.tables[parent];
        let is_citext = |column: &usize| {
            let rule = rules.find(parent, &parent.columns[*column]);
            rule.is_some_and(|rule| rule.postgres_type == Some(PostgresType::Citext))
        };
        let lookup = ParentLookup {
            table,
            columns: &key.columns,
            parent,
            parent_columns: &columns,
            ignores_case: columns.iter().map(is_citext).collect(),
        };
        findings.extend(lookup.finding(source, connection, &key.parent)?);
    }
    Ok(findings)
}

/// The findings on the foreign keys of all tables.
pub fn all_findings(
    source: &SourceFile,
    connection: &Connection,
    schema: &SourceSchema,
    rules: &MapRules,
) -> Result<Vec<Finding>, Error> {
    let mut all = Vec::new();
    for table in &schema.tables {
        all.extend(findings(source, connection, schema, table, rules)?);
    }
    Ok(all)
}

/// Rows of `table` that refer to rows of `parent`, compared as in PostgreSQL.
pub struct ParentLookup<'a> {
    pub table: &'a SourceTable,
    pub columns: &'a [usize],
    pub parent: &'a SourceTable,
    pub parent_columns: &'a [usize],
    /// By column: the target compares it without regard to case.
    pub ignores_case: Vec<bool>,
}

impl<'a> ParentLookup<'a> {
    pub fn of(schema: &'a SourceSchema, reference: &'a Reference) -> Self {
        Self {
            table: &schema.tables[reference.child],
            columns: &reference.columns,
            parent: &schema.tables[reference.parent],
            parent_columns: &reference.parent_columns,
            ignores_case: reference.ignores_case(),
        }
    }

    /// A query for the keys by which rows refer to rows that do not exist.
    pub fn missing_keys(&self) -> String {
        let keys = self.columns.iter().map(|column| self.child(column));
        format!("SELECT {} {}", list(keys), self.without_parent())
    }

    fn child(&self, column: &usize) -> String {
        format!("c.{}", quoted(&self.table.columns[*column].name))
    }

    /// FROM and WHERE of the rows whose key is complete and has no parent.
    fn without_parent(&self) -> String {
        let complete = self.columns.iter().map(|column| self.child(column) + " IS NOT NULL");
        let pairs = self.columns.iter().zip(self.parent_columns).zip(&self.ignores_case);
        let equal = pairs.map(|((column, parent_column), ignores_case)| {
            let parent = &self.parent.columns[*parent_column];
            is_same(&self.table.columns[*column], parent, *ignores_case)
        });
        format!(
            "FROM main.{} AS c WHERE {} AND NOT EXISTS (SELECT 1 FROM main.{} AS p WHERE {})",
            quoted(&self.table.name),
            complete.collect::<Vec<_>>().join(" AND "),
            quoted(&self.parent.name),
            equal.collect::<Vec<_>>().join(" AND ")
        )
    }

    /// The statement that writes a key of one column as its parent does, whose collation takes both for one.
    fn spelling(&self) -> Option<String> {
        let ([column], [parent_column]) = (self.columns, self.parent_columns) else { return None };
        let (child, parent) = (&self.table.columns[*column], &self.parent.columns[*parent_column]);
        let collation =
            parent.collation.as_deref().filter(|_| !self.ignores_case.contains(&true))?;
        let (table, own) = (quoted(&self.table.name), quoted(&child.name));
        let (of, its) = (quoted(&self.parent.name), quoted(&parent.name));
        Some(format!(
            "UPDATE {table} SET {own} = coalesce((SELECT p.{its} FROM {of} AS p WHERE p.{its} = \
             {table}.{own} COLLATE {collation}), {own})"
        ))
    }

    /// The finding on rows without a parent, which is called `parent`.
    pub fn finding(
        &self,
        source: &SourceFile,
        connection: &Connection,
        parent: &str,
    ) -> Result<Option<Finding>, Error> {
        let without_parent = self.without_parent();
        let explain = |error| source.explain(error);
        let count: i64 = connection
            .query_row(&format!("SELECT count(*) {without_parent}"), [], |row| row.get(0))
            .map_err(explain)?;
        if count == 0 {
            return Ok(None);
        }
        let count = count.unsigned_abs();
        let all: Vec<usize> = (0..self.table.columns.len()).collect();
        let condition = without_parent.split_once(" WHERE ").map_or("", |(_, condition)| condition);
        let selected = self.table.select(&all, None);
        let selected =
            selected.replacen(" NOT INDEXED", &format!(" AS c WHERE {condition} LIMIT 3"), 1);
        let mut statement = connection.prepare(&selected).map_err(explain)?;
        let mut rows = statement.query([]).map_err(explain)?;
        let mut examples = Vec::new();
        while let Some(row) = rows.next().map_err(explain)? {
            let row = self.table.row_name(row, &all);
            examples.push(Example { row, value: String::new() });
        }
        let spelling = self.spelling();
        let message = format!(
            "{} {} by ({}) to rows of {parent} that do not exist{}",
            thousands(count),
            if count == 1 { "row refers" } else { "rows refer" },
            self.table.names(self.columns.iter().copied()),
            if spelling.is_some() {
                ", or only in another spelling: PostgreSQL compares exactly"
            } else {
                ""
            }
        );
        let fix = match spelling {
            Some(statement) => {
                format!(
                    "give them the parent's spelling, in a copy of the file: {statement}; or delete them"
                )
            }
            None => "delete or repair them, or add the missing rows".to_owned(),
        };
        let finding = Finding::blocker("foreign_key_violation", &self.table.name, message, fix);
        Ok(Some(finding.counted(count, examples).about_rows()))
    }
}

/// The condition under which PostgreSQL finds the parent of `c` in column `p`: texts are equal byte
/// by byte under any collation of SQLite, unless the target's column is citext.
fn is_same(child: &SourceColumn, parent: &SourceColumn, ignores_case: bool) -> String {
    let mut refers = format!("c.{}", quoted(&child.name));
    // A number that refers to texts is moved as text.
    if parent.affinity == Affinity::Text && child.affinity != Affinity::Text {
        refers = format!("CAST({refers} AS TEXT)");
    }
    // The parent's column on the left gives the comparison its affinity and collation.
    let equal = format!("p.{} = {refers}", quoted(&parent.name));
    match parent.collation.as_deref() {
        _ if ignores_case => format!("{equal} COLLATE NOCASE"),
        None => equal,
        // Its key has the same collation, and leaves few to be compared.
        Some("NOCASE" | "RTRIM") => format!("{equal} AND {equal} COLLATE BINARY"),
        Some(_) => format!("{equal} COLLATE BINARY"),
    }
}

/// Makes the columns of each foreign key agree with those they refer to: the child takes the
/// parent's type if its values allow it. Otherwise it is a blocker.
pub fn unify(
    schema: &SourceSchema,
    fields: &mut [Vec<TargetField>],
    allows: impl Fn(usize, usize, &TargetField) -> bool,
    holds: impl Fn(usize, usize, &PostgresType) -> bool,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    // A chain of references settles in at most as many rounds as there are tables.
    for round in 0..=schema.tables.len() {
        let mut changed = false;
        for (child, table) in schema.tables.iter().enumerate() {
            for resolved in resolve(schema, table) {
                let Some((parent, parent_columns)) = resolved.parent else { continue };
                for (&column, &parent_column) in resolved.key.columns.iter().zip(&parent_columns) {
                    let wanted = fields[parent][parent_column].postgres_type.clone();
                    let own = &mut fields[child][column];
                    if wanted.refers_to(&own.postgres_type) {
                        continue;
                    }
                    let proposed = TargetField { postgres_type: wanted, ..own.clone() };
                    if allows(child, column, &proposed) {
                        *own = proposed;
                        changed = true;
                    } else if round == schema.tables.len() || !changed {
                        let other = &schema.tables[parent];
                        let numbered =
                            table.is_numbered(column) || other.is_numbered(parent_column);
                        let both = SHARED.iter().find(|shared| {
                            (!numbered || shared.is_integer())
                                && holds(child, column, shared)
                                && holds(parent, parent_column, shared)
                        });
                        let parent =
                            format!("{}.{}", other.name, other.columns[parent_column].name);
                        findings.push(disagreement(table, column, own, &proposed, &parent, both));
                    }
                }
            }
        }
        if !changed {
            break;
        }
        findings.clear();
    }
    findings
}

/// Types that a column and the one that it refers to can share, the narrowest first.
const SHARED: [PostgresType; 5] = [
    PostgresType::BigInt,
    PostgresType::Uuid,
    PostgresType::Numeric(None),
    PostgresType::Text,
    PostgresType::Bytea,
];

/// `both`: the type that holds the values of both columns.
fn disagreement(
    table: &SourceTable,
    column: usize,
    own: &TargetField,
    wanted: &TargetField,
    parent: &str,
    both: Option<&PostgresType>,
) -> Finding {
    let name = &table.columns[column].name;
    let message = format!(
        "its values are {}, but the column that it refers to is {}: PostgreSQL refuses such a \
         foreign key",
        own.postgres_type, wanted.postgres_type
    );
    let fix = match both {
        // The key keeps its type, and with it the numbers that it is given.
        Some(both) if *both == wanted.postgres_type => {
            format!(
                "give it the type of that column: {}",
                flag("--map", &format!("{}.{name}={both}", table.name))
            )
        }
        Some(both) => {
            let own = format!("{}.{name}", table.name);
            let rule = |column: &str| flag("--map", &format!("{column}={both}"));
            let parents = if own == parent { String::new() } else { format!(" {}", rule(parent)) };
            format!("give both one type: {}{parents}", rule(&own))
        }
        None => "repair them, or drop the foreign key from the source".to_owned(),
    };
    Finding::blocker("foreign_key_types", &table.name, message, fix).on_column(name)
}
