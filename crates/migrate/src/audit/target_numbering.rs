//! Sequences of existing tables against the numbers that are moved: one that is at its end, or that
//! this user may not set, would let the move succeed and every INSERT after it fail.

use std::sync::Arc;

use notation::thousands;
use tokio_postgres::Row;

use crate::display::{shorten, sql_text};
use crate::finding::Finding;
use crate::source::{SourceFile, SourceSchema, quoted};
use crate::target::{
    ColumnDefault, MatchedColumn, MatchedTable, SequenceUse, TargetSequence, TargetSession,
    given_out,
};
use crate::task::blocking;
use crate::value::PostgresType;
use crate::{Error, Task};

/// Findings on the numbering of existing tables; `adds`: their rows stay. Needs a transaction.
pub async fn target_numbering(
    session: &TargetSession,
    source: &Arc<SourceFile>,
    schema: &SourceSchema,
    matched: &[MatchedTable],
    adds: bool,
    task: Task<'_>,
) -> Result<Vec<Finding>, Error> {
    let TargetSession { client, server_version, .. } = session;
    let defaults = ColumnDefault::read_all(client, matched).await?;
    let sequences = TargetSequence::read_all(client, matched, &defaults, *server_version).await?;
    let mut findings: Vec<Finding> =
        matched.iter().filter_map(|table| unnumbered(schema, table, *server_version)).collect();
    findings.extend(defaults.iter().filter_map(|default| {
        let is_use =
            |each: &SequenceUse| each.table == default.table && each.column == default.column;
        let of_default = |sequence: &&TargetSequence| sequence.uses.iter().any(is_use);
        let sequence = sequences.iter().find(of_default);
        computed_numbers(default, sequence, schema, matched)
    }));
    findings.extend(unused(session, matched, &defaults).await?);
    for sequence in sequences {
        let Some(place) = Place::of(&sequence, schema, matched) else { continue };
        if let Some(type_name) = &place.unread {
            findings.push(place.not_set(&sequence, type_name));
            continue;
        }
        if !sequence.may_restart && !sequence.may_set {
            findings.push(place.not_allowed(&sequence));
            continue;
        }
        let is_moved = |table: u32| matched.iter().any(|each| each.oid == table);
        let there = sequence.furthest(client, |table| adds || !is_moved(table)).await?;
        let moved = in_source(source, schema, matched, &sequence, task).await?;
        let last =
            sequence.further(sequence.further(there, moved), given_out(&sequence, schema, matched));
        if let Some(last) = last.filter(|last| sequence.is_at_end(*last)) {
            findings.push(place.at_end(&sequence, last, *server_version));
        }
    }
    Ok(findings)
}

/// Sequences of the schema of the table `$1` that no column owns and no default names, apart from `$2`, with
/// the column of which the name may speak.
const UNUSED: &str = r"
    SELECT s.relname::text, format('%I.%I', n.nspname, s.relname),
           (SELECT format('max(%I) FROM %I.%I', a.attname, n.nspname, c.relname)
            FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0
            JOIN pg_type AS y ON y.oid = a.atttypid AND y.typname IN ('int2', 'int4', 'int8')
            WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'p') AND NOT a.attisdropped
              AND s.relname = c.relname || '_' || a.attname || '_seq')
    FROM pg_class AS t JOIN pg_class AS s ON s.relnamespace = t.relnamespace AND s.relkind = 'S'
    JOIN pg_namespace AS n ON n.oid = s.relnamespace
    WHERE t.oid = $1 AND NOT s.oid = ANY($2)
      AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.classid = 'pg_class'::regclass AND d.objid = s.oid
                      AND d.refobjsubid > 0 AND d.deptype IN ('a', 'i'))
      AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.refclassid = 'pg_class'::regclass
                      AND d.refobjid = s.oid AND d.classid IN ('pg_attrdef'::regclass, 'pg_proc'::regclass))
    ORDER BY 1";

/// A warning for each sequence that an application asks by its name alone: it stays where it is.
async fn unused(
    session: &TargetSession,
    matched: &[MatchedTable],
    defaults: &[ColumnDefault],
) -> Result<Vec<Finding>, Error> {
    // A default whose sequence is not known may take its numbers from any.
    let is_unknown = |default: &ColumnDefault| default.may_number && default.sequences.is_empty();
    let Some(first) = matched.first().filter(|_| !defaults.iter().any(is_unknown)) else {
        return Ok(Vec::new());
    };
    let named: Vec<u32> = defaults.iter().flat_map(|each| each.sequences.clone()).collect();
    let failed = Error::postgres("cannot read the target's sequences");
    let rows = session.client.query(UNUSED, &[&first.oid, &named]).await.map_err(failed)?;
    let finding = |row: &Row| {
        let (name, relation): (&str, &str) = (row.get(0), row.get(1));
        let message = "no column takes its numbers from this sequence, so the move does not set it: the \
                       application asks it by its name";
        let greatest = row.get::<_, Option<&str>>(2).unwrap_or("max(COLUMN) FROM TABLE");
        let fix = format!(
            "after the move set it as the application counts, for example SELECT setval({}, (SELECT \
             {greatest}))",
            sql_text(relation)
        );
        Finding::warning("sequence_of_no_column", name, message, fix)
    };
    Ok(rows.iter().map(finding).collect())
}

/// The first column of the source whose counterpart takes numbers from a sequence.
struct Place<'a> {
    table: &'a str,
    column: &'a str,
    /// A type whose numbers are not read.
    unread: Option<String>,
}

impl<'a> Place<'a> {
    fn of(
        sequence: &TargetSequence,
        schema: &'a SourceSchema,
        matched: &[MatchedTable],
    ) -> Option<Self> {
        sequence.uses.iter().find_map(|each| {
            let (table, column) = counterpart(each, matched)?;
            let (source, name) = (&schema.tables[table.source], column.source);
            let unread = each.range.is_none().then(|| column.field.postgres_type.to_string());
            Some(Self { table: &source.name, column: &source.columns[name].name, unread })
        })
    }

    fn at_end(&self, sequence: &TargetSequence, last: i64, server_version: i32) -> Finding {
        let message = format!(
            "the sequence {} ends at {}, and its numbers have reached {}: every INSERT that takes one \
             from it would fail",
            sequence.name,
            signed(sequence.end()),
            signed(last)
        );
        match sequence.widening(server_version) {
            Some(statement) => {
                let fix = format!("in the target: {statement}");
                Finding::blocker("sequence_at_end", self.table, message, fix)
            }
            None => {
                let fix = "give the row with that number another one";
                Finding::warning("sequence_at_end", self.table, message, fix)
            }
        }
        .on_column(self.column)
    }

    fn not_allowed(&self, sequence: &TargetSequence) -> Finding {
        let (user, name) = (quoted(&sequence.user), &sequence.name);
        let schema = name.rsplit_once('.').map_or("", |(schema, _)| schema);
        let message = format!(
            "{user} may not set the sequence {name}, so that it would give out numbers that are taken"
        );
        let fix = format!(
            "in the target, as its owner: GRANT USAGE ON SCHEMA {schema} TO {user}; GRANT SELECT, \
             UPDATE ON SEQUENCE {name} TO {user}"
        );
        Finding::blocker("sequence_not_allowed", self.table, message, fix).on_column(self.column)
    }

    fn not_set(&self, sequence: &TargetSequence, type_name: &str) -> Finding {
        let message = format!(
            "it is {type_name} and takes numbers from the sequence {}: those that the rows have are \
             not read, so it may give out one that is taken",
            sequence.name
        );
        let fix = "look at its last number after the move, and set it by setval if need be";
        Finding::warning("sequence_not_set", self.table, message, fix).on_column(self.column)
    }
}

fn signed(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", thousands(number.unsigned_abs()))
}

fn counterpart<'a>(
    each: &SequenceUse,
    matched: &'a [MatchedTable],
) -> Option<(&'a MatchedTable, &'a MatchedColumn)> {
    let table = matched.iter().find(|table| table.oid == each.table)?;
    let column = table.columns.iter().find(|column| column.name == each.column)?;
    Some((table, column))
}

/// The furthest number of a sequence in the source's columns, of those that their types hold.
async fn in_source(
    source: &Arc<SourceFile>,
    schema: &SourceSchema,
    matched: &[MatchedTable],
    sequence: &TargetSequence,
    task: Task<'_>,
) -> Result<Option<i64>, Error> {
    let function = if sequence.ascends() { "max" } else { "min" };
    let query = |each: &SequenceUse| {
        let ((least, most), (table, column)) = (each.range?, counterpart(each, matched)?);
        let source = &schema.tables[table.source];
        let name = quoted(&source.columns[column.source].name);
        // The rowid itself is found without a walk through the table.
        let value = match source.is_numbered(column.source) {
            true => name,
            false => format!("CAST({name} AS INTEGER)"),
        };
        Some(format!(
            "SELECT {function}({value}) FROM main.{} WHERE {value} BETWEEN {least} AND {most}",
            quoted(&source.name)
        ))
    };
    let queries: Vec<String> = sequence.uses.iter().filter_map(query).collect();
    let source = source.clone();
    let numbers = blocking(task, move |task| {
        source.with(|connection| {
            let number = |query: &String| {
                task.check()?;
                let found = connection.query_row(query, [], |row| row.get::<_, Option<i64>>(0));
                found.map_err(|error| source.explain(error))
            };
            queries.iter().map(number).collect::<Result<Vec<_>, Error>>()
        })
    });
    let numbers = numbers.await?;
    Ok(numbers.into_iter().fold(None, |last, number| sequence.further(last, number)))
}

/// A default whose numbers Crossover cannot foresee: of no sequence that it finds, or computed from those
/// of one.
fn computed_numbers(
    default: &ColumnDefault,
    sequence: Option<&TargetSequence>,
    schema: &SourceSchema,
    matched: &[MatchedTable],
) -> Option<Finding> {
    let matched = matched.iter().find(|table| table.oid == default.table)?;
    let mut columns = matched.written();
    let column = columns.find(|column| column.name == default.column)?;
    let own = &column.field.postgres_type;
    if !(own.is_integer() || matches!(own, PostgresType::Numeric(_))) {
        return None;
    }
    let (name, relation) = (quoted(&column.name), &matched.relation);
    let expression = shorten(&default.expression);
    let (message, set) = match sequence {
        None if default.may_number => (
            format!(
                "its default is {expression}, in which Crossover finds no sequence: it may give numbers \
                 that the rows have"
            ),
            format!(
                "with the name of the sequence that it reads: SELECT setval('SEQUENCE', max({name})) FROM \
                 {relation}"
            ),
        ),
        Some(sequence) if default.is_computed() => (
            format!(
                "its default {expression} changes the numbers of the sequence {}: the move sets that after \
                 the numbers of the column, so that it may give one that is taken",
                sequence.name
            ),
            format!(
                "with a number behind which none is taken: SELECT setval({}, NUMBER)",
                sql_text(&sequence.name)
            ),
        ),
        _ => return None,
    };
    let table = &schema.tables[matched.source];
    let fix = format!("if so, in the target, after the move, {set}");
    let finding = Finding::warning("sequence_not_known", &table.name, message, fix);
    Some(finding.on_column(&table.columns[column.source].name))
}

/// A key that SQLite numbers and the target does not.
fn unnumbered(
    schema: &SourceSchema,
    matched: &MatchedTable,
    server_version: i32,
) -> Option<Finding> {
    /// First release with identity columns (`server_version_num`).
    const IDENTITY_SINCE: i32 = 100_000;
    let table = &schema.tables[matched.source];
    let key = matched.columns.iter().find(|column| table.is_numbered(column.source))?;
    let mut keys = table.foreign_keys.iter();
    if key.fills_itself
        || key.generated.is_some()
        || keys.any(|each| each.columns.contains(&key.source))
    {
        return None;
    }
    let message =
        "SQLite numbers its rows, the target does not: an INSERT without it gets no number";
    let (relation, name) = (&matched.relation, quoted(&key.name));
    let fix = match key.field.postgres_type.is_integer() && server_version >= IDENTITY_SINCE {
        // Pasted after the move it goes on after the rows.
        true => format!(
            "in the target: ALTER TABLE {relation} ALTER COLUMN {name} SET NOT NULL, ALTER COLUMN \
             {name} ADD GENERATED BY DEFAULT AS IDENTITY; SELECT setval(pg_get_serial_sequence({}, \
             {}), max({name})) FROM {relation} WHERE {name} > 0",
            sql_text(relation),
            sql_text(&key.name)
        ),
        false => "give it numbers from a sequence".to_owned(),
    };
    let finding = Finding::warning("key_without_numbers", &table.name, message, fix);
    Some(finding.on_column(&table.columns[key.source].name))
}
