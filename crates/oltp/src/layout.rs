//! The definitions of the tables in each dialect, and what fills them.

use crate::row::{Fields, ITEMS_PER_ORDER, Rows, customers};
use crate::statement::EngineDialect;
use plan::oltp::{CharacterSet, Collation, Schema, TableOptions};

/// The comment on every table that [`crate::fill`] makes.
pub(crate) const TABLE_COMMENT: &str = "made by crossover";

pub(crate) struct Layout {
    pub name: String,
    /// Sets its rows apart from those of other tables.
    pub number: u64,
    pub rows: u64,
    columns: &'static [(&'static str, Type)],
    /// Its indexes beside the key: name and column.
    indexes: Vec<(String, &'static str)>,
    /// Makes the fields of the row of a key.
    pub row: fn(&Rows, u64, &mut Fields),
}

#[derive(Clone, Copy)]
enum Type {
    /// The primary key; the engine chooses one where none is given.
    Key,
    Integer,
    Char(u32),
    Varchar(u32),
    /// The same with the collation that is compared.
    Collated(u32),
    Text,
}

/// Rows of all tables together.
#[must_use]
pub fn total_rows(tables: &TableOptions) -> u64 {
    layouts(tables).iter().map(|layout| layout.rows).sum()
}

/// The tables that these options ask for.
pub(crate) fn layouts(options: &TableOptions) -> Vec<Layout> {
    use Type::{Char, Collated, Integer, Key, Text, Varchar};
    let size = u64::from(options.table_size);
    match options.schema {
        Schema::Sbtest => (1..=options.tables)
            .map(|number| Layout {
                name: format!("sbtest{number}"),
                number: u64::from(number),
                rows: size,
                columns: &[("id", Key), ("k", Integer), ("c", Char(120)), ("pad", Char(60))],
                indexes: vec![(format!("k_{number}"), "k")],
                row: Rows::sbtest,
            })
            .collect(),
        Schema::Orders => {
            const CUSTOMER: &[(&str, Type)] = &[
                ("id", Key),
                ("name", Varchar(80)),
                ("town", Varchar(40)),
                ("postal_code", Integer),
            ];
            const ORDER: &[(&str, Type)] =
                &[("id", Key), ("customer_id", Integer), ("day", Integer)];
            const ITEM: &[(&str, Type)] = &[
                ("id", Key),
                ("order_id", Integer),
                ("product", Integer),
                ("quantity", Integer),
                ("price_cents", Integer),
            ];
            let customers = u64::from(customers(options.table_size));
            let items = size * u64::from(ITEMS_PER_ORDER);
            vec![
                table(("sbcustomer", 1), customers, CUSTOMER, Some("town"), Rows::customer),
                table(("sborder", 2), size, ORDER, Some("customer_id"), Rows::order),
                table(("sbitem", 3), items, ITEM, Some("order_id"), Rows::item),
            ]
        }
        Schema::Variable => {
            const COLUMNS: &[(&str, Type)] = &[("id", Key), ("name", Varchar(255)), ("body", Text)];
            vec![table(("sbvariable", 1), size, COLUMNS, None, Rows::variable)]
        }
        Schema::Text => {
            const COLUMNS: &[(&str, Type)] =
                &[("id", Key), ("name", Collated(80)), ("line", Varchar(255))];
            vec![table(("sbtext", 1), size, COLUMNS, None, Rows::text)]
        }
    }
}

fn table(
    (name, number): (&str, u64),
    rows: u64,
    columns: &'static [(&'static str, Type)],
    index: Option<&'static str>,
    row: fn(&Rows, u64, &mut Fields),
) -> Layout {
    let indexes = index.map(|column| (format!("{name}_{column}"), column));
    let indexes = indexes.into_iter().collect();
    Layout { name: name.to_owned(), number, rows, columns, indexes, row }
}

impl Layout {
    /// The names of its columns.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &'static str> {
        self.columns.iter().map(|(name, _)| *name)
    }

    /// `id, k, c, pad`.
    pub(crate) fn column_list(&self) -> String {
        self.columns().collect::<Vec<_>>().join(", ")
    }

    /// CREATE TABLE with our comment, which SQLite keeps as a part of the statement; PostgreSQL's
    /// key comes when the rows are there.
    pub(crate) fn create(&self, dialect: EngineDialect, options: &TableOptions) -> Vec<String> {
        let column = |(name, kind): &(&str, Type)| {
            format!("{name} {}", kind.definition(dialect, options.collation))
        };
        let (name, columns) = (&self.name, self.columns.iter().map(column).collect::<Vec<_>>());
        let columns = columns.join(", ");
        match dialect {
            EngineDialect::Postgres => vec![
                format!("CREATE TABLE {name} ({columns})"),
                format!("COMMENT ON TABLE {name} IS '{TABLE_COMMENT}'"),
            ],
            EngineDialect::Sqlite => {
                vec![format!("CREATE TABLE {name} (/* {TABLE_COMMENT} */ {columns})")]
            }
            EngineDialect::Mysql => {
                let table = mysql_table(options);
                vec![format!("CREATE TABLE {name} ({columns}){table} COMMENT '{TABLE_COMMENT}'")]
            }
        }
    }

    /// Statements for when the rows are there: keys and indexes, in PostgreSQL also the sequence.
    pub(crate) fn finish(&self, dialect: EngineDialect) -> Vec<String> {
        let name = &self.name;
        let mut statements = Vec::new();
        if dialect == EngineDialect::Postgres {
            statements.push(format!("ALTER TABLE {name} ADD PRIMARY KEY (id)"));
            let sequence = format!("pg_get_serial_sequence('{name}', 'id')");
            statements.push(format!("SELECT setval({sequence}, {})", self.rows));
        }
        let index =
            |(index, column): &(String, _)| format!("CREATE INDEX {index} ON {name} ({column})");
        statements.extend(self.indexes.iter().map(index));
        statements
    }

    /// Statistics; in PostgreSQL also what is known of every page.
    pub(crate) fn analyze(&self, dialect: EngineDialect) -> String {
        let name = &self.name;
        match dialect {
            EngineDialect::Postgres => format!("VACUUM (ANALYZE) {name}"),
            EngineDialect::Sqlite => format!("ANALYZE {name}"),
            EngineDialect::Mysql => format!("ANALYZE TABLE {name}"),
        }
    }
}

impl Type {
    fn definition(self, dialect: EngineDialect, collation: Collation) -> String {
        match (self, dialect) {
            (Self::Key, EngineDialect::Postgres) => "SERIAL".to_owned(),
            (Self::Key, EngineDialect::Sqlite) => "INTEGER PRIMARY KEY".to_owned(),
            (Self::Key, EngineDialect::Mysql) => {
                "INTEGER NOT NULL AUTO_INCREMENT PRIMARY KEY".to_owned()
            }
            (Self::Integer, _) => "INTEGER DEFAULT '0' NOT NULL".to_owned(),
            (Self::Char(length), _) => format!("CHAR({length}) DEFAULT '' NOT NULL"),
            (Self::Varchar(length), _) => format!("VARCHAR({length}) NOT NULL"),
            (Self::Collated(length), EngineDialect::Postgres) => {
                let collation = match collation {
                    Collation::Bytes => "C",
                    Collation::Language => "hu-x-icu",
                };
                format!("VARCHAR({length}) COLLATE \"{collation}\" NOT NULL")
            }
            // MariaDB: the table's; SQLite has the one.
            (Self::Collated(length), _) => format!("VARCHAR({length}) NOT NULL"),
            (Self::Text, _) => "TEXT NOT NULL".to_owned(),
        }
    }
}

fn mysql_table(options: &TableOptions) -> String {
    let set = match options.character_set {
        CharacterSet::Latin2 => "latin2",
        _ => "utf8mb4",
    };
    let collation = match options.collation {
        Collation::Bytes => "bin",
        Collation::Language => "hungarian_ci",
    };
    format!(" ENGINE=InnoDB DEFAULT CHARACTER SET {set} COLLATE {set}_{collation}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_that_of_sysbench() {
        let options = TableOptions { tables: 2, ..TableOptions::default() };
        let layouts = layouts(&options);
        assert_eq!(layouts.len(), 2);
        let sql = layouts[1].create(EngineDialect::Postgres, &options);
        let expected = "CREATE TABLE sbtest2 (id SERIAL, k INTEGER DEFAULT '0' NOT NULL, \
                        c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL)";
        assert_eq!(sql[0], expected);
        let index = layouts[1].finish(EngineDialect::Sqlite);
        assert_eq!(index, ["CREATE INDEX k_2 ON sbtest2 (k)"]);
    }
}
