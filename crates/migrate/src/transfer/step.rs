//! Steps of a migration, saved in the target before the first of them runs: rows by parts, indexes,
//! constraints, statistics. A step and its mark are one transaction, so an interrupted migration
//! resumes with the first unmarked step.

use rusqlite::Connection;

use crate::Error;
use crate::ddl::Statements;
use crate::source::{
    MOST_PARTS, SourceFile, SourceSchema, SourceTable, estimated_rows, ranges, rowid_span,
};
use crate::target::{LoadedRows, MatchedTable};

/// Stages in their order; the steps of one stage run in parallel.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::VariantArray, strum::IntoStaticStr,
)]
#[strum(serialize_all = "snake_case")]
pub enum Stage {
    Load,
    /// Indexes, also those behind keys.
    Index,
    /// Keys over their indexes, foreign keys not yet validated: no row is read. Those of partitioned
    /// tables are validated at once.
    Attach,
    Vacuum,
    /// Foreign keys, row by row.
    Validate,
}

impl Stage {
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Steps that lock several tables run one after the other.
    pub fn is_parallel(self) -> bool {
        self != Self::Attach
    }

    /// Name in the state table.
    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|stage| stage.name() == name)
    }
}

#[derive(Clone, Debug)]
pub struct MigrationStep {
    /// Its place among all steps.
    pub number: i32,
    pub stage: Stage,
    /// [`Stage::Load`]: the source's table; [`Stage::Validate`]: the target's, quoted.
    pub table: String,
    /// First and last rowid of a part; `None` if the table is one part.
    pub rowids: Option<(i64, i64)>,
    /// The statement; empty for [`Stage::Load`].
    pub sql: String,
    /// The statement that undoes it; empty if none is needed.
    pub undo: String,
    /// Committed.
    pub done: bool,
    /// [`Stage::Load`]: the rows of the part, with their conversions.
    pub loaded: LoadedRows,
}

impl MigrationStep {
    /// A statement with the one that undoes it.
    pub fn statement(stage: Stage, sql: impl Into<String>, undo: impl Into<String>) -> Self {
        let (sql, undo, table) = (sql.into(), undo.into(), String::new());
        Self {
            number: 0,
            stage,
            table,
            rowids: None,
            sql,
            undo,
            done: false,
            loaded: LoadedRows::default(),
        }
    }

    fn load(table: &SourceTable, rowids: Option<(i64, i64)>) -> Self {
        let table = table.name.clone();
        Self { table, rowids, ..Self::statement(Stage::Load, "", "") }
    }
}

/// The steps that make the keys and indexes of a schema.
pub fn of_statements(statements: &Statements) -> Vec<MigrationStep> {
    let mut steps = Vec::new();
    for key in &statements.keys {
        steps.push(MigrationStep::statement(Stage::Index, &key.index, ""));
        steps.extend(key.attach.iter().map(|sql| MigrationStep::statement(Stage::Attach, sql, "")));
    }
    for foreign_key in &statements.foreign_keys {
        steps.extend(validated(&foreign_key.table, &foreign_key.name, &foreign_key.sql, ""));
    }
    steps
}

/// Steps that add a foreign key without reading rows and validate it later, in parallel with
/// others.
pub fn validated(table: &str, name: &str, sql: &str, undo: &str) -> [MigrationStep; 2] {
    let validate = format!("ALTER TABLE {table} VALIDATE CONSTRAINT {name}");
    let validate = MigrationStep::statement(Stage::Validate, validate, "");
    [
        MigrationStep::statement(Stage::Attach, format!("{sql} NOT VALID"), undo),
        MigrationStep { table: table.to_owned(), ..validate },
    ]
}

/// All steps in their order, `rest` after the rows: these by parts of about `part_bytes`, large
/// tables first, or table by table as given.
pub fn plan(
    source: &SourceFile,
    schema: &SourceSchema,
    to_load: &[MatchedTable],
    rest: Vec<MigrationStep>,
    part_bytes: Option<u64>,
) -> Result<Vec<MigrationStep>, Error> {
    let mut steps = match part_bytes {
        Some(bytes) => source.with(|open| parts(source, open, schema, to_load, bytes))?,
        None => to_load
            .iter()
            .map(|each| MigrationStep::load(&schema.tables[each.source], None))
            .collect(),
    };
    steps.extend(rest);
    steps.extend(to_load.iter().map(|table| {
        MigrationStep::statement(Stage::Vacuum, format!("VACUUM (ANALYZE) {}", table.relation), "")
    }));
    one_validation_per_table(&mut steps);
    steps.sort_by_key(|step| step.stage);
    for (number, step) in steps.iter_mut().enumerate() {
        step.number = number as i32;
    }
    Ok(steps)
}

/// Two validations of one table would wait for each other, so they become one statement.
fn one_validation_per_table(steps: &mut Vec<MigrationStep>) {
    let mut merged: Vec<MigrationStep> = Vec::new();
    for step in steps.drain(..) {
        let same = merged.iter_mut().find(|other| {
            step.stage == Stage::Validate
                && other.stage == Stage::Validate
                && other.table == step.table
        });
        let head = format!("ALTER TABLE {}", step.table);
        match (same, step.sql.strip_prefix(&head)) {
            (Some(other), Some(action)) => other.sql.push_str(&format!(",{action}")),
            _ => merged.push(step),
        }
    }
    *steps = merged;
}

/// The parts of all tables, from the largest table down.
fn parts(
    source: &SourceFile,
    connection: &Connection,
    schema: &SourceSchema,
    to_load: &[MatchedTable],
    part_bytes: u64,
) -> Result<Vec<MigrationStep>, Error> {
    let rows = estimated_rows(connection, schema);
    let all_rows: u64 = rows.iter().fold(0, |sum, rows| sum.saturating_add(*rows));
    let file_bytes = source.path().metadata().map_or(0, |file| file.len());
    let bytes = |table: &MatchedTable| {
        let share = rows[table.source] as f64 / all_rows.max(1) as f64;
        (share * file_bytes as f64) as u64
    };
    let mut by_size: Vec<&MatchedTable> = to_load.iter().collect();
    by_size.sort_by_key(|table| std::cmp::Reverse(bytes(table)));
    let mut steps = Vec::new();
    for matched in by_size {
        let table = &schema.tables[matched.source];
        let count = bytes(matched).div_ceil(part_bytes.max(1)).clamp(1, MOST_PARTS);
        let explain = |error| source.explain(error);
        let span = match count {
            1 => None,
            _ => rowid_span(connection, table).map_err(explain)?,
        };
        match span {
            None => steps.push(MigrationStep::load(table, None)),
            Some(span) => {
                let ranges = ranges(span, count);
                steps.extend(
                    ranges.into_iter().map(|range| MigrationStep::load(table, Some(range))),
                );
            }
        }
    }
    Ok(steps)
}
