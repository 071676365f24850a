//! Assignment of the source's tables and columns to those of an existing target. A table or column
//! without a counterpart is an error, never silently left behind.

use std::collections::HashSet;
use std::sync::Arc;

use notation::counted;
use rusqlite::Row;
use tokio_postgres::Client;

use super::catalog::{GeneratedColumn, Relation, RelationColumn, TargetCatalog};
use super::mismatch::{Mismatch, no_table, no_tables};
use crate::display::{escaped, flag};
use crate::mapping::{DeclaredType, IntegerRule, MapRule, MapRules, declared, preset_reading};
use crate::source::{Framework, SourceColumn, SourceFile, SourceSchema, SourceTable, quoted};
use crate::value::{PostgresType, TargetField};
use crate::{Error, Task};

/// Most problems that are named.
const PROBLEMS_NAMED: usize = 8;

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
    pub mismatches: Vec<Mismatch>,
}

impl TableMatching {
    pub fn is_written(&self, table: &MatchedTable) -> bool {
        self.unwritten.iter().all(|column| column.table != table.source)
            && self.mismatches.iter().all(|mismatch| mismatch.table != table.source)
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
    let matching = match_with_unwritten(schema, catalog, rules)?;
    let mut problems = not_written(schema, &matching.unwritten);
    problems.extend(matching.mismatches.iter().map(|each| {
        let table = &schema.tables[each.table].name;
        let place = each.column.as_ref().map_or(table.clone(), |name| format!("{table}.{name}"));
        format!("{}: {}; {}", escaped(&place), each.message, each.remedy)
    }));
    if problems.is_empty() {
        return Ok(matching.tables);
    }
    if problems.len() > PROBLEMS_NAMED + 1 {
        let others = problems.split_off(PROBLEMS_NAMED).len() as u64;
        let others = counted(others, "problem");
        problems.push(format!("and {others} more (crossover audit --target shows all)"));
    }
    Err(Error::Target(problems.join("\n")))
}

/// The same, with what keeps tables from being moved. A target that has none of the tables is an error.
pub fn match_with_unwritten(
    schema: &SourceSchema,
    catalog: &TargetCatalog,
    rules: &MapRules,
) -> Result<TableMatching, Error> {
    let (mut tables, mut unwritten, mut mismatches) = (Vec::new(), Vec::new(), Vec::new());
    for (source, table) in schema.tables.iter().enumerate() {
        let relation = match catalog.relation(&table.target_name) {
            Some(relation) if matches!(relation.kind.as_str(), "r" | "p") => relation,
            other => {
                mismatches.push(no_table(schema, source, other.is_some(), &catalog.schema));
                continue;
            }
        };
        let name = catalog.quoted(&relation.name);
        unwritten.extend(unwritten_of(table, source, relation, &name));
        let of_table = TableColumns { table, source, relation, name: &name };
        let columns = of_table.matched(rules, schema.framework(), &mut mismatches);
        mismatches.extend(of_table.required());
        tables.push(MatchedTable {
            source,
            oid: relation.oid,
            relation: name,
            partitioned: relation.kind == "p",
            columns,
            rejected: Arc::default(),
        });
    }
    if tables.is_empty() && !schema.tables.is_empty() {
        return Err(Error::Target(no_tables(schema, &catalog.schema)));
    }
    Ok(TableMatching { tables, unwritten, mismatches })
}

fn unwritten_of(
    table: &SourceTable,
    source: usize,
    relation: &Relation,
    name: &str,
) -> Vec<UnwrittenColumn> {
    let without_type = |(position, column): (usize, &SourceColumn)| {
        let found = relation.column(&column.target_name)?;
        let column = UnwrittenColumn {
            table: source,
            source: position,
            relation: name.to_owned(),
            column: found.clone(),
            last_of_checks: Vec::new(),
        };
        found.postgres_type.is_none().then_some(column)
    };
    let mut of_table: Vec<UnwrittenColumn> =
        table.columns.iter().enumerate().filter_map(without_type).collect();
    each_check_once(&mut of_table);
    of_table
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

/// A table on both sides.
struct TableColumns<'a> {
    table: &'a SourceTable,
    source: usize,
    relation: &'a Relation,
    /// The target table's name, quoted, with its schema.
    name: &'a str,
}

impl TableColumns<'_> {
    fn mismatch(
        &self,
        column: &str,
        kind: &'static str,
        message: String,
        remedy: String,
    ) -> Mismatch {
        Mismatch { table: self.source, column: Some(column.to_owned()), kind, message, remedy }
    }

    fn matched(
        &self,
        rules: &MapRules,
        framework: Option<Framework>,
        mismatches: &mut Vec<Mismatch>,
    ) -> Vec<MatchedColumn> {
        let mut columns = Vec::new();
        for (source, column) in self.table.columns.iter().enumerate() {
            let Some(found) = self.relation.column(&column.target_name) else {
                mismatches.push(self.missing(column));
                continue;
            };
            let Some(postgres_type) = found.postgres_type.clone() else { continue };
            let rule = rules.find(self.table, column);
            mismatches.extend(self.contradiction(column, rule, &postgres_type));
            let reading = rule.and_then(|rule| rule.reading);
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
        columns
    }

    fn missing(&self, column: &SourceColumn) -> Mismatch {
        let postgres_type = match declared(column, IntegerRule::default()) {
            DeclaredType::Hard(known) | DeclaredType::Formed(known) => known,
            DeclaredType::Unknown => PostgresType::Text,
        };
        let remedy = format!(
            "in the target: ALTER TABLE {} ADD COLUMN {} {postgres_type}",
            self.name,
            quoted(&column.target_name)
        );
        let message = "the target's table has no such column".to_owned();
        self.mismatch(&column.name, "missing_column", message, remedy)
    }

    fn contradiction(
        &self,
        column: &SourceColumn,
        rule: Option<&MapRule>,
        postgres_type: &PostgresType,
    ) -> Option<Mismatch> {
        let rule = rule?;
        let chosen = rule.postgres_type.as_ref().filter(|chosen| !chosen.is_same(postgres_type));
        let reading = rule.reading.map(|reading| reading.check(postgres_type));
        let (message, remedy) = match (chosen, reading) {
            (Some(chosen), _) => (
                format!(
                    "--map gives it the type {chosen}, but it is {postgres_type} in the target"
                ),
                "alter it there, or drop the rule".to_owned(),
            ),
            (None, Some(Err(problem))) => (
                format!("--map: {problem}, but it is {postgres_type} in the target"),
                "drop the rule".to_owned(),
            ),
            _ => return None,
        };
        Some(self.mismatch(&column.name, "contradicting_rule", message, remedy))
    }

    /// Columns of the target that need a value, which the source lacks.
    fn required(&self) -> Vec<Mismatch> {
        let lacks = |column: &&RelationColumn| {
            let is_target = |own: &SourceColumn| own.target_name.eq_ignore_ascii_case(&column.name);
            let fills_itself = column.has_default || column.generated.is_some();
            column.not_null && !fills_itself && !self.table.columns.iter().any(is_target)
        };
        let mismatch = |column: &RelationColumn| {
            let message =
                "the target's column is NOT NULL without a default, and the source lacks it";
            let remedy = format!(
                "in the target: ALTER TABLE {} ALTER COLUMN {} DROP NOT NULL, or give it a default",
                self.name,
                quoted(&column.name)
            );
            self.mismatch(&column.name, "required_column", message.to_owned(), remedy)
        };
        self.relation.columns.iter().filter(lacks).map(mismatch).collect()
    }
}
