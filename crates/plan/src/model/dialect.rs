//! The SQL of each kind of engine, and the kinds that may have texts of their own.

use engine::EngineKind;
use sql::Dialect;

/// The SQL that engines of this kind read; none where nothing is asked in SQL.
#[must_use]
pub fn dialect(kind: EngineKind) -> Option<Dialect> {
    match kind {
        EngineKind::Sqlite => Some(Dialect::Sqlite),
        EngineKind::Postgres => Some(Dialect::Postgres),
        EngineKind::Mariadb | EngineKind::Mysql => Some(Dialect::Mysql),
        EngineKind::Http | EngineKind::Dir | EngineKind::Tree | EngineKind::SqliteDir => None,
    }
}

/// Kinds of engine that may have texts of their own.
pub fn kinds_with_texts() -> impl Iterator<Item = EngineKind> {
    EngineKind::ALL.iter().copied().filter(|kind| dialect(*kind).is_some())
}

/// The SQL of a text that a plan or a file's ending has for this kind of engine.
#[must_use]
pub fn dialect_of(kind: &str) -> Option<Dialect> {
    EngineKind::of_name(kind).and_then(dialect)
}
