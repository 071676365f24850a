//! The functions of SQLite's interface in C that sessions call, by pointer: of a shared library, or of
//! the SQLite that is built in.

use std::error::Error as _;
use std::ffi::{c_char, c_int, c_void};
use std::path::Path;

use libloading::Library;
use rusqlite::ffi::{self, sqlite3, sqlite3_stmt};

macro_rules! functions {
    ($($name:ident($($argument:ty),*) -> $result:ty;)*) => {
        pub(super) struct Functions {
            $(pub(super) $name: unsafe extern "C" fn($($argument),*) -> $result,)*
            /// Keeps the code in memory.
            _library: Option<Library>,
        }

        impl Functions {
            #[expect(trivial_casts, reason = "each function has a type of its own")]
            pub(super) fn bundled() -> Self {
                Self { $($name: ffi::$name as unsafe extern "C" fn($($argument),*) -> $result,)* _library: None }
            }

            /// Loads the library; the name of the function that it lacks, or the loader's words.
            #[expect(unsafe_code, reason = "code of the user's choice is loaded and called")]
            pub(super) fn load(path: &Path) -> Result<Self, String> {
                // SAFETY: its initialisers run, as in every program that loads it; the user named it.
                let library = unsafe { Library::new(path) }.map_err(|error| {
                    error.source().map_or_else(|| error.to_string(), ToString::to_string)
                })?;
                Ok(Self {
                    $($name: {
                        let name = concat!(stringify!($name), "\0").as_bytes();
                        // SAFETY: the types are those of SQLite's interface, which never changes them.
                        let found = unsafe {
                            library.get::<unsafe extern "C" fn($($argument),*) -> $result>(name)
                        };
                        *found.map_err(|_| format!("it has no {}", stringify!($name)))?
                    },)*
                    _library: Some(library),
                })
            }
        }
    };
}

/// Frees bound values, or says that SQLite is to copy them.
type Destructor = ffi::sqlite3_destructor_type;

/// Of a connection's locks: its own value, and how often it was called for one of them.
type Busy = Option<unsafe extern "C" fn(*mut c_void, c_int) -> c_int>;

/// Of what a statement may do: an action and what it is done to.
type Authorizer = Option<
    unsafe extern "C" fn(
        *mut c_void,
        c_int,
        *const c_char,
        *const c_char,
        *const c_char,
        *const c_char,
    ) -> c_int,
>;

functions! {
    sqlite3_libversion() -> *const c_char;
    sqlite3_sourceid() -> *const c_char;
    sqlite3_initialize() -> c_int;
    sqlite3_compileoption_get(c_int) -> *const c_char;
    sqlite3_open_v2(*const c_char, *mut *mut sqlite3, c_int, *const c_char) -> c_int;
    sqlite3_close(*mut sqlite3) -> c_int;
    sqlite3_errmsg(*mut sqlite3) -> *const c_char;
    sqlite3_extended_errcode(*mut sqlite3) -> c_int;
    sqlite3_busy_timeout(*mut sqlite3, c_int) -> c_int;
    sqlite3_busy_handler(*mut sqlite3, Busy, *mut c_void) -> c_int;
    sqlite3_set_authorizer(*mut sqlite3, Authorizer, *mut c_void) -> c_int;
    sqlite3_interrupt(*mut sqlite3) -> ();
    sqlite3_get_autocommit(*mut sqlite3) -> c_int;
    sqlite3_changes(*mut sqlite3) -> c_int;
    sqlite3_db_status(*mut sqlite3, c_int, *mut c_int, *mut c_int, c_int) -> c_int;
    sqlite3_prepare_v2(
        *mut sqlite3, *const c_char, c_int, *mut *mut sqlite3_stmt, *mut *const c_char
    ) -> c_int;
    sqlite3_finalize(*mut sqlite3_stmt) -> c_int;
    sqlite3_reset(*mut sqlite3_stmt) -> c_int;
    sqlite3_step(*mut sqlite3_stmt) -> c_int;
    sqlite3_stmt_status(*mut sqlite3_stmt, c_int, c_int) -> c_int;
    sqlite3_bind_parameter_count(*mut sqlite3_stmt) -> c_int;
    sqlite3_bind_null(*mut sqlite3_stmt, c_int) -> c_int;
    sqlite3_bind_int64(*mut sqlite3_stmt, c_int, ffi::sqlite3_int64) -> c_int;
    sqlite3_bind_double(*mut sqlite3_stmt, c_int, f64) -> c_int;
    sqlite3_bind_text(*mut sqlite3_stmt, c_int, *const c_char, c_int, Destructor) -> c_int;
    sqlite3_bind_blob(*mut sqlite3_stmt, c_int, *const c_void, c_int, Destructor) -> c_int;
    sqlite3_column_count(*mut sqlite3_stmt) -> c_int;
    sqlite3_column_name(*mut sqlite3_stmt, c_int) -> *const c_char;
    sqlite3_column_type(*mut sqlite3_stmt, c_int) -> c_int;
    sqlite3_column_int64(*mut sqlite3_stmt, c_int) -> ffi::sqlite3_int64;
    sqlite3_column_double(*mut sqlite3_stmt, c_int) -> f64;
    sqlite3_column_blob(*mut sqlite3_stmt, c_int) -> *const c_void;
    sqlite3_column_bytes(*mut sqlite3_stmt, c_int) -> c_int;
}
