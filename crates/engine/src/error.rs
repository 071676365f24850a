//! Errors of naming an engine, each with the remedy, since these messages are the first thing that
//! users see of a mistake.

/// Errors of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The name before `:` or `[` is not a known engine.
    #[error(
        "unknown engine `{name}`{suggestion}: engines are sqlite, sqlite:PATH, postgres, \
         postgres:VERSION, postgres:PATH, mariadb, mariadb:VERSION, mariadb:PATH, dir, dir:PATH, \
         tree, tree:PATH, sqlite+dir, or a URL (postgresql://, mysql://, mariadb://, sqlite://)"
    )]
    UnknownEngine {
        name: String,
        /// ` (did you mean ...?)` or nothing.
        suggestion: String,
    },
    /// The name is known, what follows it is not usable.
    #[error("engine `{text}`: {problem}")]
    BadEngine {
        /// The engine as written, without a password.
        text: String,
        /// The fault, and the right form.
        problem: String,
    },
    /// The brackets after an engine name cannot be read.
    #[error(
        "settings in `{text}`: {problem}; write [key=value,...] as the last characters, with \
             a value in single quotes if it holds a comma, a bracket or a blank"
    )]
    BadSettings {
        /// The engine as written, without a password.
        text: String,
        problem: String,
    },
    /// A release number that is not digits and dots.
    #[error("`{text}` is not a release: write a major release (18, 9.6) or an exact one (16.10)")]
    BadVersion { text: String },
    /// A database URL of a kind that this program does not speak.
    #[error(
        "unsupported database URL `{text}`: use sqlite://relative.db, sqlite:///absolute.db or \
         postgresql://user@host:port/database"
    )]
    UnsupportedUrl {
        /// The URL as written, without a password.
        text: String,
    },
    /// A PostgreSQL URL or `PG*` variable with a part that cannot be read.
    #[error("PostgreSQL address: {problem}")]
    BadPostgresUrl {
        /// Which part is wrong and what it may be.
        problem: String,
    },
    /// A MySQL or MariaDB URL with a part that cannot be read.
    #[error(
        "{url}: {problem}; write mariadb://user:password@host:port/database, with ?socket=PATH \
         for a Unix socket"
    )]
    BadMysqlUrl { url: String, problem: String },
}
