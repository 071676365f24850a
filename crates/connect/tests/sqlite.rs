//! Opening SQLite files of every kind of wrongness, and pragmas that are read back.

use std::path::Path;

use connect::{Error, SqliteCounters, sqlite};

#[test]
fn what_is_not_a_database_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    assert!(matches!(sqlite::open_read_only(&at("none.db")), Err(Error::NoSuchFile { .. })));
    let refused = |path: &Path| sqlite::open_read_only(path).unwrap_err().to_string();

    std::fs::write(at("empty.db"), "").unwrap();
    assert!(refused(&at("empty.db")).contains("it is empty"));
    std::fs::write(at("text.db"), "id,name\n1,one\n2,two\n").unwrap();
    assert!(refused(&at("text.db")).contains("not a SQLite database"));
    // Nor may `create` write into it.
    assert!(matches!(sqlite::create(&at("text.db")), Err(Error::NotSqlite { .. })));
    assert_eq!(std::fs::read(at("text.db")).unwrap(), b"id,name\n1,one\n2,two\n");
    std::fs::write(at("damaged.db"), [b"SQLite format 3\0".as_slice(), &[0xff; 500]].concat())
        .unwrap();
    assert!(refused(&at("damaged.db")).contains("damaged"), "{}", refused(&at("damaged.db")));
    assert!(refused(directory.path()).contains("a folder"));
    assert!(refused(Path::new("/dev/null")).contains("not a regular file"));
    let error = sqlite::create(&at("no/such/folder.db")).unwrap_err().to_string();
    assert!(error.contains("there is no folder"), "{error}");
}

#[test]
fn a_private_database_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    sqlite::create_private(&path).unwrap().execute_batch("CREATE TABLE t (n)").unwrap();
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(sqlite::create_private(&path).is_err(), "it was there before");
}

#[test]
fn a_database_is_made_opened_and_not_written_when_only_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a?b.db");
    std::fs::write(&path, "").unwrap();
    sqlite::create(&path).unwrap().execute_batch("CREATE TABLE t (n)").unwrap();
    sqlite::open_existing(&path).unwrap().execute_batch("INSERT INTO t VALUES (1)").unwrap();
    let reader = sqlite::open_read_only(&path).unwrap();
    let count: i64 = reader.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 1);
    assert!(reader.execute_batch("INSERT INTO t VALUES (2)").is_err());
}

#[test]
fn pragmas_are_read_back_and_unknown_ones_refused() {
    let directory = tempfile::tempdir().unwrap();
    let connection = sqlite::create(&directory.path().join("a.db")).unwrap();
    let asked = [
        ("journal_mode", "WAL"),
        ("synchronous", "NORMAL"),
        ("cache_size", "-20000"),
        ("foreign_keys", "off"),
        ("temp_store", "memory"),
        ("mmap_size", "1048576"),
    ];
    let got = sqlite::pragmas(&connection, asked).unwrap();
    let got: Vec<_> = got.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let expected = [
        ("journal_mode", "wal"),
        ("synchronous", "1"),
        ("cache_size", "-20000"),
        ("foreign_keys", "0"),
        ("temp_store", "2"),
        ("mmap_size", "1048576"),
    ];
    assert_eq!(got, expected);

    let error = sqlite::pragmas(&connection, [("cache_sise", "1")]).unwrap_err().to_string();
    assert!(error.contains("did you mean `cache_size`"), "{error}");
    let error = sqlite::pragmas(&connection, [("synchronous", "sometimes")]).unwrap_err();
    assert!(matches!(error, Error::SettingNotTaken { .. }), "{error}");
    connection.execute_batch("CREATE TABLE t (n)").unwrap();
    let error = sqlite::pragmas(&connection, [("page_size", "16384")]).unwrap_err().to_string();
    assert!(error.contains("only an empty database"), "{error}");
    let error = sqlite::pragmas(&connection, [("journal_mode", "wal; DROP TABLE t")]).unwrap_err();
    assert!(matches!(error, Error::SettingNotTaken { .. }), "{error}");
    connection.execute_batch("SELECT * FROM t").unwrap();
}

/// What was chosen for every measurement, in `.cargo/config.toml`.
#[test]
fn the_compile_options_are_the_chosen_ones() {
    let options = sqlite::compile_options().unwrap();
    assert!(options.contains(&"DEFAULT_MEMSTATUS=0".to_owned()), "{options:?}");
    for unwanted in ["ENABLE_MEMORY_MANAGEMENT", "ENABLE_API_ARMOR"] {
        assert!(!options.contains(&unwanted.to_owned()), "{options:?}");
    }
}

/// What Debian's SQLite and the shell of sqlite.org have too.
#[test]
fn files_of_other_builds_open_and_their_statements_run() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    let made = "CREATE TABLE t (x REAL); CREATE INDEX t_floor ON t (floor(x)); INSERT INTO t VALUES (1.5), (4);
                CREATE TABLE g (x, y AS (pow(x, 2)) STORED); INSERT INTO g (x) VALUES (3);
                CREATE VIRTUAL TABLE f3 USING fts3(a); CREATE VIRTUAL TABLE f4 USING fts4(a);
                CREATE VIRTUAL TABLE f5 USING fts5(a); CREATE VIRTUAL TABLE r USING rtree(id, a, b);
                CREATE VIRTUAL TABLE p USING geopoly(name);";
    sqlite::create(&path).unwrap().execute_batch(made).unwrap();
    let connection = sqlite::open_read_only(&path).unwrap();
    for sql in [
        "SELECT x FROM t WHERE floor(x) = 1",
        "SELECT y, log10(y), sqrt(y), sin(y), pi() FROM g",
        "SELECT percentile(x, 50), median(x) FROM t",
        "SELECT soundex('Tym'), json_extract('{\"a\": 1}', '$.a'), count(*) FROM dbstat",
        "SELECT * FROM f3, f4, f5, r, p",
    ] {
        connection.prepare(sql).unwrap().query([]).unwrap().next().unwrap();
    }
}

#[test]
fn a_sort_beyond_the_cache_and_a_full_scan_are_counted_once() {
    let directory = tempfile::tempdir().unwrap();
    let connection = sqlite::create(&directory.path().join("a.db")).unwrap();
    let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
                INSERT INTO t SELECT i, hex(randomblob(100)) FROM n";
    connection.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, text)").unwrap();
    connection.execute_batch(rows).unwrap();
    SqliteCounters::take(&connection).unwrap();
    let count = |sql: &str| {
        let mut statement = connection.prepare(sql).unwrap();
        statement.query_map([], |_| Ok(())).unwrap().for_each(Result::unwrap);
        let mut counters = SqliteCounters::take(&connection).unwrap();
        counters.add_statement(&statement);
        counters.add_statement(&statement);
        counters
    };
    let point = count("SELECT text FROM t WHERE id = 7");
    assert_eq!((point.full_scan_steps, point.sorts, point.temporary_bytes), (0, 0, 0));
    assert!(point.cache_hits + point.cache_misses > 0);
    // 4 MB of texts through a cache of 400 KB.
    sqlite::pragmas(&connection, [("cache_size", "100")]).unwrap();
    let sorted = count("SELECT text FROM t ORDER BY text");
    assert_eq!((sorted.full_scan_steps, sorted.sorts), (19_999, 1));
    assert!(sorted.cache_misses > 500, "{sorted:?}");
    assert!(sorted.temporary_bytes > 1_000_000, "{sorted:?}");
}

/// The other program of the next test, since no process sees its own locks: which of the locks that
/// SQLite shares among readers are held (<https://www.sqlite.org/src/file/src/os.h>, SHARED_FIRST).
#[test]
#[ignore = "a part of another test"]
fn another_program() {
    use rustix::process::{Flock, FlockOffsetType, FlockType, fcntl_getlk};
    let path = std::env::var_os("CROSSOVER_TEST_DATABASE").unwrap();
    let wanted = Flock {
        start: 0x4000_0002,
        length: 510,
        pid: None,
        typ: FlockType::WriteLock,
        offset_type: FlockOffsetType::Set,
    };
    let file = std::fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
    println!("lock of {:?}", fcntl_getlk(file, &wanted).unwrap().map(|lock| lock.typ));
}

/// SQLite removes the log of a database that no process has locked.
#[test]
fn a_second_opening_keeps_the_lock_of_earlier_connections() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.db");
    let first = sqlite::create(&path).unwrap();
    first.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (n)").unwrap();
    let second = sqlite::open_existing(&path).unwrap();
    let third = sqlite::open_read_only(&path).unwrap();
    let fourth = sqlite::create(&path).unwrap();
    let seen = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["another_program", "--exact", "--ignored", "--nocapture"])
        .env("CROSSOVER_TEST_DATABASE", &path)
        .output()
        .unwrap();
    let seen = String::from_utf8_lossy(&seen.stdout).into_owned();
    assert!(seen.contains("lock of Some(ReadLock)"), "{seen}");
    drop((first, second, third, fourth));
}

#[test]
fn a_file_open_in_sqlite_is_neither_read_nor_copied() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let connection = sqlite::create(&at("a.db")).unwrap();
    connection.execute_batch("CREATE TABLE t (n)").unwrap();
    let refused = sqlite::file::copy(&at("a.db"), &at("b.db")).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ResourceBusy);
    assert!(!at("b.db").exists());
    drop(connection);
    sqlite::file::copy(&at("a.db"), &at("b.db")).unwrap();
    sqlite::open_read_only(&at("b.db")).unwrap().execute_batch("SELECT * FROM t").unwrap();
    sqlite::file::remove(&at("b.db")).unwrap();
    sqlite::file::remove(&at("b.db")).unwrap();
    assert!(!at("b.db").exists());
}
