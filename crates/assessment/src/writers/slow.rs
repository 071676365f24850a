//! Transactions that take too long for a measurement, found by one execution of each on the copy, which
//! is rolled back.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use plan::{Parameter, Seconds};
use record::NotMeasured;
use rusqlite::{Connection, ErrorCode};

use super::WriteTransaction;
use super::logged::LoggedTransactions;
use crate::error::{Result, check_interrupted};
use crate::pilot::{INSTRUCTIONS_BETWEEN_LOOKS, filled};
use crate::statement::{MeasuredStatement, StatementParameter};

/// Executions one after another that a budget has room for: 16 writers, two engines, a few blocks.
const IN_BUDGET: u32 = 200;

/// Leaves out transactions of which a trial could not hold one of each writer.
pub fn leave_out(
    found: &mut LoggedTransactions,
    copy: &Path,
    budget: Seconds,
    interrupted: &Arc<AtomicBool>,
) -> Result<()> {
    let mut connection = connect::sqlite::open_existing(copy)?;
    let limit = budget.duration() / IN_BUDGET;
    let mut kept = Vec::new();
    for transaction in std::mem::take(&mut found.transactions) {
        let ends = ends_within(&transaction, &mut connection, limit, interrupted)?;
        check_interrupted(interrupted)?;
        if ends {
            kept.push(transaction);
            continue;
        }
        let why = format!(
            "one execution takes longer than {} s, so that --budget {budget} holds too few",
            notation::digits(limit.as_secs_f64())
        );
        found.left_out.push(NotMeasured { name: transaction.name, place: None, why });
    }
    found.transactions = kept;
    Ok(())
}

/// `true` where it ends by itself within the limit, or SQLite refuses it, which the measurement names.
fn ends_within(
    transaction: &WriteTransaction,
    connection: &mut Connection,
    limit: Duration,
    interrupted: &Arc<AtomicBool>,
) -> Result<bool> {
    let Some(filled) = filled(&as_statement(transaction), connection)? else { return Ok(true) };
    let (begun, stop) = (Instant::now(), interrupted.clone());
    let look = move || begun.elapsed() > limit || stop.load(Ordering::Relaxed);
    connection.execute_batch("BEGIN")?;
    connection.progress_handler(INSTRUCTIONS_BETWEEN_LOOKS, Some(look))?;
    let run = |text: &str| -> rusqlite::Result<()> {
        let mut prepared = connection.prepare(text)?;
        let mut rows = prepared.query([])?;
        while rows.next()?.is_some() {}
        Ok(())
    };
    let done = filled.text.split(";\n").try_for_each(run);
    connection.progress_handler(0, None::<fn() -> bool>)?;
    // SQLite has rolled it back by itself after some errors.
    if !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?;
    }
    let stopped =
        |error: rusqlite::Error| error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted);
    Ok(!done.is_err_and(stopped))
}

/// With a query for each parameter.
fn as_statement(transaction: &WriteTransaction) -> MeasuredStatement {
    let parameters = transaction.parameters.iter().map(|(name, values)| {
        let query = match values {
            Parameter::Query { query } => query.clone(),
            Parameter::Range { range: [first, _] } => format!("SELECT {first}"),
            Parameter::List { .. } => "SELECT NULL".to_owned(),
        };
        StatementParameter { name: name.clone(), query }
    });
    MeasuredStatement {
        text: transaction.text.clone(),
        parameters: parameters.collect(),
        sets: transaction.sets.clone(),
        ..MeasuredStatement::default()
    }
}
