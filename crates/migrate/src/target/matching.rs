//! Assignment of the source's tables and columns to those of an existing target. A table or column
//! without a counterpart is an error, never silently left behind.

use std::collections::HashSet;
use std::sync::Arc;

use notation::{counted, thousands};
use rusqlite::Row;
use tokio_postgres::Client;

use super::catalog::{GeneratedColumn, Relation, RelationColumn, TargetCatalog};
use crate::display::{escaped, first_of, flag};
use crate::mapping::{MapRules, preset_reading};
use crate::source::{Framework, SourceColumn, SourceFile, SourceSchema, SourceTable, quoted};
use crate::value::TargetField;
use crate::{Error, Task};

/// Most problems that are named, and most tables among those that are missing.
const PROBLEMS_NAMED: usize = 8;
const MISSING_NAMED: usize = 3;

/// A table of the source with its table of the target.
#[derive(Clone, Debug)]
pub struct MatchedTable {
    /// Place in the source's schema.
    pub source: usize,
    pub oid: u32,
    /// The target table's name, quoted, with its schema.
    pub relation: String,
    pub partitioned: bool,
    /// Its columns, in the order of the source.
    pub columns: Vec<MatchedColumn>,
    /// Rows of the source that stay behind, by [`SourceTable::address`].
    pub rejected: Arc<HashSet<i64>>,
}

/// A column of the source with its column of the target.
#[derive(Clone, Debug)]
pub struct MatchedColumn {
    /// Position in the source's table.
    pub source: usize,
    pub name: String,
    pub field: TargetField,
    /// The target computes it: it is compared, not written.
    pub generated: Option<GeneratedColumn>,
    /// It has a value where an INSERT leaves it out.
    pub fills_itself: bool,
}

impl MatchedColumn {
    pub fn name_and_type(&self) -> (String, String) {
        (self.name.clone(), self.field.postgres_type.to_string())
    }
}

/// A column of a type that Crossover does not write, which its matched table lacks.
#[derive(Clone, Debug)]
pub struct UnwrittenColumn {
    /// Places of the table in the source's schema, and of the column in the table.
    pub table: usize,
    pub source: usize,
    /// The target table's name, quoted, with its schema.
    pub relation: String,
    pub column: RelationColumn,
    /// The definitions of those of its CHECK constraints in which no such column after it is.
    pub last_of_checks: Vec<(String, String)>,
}

/// A CHECK over several of them can be made again with the last.
fn each_check_once(of_table: &mut [UnwrittenColumn]) {
    for place in 0..of_table.len() {
        let (these, later) = of_table.split_at_mut(place + 1);
        let column = &mut these[place];
        let is_last = |check: &&(String, String)| {
            !later.iter().any(|each| each.column.checks.contains(check))
        };
        column.last_of_checks = column.column.checks.iter().filter(is_last).cloned().collect();
    }
}

/// The tables of the source in the target.
pub struct TableMatching {
    pub tables: Vec<MatchedTable>,
    pub unwritten: Vec<UnwrittenColumn>,
}

impl TableMatching {
    pub fn is_written(&self, table: &MatchedTable) -> bool {
        self.unwritten.iter().all(|column| column.table != table.source)
    }
}

impl MatchedTable {
    pub async fn is_empty(&self, client: &Client) -> Result<bool, Error> {
        let sql = format!("SELECT NOT EXISTS (SELECT 1 FROM {})", self.relation);
        let failed = Error::postgres(format!("cannot read {}", self.relation));
        Ok(client.query_one(&sql, &[]).await.map_err(failed)?.get(0))
    }

    /// The same table, made by Crossover: no value is converted for it.
    #[must_use]
    pub fn made_here(mut self) -> Self {
        self.columns.iter_mut().for_each(|column| column.field.may_convert = false);
        self
    }

    pub fn written(&self) -> impl Iterator<Item = &MatchedColumn> {
        self.columns.iter().filter(|column| column.generated.is_none())
    }

    /// Reads the rows of the source that are not rejected, and passes each with its place. Returns
    /// their number.
    pub fn each_row(
        &self,
        source: &SourceFile,
        table: &SourceTable,
        columns: &[usize],
        rowids: Option<(i64, i64)>,
        task: Task<'_>,
        mut each: impl FnMut(&Row<'_>, i64) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let (mut place, mut passed_over) = (0, 0);
        let is_rejected = |address: i64| self.rejected.contains(&address);
        let rows = source.with(|connection| {
            source.each_row(connection, table, columns, rowids, task, |row| {
                place += 1;
                if !self.rejected.is_empty() && is_rejected(table.address(row, place)) {
                    passed_over += 1;
                    return Ok(());
                }
                each(row, place)
            })
        })?;
        Ok(rows - passed_over)
    }

    /// The statement that makes a column ordinary that the target computes.
    pub fn made_ordinary(&self, column: &MatchedColumn) -> Option<String> {
        let (name, postgres_type) = (quoted(&column.name), &column.field.postgres_type);
        let generated = column.generated.as_ref()?;
        Some(generated.made_ordinary(&self.relation, &name, postgres_type))
    }

    /// The source's columns behind those of the target that have one.
    pub fn sources(&self, names: &[String]) -> Vec<usize> {
        let column = |name: &String| self.columns.iter().find(|column| column.name == *name);
        names.iter().filter_map(column).map(|column| column.source).collect()
    }
}

/// Tables whose every column is written.
pub fn match_tables(
    schema: &SourceSchema,
    catalog: &TargetCatalog,
    rules: &MapRules,
) -> Result<Vec<MatchedTable>, Error> {
    let TableMatching { tables, unwritten } = match_with_unwritten(schema, catalog, rules)?;
    match unwritten.is_empty() {
        true => Ok(tables),
        false => Err(not_matched(not_written(schema, &unwritten), None)),
    }
}

/// The same, with the columns whose types are not written.
pub fn match_with_unwritten(
    schema: &SourceSchema,
    catalog: &TargetCatalog,
    rules: &MapRules,
) -> Result<TableMatching, Error> {
    let mut matched = Vec::new();
    let mut unwritten = Vec::new();
    let (mut missing, mut problems) = (Vec::new(), Vec::new());
    for (source, table) in schema.tables.iter().enumerate() {
        let name = &table.name;
        match catalog.relation(&table.target_name) {
            None => missing.push(name.as_str()),
            Some(relation) if !matches!(relation.kind.as_str(), "r" | "p") => {
                problems.push(format!(
                    "{} is not a table in the target: leave it out by --exclude",
                    escaped(name)
                ));
            }
            Some(relation) => {
                let name = catalog.quoted(&relation.name);
                let without_type = |(position, column): (usize, &SourceColumn)| {
                    let found = relation.column(&column.target_name)?;
                    let (relation, column) = (name.clone(), found.clone());
                    let column = UnwrittenColumn {
                        table: source,
                        source: position,
                        relation,
                        column,
                        last_of_checks: Vec::new(),
                    };
                    found.postgres_type.is_none().then_some(column)
                };
                let mut of_table: Vec<UnwrittenColumn> =
                    table.columns.iter().enumerate().filter_map(without_type).collect();
                each_check_once(&mut of_table);
                unwritten.extend(of_table);
                match match_columns(table, relation, rules, schema.framework()) {
                    Ok(columns) => matched.push(MatchedTable {
                        source,
                        oid: relation.oid,
                        relation: name,
                        partitioned: relation.kind == "p",
                        columns,
                        rejected: Arc::default(),
                    }),
                    Err(found) => problems.extend(found),
                }
            }
        }
    }
    let missing = missing_tables(&missing, schema.tables.len(), &catalog.schema);
    if missing.is_none() && problems.is_empty() {
        return Ok(TableMatching { tables: matched, unwritten });
    }
    problems.splice(0..0, not_written(schema, &unwritten));
    Err(not_matched(problems, missing))
}

fn not_written(schema: &SourceSchema, unwritten: &[UnwrittenColumn]) -> Vec<String> {
    let problem = |each: &UnwrittenColumn| {
        let table = &schema.tables[each.table];
        format!(
            "{}.{} is {} in the target, a type that Crossover neither writes nor compares: crossover \
             audit --target gives the statements that move it; {} leaves the table out",
            escaped(&table.name),
            escaped(&table.columns[each.source].name),
            each.column.shown_type,
            flag("--exclude", &table.name)
        )
    };
    unwritten.iter().map(problem).collect()
}

fn not_matched(mut problems: Vec<String>, missing: Option<String>) -> Error {
    if problems.len() > PROBLEMS_NAMED + 1 {
        let others = problems.split_off(PROBLEMS_NAMED).len() as u64;
        problems.push(format!("and {} more", counted(others, "problem")));
    }
    problems.extend(missing);
    Error::Target(problems.join("\n"))
}

/// The tables that the target lacks; many of them are counted.
fn missing_tables(missing: &[&str], all: usize, namespace: &str) -> Option<String> {
    let namespace = escaped(namespace);
    match missing {
        [] => None,
        [name] => Some(format!(
            "there is no table {} in the target's schema {namespace}: create it, or leave it out \
             by {}",
            escaped(name),
            flag("--exclude", name)
        )),
        several => {
            let of = match several.len() == all {
                true => format!("has none of the {}", counted(all, "table")),
                false => {
                    let lacking = thousands(several.len());
                    format!("lacks {lacking} of {}", counted(all, "table"))
                }
            };
            Some(format!(
                "the target's schema {namespace} {of}: {}; crossover migrate makes them, --exclude \
                 leaves them out, --schema names another schema",
                first_of(several, MISSING_NAMED)
            ))
        }
    }
}

fn match_columns(
    table: &SourceTable,
    relation: &Relation,
    rules: &MapRules,
    framework: Option<Framework>,
) -> Result<Vec<MatchedColumn>, Vec<String>> {
    let mut columns = Vec::new();
    let mut problems = Vec::new();
    for (source, column) in table.columns.iter().enumerate() {
        let place = escaped(&format!("{}.{}", table.name, column.name));
        let Some(found) = relation.column(&column.target_name) else {
            problems.push(format!("the target has no column {place}: add it"));
            continue;
        };
        let Some(postgres_type) = found.postgres_type.clone() else { continue };
        let rule = rules.find(table, column);
        let chosen = rule.and_then(|rule| rule.postgres_type.as_ref());
        let reading = rule.and_then(|rule| rule.reading);
        if let Some(chosen) = chosen.filter(|chosen| !chosen.is_same(&postgres_type)) {
            problems.push(format!(
                "--map gives {place} the type {chosen}, but it is {postgres_type} in the target: \
                 alter it there, or drop the rule"
            ));
        } else if let Some(Err(problem)) = reading.map(|reading| reading.check(&postgres_type)) {
            problems.push(format!("--map of {place}: {problem}, its type in the target"));
        }
        let reading = reading.or_else(|| preset_reading(framework, &postgres_type));
        columns.push(MatchedColumn {
            source,
            name: found.name.clone(),
            field: TargetField {
                postgres_type,
                reading,
                not_null: found.not_null,
                may_convert: true,
            },
            generated: found.generated.clone(),
            fills_itself: found.has_default,
        });
    }
    for column in &relation.columns {
        let is_target = |own: &SourceColumn| own.target_name.eq_ignore_ascii_case(&column.name);
        let is_unwritten = column.postgres_type.is_none() && table.columns.iter().any(is_target);
        let left_out = !is_unwritten && !columns.iter().any(|matched| matched.name == column.name);
        if left_out && column.not_null && !column.has_default && column.generated.is_none() {
            problems.push(format!(
                "{}.{} of the target is NOT NULL without a default, which the source lacks",
                escaped(&table.name),
                escaped(&column.name)
            ));
        }
    }
    if problems.is_empty() { Ok(columns) } else { Err(problems) }
}
