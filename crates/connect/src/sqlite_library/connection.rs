//! A connection by a library: opened, set, waited for, interrupted.

use std::ffi::{CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr;
use std::sync::{Arc, Weak};
use std::time::Duration;

use rusqlite::ffi::{self, sqlite3};

use super::{LibraryError, LibraryStatement, SqliteLibrary, text};
use crate::SqliteCounters;
use crate::sqlite::{SHOWN_PRAGMAS, check_taken, is_shared_by_trials};

/// Waits for a lock that was found held, for this time in turn, from 0; `true`: SQLite tries again.
pub type BusyCallback = Box<dyn FnMut(i32) -> bool + Send>;

/// How a connection waits for locks.
pub enum BusyWait {
    /// By SQLite's own handler, which adds up what it meant to sleep.
    Timeout(Duration),
    Handler(BusyCallback),
}

/// A connection, and what keeps its library in memory.
pub(super) struct Handle {
    pub(super) library: Arc<SqliteLibrary>,
    pub(super) database: *mut sqlite3,
    /// The connection's own, freed with it; null where SQLite's is used.
    busy: *mut BusyCallback,
}

// SAFETY: SQLite lets a connection move between threads, also where it was compiled without mutexes:
// it is used by one thread at a time, since all calls need the session that owns it.
#[expect(unsafe_code, reason = "SQLite's rule for connections")]
unsafe impl Send for Handle {}
// SAFETY: statements share the handle only within that session.
#[expect(unsafe_code, reason = "SQLite's rule for connections")]
unsafe impl Sync for Handle {}

impl Handle {
    #[expect(unsafe_code, reason = "a call by pointer")]
    pub(super) fn error(&self) -> LibraryError {
        let functions = &self.library.functions;
        // SAFETY: the connection is open, also where it could not open its file.
        let code = unsafe { (functions.sqlite3_extended_errcode)(self.database) };
        // SAFETY: likewise; the text stays until the next call.
        let message = unsafe { text((functions.sqlite3_errmsg)(self.database)) };
        LibraryError::Refused { code, message }
    }

    pub(super) fn check(&self, code: c_int) -> Result<(), LibraryError> {
        if code == ffi::SQLITE_OK { Ok(()) } else { Err(self.error()) }
    }
}

impl Drop for Handle {
    #[expect(unsafe_code, reason = "a call by pointer")]
    fn drop(&mut self) {
        // SAFETY: it is the last use of the connection; statements hold the handle.
        unsafe { (self.library.functions.sqlite3_close)(self.database) };
        if !self.busy.is_null() {
            // SAFETY: it came out of a box, and the connection that called it is closed.
            drop(unsafe { Box::from_raw(self.busy) });
        }
    }
}

/// A connection by a library.
pub struct LibraryConnection(Arc<Handle>);

impl LibraryConnection {
    /// Opens a file that exists.
    ///
    /// # Errors
    /// When the library refuses it.
    #[expect(unsafe_code, reason = "a call by pointer")]
    pub fn open(
        library: &Arc<SqliteLibrary>,
        path: &Path,
        read_only: bool,
        wait: BusyWait,
    ) -> Result<Self, LibraryError> {
        let refused = |message: &str| LibraryError::Refused {
            code: ffi::SQLITE_CANTOPEN,
            message: message.to_owned(),
        };
        let name = CString::new(path.as_os_str().as_bytes());
        let name = name.map_err(|_| refused("the path has a NUL byte"))?;
        let access = if read_only { ffi::SQLITE_OPEN_READONLY } else { ffi::SQLITE_OPEN_READWRITE };
        let mut database = ptr::null_mut();
        // SAFETY: name and place live for the call.
        let code = unsafe {
            (library.functions.sqlite3_open_v2)(name.as_ptr(), &mut database, access, ptr::null())
        };
        if database.is_null() {
            return Err(refused("the library has no memory for a connection"));
        }
        let mut handle = Handle { library: Arc::clone(library), database, busy: ptr::null_mut() };
        handle.check(code)?;
        let functions = &library.functions;
        // SAFETY: the connection is open, and its handler is freed after it.
        let code = unsafe {
            match wait {
                BusyWait::Timeout(time) => {
                    let milliseconds = c_int::try_from(time.as_millis()).unwrap_or(c_int::MAX);
                    (functions.sqlite3_busy_timeout)(database, milliseconds)
                }
                BusyWait::Handler(handler) => {
                    handle.busy = Box::into_raw(Box::new(handler));
                    let busy = handle.busy.cast::<c_void>();
                    (functions.sqlite3_busy_handler)(database, Some(wait_by_handler), busy)
                }
            }
        };
        handle.check(code)?;
        Ok(Self(Arc::new(handle)))
    }

    /// Sets each pragma and reads it back; what was read back, in order, then those of
    /// [`SHOWN_PRAGMAS`] that were not set.
    ///
    /// # Errors
    /// The library's error about one, or another value afterwards.
    pub fn settings<'a>(
        &self,
        settings: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Vec<(String, String)>, LibraryError> {
        // The default of the SQLite that is built in, and not of others.
        self.execute("PRAGMA foreign_keys = on")?;
        let mut read_back: Vec<(String, String)> = Vec::new();
        for (name, value) in settings {
            let name = name.to_lowercase();
            self.execute(&format!("PRAGMA {name} = {}", pragma_value(value)))?;
            let actual = self.text_of(&format!("PRAGMA {name}"))?;
            let engine = format!("SQLite {}", self.0.library.version());
            check_taken(&name, value, &actual, engine)
                .map_err(|error| LibraryError::Setting(Box::new(error)))?;
            read_back.push((name, actual));
        }
        for name in SHOWN_PRAGMAS {
            if !read_back.iter().any(|(known, _)| known == name) {
                read_back.push((name.to_owned(), self.text_of(&format!("PRAGMA {name}"))?));
            }
        }
        Ok(read_back)
    }

    /// Refuses the pragmas that would change what trials share, as `SQLITE_AUTH`.
    ///
    /// # Errors
    /// The library's error.
    #[expect(unsafe_code, reason = "a call by pointer")]
    pub fn keep_shared(&self) -> Result<(), LibraryError> {
        let set = self.0.library.functions.sqlite3_set_authorizer;
        // SAFETY: the connection is open, and the function needs nothing that could go.
        self.0.check(unsafe { set(self.0.database, Some(authorize), ptr::null_mut()) })
    }

    /// An end for the connection's statement, from another thread.
    #[must_use]
    pub fn interrupt_handle(&self) -> LibraryInterrupt {
        LibraryInterrupt(Arc::downgrade(&self.0))
    }

    /// `false` within a transaction.
    #[must_use]
    #[expect(unsafe_code, reason = "a call by pointer")]
    pub fn is_autocommit(&self) -> bool {
        // SAFETY: the connection is open.
        unsafe { (self.0.library.functions.sqlite3_get_autocommit)(self.0.database) != 0 }
    }

    /// Prepares one statement.
    ///
    /// # Errors
    /// The library's error.
    pub fn prepare(&self, sql: &str) -> Result<LibraryStatement, LibraryError> {
        LibraryStatement::prepare(&self.0, sql)
    }

    /// Executes a text without parameters, and drops its rows.
    ///
    /// # Errors
    /// The library's error.
    pub fn execute(&self, sql: &str) -> Result<(), LibraryError> {
        let mut statement = self.prepare(sql)?;
        while statement.step()? {}
        Ok(())
    }

    /// The first value of the first row as text; empty where there is none.
    ///
    /// # Errors
    /// The library's error.
    pub fn text_of(&self, sql: &str) -> Result<String, LibraryError> {
        use rusqlite::types::ValueRef;

        let mut statement = self.prepare(sql)?;
        if !statement.step()? {
            return Ok(String::new());
        }
        Ok(match statement.column(0) {
            ValueRef::Null => String::new(),
            ValueRef::Integer(number) => number.to_string(),
            ValueRef::Real(number) => number.to_string(),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                String::from_utf8_lossy(bytes).into_owned()
            }
        })
    }

    /// Rows that the last statement changed.
    #[must_use]
    #[expect(unsafe_code, reason = "a call by pointer")]
    pub fn changes(&self) -> u64 {
        // SAFETY: the connection is open.
        let changes = unsafe { (self.0.library.functions.sqlite3_changes)(self.0.database) };
        u64::try_from(changes).unwrap_or_default()
    }

    /// The connection's counts since the last call, without those of statements; resets them.
    #[must_use]
    #[expect(unsafe_code, reason = "a call by pointer")]
    pub fn take_counters(&self) -> SqliteCounters {
        let take = |option| {
            let (mut current, mut highest) = (0, 0);
            // SAFETY: the connection is open, both places live for the call, and an option that the
            // library does not know is refused.
            let code = unsafe {
                (self.0.library.functions.sqlite3_db_status)(
                    self.0.database,
                    option,
                    &mut current,
                    &mut highest,
                    1,
                )
            };
            u64::try_from(current).ok().filter(|_| code == ffi::SQLITE_OK).unwrap_or_default()
        };
        SqliteCounters {
            cache_hits: take(ffi::SQLITE_DBSTATUS_CACHE_HIT),
            cache_misses: take(ffi::SQLITE_DBSTATUS_CACHE_MISS),
            cache_spills: take(ffi::SQLITE_DBSTATUS_CACHE_SPILL),
            ..SqliteCounters::default()
        }
    }
}

/// Ends what a connection is doing, while it is there.
pub struct LibraryInterrupt(Weak<Handle>);

impl LibraryInterrupt {
    #[expect(unsafe_code, reason = "a call by pointer")]
    pub fn interrupt(&self) {
        let Some(handle) = self.0.upgrade() else { return };
        // SAFETY: the connection stays open while the handle is held; every thread may call it.
        unsafe { (handle.library.functions.sqlite3_interrupt)(handle.database) };
    }
}

/// # Safety
/// `handler` is that of an open connection, which calls it in one thread at a time.
#[expect(unsafe_code, reason = "SQLite calls it")]
unsafe extern "C" fn wait_by_handler(handler: *mut c_void, turn: c_int) -> c_int {
    // SAFETY: by the condition above.
    let handler = unsafe { &mut *handler.cast::<BusyCallback>() };
    c_int::from(handler(turn))
}

/// # Safety
/// `name` and `value` are null, or texts that end with 0.
#[expect(unsafe_code, reason = "SQLite calls it")]
unsafe extern "C" fn authorize(
    _: *mut c_void,
    action: c_int,
    name: *const c_char,
    value: *const c_char,
    _: *const c_char,
    _: *const c_char,
) -> c_int {
    // SAFETY: by the condition above.
    let is_shared = || is_shared_by_trials(&unsafe { text(name) });
    match action == ffi::SQLITE_PRAGMA && !value.is_null() && is_shared() {
        true => ffi::SQLITE_DENY,
        false => ffi::SQLITE_OK,
    }
}

/// A number or a quoted word: a value can be nothing else.
fn pragma_value(value: &str) -> String {
    match value.parse::<i64>() {
        Ok(number) => number.to_string(),
        Err(_) => format!("'{}'", value.replace('\'', "''")),
    }
}
