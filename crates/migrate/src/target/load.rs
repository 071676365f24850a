//! Load of one part of a table: a thread reads and encodes rows into a buffer, the connection sends
//! it. Memory is bounded by a few buffers for any size of table (one row must fit in memory).

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bytes::Bytes;
use futures_util::SinkExt as _;
use indicatif::ProgressBar;
use rusqlite::Row;
use tokio::sync::mpsc;
use tokio_postgres::{Client, CopyInSink};

use super::matching::{MatchedColumn, MatchedTable};
use super::refusal;
use super::row_constraint::ADDRESS;
use crate::display::{ShownValue, list};
use crate::error::BadRow;
use crate::finding::Example;
use crate::source::{SourceFile, SourceTable, quoted};
use crate::task::StopOnDrop;
use crate::value::{ColumnConversion, ConversionTally, FieldSink, NoOutput, ValueReading, encode};
use crate::{Error, Task};

/// Bytes sent at once: large enough that the cost per message vanishes.
const BUFFER_BYTES: usize = 256 << 10;
/// Buffers between the thread that reads and the connection.
const BUFFERS_AHEAD: usize = 4;
/// The head of a binary COPY: signature, flags, length of the extension.
const COPY_HEAD: &[u8; 19] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// The load of a table or of a part of it.
pub struct TableLoad {
    pub table: SourceTable,
    pub matched: MatchedTable,
    /// First and last rowid; `None` for all rows.
    pub rowids: Option<(i64, i64)>,
    /// Rows may be written frozen: the table was made or emptied in this transaction.
    pub freeze: bool,
    /// Each row is followed by its address, and rows that do not fit are skipped: they are probed,
    /// not moved.
    pub addressed: bool,
}

/// Rows that were loaded.
#[derive(Clone, Debug, Default)]
pub struct LoadedRows {
    pub rows: u64,
    pub conversions: Vec<ColumnConversion>,
}

impl TableLoad {
    pub fn statement(&self) -> String {
        let columns = self.matched.written().map(|column| quoted(&column.name));
        let columns = list(columns.chain(self.addressed.then(|| quoted(ADDRESS))));
        let freeze = if self.freeze { ", FREEZE" } else { "" };
        let relation = &self.matched.relation;
        format!("COPY {relation} ({columns}) FROM STDIN (FORMAT binary{freeze})")
    }

    /// Copies all rows.
    pub async fn run(
        self: Arc<Self>,
        client: &Client,
        source: &Arc<SourceFile>,
        task: Task<'_>,
    ) -> Result<LoadedRows, Error> {
        let failed = Error::postgres(format!("cannot load {}", self.table.name));
        let statement = self.statement();
        // The server may wait for a lock.
        let beginning = async { client.copy_in(&statement).await.map_err(failed) };
        let sink: CopyInSink<Bytes> = task.unless_interrupted(beginning).await?;
        let (sender, receiver) = mpsc::channel(BUFFERS_AHEAD);
        // Dropped with this future, so that the reader never outlives it.
        let stopper = StopOnDrop::default();
        let stop = stopper.flag();
        let reader = tokio::task::spawn_blocking({
            let (load, source, stop) = (self.clone(), source.clone(), stop.clone());
            let progress = task.progress.clone();
            move || load.read(&source, &progress, &stop, &sender)
        });
        let sent = tokio::select! {
            sent = send(sink, receiver) => Some(sent),
            () = task.interruption() => None,
        };
        drop(stopper);
        let read = reader.await.map_err(|error| Error::Worker(error.to_string()))?;
        match (sent, read) {
            (None, _) => Err(Error::Interrupted),
            // The reader's own error (a row that does not fit) made the sending end.
            (_, Err(error)) if !matches!(error, Error::Interrupted) => Err(error),
            (Some(Err(error)), _) => Err(self.explain(source, error, task.interrupted)),
            (Some(Ok(_)), Err(error)) => Err(error),
            (Some(Ok(stored)), Ok(read)) if stored == read.rows => Ok(read),
            (Some(Ok(stored)), Ok(LoadedRows { rows: read, .. })) => Err(Error::Target(format!(
                "{}: {read} rows were sent, PostgreSQL stored {stored}: a trigger or rule of the \
                 target drops rows; disable it for the load",
                self.table.name
            ))),
        }
    }

    fn read(
        &self,
        source: &SourceFile,
        progress: &ProgressBar,
        stop: &AtomicBool,
        sender: &mpsc::Sender<CopyMessage>,
    ) -> Result<LoadedRows, Error> {
        let columns: Vec<usize> = self.matched.written().map(|column| column.source).collect();
        let task = Task { progress, interrupted: stop };
        let mut encoder = RowEncoder::new(self, columns.clone(), sender);
        let (table, mut unfit) = (&self.table, 0);
        let rows =
            self.matched.each_row(source, table, &columns, self.rowids, task, |row, place| {
                if self.addressed {
                    let address = table.address(row, place);
                    unfit += u64::from(!encoder.add_addressed(source, row, address)?);
                } else {
                    encoder.add(source, row)?;
                }
                encoder.check()
            });
        let rows = rows.map_err(|error| match encoder.likely_unit {
            Some(unit) => refusal::with_unit(error, self, source, unit),
            None => error,
        })?;
        encoder.put(&(-1_i16).to_be_bytes());
        encoder.flush();
        encoder.check()?;
        sender.blocking_send(CopyMessage::End).map_err(|_| Error::Interrupted)?;
        let written: Vec<&MatchedColumn> = self.matched.written().collect();
        let conversions = encoder.tally.columns(|place| written[place].name_and_type());
        Ok(LoadedRows { rows: rows - unfit, conversions })
    }

    /// Turns a server error about a line of the COPY into one about the row.
    fn explain(
        &self,
        source: &SourceFile,
        error: tokio_postgres::Error,
        interrupted: &AtomicBool,
    ) -> Error {
        let whole = Error::postgres(format!("cannot load {}", self.table.name))(error);
        let report = match &whole {
            // No row is at fault where the server or the connection ended.
            Error::Postgres { report, .. } if !whole.is_cut_off() => report.as_db_error(),
            _ => None,
        };
        let line = report.and_then(|report| {
            let after = report.where_()?.split(", line ").nth(1)?;
            let digits = after.find(|character: char| !character.is_ascii_digit());
            after[..digits.unwrap_or(after.len())].parse::<u64>().ok()
        });
        let row = line.and_then(|line| self.row_at(source, line, interrupted));
        match (row, report) {
            (Some((row, value)), Some(report)) => Error::Row(Box::new(BadRow {
                table: self.table.name.clone(),
                row,
                column: report.column().unwrap_or("(the whole row)").to_owned(),
                value,
                reason: format!("PostgreSQL refuses it: {}", report.message()),
                fix: "repair the row, or relax the target's rule".to_owned(),
            })),
            _ => whole,
        }
    }

    /// The row of this line of the COPY, and its first values. Rows that were not sent have no line.
    fn row_at(
        &self,
        source: &SourceFile,
        line: u64,
        interrupted: &AtomicBool,
    ) -> Option<(String, String)> {
        let task = Task { progress: &ProgressBar::hidden(), interrupted };
        let columns: Vec<usize> = (0..self.table.columns.len()).collect();
        let (mut sent, mut found) = (0, None);
        let (table, rowids) = (&self.table, self.rowids);
        let looking = self.matched.each_row(source, table, &columns, rowids, task, |row, _| {
            sent += u64::from(!self.addressed || self.fits(row));
            if sent < line {
                return Ok(());
            }
            let shown = |place| row.get_ref(place).map(|value| ShownValue(value).to_string());
            let values: rusqlite::Result<Vec<String>> =
                (1..=columns.len().min(4)).map(shown).collect();
            let values = values.map_err(|error| source.explain(error))?;
            found = Some((self.table.row_name(row, &columns), values.join(", ")));
            Err(Error::Interrupted)
        });
        looking.err().and(found)
    }

    /// Whether a row with all columns fits the target's types.
    fn fits(&self, row: &Row<'_>) -> bool {
        self.matched.written().all(|column| {
            let value = row.get_ref(column.source + 1);
            value.is_ok_and(|value| encode(&column.field, value, &mut NoOutput).is_ok())
        })
    }
}

enum CopyMessage {
    Rows(Bytes),
    /// All rows have been read; only this ends the COPY.
    End,
}

async fn send(
    sink: CopyInSink<Bytes>,
    mut receiver: mpsc::Receiver<CopyMessage>,
) -> Result<u64, tokio_postgres::Error> {
    let mut sink = std::pin::pin!(sink);
    while let Some(sent) = receiver.recv().await {
        match sent {
            CopyMessage::Rows(chunk) => sink.feed(chunk).await?,
            CopyMessage::End => return sink.finish().await,
        }
    }
    // The reader gave up: a sink dropped without an end makes the server discard all.
    Ok(0)
}

/// Rows in the binary COPY format, handed over buffer by buffer, in the middle of a value too:
/// however large it is, there is no second copy of it.
struct RowEncoder<'a> {
    load: &'a TableLoad,
    columns: Vec<usize>,
    sender: &'a mpsc::Sender<CopyMessage>,
    buffer: Vec<u8>,
    /// The receiver is gone.
    closed: bool,
    /// The unit of the number that was refused, if it is probably a moment.
    likely_unit: Option<ValueReading>,
    tally: ConversionTally,
}

impl FieldSink for RowEncoder<'_> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while self.buffer.len() + rest.len() > BUFFER_BYTES && !self.closed {
            let (now, later) = rest.split_at(BUFFER_BYTES - self.buffer.len());
            self.buffer.extend_from_slice(now);
            self.flush();
            rest = later;
        }
        if !self.closed {
            self.buffer.extend_from_slice(rest);
        }
    }
}

impl<'a> RowEncoder<'a> {
    fn new(
        load: &'a TableLoad,
        columns: Vec<usize>,
        sender: &'a mpsc::Sender<CopyMessage>,
    ) -> Self {
        let mut buffer = Vec::with_capacity(BUFFER_BYTES);
        buffer.extend_from_slice(COPY_HEAD);
        Self {
            load,
            columns,
            sender,
            buffer,
            closed: false,
            likely_unit: None,
            tally: ConversionTally::default(),
        }
    }

    #[inline]
    fn add(&mut self, source: &SourceFile, row: &Row<'_>) -> Result<(), Error> {
        self.put(&(self.columns.len() as i16).to_be_bytes());
        for (position, column) in self.load.matched.written().enumerate() {
            let value = row.get_ref(position + 1).map_err(|error| source.explain(error))?;
            let load = self.load;
            match encode(&column.field, value, self) {
                Ok(conversions) if conversions.is_none() => {}
                Ok(conversions) => self.tally.add(position, conversions, || Example {
                    row: load.table.row_name(row, &self.columns),
                    value: ShownValue(value).to_string(),
                }),
                Err(unfit) => {
                    self.likely_unit = refusal::likely_unit(value, &column.field);
                    return Err(refusal::of_value(load, column, row, &self.columns, value, unfit));
                }
            }
        }
        Ok(())
    }

    /// The same, with the row's address after it; `false` if it does not fit and was left out.
    fn add_addressed(
        &mut self,
        source: &SourceFile,
        row: &Row<'_>,
        address: i64,
    ) -> Result<bool, Error> {
        let mut tuple = (self.columns.len() as i16 + 1).to_be_bytes().to_vec();
        for (position, column) in self.load.matched.written().enumerate() {
            let value = row.get_ref(position + 1).map_err(|error| source.explain(error))?;
            if encode(&column.field, value, &mut tuple).is_err() {
                return Ok(false);
            }
        }
        tuple.extend_from_slice(&8_i32.to_be_bytes());
        tuple.extend_from_slice(&address.to_be_bytes());
        self.put(&tuple);
        Ok(true)
    }

    fn flush(&mut self) {
        let full = std::mem::replace(&mut self.buffer, Vec::with_capacity(BUFFER_BYTES));
        self.closed |= self.sender.blocking_send(CopyMessage::Rows(full.into())).is_err();
    }

    /// Closed only when sending has failed, which then is the error that is reported.
    fn check(&self) -> Result<(), Error> {
        if self.closed { Err(Error::Interrupted) } else { Ok(()) }
    }
}
