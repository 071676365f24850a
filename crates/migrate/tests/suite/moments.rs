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

#[tokio::test]
async fn right_times_with_a_zone_need_no_repair() {
    let file = File::new(
        "CREATE TABLE t(a DATETIME, b DATETIME); \
         INSERT INTO t VALUES ('2021-01-02T03:04:05Z', '2021-01-02T03:04:05Z'), \
             ('2021-01-02T03:04:05Z', '2021-01-02')",
    );
    let text = file.whole_audit_text(&[]);
    assert!(
        text.contains("t.a: 2 values in a column declared datetime have a zone: kept as"),
        "{text}"
    );
    assert!(!text.contains("repair"), "{text}");
    let mixed = "every text is a time, 1 with a zone; --map 't.b=timestamptz' reads the others";
    assert!(text.contains(mixed), "{text}");
    let target = Target::new().await;
    let options =
        MigrateOptions { rules: rules(&["t.b=timestamptz"]), ..MigrateOptions::default() };
    target.migrate(&file, &options).await.unwrap();
    let types = "SELECT format('%s %s', pg_typeof(a), pg_typeof(b)) FROM t LIMIT 1";
    assert_eq!(target.texts(types).await, ["timestamp with time zone timestamp with time zone"]);
    let target = Target::new().await;
    target.run("CREATE TABLE t(a timestamp, b timestamptz)").await;
    let error = target.migrate(&file, &data_only()).await.unwrap_err().to_string();
    assert!(!error.contains("repair"), "{error}");
    let (_, remedy) = error.split_once("in the target: ").unwrap();
    target.run(remedy.split_once(';').unwrap().0).await;
    target.migrate(&file, &data_only()).await.unwrap();
    file.run("INSERT INTO t VALUES (NULL, 'soon')");
    let text = file.whole_audit_text(&[]);
    assert!(text.contains("repair those that are not times; the 1 with a zone is"), "{text}");
}
