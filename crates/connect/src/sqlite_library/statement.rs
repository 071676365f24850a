//! Prepared statements of a library.

use std::ffi::{c_char, c_int, c_void};
use std::slice;
use std::sync::Arc;

use rusqlite::ffi::{self, sqlite3_stmt};
use rusqlite::types::ValueRef;

use super::connection::Handle;
use super::{LibraryError, text};
use crate::SqliteCounters;

/// A prepared statement.
pub struct LibraryStatement {
    handle: Arc<Handle>,
    statement: *mut sqlite3_stmt,
    columns: usize,
}

// SAFETY: as its connection, whose session owns it.
#[expect(unsafe_code, reason = "SQLite's rule for statements")]
unsafe impl Send for LibraryStatement {}

impl LibraryStatement {
    #[expect(unsafe_code, reason = "calls by pointer")]
    pub(super) fn prepare(handle: &Arc<Handle>, sql: &str) -> Result<Self, LibraryError> {
        let functions = &handle.library.functions;
        let length = c_int::try_from(sql.len()).unwrap_or(c_int::MAX);
        let (mut statement, mut rest) = (std::ptr::null_mut(), std::ptr::null());
        // SAFETY: the text has this length, and both places live for the call.
        let code = unsafe {
            (functions.sqlite3_prepare_v2)(
                handle.database,
                sql.as_ptr().cast::<c_char>(),
                length,
                &mut statement,
                &mut rest,
            )
        };
        handle.check(code)?;
        if statement.is_null() {
            let message = "the text holds no statement".to_owned();
            return Err(LibraryError::Refused { code: ffi::SQLITE_ERROR, message });
        }
        // SAFETY: the statement was prepared.
        let columns = unsafe { (functions.sqlite3_column_count)(statement) };
        let columns = usize::try_from(columns).unwrap_or_default();
        Ok(Self { handle: Arc::clone(handle), statement, columns })
    }

    #[must_use]
    #[expect(unsafe_code, reason = "a call by pointer")]
    pub fn parameter_count(&self) -> usize {
        let functions = &self.handle.library.functions;
        // SAFETY: the statement is prepared.
        let count = unsafe { (functions.sqlite3_bind_parameter_count)(self.statement) };
        usize::try_from(count).unwrap_or_default()
    }

    #[must_use]
    pub fn column_count(&self) -> usize {
        self.columns
    }

    #[must_use]
    #[expect(unsafe_code, reason = "a call by pointer")]
    pub fn column_name(&self, column: usize) -> String {
        let functions = &self.handle.library.functions;
        // SAFETY: the statement is prepared; null for a column that it has not.
        unsafe { text((functions.sqlite3_column_name)(self.statement, index(column))) }
    }

    /// Ends an execution, so that it can begin again.
    #[expect(unsafe_code, reason = "a call by pointer")]
    pub fn reset(&mut self) {
        // SAFETY: the statement is prepared. The code repeats that of the last step.
        unsafe { (self.handle.library.functions.sqlite3_reset)(self.statement) };
    }

    /// Gives the parameter at `place`, from 1, a value, which SQLite copies.
    ///
    /// # Errors
    /// When there is no such parameter.
    #[expect(unsafe_code, reason = "calls by pointer")]
    pub fn bind(&mut self, place: usize, value: ValueRef<'_>) -> Result<(), LibraryError> {
        let (functions, statement) = (&self.handle.library.functions, self.statement);
        let place = index(place);
        let copied = ffi::SQLITE_TRANSIENT();
        // SAFETY: the statement is prepared and reset; the bytes have this length, and are copied.
        let code = unsafe {
            match value {
                ValueRef::Null => (functions.sqlite3_bind_null)(statement, place),
                ValueRef::Integer(number) => {
                    (functions.sqlite3_bind_int64)(statement, place, number)
                }
                ValueRef::Real(number) => (functions.sqlite3_bind_double)(statement, place, number),
                ValueRef::Text(bytes) => {
                    let (from, length) = (bytes.as_ptr().cast::<c_char>(), index(bytes.len()));
                    (functions.sqlite3_bind_text)(statement, place, from, length, copied)
                }
                ValueRef::Blob(bytes) => {
                    let (from, length) = (bytes.as_ptr().cast::<c_void>(), index(bytes.len()));
                    (functions.sqlite3_bind_blob)(statement, place, from, length, copied)
                }
            }
        };
        self.handle.check(code)
    }

    /// The next row, if there is one.
    ///
    /// # Errors
    /// What the library says of the execution.
    #[expect(unsafe_code, reason = "a call by pointer")]
    pub fn step(&mut self) -> Result<bool, LibraryError> {
        // SAFETY: the statement is prepared.
        match unsafe { (self.handle.library.functions.sqlite3_step)(self.statement) } {
            ffi::SQLITE_ROW => Ok(true),
            ffi::SQLITE_DONE => Ok(false),
            _ => Err(self.handle.error()),
        }
    }

    /// A value of the present row.
    #[must_use]
    #[expect(unsafe_code, reason = "calls by pointer")]
    pub fn column(&self, column: usize) -> ValueRef<'_> {
        let (functions, statement) = (&self.handle.library.functions, self.statement);
        let column = index(column);
        // SAFETY: the statement is at a row; a column that it has not is null.
        unsafe {
            match (functions.sqlite3_column_type)(statement, column) {
                ffi::SQLITE_INTEGER => {
                    ValueRef::Integer((functions.sqlite3_column_int64)(statement, column))
                }
                ffi::SQLITE_FLOAT => {
                    ValueRef::Real((functions.sqlite3_column_double)(statement, column))
                }
                ffi::SQLITE_TEXT => ValueRef::Text(self.bytes(column)),
                ffi::SQLITE_BLOB => ValueRef::Blob(self.bytes(column)),
                _ => ValueRef::Null,
            }
        }
    }

    /// The bytes of a column, which stay until the next step or reset, both of which need `&mut self`.
    #[expect(unsafe_code, reason = "calls by pointer")]
    fn bytes(&self, column: c_int) -> &[u8] {
        let (functions, statement) = (&self.handle.library.functions, self.statement);
        // SAFETY: the statement is at a row. The pointer is asked for first, as SQLite's rule is; it
        // is null for no bytes.
        unsafe {
            let bytes = (functions.sqlite3_column_blob)(statement, column).cast::<u8>();
            let length = (functions.sqlite3_column_bytes)(statement, column);
            match bytes.is_null() {
                true => &[],
                false => slice::from_raw_parts(bytes, usize::try_from(length).unwrap_or_default()),
            }
        }
    }

    /// Adds an executed statement's counts since the last call; resets them.
    #[expect(unsafe_code, reason = "a call by pointer")]
    pub fn add_counters(&self, counters: &mut SqliteCounters) {
        let functions = &self.handle.library.functions;
        // SAFETY: the statement is prepared; an unknown counter is 0.
        let take = |status| unsafe { (functions.sqlite3_stmt_status)(self.statement, status, 1) };
        let take = |status| u64::try_from(take(status)).unwrap_or_default();
        counters.full_scan_steps += take(ffi::SQLITE_STMTSTATUS_FULLSCAN_STEP);
        counters.sorts += take(ffi::SQLITE_STMTSTATUS_SORT);
    }
}

impl Drop for LibraryStatement {
    #[expect(unsafe_code, reason = "a call by pointer")]
    fn drop(&mut self) {
        // SAFETY: it is the last use of the statement, and its connection is still open.
        unsafe { (self.handle.library.functions.sqlite3_finalize)(self.statement) };
    }
}

fn index(number: usize) -> c_int {
    c_int::try_from(number).unwrap_or(c_int::MAX)
}
