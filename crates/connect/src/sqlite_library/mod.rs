//! A SQLite library by the path of its file, or the one that is built in, through one code. Two
//! libraries in one process would drop each other's locks, so a process opens files by one of them.

mod functions;
mod linked_in;
mod statement;

use std::ffi::{CStr, CString, c_char, c_int};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::ffi::{self, sqlite3};

use crate::SqliteCounters;
use functions::Functions;
use linked_in::linked_in;

pub use statement::LibraryStatement;

/// A library that cannot be used, or what one refused.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    #[error(
        "{}: {problem}: name a shared library of SQLite for this machine, such as libsqlite3.so.0",
        path.display()
    )]
    Unusable { path: PathBuf, problem: String },
    #[error(
        "{} has {sqlite} linked in and serves no other program ({problem}): name a shared library of the \
         same version, sqlite[library=PATH], or the bundled source with the flags of that build, \
         sqlite[build=FLAGS]",
        path.display()
    )]
    LinkedIn {
        path: PathBuf,
        /// The version, as far as the file tells.
        sqlite: String,
        problem: String,
    },
    #[error("{message}")]
    Refused {
        /// SQLite's extended result code.
        code: c_int,
        message: String,
    },
}

/// The oldest version whose interface is complete for us.
const VERSION_MIN: [u32; 3] = [3, 7, 14];

/// `true` of problems that a real library of SQLite has too: another architecture, a library of its
/// own that is missing, or a function that its version lacks.
fn is_a_librarys_own(problem: &str) -> bool {
    let lacks_a_function =
        problem.starts_with("it has no ") && problem != "it has no sqlite3_libversion";
    lacks_a_function
        || problem.contains("wrong ELF class")
        || problem.contains("cannot open shared object file")
}

/// One library, whose functions are called by pointer.
pub struct SqliteLibrary {
    functions: Functions,
}

impl SqliteLibrary {
    /// The SQLite of this program.
    #[must_use]
    pub fn bundled() -> Self {
        Self { functions: Functions::bundled() }
    }

    /// A shared library of the user's.
    ///
    /// # Errors
    /// When it cannot be loaded, is another library, or is too old.
    pub fn load(path: &Path) -> Result<Self, LibraryError> {
        let unusable = |problem: String| LibraryError::Unusable { path: path.to_owned(), problem };
        let sqlite_inside = |problem: &str| linked_in(path).filter(|_| !is_a_librarys_own(problem));
        let functions = Functions::load(path).map_err(|problem| match sqlite_inside(&problem) {
            Some(sqlite) => LibraryError::LinkedIn { path: path.to_owned(), sqlite, problem },
            None => unusable(problem),
        })?;
        let library = Self { functions };
        let version = library.version();
        let parts: Vec<u32> = version.split('.').filter_map(|part| part.parse().ok()).collect();
        match parts.as_slice() >= VERSION_MIN.as_slice() {
            true => Ok(library),
            false => Err(unusable(format!("its version is {version}, and 3.7.14 is the least"))),
        }
    }

    /// As `3.40.1`.
    #[must_use]
    #[expect(unsafe_code, reason = "a call by pointer")]
    pub fn version(&self) -> String {
        // SAFETY: it takes nothing and returns a constant text.
        unsafe { text((self.functions.sqlite3_libversion)()) }
    }

    #[must_use]
    #[expect(unsafe_code, reason = "a call by pointer")]
    pub fn source_id(&self) -> String {
        // SAFETY: it takes nothing and returns a constant text.
        unsafe { text((self.functions.sqlite3_sourceid)()) }
    }

    #[must_use]
    #[expect(unsafe_code, reason = "a call by pointer")]
    pub fn compile_options(&self) -> Vec<String> {
        let option = |index| {
            // SAFETY: an index beyond the last option returns null.
            let option = unsafe { (self.functions.sqlite3_compileoption_get)(index) };
            // SAFETY: otherwise a constant text.
            (!option.is_null()).then(|| unsafe { text(option) })
        };
        (0..).map_while(option).collect()
    }
}

/// # Safety
/// `text` is null, or a text that ends with 0 and stays for the call.
#[expect(unsafe_code, reason = "the text is SQLite's")]
unsafe fn text(text: *const c_char) -> String {
    match text.is_null() {
        true => String::new(),
        // SAFETY: by the condition above.
        false => unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned(),
    }
}

/// A connection, and what keeps its library in memory.
struct Handle {
    library: Arc<SqliteLibrary>,
    database: *mut sqlite3,
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
    fn error(&self) -> LibraryError {
        let functions = &self.library.functions;
        // SAFETY: the connection is open, also where it could not open its file.
        let code = unsafe { (functions.sqlite3_extended_errcode)(self.database) };
        // SAFETY: likewise; the text stays until the next call.
        let message = unsafe { text((functions.sqlite3_errmsg)(self.database)) };
        LibraryError::Refused { code, message }
    }

    fn check(&self, code: c_int) -> Result<(), LibraryError> {
        if code == ffi::SQLITE_OK { Ok(()) } else { Err(self.error()) }
    }
}

impl Drop for Handle {
    #[expect(unsafe_code, reason = "a call by pointer")]
    fn drop(&mut self) {
        // SAFETY: it is the last use of the connection; statements hold the handle.
        unsafe { (self.library.functions.sqlite3_close)(self.database) };
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
        busy_timeout: Duration,
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
        let handle = Handle { library: Arc::clone(library), database };
        handle.check(code)?;
        let milliseconds = c_int::try_from(busy_timeout.as_millis()).unwrap_or(c_int::MAX);
        // SAFETY: the connection is open.
        let code = unsafe { (library.functions.sqlite3_busy_timeout)(database, milliseconds) };
        handle.check(code)?;
        Ok(Self(Arc::new(handle)))
    }

    /// Prepares one statement.
    ///
    /// # Errors
    /// What the library says of it.
    pub fn prepare(&self, sql: &str) -> Result<LibraryStatement, LibraryError> {
        LibraryStatement::prepare(&self.0, sql)
    }

    /// Executes a text without parameters, and drops its rows.
    ///
    /// # Errors
    /// What the library says of it.
    pub fn execute(&self, sql: &str) -> Result<(), LibraryError> {
        let mut statement = self.prepare(sql)?;
        while statement.step()? {}
        Ok(())
    }

    /// The first value of the first row as text; empty where there is none.
    ///
    /// # Errors
    /// What the library says of it.
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
