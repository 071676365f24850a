//! Mistakes of usage in a URL, an engine or a setting: exit code 2 and one line that names the
//! mistake, in every command that takes one.

use crate::place::{Place, error, text};

fn small_shop(place: &Place) {
    let connection = rusqlite::Connection::open(place.path("shop.db")).unwrap();
    connection.execute_batch("CREATE TABLE t(a INTEGER); INSERT INTO t VALUES (1)").unwrap();
}

#[test]
fn a_bad_url_engine_or_setting_is_wrong_usage_in_every_command() {
    let place = Place::new();
    small_shop(&place);
    place.write("one.sql", "SELECT a FROM t");
    let cases: [(&[&str], &str); 16] = [
        (&["dashboard", "init", "--database=oracle://x"], "unsupported database URL"),
        (&["dashboard", "serve", "--database=shop.db"], "unsupported database URL"),
        (&["dashboard", "generate", "--database=postgresql://h:99999/x"], "99999"),
        (&["dashboard", "key", "add", "me", "--database=nothing"], "unsupported database URL"),
        (&["audit", "shop.db", "--target=sqlite://x"], "sqlite://x"),
        (&["migrate", "shop.db", "mysql://x"], "mysql://x"),
        (&["verify", "shop.db", "postgresql://h:none/x"], "none"),
        (&["bench", "dashboard", "--on=oracle://x"], "oracle://x"),
        (&["bench", "dashboard", "--on=sqlite", "--scale=0"], "a number above 0"),
        (
            &[
                "bench",
                "sql",
                "--sql=one.sql",
                "--on=sqlite[cache_sise=1]",
                "--data=shop.db",
                "--dry-run",
            ],
            "`cache_size`",
        ),
        (&["demo", "--scale=inf"], "a number above 0"),
        (&["server", "start", "postgres:99"], "PostgreSQL 99"),
        (&["server", "start", "postgres:18[work_mem=much]"], "work_mem=much"),
        (&["try", "shop.db", "--on=postgres:18[port=1]"], "port"),
        (&["try", "shop.db", "--on=sqlite", "--delay=9ms", "--dry-run"], "SQLite has no distance"),
        (&["try", "shop.db", "--on=oracle"], "unknown engine `oracle`"),
    ];
    for (words, message) in cases {
        let said = place.refused(2, words);
        assert!(said.contains(message), "{words:?}: {said}");
    }
}

#[test]
fn every_command_takes_a_sqlite_file_as_path_or_url() {
    let place = Place::new();
    let run = |words: &[&str]| {
        let printed = place.expect(0, words);
        printed.replace(&format!("{}/", place.folder.path().display()), "")
    };
    let absolute = place.path("shop.db").display().to_string();
    small_shop(&place);
    place.write("one.sql", "SELECT a FROM t");
    let sql = ["bench", "sql", "--on=sqlite", "--sql=one.sql", "--print-plan", "--data"];
    let http = [
        "bench",
        "http",
        "--on=sqlite",
        "--start=app {listen} {database_url}",
        "--request=/",
        "--print-plan",
    ];
    let audited = run(&["audit", "shop.db"]);
    let (sql_plan, http_plan) =
        (run(&[&sql[..], &["shop.db"]].concat()), run(&[&http[..], &["--data=shop.db"]].concat()));
    run(&["blob", "init", "blobs.db", "--count=3", "--size=100"]);
    let blobs = run(&["blob", "stat", "blobs.db"]);
    for form in ["sqlite:shop.db", "sqlite://shop.db", &format!("sqlite:{absolute}")] {
        assert_eq!(run(&["audit", form]), audited, "{form}");
        assert_eq!(run(&[&sql[..], &[form]].concat()), sql_plan, "{form}");
        assert_eq!(run(&[&http[..], &[&format!("--data={form}")]].concat()), http_plan, "{form}");
    }
    for form in ["sqlite:new.db", "sqlite://new2.db"] {
        run(&["dashboard", "init", "--database", form]);
    }
    assert!(place.path("new.db").exists() && place.path("new2.db").exists());
    for form in ["sqlite:blobs.db", "sqlite://blobs.db"] {
        assert_eq!(run(&["blob", "stat", form]), blobs, "{form}");
        run(&["blob", "run", form, "--count=3"]);
    }
}

#[test]
fn a_mistyped_command_names_the_right_one() {
    let place = Place::new();
    for (words, expected) in [
        (&["tyr", "shop.db"][..], "a similar subcommand exists: 'try'"),
        (&["bench", "htpp"], "there is no plan htpp; did you mean `crossover bench http`?"),
        (&["bench", "sqll", "--time=1s"], "did you mean `crossover bench sql`?"),
        (&["bench", "shop.toml"], "cannot read the plan shop.toml"),
    ] {
        let said = place.refused(2, words);
        assert!(said.contains(expected), "{words:?}: {said}");
    }
}

#[test]
fn a_quiet_run_announces_nothing() {
    let place = Place::new();
    small_shop(&place);
    place.write("one.sql", "SELECT a FROM t");
    let said = |more: &[&str]| {
        let words = ["bench", "sql", "--on=sqlite:shop.db", "--sql=one.sql", "--time=1s"];
        let short = ["--replicates=1", "--no-wait-for-quiet"];
        let output = place.run(&[&words[..], &short, more].concat());
        assert!(text(&output.stdout).contains("Geom. mean"), "{}", error(&output));
        error(&output)
    };
    assert!(said(&[]).contains("Duration: "));
    let quiet = said(&["-q"]);
    assert!(!quiet.contains("Duration") && !quiet.contains("trials"), "{quiet}");
}

#[test]
fn try_and_bench_sql_read_the_same_files_of_a_folder() {
    let place = Place::new();
    small_shop(&place);
    std::fs::create_dir(place.path("queries")).unwrap();
    place.write("queries/a.sql", "SELECT a FROM t");
    place.write("queries/v1.2.sql", "\u{feff}SELECT a + 1 FROM t");
    for words in [
        &["try", "shop.db", "--sql=queries", "--dry-run"][..],
        &["bench", "sql", "--on=sqlite:shop.db", "--sql=queries", "--dry-run", "-v"],
        &["bench", "sql", "--on=sqlite:shop.db", "--sql=queries", "--print-plan"],
    ] {
        let printed = place.expect(0, words);
        assert!(!printed.contains('\u{feff}'), "{words:?}: {printed}");
        if !words.contains(&"-v") {
            assert!(printed.contains("v1.2"), "{words:?}: {printed}");
        }
    }
}

#[test]
fn no_cell_of_a_csv_is_a_formula() {
    let place = Place::new();
    let connection = rusqlite::Connection::open(place.path("=1+1.db")).unwrap();
    let table = "CREATE TABLE [=1+1]([=2+2,@col] INTEGER); INSERT INTO [=1+1] VALUES (-5)";
    connection.execute_batch(table).unwrap();
    std::fs::create_dir_all(place.path("data/datasets")).unwrap();
    place.write("data/datasets/=3+3.db", "");
    let run = |words: &[&str]| place.expect(0, &[words, &["--output-format=csv"]].concat());
    run(&["blob", "init", "=4+4.db", "--count=3", "--size=100"]);
    for (words, guarded) in [
        (&["audit", "=1+1.db"][..], &["'=1+1,\"'=2+2,@col\",", ",-5,"][..]),
        (&["server", "list"], &["'=3+3"]),
        (&["blob", "run", "=4+4.db", "--count=3"], &["'=4+4.db"]),
    ] {
        let printed = run(words);
        let begins = ["\n=", ",=", "\"=", "\"@"].map(|begin| printed.contains(begin));
        assert_eq!(begins, [false; 4], "{words:?}: {printed}");
        let misses = guarded.iter().find(|cell| !printed.contains(**cell));
        assert_eq!(misses, None, "{words:?}: {printed}");
    }
}
