//! Numbers and texts that are moments: the unit that is proposed is theirs, and right times are not
//! called broken.

use migrate::MigrateOptions;

use crate::support::{File, Target, data_only, rules};

/// 2021-03-04 05:06:07 in each unit.
const UNITS: [(&str, &str, &str); 4] = [
    ("1614834367", "epoch seconds", "epoch_seconds"),
    ("1614834367000", "epoch milliseconds", "epoch_milliseconds"),
    ("1614834367000000", "epoch microseconds", "epoch_microseconds"),
    ("2459277.712581019", "Julian days", "julian_day"),
];

#[tokio::test]
async fn the_unit_of_a_refused_number_is_proposed() {
    for (value, unit, reading) in UNITS {
        let file = File::new(&format!(
            "CREATE TABLE t(at DATETIME, sent_at INTEGER); INSERT INTO t VALUES ({value}, {value})"
        ));
        let text = file.whole_audit_text(&[]);
        let rule = format!("--map 't.at=timestamptz using {reading}'");
        assert!(text.contains(&format!("probably {unit}")) && text.contains(&rule), "{text}");
        let target = Target::new().await;
        target.run("CREATE TABLE t(at timestamp, sent_at timestamptz)").await;
        let mut options = data_only();
        for _ in 0..2 {
            let error = target.migrate(&file, &options).await.unwrap_err().to_string();
            let (_, rule) = error.split_once(&format!("probably {unit}: --map '")).unwrap();
            options.rules.0.extend(rules(&[rule.split('\'').next().unwrap()]).0);
        }
        target.migrate(&file, &options).await.unwrap();
        let same = "SELECT to_char(at, 'YYYY-MM-DD HH24:MI:SS') || (at AT TIME ZONE 'UTC' = sent_at) \
                    FROM t";
        assert_eq!(target.texts(same).await, ["2021-03-04 05:06:07true"]);
    }
    // A number that is no moment of our time, and a day that is none.
    let file = File::new("CREATE TABLE t(at DATETIME); INSERT INTO t VALUES (17)");
    for (script, value) in [("at timestamp", "17"), ("at date", "1614834367000")] {
        file.run(&format!("UPDATE t SET at = {value}"));
        let target = Target::new().await;
        target.run(&format!("CREATE TABLE t({script})")).await;
        let error = target.migrate(&file, &data_only()).await.unwrap_err().to_string();
        assert!(!error.contains("using") && error.contains("crossover audit --target"), "{error}");
    }
}

/// 2021-03-04 05:06:07 in two units, and the remedies that make them one.
#[tokio::test]
async fn mixed_units_are_both_named_and_never_read_as_one() {
    let values = "VALUES (1614834367, 1614834367000), (1614834367000, 1614834367), \
                  (1614834367, 1614834367000000)";
    for declared in ["DATETIME", "INTEGER"] {
        let file = File::new(&format!(
            "CREATE TABLE t(sent_at {declared}, read_at {declared}); INSERT INTO t {values}"
        ));
        let text = file.whole_audit_text(&[]);
        for units in [
            "2 in epoch seconds, 1 in epoch milliseconds",
            "1 in epoch seconds, 1 in epoch milliseconds, 1 in epoch microseconds",
        ] {
            assert!(text.contains(units), "{text}");
        }
        let remedies = [
            "UPDATE \"t\" SET \"sent_at\" = \"sent_at\" * 1000 WHERE \"sent_at\" >= 100000000 \
             AND \"sent_at\" < 4000000000",
            "UPDATE \"t\" SET \"read_at\" = \"read_at\" * 1000 WHERE \"read_at\" >= 100000000 \
             AND \"read_at\" < 4000000000; UPDATE \"t\" SET \"read_at\" = \"read_at\" * 1000 WHERE \
             \"read_at\" >= 100000000000 AND \"read_at\" < 4000000000000",
        ];
        let maps = [
            "t.sent_at=timestamptz using epoch_milliseconds",
            "t.read_at=timestamptz using epoch_microseconds",
        ];
        for (remedy, map) in remedies.into_iter().zip(maps) {
            assert!(text.contains(&format!("copy of the source: {remedy}; then --map '{map}'")));
        }
        // As it is, a rule reads the numbers of the other unit wrongly: they are named.
        let text = file.whole_audit_text(&["t.sent_at=timestamptz using epoch_milliseconds"]);
        let said = "2 numbers read as epoch milliseconds: probably 2 in epoch seconds";
        assert!(text.contains(said), "{text}");
        // The row that a move stops at gives no rule for one of them.
        let existing = Target::new().await;
        existing.run("CREATE TABLE t(sent_at timestamptz, read_at timestamptz)").await;
        let error = existing.migrate(&file, &data_only()).await.unwrap_err().to_string();
        assert!(!error.contains("using") && error.contains("crossover audit --target"), "{error}");
        let report = crate::audit_target::audit(&file, &existing).await;
        let fix = &report.findings[0].fix;
        assert!(fix.contains("several units (") && fix.contains(remedies[0]), "{fix}");

        remedies.into_iter().for_each(|remedy| file.run(remedy));
        let (created, options) = (
            Target::new().await,
            MigrateOptions { rules: rules(&maps), ..MigrateOptions::default() },
        );
        created.migrate(&file, &options).await.unwrap();
        existing
            .migrate(&file, &MigrateOptions { rules: rules(&maps), ..data_only() })
            .await
            .unwrap();
        for target in [created, existing] {
            let right =
                "SELECT (sent_at = read_at AND sent_at = '2021-03-04 05:06:07Z')::text FROM t";
            assert_eq!(target.texts(right).await, ["true"; 3]);
        }
    }
    // All are of another unit than the rule's.
    let file = File::new("CREATE TABLE t(at DATETIME); INSERT INTO t VALUES (1614834367)");
    let text = file.whole_audit_text(&["t.at=timestamptz using epoch_milliseconds"]);
    assert!(text.contains("--map 't.at=timestamptz using epoch_seconds'"), "{text}");
    let text = file.whole_audit_text(&["t.at=timestamptz using epoch_seconds"]);
    assert!(!text.contains("probably"), "{text}");
}

/// Rails has no type for a time of day in SQLite.
#[tokio::test]
async fn times_of_day_of_rails_need_no_rule() {
    let file = File::new(
        "CREATE TABLE shop(opens time, closes time(6), note time); INSERT INTO shop VALUES \
         ('2000-01-01 08:30:00', '2000-01-01 23:59:59.999999', NULL), \
         ('2000-01-01 00:00:00', '2000-01-01 18:00:00.500000', NULL)",
    );
    let times = "SELECT opens || ' ' || closes FROM shop ORDER BY opens";
    let expected = ["00:00:00 18:00:00.5", "08:30:00 23:59:59.999999"];
    let created = Target::new().await;
    created.migrate(&file, &MigrateOptions::default()).await.unwrap();
    assert_eq!(created.texts(times).await, expected);
    let types = "SELECT pg_typeof(opens)::text FROM shop LIMIT 1";
    assert_eq!(created.texts(types).await, ["time without time zone"]);

    // The table that Rails makes in PostgreSQL; a rule of an earlier release is still taken.
    let existing = Target::new().await;
    existing.run("CREATE TABLE shop(opens time, closes time(6), note time)").await;
    let maps = ["shop.opens=time using rails_time"];
    let options = MigrateOptions { rules: rules(&maps), ..data_only() };
    let report = existing.migrate(&file, &options).await.unwrap();
    assert!(report.verification.unwrap().is_equal());
    assert_eq!(existing.texts(times).await, expected);
    // A time of another day is none of Rails'.
    file.run("INSERT INTO shop(opens) VALUES ('2021-03-04 05:06:07')");
    let replace = MigrateOptions { replace: true, ..options };
    let error = existing.migrate(&file, &replace).await.unwrap_err().to_string();
    assert!(error.contains("2021-03-04 05:06:07") && !error.contains("using"), "{error}");
}

#[tokio::test]
async fn right_times_with_a_zone_need_no_repair() {
    let file = File::new(
        "CREATE TABLE t(a DATETIME, b DATETIME); \
         INSERT INTO t VALUES ('2021-01-02T03:04:05Z', '2021-01-02T03:04:05Z'), \
             ('2021-01-02T03:04:05Z', '2021-01-02')",
    );
    let text = file.whole_audit_text(&[]);
    let zoned = "t.a: 2 times with a zone in a column declared datetime: timestamp has none";
    assert!(text.contains(zoned) && !text.contains("repair"), "{text}");
    let mixed = "--map 'type:datetime=timestamptz' for all such columns, which reads the others as \
                 UTC; for this one --map 't.b=timestamptz'";
    assert!(text.contains(mixed), "{text}");
    let next = "Next: crossover migrate source.db URL --map 'type:datetime=timestamptz'\n";
    assert!(text.contains(next), "{text}");
    let types = "SELECT format('%s %s', pg_typeof(a), pg_typeof(b)) FROM t LIMIT 1";
    for maps in [&["type:datetime=timestamptz"][..], &["t.a=timestamptz", "t.b=timestamptz"]] {
        let target = Target::new().await;
        let options = MigrateOptions { rules: rules(maps), ..MigrateOptions::default() };
        target.migrate(&file, &options).await.unwrap();
        let both = "timestamp with time zone timestamp with time zone";
        assert_eq!(target.texts(types).await, [both]);
    }
    let target = Target::new().await;
    target.run("CREATE TABLE t(a timestamp, b timestamptz)").await;
    target.migrate(&file, &data_only()).await.unwrap();
    let same = "SELECT DISTINCT (a = '2021-01-02 03:04:05')::text FROM t";
    assert_eq!(target.texts(same).await, ["true"]);
    file.run("INSERT INTO t VALUES (NULL, 'soon')");
    let text = file.whole_audit_text(&[]);
    let soon = "t.b: 2 text values that cannot be read as timestamp";
    assert!(text.contains(soon) && text.contains("--map 't.b=text'"), "{text}");
    assert!(!text.contains("repair"), "{text}");
}
