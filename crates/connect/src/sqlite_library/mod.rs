//! A SQLite library by the path of its file, or the one that is built in, through one code. Two
//! libraries in one process would drop each other's locks, so a process opens files by one of them.

mod connection;
mod functions;
mod linked_in;
mod statement;

use std::ffi::{CStr, c_char, c_int};
use std::fmt;
use std::path::{Path, PathBuf};

use rusqlite::ffi;
use serde::{Deserialize, Serialize};

use functions::Functions;
use linked_in::linked_in;

pub use connection::{BusyCallback, BusyWait, LibraryConnection, LibraryInterrupt};
pub use statement::LibraryStatement;

/// The library that a process holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HeldLibrary {
    BuiltIn,
    /// A shared library by its path.
    Shared(PathBuf),
}

impl HeldLibrary {
    /// Loads it into this process.
    ///
    /// # Errors
    /// As [`SqliteLibrary::load`].
    pub fn load(&self) -> Result<SqliteLibrary, LibraryError> {
        match self {
            Self::BuiltIn => Ok(SqliteLibrary::bundled()),
            Self::Shared(path) => SqliteLibrary::load(path),
        }
    }
}

impl fmt::Display for HeldLibrary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => formatter.write_str("the built-in SQLite"),
            Self::Shared(path) => write!(formatter, "{}", path.display()),
        }
    }
}

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
    /// A setting that the library did not take.
    #[error(transparent)]
    Setting(Box<crate::Error>),
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
        // A pipe would be waited for without end.
        if path.metadata().is_ok_and(|found| !found.is_file()) {
            return Err(unusable("it is not a file".to_owned()));
        }
        let sqlite_inside = |problem: &str| linked_in(path).filter(|_| !is_a_librarys_own(problem));
        let functions = Functions::load(path).map_err(|problem| match sqlite_inside(&problem) {
            Some(sqlite) => LibraryError::LinkedIn { path: path.to_owned(), sqlite, problem },
            None => unusable(problem),
        })?;
        let library = Self { functions };
        library.initialize().map_err(unusable)?;
        let version = library.version();
        let parts: Vec<u32> = version.split('.').filter_map(|part| part.parse().ok()).collect();
        match parts.as_slice() >= VERSION_MIN.as_slice() {
            true => Ok(library),
            false => Err(unusable(format!("its version is {version}, and 3.7.14 is the least"))),
        }
    }

    /// A library compiled with SQLITE_OMIT_AUTOINIT leaves it to its caller.
    #[expect(unsafe_code, reason = "a call by pointer")]
    fn initialize(&self) -> Result<(), String> {
        // SAFETY: it takes nothing, and may be called again.
        match unsafe { (self.functions.sqlite3_initialize)() } {
            ffi::SQLITE_OK => Ok(()),
            code => Err(format!("it does not start (code {code})")),
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
