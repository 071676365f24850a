//! Proof that both databases hold the same: counts and content digests of every table and column,
//! computed from each side's own rows, and the keys of rows that differ.

mod differences;
mod digest;
mod field;
mod rows;
mod text;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use engine::PostgresUrl;
use futures_util::future::try_join_all;
use indicatif::ProgressBar;
use serde::Serialize;
use tokio_postgres::Client;

pub use differences::{ColumnDifference, Difference, DifferenceKind};

use self::digest::{Hasher, Shape, TableDigest};
use self::field::Canonical;
use crate::copy::{Matched, catalog, current_schema, match_tables};
use crate::inspect::{Schema, Source, Table, schema};
use crate::mapping::Rules;
use crate::selection::{Selection, estimated_rows};
use crate::watch::blocking;
use crate::{Error, Watch};

/// What a verification compares.
#[derive(Clone, Debug, Default)]
pub struct VerifyOptions {
    /// `--map` rules: how numbers in dates are read.
    pub rules: Rules,
    /// Which tables.
    pub selection: Selection,
    /// The target's schema; the first of its search path unless given.
    pub schema: Option<String>,
}

/// The result of a verification.
#[derive(Clone, Debug, Serialize)]
pub struct Verification {
    /// One entry per table.
    pub tables: Vec<TableVerification>,
}

impl Verification {
    /// Whether everything is the same.
    pub fn is_equal(&self) -> bool {
        self.tables.iter().all(|table| table.equal)
    }
}

/// The comparison of one table.
#[derive(Clone, Debug, Serialize)]
pub struct TableVerification {
    /// The source's table.
    pub table: String,
    /// Rows in the source.
    pub source_rows: u64,
    /// Rows in the target.
    pub target_rows: u64,
    /// Everything is the same.
    pub equal: bool,
    /// The digest of all rows of the source, in hexadecimal.
    pub source_digest: String,
    /// The same of the target.
    pub target_digest: String,
    /// Columns whose digests differ.
    pub differing_columns: Vec<String>,
    /// Digests of the source's columns, in hexadecimal.
    pub columns: Vec<ColumnDigest>,
    /// Rows that differ, at most 20.
    pub differences: Vec<Difference>,
    /// Rows of the source that the target's types cannot hold, at most 20.
    pub unfit: Vec<String>,
}

/// The digest of a column on both sides.
#[derive(Clone, Debug, Serialize)]
pub struct ColumnDigest {
    /// The column.
    pub column: String,
    /// The source's digest, in hexadecimal.
    pub source_digest: String,
    /// The target's.
    pub target_digest: String,
}

/// Compares a SQLite file with the tables of a PostgreSQL database, each read in one snapshot.
///
/// # Errors
/// A side that cannot be read, tables or columns that have no counterpart, [`Error::Interrupted`].
pub async fn verify(
    source: &Path,
    target: &PostgresUrl,
    options: &VerifyOptions,
    progress: &ProgressBar,
    interrupted: &AtomicBool,
) -> Result<Verification, Error> {
    let watch = Watch { progress, interrupted };
    let path = source.to_owned();
    let selection = options.selection.clone();
    let (source, schema) = blocking(watch, move |watch| {
        let source = Source::open(&path, 1)?;
        let schema = selected(&source, &selection)?;
        let rows = source.with(|connection| Ok(estimated_rows(connection, &schema)))?;
        watch.progress.set_length(2 * rows.iter().sum::<u64>());
        Ok((Arc::new(source), schema))
    })
    .await?;
    options.rules.check(&schema)?;
    let client = engine::postgres::connect(target).await?;
    client
        .batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        .await
        .map_err(Error::postgres("cannot begin"))?;
    let namespace = match &options.schema {
        Some(schema) => schema.clone(),
        None => current_schema(&client).await?,
    };
    let found = catalog(&client, &namespace).await?;
    let matched = match_tables(&schema, &found, &options.rules)
        .map_err(|problems| Error::Target(problems.join("\n")))?;
    compare_all(&[&client], &source, &schema, &matched, watch).await
}

/// The selected schema of a source.
pub(crate) fn selected(source: &Source, selection: &Selection) -> Result<Schema, Error> {
    source.with(|connection| {
        selection.apply(schema(connection).map_err(|error| source.explain(error))?)
    })
}

/// Compares all matched tables side by side, over connections that see one state of the target.
pub(crate) async fn compare_all(
    clients: &[&Client],
    source: &Arc<Source>,
    schema: &Schema,
    matched: &[Matched],
    watch: Watch<'_>,
) -> Result<Verification, Error> {
    let next = AtomicUsize::new(0);
    let next = &next;
    let comparing = clients.iter().map(|client| async move {
        let mut compared = Vec::new();
        while let Some(each) = matched.get(next.fetch_add(1, Ordering::Relaxed)) {
            let table = &schema.tables[each.source];
            compared.push((each.source, compare(client, source, table, each, watch).await?));
        }
        Ok::<_, Error>(compared)
    });
    let mut compared: Vec<_> = try_join_all(comparing).await?.into_iter().flatten().collect();
    compared.sort_by_key(|(place, _)| *place);
    Ok(Verification { tables: compared.into_iter().map(|(_, table)| table).collect() })
}

/// Compares one table: both sides are read at the same time.
pub(crate) async fn compare(
    client: &Client,
    source: &Arc<Source>,
    table: &Table,
    matched: &Matched,
    watch: Watch<'_>,
) -> Result<TableVerification, Error> {
    let shape = shape(table, matched);
    let reading_source = blocking(watch, {
        let (source, table, matched) = (source.clone(), table.clone(), matched.clone());
        let shape = shape.clone();
        move |watch| {
            let mut hasher = Hasher::new(&shape);
            let (rows, unfit) =
                rows::of_source(&source, &table, &matched, watch, |tuple| hasher.add(tuple))?;
            hasher.digest.rows = rows;
            Ok((hasher.digest, unfit))
        }
    });
    let reading_target = async {
        let mut hasher = Hasher::new(&shape);
        rows::of_target(client, matched, watch, |tuple| hasher.add(tuple)).await?;
        Ok::<TableDigest, Error>(hasher.digest)
    };
    let (of_source, of_target) = tokio::join!(reading_source, reading_target);
    let ((of_source, unfit), of_target) = (of_source?, of_target?);
    let equal = of_source.rows == of_target.rows
        && of_source.table() == of_target.table()
        && of_source.columns == of_target.columns
        && unfit.is_empty();
    let differences = if equal {
        Vec::new()
    } else {
        let digests = (&of_source, &of_target);
        differences::differences(client, source, table, matched, &shape, digests, watch).await?
    };
    Ok(result(table, matched, (&of_source, &of_target), equal, differences, &unfit))
}

fn shape(table: &Table, matched: &Matched) -> Shape {
    let forms = matched.columns.iter().map(|column| Canonical::of(&column.field.postgres_type));
    let place = |wanted: &usize| matched.columns.iter().position(|each| each.source == *wanted);
    let key: Option<Vec<usize>> = table.primary_key.iter().map(place).collect();
    let all = || (0..matched.columns.len()).collect();
    Shape { forms: forms.collect(), key: key.filter(|key| !key.is_empty()).unwrap_or_else(all) }
}

fn result(
    table: &Table,
    matched: &Matched,
    (of_source, of_target): (&TableDigest, &TableDigest),
    equal: bool,
    differences: Vec<Difference>,
    unfit: &[crate::copy::BadRow],
) -> TableVerification {
    let hex = |digest: u128| format!("{digest:032x}");
    let columns: Vec<ColumnDigest> = matched
        .columns
        .iter()
        .enumerate()
        .map(|(place, column)| ColumnDigest {
            column: column.name.clone(),
            source_digest: hex(of_source.columns[place]),
            target_digest: hex(of_target.columns[place]),
        })
        .collect();
    TableVerification {
        table: table.name.clone(),
        source_rows: of_source.rows,
        target_rows: of_target.rows,
        equal,
        source_digest: hex(of_source.table()),
        target_digest: hex(of_target.table()),
        differing_columns: columns
            .iter()
            .filter(|column| column.source_digest != column.target_digest)
            .map(|column| column.column.clone())
            .collect(),
        columns,
        differences,
        unfit: unfit.iter().map(ToString::to_string).collect(),
    }
}
