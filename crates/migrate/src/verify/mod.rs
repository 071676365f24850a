//! Verification that both databases hold the same: counts and content digests of every table and
//! column, computed from each side's own rows, and the keys of rows that differ.

mod conclude;
mod differences;
mod digest;
mod part;
mod pieces;
mod rows;
mod shape;
mod structure;
mod table;
mod text;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use engine::PostgresUrl;
use futures_util::future::try_join_all;
use indicatif::ProgressBar;
use parking_lot::Mutex;
use serde::Serialize;
use tokio_postgres::Client;

pub use differences::{ColumnDifference, DifferenceKind, RowDifference};
pub use structure::{StructureComparison, StructureDifference, verify_structure};

use self::part::{ComparisonPart, OfSource};
use self::table::{ComparedTable, PartDigests};
use crate::audit::objects;
use crate::finding::Losses;
use crate::mapping::MapRules;
use crate::source::{
    PART_BYTES, Selection, SourceFile, SourceSchema, SourceTable, open_selected, readers,
};
use crate::target::rights::TableAccess;
use crate::target::{
    MatchedTable, StatementCanceller, cancelled_by_user, catalog, locks, match_tables, namespace,
    rights,
};
use crate::task::blocking;
use crate::value::{ColumnConversion, add_conversions};
use crate::{Error, Task};

#[derive(Clone, Debug)]
pub struct VerifyOptions {
    /// `--map` rules, for the reading of numbers as dates.
    pub rules: MapRules,
    pub selection: Selection,
    /// The target's schema; the first of its search path unless given.
    pub schema: Option<String>,
    /// Approximate bytes of the target in one part; the parts of larger tables are read in
    /// parallel.
    pub part_bytes: u64,
}

impl Default for VerifyOptions {
    fn default() -> Self {
        let (rules, selection) = (MapRules::default(), Selection::default());
        Self { rules, selection, schema: None, part_bytes: PART_BYTES }
    }
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct VerificationReport {
    pub tables: Vec<TableVerification>,
    /// Rows and rules that do not arrive; `None` inside a migration, whose report has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_carried_over: Option<Losses>,
    /// If it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structure: Option<StructureComparison>,
}

impl VerificationReport {
    pub fn is_equal(&self) -> bool {
        let is_promised = |found: &StructureComparison| found.differences.is_empty();
        self.tables.iter().all(|table| table.equal)
            && self.structure.as_ref().is_none_or(is_promised)
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct TableVerification {
    pub table: String,
    pub source_rows: u64,
    pub target_rows: u64,
    pub equal: bool,
    /// The digest of all rows of the source, in hexadecimal.
    pub source_digest: String,
    /// The same of the target.
    pub target_digest: String,
    pub differing_columns: Vec<String>,
    /// Digests of the source's columns, in hexadecimal.
    pub columns: Vec<ColumnDigest>,
    /// Rows that differ, at most 20.
    pub differences: Vec<RowDifference>,
    /// Rows of the source that the target's types cannot hold, at most 20.
    pub unfit: Vec<String>,
    /// Stated conversions of the source's values, under which both sides were compared.
    pub conversions: Vec<ColumnConversion>,
}

/// The digest of a column on both sides.
#[derive(Clone, Debug, Serialize)]
pub struct ColumnDigest {
    pub column: String,
    /// The source's digest, in hexadecimal.
    pub source_digest: String,
    pub target_digest: String,
}

/// Compares a SQLite file with the tables of a PostgreSQL database, each read in one snapshot.
pub async fn verify(
    source: &Path,
    target: &PostgresUrl,
    options: &VerifyOptions,
    progress: &ProgressBar,
    interrupted: &AtomicBool,
) -> Result<VerificationReport, Error> {
    let task = Task { progress, interrupted };
    Box::pin(verify_tables(source, target, options, task)).await
}

async fn verify_tables(
    source: &Path,
    target: &PostgresUrl,
    options: &VerifyOptions,
    task: Task<'_>,
) -> Result<VerificationReport, Error> {
    let path = source.to_owned();
    let selection = options.selection.clone();
    let reading = blocking(task, move |task| open_selected(&path, readers(), &selection, 2, task));
    let (source, schema) = task.unless_interrupted(reading).await?;
    options.rules.check(&schema)?;
    let connecting = on_one_snapshot(target, source.connections());
    let clients = task.unless_interrupted(connecting).await?;
    let of_each = clients.iter().map(|client| StatementCanceller::of(client, target));
    let sessions = task.unless_interrupted(try_join_all(of_each)).await?;
    let comparing = Box::pin(compare_databases(&clients, &source, &schema, options, task));
    let compared = cancelled_by_user(target, &sessions, task, comparing).await;
    let Err(error) = compared else { return compared };
    // The first one's transaction may have failed.
    let Some(client) = clients.first().filter(|_| error.is_refused_right()) else {
        return Err(error);
    };
    let _ = client.batch_execute("ROLLBACK").await;
    let namespace = namespace(client, options.schema.as_deref()).await?;
    let tables: Vec<String> = schema.tables.iter().map(|table| table.target_name.clone()).collect();
    Err(rights::explain(error, client, &namespace, &tables, TableAccess::Read).await)
}

async fn compare_databases(
    clients: &[Client],
    source: &Arc<SourceFile>,
    schema: &SourceSchema,
    options: &VerifyOptions,
    task: Task<'_>,
) -> Result<VerificationReport, Error> {
    let namespace = namespace(&clients[0], options.schema.as_deref()).await?;
    let found = catalog(&clients[0], &namespace).await?;
    let matched = match_tables(schema, &found, &options.rules)?;
    rights::refuse_hidden_rows(&clients[0], &matched).await?;
    let needed = locks::to_use(&clients[0], &matched, false).await?;
    locks::ensure(&clients[0], matched.len(), needed).await?;
    let clients: Vec<&Client> = clients.iter().collect();
    let part_bytes = options.part_bytes;
    let compared = compare_all(&clients, source, schema, &matched, part_bytes, task).await?;
    let findings = objects(source, schema, found, task).await?;
    Ok(VerificationReport { not_carried_over: Some(Losses::of(&findings)), ..compared })
}

/// Up to `count` connections on one snapshot; at least one.
async fn on_one_snapshot(target: &PostgresUrl, count: usize) -> Result<Vec<Client>, Error> {
    const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
    let failed = || Error::postgres("cannot begin");
    let first = connect::postgres::connect(target).await?;
    first.batch_execute(BEGIN).await.map_err(failed())?;
    if count <= 1 {
        return Ok(vec![first]);
    }
    let row = first.query_one("SELECT pg_export_snapshot()", &[]).await.map_err(failed())?;
    let join = format!("{BEGIN}; SET TRANSACTION SNAPSHOT '{}'", row.get::<_, &str>(0));
    let mut clients = vec![first];
    while clients.len() < count {
        // A server with too few connections is compared over fewer.
        let Ok(client) = connect::postgres::connect(target).await else { break };
        client.batch_execute(&join).await.map_err(failed())?;
        clients.push(client);
    }
    Ok(clients)
}

/// Compares all matched tables in parallel parts, over connections on one snapshot.
pub(crate) async fn compare_all(
    clients: &[&Client],
    source: &Arc<SourceFile>,
    schema: &SourceSchema,
    matched: &[MatchedTable],
    part_bytes: u64,
    task: Task<'_>,
) -> Result<VerificationReport, Error> {
    let Some(first) = clients.first() else { return Ok(VerificationReport::default()) };
    let parts = part::plan(first, source, schema, matched, part_bytes).await?;
    let comparison = TableComparisons::new(source, schema, matched, &parts, task);
    // Large rows are read one at a time over one connection, since each connection keeps a buffer
    // for its largest. The source's come first for the same reason.
    let (mut large, others): (Vec<&ComparisonPart>, Vec<&ComparisonPart>) =
        parts.iter().partition(|part| part.is_large);
    large.sort_by_key(|part| part.of_source == OfSource::None);
    let (comparison, large, others, next) = (&comparison, &large, &others, AtomicUsize::new(0));
    let next = &next;
    let comparing = clients.iter().enumerate().map(|(place, client)| async move {
        let mut compared = Vec::new();
        for part in large.iter().filter(|_| place == 0) {
            compared.extend(comparison.add(client, part).await?);
        }
        while let Some(part) = others.get(next.fetch_add(1, Ordering::Relaxed)) {
            compared.extend(comparison.add(client, part).await?);
        }
        Ok::<_, Error>(compared)
    });
    let mut compared: Vec<_> = try_join_all(comparing).await?.into_iter().flatten().collect();
    compared.sort_by_key(|(place, _)| *place);
    let tables = compared.into_iter().map(|(_, table)| table).collect();
    Ok(VerificationReport { tables, ..VerificationReport::default() })
}

pub(crate) async fn compare(
    client: &Client,
    source: &Arc<SourceFile>,
    table: &SourceTable,
    matched: &MatchedTable,
    task: Task<'_>,
) -> Result<TableVerification, Error> {
    let is_large = part::is_large(source, table)?;
    let part = ComparisonPart { table: 0, of_source: OfSource::All, of_target: None, is_large };
    let compared = ComparedTable::new(client, source, table, matched, task);
    compared.conclude(compared.read(&part).await?).await
}

/// Sums of the parts read so far, by table.
struct TableComparisons<'a> {
    source: &'a Arc<SourceFile>,
    schema: &'a SourceSchema,
    matched: &'a [MatchedTable],
    /// By table: parts not read yet, and the sum of the others.
    tables: Mutex<Vec<(usize, Option<PartDigests>)>>,
    task: Task<'a>,
}

impl<'a> TableComparisons<'a> {
    fn new(
        source: &'a Arc<SourceFile>,
        schema: &'a SourceSchema,
        matched: &'a [MatchedTable],
        parts: &[ComparisonPart],
        task: Task<'a>,
    ) -> Self {
        let parts_of = |place: usize| parts.iter().filter(|part| part.table == place).count();
        let tables = (0..matched.len()).map(|place| (parts_of(place), None)).collect();
        Self { source, schema, matched, tables: Mutex::new(tables), task }
    }

    /// Reads a part. Returns the table's place and result with its last part.
    async fn add(
        &self,
        client: &Client,
        part: &ComparisonPart,
    ) -> Result<Option<(usize, TableVerification)>, Error> {
        let matched = &self.matched[part.table];
        let table = &self.schema.tables[matched.source];
        let compared = ComparedTable::new(client, self.source, table, matched, self.task);
        let read = compared.read(part).await?;
        let whole = {
            let mut tables = self.tables.lock();
            let (left, sum) = &mut tables[part.table];
            *left -= 1;
            match sum {
                None => *sum = Some(read),
                Some(sum) => {
                    sum.of_source.add(&read.of_source);
                    sum.of_target.add(&read.of_target);
                    sum.unfit.extend(read.unfit);
                    add_conversions(&mut sum.conversions, read.conversions);
                }
            }
            if *left == 0 { sum.take() } else { None }
        };
        let Some(sides) = whole else { return Ok(None) };
        Ok(Some((matched.source, compared.conclude(sides).await?)))
    }
}
