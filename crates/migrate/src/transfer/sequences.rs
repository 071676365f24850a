//! Sequences behind identity, serial and `nextval` columns: they must continue after the furthest
//! number, or the application's next insert fails, and never give a number a second time.

use crate::Error;
use crate::source::SourceSchema;
use crate::target::{ColumnDefault, MatchedTable, TargetSequence, TargetSession, given_out};

/// The rows for which sequences are set.
pub struct NumberedRows<'a> {
    pub schema: &'a SourceSchema,
    /// The tables, also those whose rows were there already.
    pub matched: &'a [MatchedTable],
    /// Everything is undone at the end: what a rollback does not undo is left alone.
    pub dry_run: bool,
}

/// Sets each sequence of the tables that would give out a number again. Returns their number. Needs a
/// transaction.
pub async fn set(session: &TargetSession, rows: &NumberedRows<'_>) -> Result<usize, Error> {
    let TargetSession { client, server_version, .. } = session;
    let NumberedRows { schema, matched, dry_run } = *rows;
    let mut count = 0;
    let defaults = ColumnDefault::read_all(client, matched).await?;
    for sequence in TargetSequence::read_all(client, matched, &defaults, *server_version).await? {
        let stored = sequence.furthest(client, |_| true).await?;
        // AUTOINCREMENT never gives a number again, even after its row is deleted.
        let last = sequence.further(stored, given_out(&sequence, schema, matched));
        if last == sequence.position(client).await? {
            continue;
        }
        let statement = last.and_then(|last| sequence.after(last, *server_version));
        let Some(statement) = statement else { continue };
        if statement.is_transactional || !dry_run {
            let failed = Error::postgres("cannot set the sequences");
            client.batch_execute(&statement.sql).await.map_err(failed)?;
        }
        count += 1;
    }
    Ok(count)
}
