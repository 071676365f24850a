//! The definition as SQL: tables before the rows, indexes after them.

use sea_query::{
    ColumnDef, ForeignKey, ForeignKeyAction, ForeignKeyCreateStatement, Index,
    IndexCreateStatement, PostgresQueryBuilder, SqliteQueryBuilder, TableCreateStatement,
};

use super::SqlDialect;
use super::definition::{
    Column, ColumnDefinition, ColumnType, Declarations, TABLES, TOTALS, Table, TableDefinition,
};

/// The statements that create all tables, to be run before the first row.
///
/// In SQLite they hold every key, since none can be added later. In PostgreSQL foreign keys and
/// the key of the facts follow with the indexes: over finished rows they are made faster.
#[must_use]
pub fn create_tables(dialect: SqlDialect, declarations: Declarations) -> Vec<String> {
    TABLES
        .iter()
        .map(|table| {
            let statement = create_table(table, declarations);
            match dialect {
                SqlDialect::Sqlite => with_keys(statement, table).build(SqliteQueryBuilder),
                SqlDialect::Postgres => statement.build(PostgresQueryBuilder),
            }
        })
        .collect()
}

/// The statements that create the table of totals, empty.
pub(crate) fn create_totals(dialect: SqlDialect) -> Vec<String> {
    let statement = create_table(&TOTALS, Declarations::Own);
    match dialect {
        SqlDialect::Sqlite => vec![with_keys(statement, &TOTALS).build(SqliteQueryBuilder)],
        // Pages are packed already: PostgreSQL would try to compress them, slowly and without gain.
        SqlDialect::Postgres => vec![
            with_primary_key(statement, &TOTALS).build(PostgresQueryBuilder),
            "ALTER TABLE totals ALTER COLUMN content SET STORAGE EXTERNAL".to_owned(),
        ],
    }
}

/// The statement that inserts one row, with a parameter for each column.
#[must_use]
pub fn insert_row(dialect: SqlDialect, table: Table) -> String {
    let sign = match dialect {
        SqlDialect::Sqlite => '?',
        SqlDialect::Postgres => '$',
    };
    let columns = column_names(table);
    let parameters: Vec<_> = (1..=columns.len()).map(|place| format!("{sign}{place}")).collect();
    format!(
        "INSERT INTO {} ({}) VALUES ({})",
        table.name(),
        columns.join(", "),
        parameters.join(", ")
    )
}

/// The names of a table's columns, in their order. None of them needs quotes.
#[must_use]
pub fn column_names(table: Table) -> Vec<&'static str> {
    let definition = TABLES.iter().chain([&TOTALS]).filter(|definition| definition.name == table);
    definition.flat_map(|definition| definition.columns).map(|column| column.name.name()).collect()
}

/// The statements that complete the schema after the rows: indexes, and in PostgreSQL the keys
/// that [`create_tables`] left out.
#[must_use]
pub fn create_indexes(dialect: SqlDialect) -> Vec<String> {
    let mut statements = Vec::new();
    for table in TABLES {
        if dialect == SqlDialect::Postgres {
            if has_composite_key(table) {
                statements.push(add_primary_key(table));
            }
            statements.extend(foreign_keys(table).map(|key| key.to_string(PostgresQueryBuilder)));
        }
        for column in table.columns.iter().filter(|column| column.indexed) {
            let index = create_index(table.name, column.name);
            statements.push(match dialect {
                SqlDialect::Sqlite => index.build(SqliteQueryBuilder),
                SqlDialect::Postgres => index.build(PostgresQueryBuilder),
            });
        }
    }
    statements
}

fn has_composite_key(table: &TableDefinition) -> bool {
    table.primary_key.len() > 1
}

/// Without foreign keys and composite primary keys.
fn create_table(table: &TableDefinition, declarations: Declarations) -> TableCreateStatement {
    let mut statement = sea_query::Table::create();
    statement.table(table.name);
    for column in table.columns {
        let mut definition =
            column_definition(column, declarations.column_type(table.name, column));
        if table.primary_key == [column.name] {
            definition.primary_key();
        }
        statement.col(definition);
    }
    statement
}

fn with_keys(mut statement: TableCreateStatement, table: &TableDefinition) -> TableCreateStatement {
    for mut key in foreign_keys(table) {
        statement.foreign_key(&mut key);
    }
    if has_composite_key(table) {
        statement.extra("WITHOUT ROWID");
        return with_primary_key(statement, table);
    }
    statement
}

fn with_primary_key(
    mut statement: TableCreateStatement,
    table: &TableDefinition,
) -> TableCreateStatement {
    let mut key = Index::create();
    for column in table.primary_key {
        key.col(*column);
    }
    statement.primary_key(&mut key);
    statement
}

fn column_definition(column: &ColumnDefinition, column_type: ColumnType) -> ColumnDef {
    let mut definition = ColumnDef::new(column.name);
    match column_type {
        ColumnType::Integer => definition.integer(),
        // sea_query would write `integer` for SQLite.
        ColumnType::BigInteger => definition.custom("bigint"),
        ColumnType::Varchar(length) => definition.string_len(length),
        ColumnType::Bytes => definition.blob(),
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
        if column.deleted_with_it {
            key.on_delete(ForeignKeyAction::Cascade);
        }
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
