//! Settings against "database is locked", in the words of each framework's own documentation.

use super::line::Framework;

/// The name as its makers write it.
pub fn name(framework: Framework) -> &'static str {
    match framework {
        Framework::Django => "Django",
        Framework::Rails => "Rails",
        Framework::SqlAlchemy => "SQLAlchemy",
    }
}

/// How one query fetches what many did.
pub fn against_repetition(framework: Framework) -> &'static str {
    match framework {
        Framework::Django => "select_related or prefetch_related",
        Framework::Rails => "includes",
        Framework::SqlAlchemy => "selectinload or joinedload",
    }
}

/// The framework's settings against locks.
pub fn against_locks(framework: Framework) -> &'static str {
    match framework {
        Framework::Django => DJANGO,
        Framework::Rails => RAILS,
        Framework::SqlAlchemy => SQLALCHEMY,
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
