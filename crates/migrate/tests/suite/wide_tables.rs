//! Tables of very many columns: PostgreSQL's limits of columns and of a row's bytes are known before
//! anything is moved.

use migrate::MigrateOptions;

use crate::support::{File, Target, data_only, rules};

/// A table of `count` columns of one type, each with `value`.
fn wide(count: usize, declared: &str, value: &str) -> File {
    let columns: Vec<String> = (0..count).map(|number| format!("c{number} {declared}")).collect();
    let values = vec![value; count];
    let (columns, values) = (columns.join(", "), values.join(", "));
    File::new(&format!("CREATE TABLE t({columns}); INSERT INTO t VALUES ({values})"))
}

#[tokio::test]
async fn rows_that_no_page_holds_are_found_before() {
    let target = Target::new().await;
    // The last that fit, and the first that do not.
    let limits: [(&str, &str, usize, Option<usize>); 8] = [
        ("BIGINT", "5000000000", 1017, Some(1018)),
        ("BIGINT", "NULL", 1600, None),
        ("INT4", "1", 1600, None),
        ("REAL", "0.5", 1017, Some(1018)),
        ("TEXT", "'abcd'", 1600, None),
        // Fourteen characters and a byte of length each.
        ("TEXT", "'abcdefghijklmn'", 542, Some(543)),
        // A pointer of 18 bytes each.
        ("TEXT", "'0123456789abcdefghijklmnopqrstuvwxyzABCD'", 452, Some(453)),
        // 15 bytes compressed, in 16.
        ("TEXT", "printf('%.*c', 120, 'x')", 452, Some(480)),
    ];
    for (declared, value, fits, fails) in limits {
        let options = MigrateOptions { replace: true, ..MigrateOptions::default() };
        let file = wide(fits, declared, value);
        assert!(!file.audit(&[]).unwrap().blocks(), "{declared} {value}");
        let moved = target.migrate(&file, &options).await;
        moved.unwrap_or_else(|error| panic!("{declared} {value} {fits}: {error}"));
        let Some(fails) = fails else { continue };
        let file = wide(fails, declared, value);
        let report = file.audit(&[]).unwrap();
        let found: Vec<&str> = report.findings.iter().map(|each| each.kind).collect();
        let columns: Vec<String> = (0..fails).map(|number| format!("c{number}")).collect();
        let type_name = &report.tables[0].columns[0].postgres_type;
        let columns = columns.join(&format!(" {type_name}, "));
        target.run(&format!("DROP TABLE t; CREATE TABLE t({columns} {type_name})")).await;
        let refused = target.migrate(&file, &data_only()).await;
        assert_eq!(
            found.contains(&"large_row"),
            refused.is_err(),
            "{value}: {found:?} {refused:?}"
        );
    }
}

#[tokio::test]
async fn integers_that_are_small_have_a_rule_that_works() {
    let (file, target) = (wide(1600, "INTEGER", "123456"), Target::new().await);
    let report = file.audit(&[]).unwrap();
    let found = report.findings.iter().find(|each| each.kind == "large_row").unwrap();
    assert_eq!(found.fix, "--map 't.*=integer'");
    assert_eq!(found.examples[0].row, "rowid 1");
    let error = target.migrate(&file, &MigrateOptions::default()).await.unwrap_err().to_string();
    assert!(
        error.contains("1 row of up to 12,824 bytes, PostgreSQL's have at most 8,160"),
        "{error}"
    );
    let text = file.audit_text(&[]);
    assert!(text.contains("Next: crossover migrate source.db URL --map 't.*=integer'"), "{text}");
    let rules = rules(&["t.*=integer"]);
    let options = MigrateOptions { rules, ..MigrateOptions::default() };
    target.migrate(&file, &options).await.unwrap();
    let file = wide(1600, "INTEGER", "5000000000");
    let text = file.audit_text(&[]);
    assert!(text.contains("remedy: split the table, or leave it out: --exclude 't'"), "{text}");
}

#[test]
fn more_columns_than_postgresql_has_are_a_finding() {
    for count in [1601, 1999, 2000] {
        let file = wide(count, "INT", "7");
        let text = file.audit_text(&[]);
        let written = format!("{},{:03} columns", count / 1000, count % 1000);
        assert!(text.contains(&format!("t: {written}, PostgreSQL has at most 1,600")), "{text}");
        assert!(text.contains("it has 1 row"), "{text}");
    }
}
