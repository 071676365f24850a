//! The definition as SQL: tables before the rows, indexes after them.

use sea_query::{
    ColumnDef, ForeignKey, ForeignKeyCreateStatement, Index, IndexCreateStatement,
    PostgresQueryBuilder, SqliteQueryBuilder, TableCreateStatement,
};

use super::definition::{Column, ColumnDefinition, ColumnType, TABLES, Table, TableDefinition};

/// The SQL dialect of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Dialect {
    Sqlite,
    Postgres,
}

/// The statements that create all tables, to be run before the first row.
///
/// In SQLite they hold every key, since none can be added later. In PostgreSQL foreign keys and
/// the key of the facts follow with the indexes: over finished rows they are made faster.
#[must_use]
pub fn create_tables(dialect: Dialect) -> Vec<String> {
    TABLES
        .iter()
        .map(|table| match dialect {
            Dialect::Sqlite => create_sqlite_table(table).build(SqliteQueryBuilder),
            Dialect::Postgres => create_table(table).build(PostgresQueryBuilder),
        })
        .collect()
}

/// The statements that complete the schema after the rows: indexes, and in PostgreSQL the keys
/// that [`create_tables`] left out.
#[must_use]
pub fn create_indexes(dialect: Dialect) -> Vec<String> {
    let mut statements = Vec::new();
    for table in TABLES {
        if dialect == Dialect::Postgres {
            if has_composite_key(table) {
                statements.push(add_primary_key(table));
            }
            statements.extend(foreign_keys(table).map(|key| key.to_string(PostgresQueryBuilder)));
        }
        for column in table.columns.iter().filter(|column| column.indexed) {
            let index = create_index(table.name, column.name);
            statements.push(match dialect {
                Dialect::Sqlite => index.build(SqliteQueryBuilder),
                Dialect::Postgres => index.build(PostgresQueryBuilder),
            });
        }
    }
    statements
}

fn has_composite_key(table: &TableDefinition) -> bool {
    table.primary_key.len() > 1
}

/// Without foreign keys and composite primary keys.
fn create_table(table: &TableDefinition) -> TableCreateStatement {
    let mut statement = sea_query::Table::create();
    statement.table(table.name);
    for column in table.columns {
        let mut definition = column_definition(column);
        if table.primary_key == [column.name] {
            definition.primary_key();
        }
        statement.col(definition);
    }
    statement
}

fn create_sqlite_table(table: &TableDefinition) -> TableCreateStatement {
    let mut statement = create_table(table);
    for mut key in foreign_keys(table) {
        statement.foreign_key(&mut key);
    }
    if has_composite_key(table) {
        let mut key = Index::create();
        for column in table.primary_key {
            key.col(*column);
        }
        statement.primary_key(&mut key).extra("WITHOUT ROWID");
    }
    statement
}

fn column_definition(column: &ColumnDefinition) -> ColumnDef {
    let mut definition = ColumnDef::new(column.name);
    match column.column_type {
        ColumnType::Integer => definition.integer(),
        ColumnType::Varchar(length) => definition.string_len(length),
    };
    if !column.nullable {
        definition.not_null();
    }
    if column.unique {
        definition.unique_key();
    }
    definition
}

fn foreign_keys(table: &TableDefinition) -> impl Iterator<Item = ForeignKeyCreateStatement> {
    table.columns.iter().filter_map(|column| {
        let mut key = ForeignKey::create();
        key.from(table.name, column.name).to(column.references?, Column::Id);
        Some(key)
    })
}

fn create_index(table: Table, column: Column) -> IndexCreateStatement {
    let mut index = Index::create();
    index.name(format!("{}_{}", table.name(), column.name())).table(table).col(column);
    index
}

/// `sea_query` has no word for adding a primary key to a table that exists.
fn add_primary_key(table: &TableDefinition) -> String {
    let columns: Vec<_> =
        table.primary_key.iter().map(|column| format!("\"{}\"", column.name())).collect();
    format!("ALTER TABLE \"{}\" ADD PRIMARY KEY ({})", table.name.name(), columns.join(", "))
}
