//! Data of the benchmark: a SQLite file of the naive dashboard's shape, the same rows as CSV files,
//! a file of blobs.

use std::fmt::Write as _;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::types::ValueRef;

/// The tables of the naive dashboard, parents first.
pub const TABLES: [&str; 7] =
    ["authors", "teams", "products", "languages", "human_languages", "articles", "traffic"];

const NAMED: [&str; 5] = ["authors", "teams", "products", "languages", "human_languages"];

pub fn create_tables() -> String {
    let mut sql = String::new();
    for name in NAMED {
        let _ = write!(sql, "CREATE TABLE {name}(id SERIAL NOT NULL, name VARCHAR(64) NOT NULL);");
    }
    sql.push_str(
        "CREATE TABLE articles(id VARCHAR(36) NOT NULL, blog VARCHAR(16) NOT NULL, \
             slug VARCHAR(256) NOT NULL, title VARCHAR(256) NOT NULL, published DATE NOT NULL, \
             author_id INTEGER NOT NULL, team_id INTEGER NOT NULL, product_id INTEGER NOT NULL, \
             language_id INTEGER NOT NULL, human_language_id INTEGER NOT NULL, \
             original_id VARCHAR(36)); \
         CREATE TABLE traffic(id SERIAL NOT NULL, article_id VARCHAR(36) NOT NULL, \
             date DATE NOT NULL, country VARCHAR(2) NOT NULL, pageviews INTEGER NOT NULL, \
             visitors INTEGER NOT NULL);",
    );
    sql
}

/// Keys and indexes, as the naive dashboard's ORM declares them.
pub fn create_keys() -> String {
    let mut sql = String::new();
    for name in TABLES {
        let _ = write!(sql, "ALTER TABLE {name} ADD PRIMARY KEY (id);");
    }
    for name in NAMED {
        let _ = write!(sql, "ALTER TABLE {name} ADD UNIQUE (name);");
    }
    for column in [
        "author_id",
        "blog",
        "human_language_id",
        "language_id",
        "original_id",
        "product_id",
        "published",
        "slug",
        "team_id",
    ] {
        let _ = write!(sql, "CREATE INDEX ix_articles_{column} ON articles ({column});");
    }
    sql.push_str(
        "CREATE INDEX ix_traffic_article_id ON traffic (article_id); \
         CREATE INDEX ix_traffic_date ON traffic (date);",
    );
    for (column, parent) in [
        ("author_id", "authors"),
        ("team_id", "teams"),
        ("product_id", "products"),
        ("language_id", "languages"),
        ("human_language_id", "human_languages"),
        ("original_id", "articles"),
    ] {
        let _ = write!(sql, "ALTER TABLE articles ADD FOREIGN KEY ({column}) REFERENCES {parent};");
    }
    sql.push_str("ALTER TABLE traffic ADD FOREIGN KEY (article_id) REFERENCES articles;");
    sql
}

/// Makes a file of the naive dashboard's shape with `rows` rows of traffic.
pub fn naive(folder: &Path, rows: u64) -> PathBuf {
    let path = folder.join(format!("naive-{rows}.db"));
    if path.exists() {
        return path;
    }
    let unfinished = folder.join("naive.unfinished");
    let _ = std::fs::remove_file(&unfinished);
    let connection = Connection::open(&unfinished).unwrap();
    let mut sql = String::from("BEGIN;");
    sql.push_str(&create_tables().replace("id SERIAL NOT NULL", "id INTEGER PRIMARY KEY"));
    for name in NAMED {
        let _ = write!(
            sql,
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30) \
             INSERT INTO {name} SELECT i, '{name} ' || i FROM n;"
        );
    }
    let uuid = "printf('%08x-%04x-4000-8000-%012x', i * 2654435761 % 4294967296, i % 65536, i)";
    let _ = write!(
        sql,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000) \
         INSERT INTO articles SELECT {uuid}, 'twilio', 'a-slug-of-usual-length-' || i, \
             'A title that is about as long as titles are ' || i, date('2020-01-01', \
             (i % 900) || ' days'), 1 + i % 30, 1 + i % 30, 1 + i % 30, 1 + i % 30, 1 + i % 30, \
             NULL FROM n; \
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000), \
             a(k, id) AS MATERIALIZED (SELECT i, {uuid} FROM n), \
             r(j) AS (SELECT 0 UNION ALL SELECT j + 1 FROM r WHERE j < {last}) \
         INSERT INTO traffic SELECT j + 1, articles.id, date('2020-04-01', (j / 8000) || ' days'), \
             char(65 + j % 26, 65 + j / 26 % 26), 1 + j % 97, 1 + j % 89 \
             FROM r JOIN articles ON articles.rowid = 1 + j * 7919 % 8000; \
         CREATE UNIQUE INDEX articles_id ON articles(id); COMMIT;",
        last = rows - 1
    );
    connection.execute_batch(&sql).unwrap();
    drop(connection);
    std::fs::rename(&unfinished, &path).unwrap();
    path
}

/// The rows of all tables as CSV files. Returns their number.
pub fn csv_files(file: &Path, folder: &Path) -> (u64, PathBuf) {
    let connection = connect::sqlite::open_read_only(file).unwrap();
    let mut count = 0;
    for table in TABLES {
        let mut writer =
            BufWriter::new(std::fs::File::create(folder.join(format!("{table}.csv"))).unwrap());
        let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let fields: Vec<String> = (0..columns)
                .map(|place| match row.get_ref(place).unwrap() {
                    ValueRef::Integer(number) => number.to_string(),
                    ValueRef::Text(text) => {
                        format!("\"{}\"", String::from_utf8_lossy(text).replace('"', "\"\""))
                    }
                    _ => String::new(),
                })
                .collect();
            writeln!(writer, "{}", fields.join(",")).unwrap();
            count += 1;
        }
        writer.flush().unwrap();
    }
    (count, folder.to_owned())
}

/// A file of blobs of 10 KB that do not compress.
pub fn blobs(folder: &Path, rows: u64) -> PathBuf {
    let path = folder.join("blobs.db");
    let _ = std::fs::remove_file(&path);
    let connection = Connection::open(&path).unwrap();
    let sql = format!(
        "CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB); \
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) \
         INSERT INTO kv SELECT i, randomblob(10000) FROM n;"
    );
    connection.execute_batch(&sql).unwrap();
    path
}

/// A number that is another one at every call.
pub fn random_number(place: usize) -> u64 {
    RandomState::new().hash_one(place)
}
