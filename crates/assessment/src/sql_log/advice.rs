//! Settings against "database is locked", in the words of each library's own documentation.

use super::line::LoggingLibrary;

/// The name as its makers write it.
pub fn name(library: LoggingLibrary) -> &'static str {
    match library {
        LoggingLibrary::Django => "Django",
        LoggingLibrary::Rails => "Rails",
        LoggingLibrary::SqlAlchemy => "SQLAlchemy",
    }
}

/// How one query fetches what many did.
pub fn against_repetition(library: LoggingLibrary) -> &'static str {
    match library {
        LoggingLibrary::Django => "select_related or prefetch_related",
        LoggingLibrary::Rails => "includes",
        LoggingLibrary::SqlAlchemy => "selectinload or joinedload",
    }
}

/// The library's settings against locks.
pub fn against_locks(library: LoggingLibrary) -> &'static str {
    match library {
        LoggingLibrary::Django => DJANGO,
        LoggingLibrary::Rails => RAILS,
        LoggingLibrary::SqlAlchemy => SQLALCHEMY,
    }
}

const DJANGO: &str = "\
# settings.py, Django 5.1 or later
DATABASES = {
    \"default\": {
        \"ENGINE\": \"django.db.backends.sqlite3\",
        \"NAME\": BASE_DIR / \"db.sqlite3\",
        \"OPTIONS\": {
            \"timeout\": 20,  # seconds to wait for a lock; 5 by default
            \"transaction_mode\": \"IMMEDIATE\",
            \"init_command\": \"PRAGMA journal_mode=WAL;\",
        },
    }
}";

const RAILS: &str = "\
# config/database.yml; Rails 7.1 or later sets WAL itself, 8.0 begins transactions IMMEDIATE
default: &default
  adapter: sqlite3
  timeout: 5000 # milliseconds to wait for a lock
  default_transaction_mode: IMMEDIATE";

const SQLALCHEMY: &str = "\
engine = create_engine(\"sqlite:///app.db\", connect_args={\"timeout\": 20})

@event.listens_for(engine, \"connect\")
def set_sqlite_pragma(dbapi_connection, connection_record):
    cursor = dbapi_connection.cursor()
    cursor.execute(\"PRAGMA journal_mode=WAL\")
    cursor.close()";
