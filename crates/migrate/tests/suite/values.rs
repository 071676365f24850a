//! Values into existing tables of every type: each is read back as PostgreSQL itself writes it, each
//! stated conversion is counted by column, and what no rule covers is refused.

use migrate::{MigrateOptions, MigrationReport, TextOptions};

use crate::audit_target::audit;
use crate::support::{File, Target, data_only, rules};

/// A type of the target, a literal of SQLite, and the text that PostgreSQL then shows.
const TAKEN: &[(&str, &str, &str)] = &[
    ("interval", "'P1DT2H3.5S'", "1 day 02:00:03.5"),
    ("interval", "'-P1DT02H03M04.500000S'", "-1 days -02:03:04.5"),
    ("interval", "'1.02:03:04'", "1 day 02:03:04"),
    ("interval", "'-00:00:01.5000000'", "-00:00:01.5"),
    ("interval", "'26:00:00'", "26:00:00"),
    ("interval", "'1 year 2 mons 3 days 04:05:06.7'", "1 year 2 mons 3 days 04:05:06.7"),
    ("interval", "'-1 day, 23:59:59'", "-1 days +23:59:59"),
    ("inet", "'10.0.0.1'", "10.0.0.1/32"),
    ("inet", "'10.0.0.1/8'", "10.0.0.1/8"),
    ("inet", "'2001:db8::1'", "2001:db8::1/128"),
    ("cidr", "'10.1.0.0/16'", "10.1.0.0/16"),
    ("cidr", "'::/0'", "::/0"),
    ("macaddr", "'08-00-2B-01-02-03'", "08:00:2b:01:02:03"),
    ("money", "19.99", "$19.99"),
    ("money", "-5", "-$5.00"),
    ("int[]", "'[1, null, -3]'", "{1,NULL,-3}"),
    ("int[]", "'[]'", "{}"),
    ("int[]", "'[[1,2],[3,4]]'", "{{1,2},{3,4}}"),
    ("text[]", "'[\"a b\", \"\\u00e9\", \"{\"]'", "{\"a b\",é,\"{\"}"),
    ("varchar(3)[]", "'[\"abc\"]'", "{abc}"),
    ("numeric(6,2)[]", "'[1.5, 2]'", "{1.50,2.00}"),
    ("boolean[]", "'[true, false]'", "{t,f}"),
    (
        "uuid[]",
        "'[\"00000000000000000000000000000001\"]'",
        "{00000000-0000-0000-0000-000000000001}",
    ),
    ("timestamptz[]", "'[\"2021-03-04T05:06:07Z\"]'", "{\"2021-03-04 05:06:07+00\"}"),
    ("char(3)[]", "'[\"ab\", \"abc\", null]'", "{\"ab \",abc,NULL}"),
    ("citext[]", "'[\"Ab\"]'", "{Ab}"),
    ("mood[]", "'[\"glad\", null]'", "{glad,NULL}"),
    ("port[]", "'[8080]'", "{8080}"),
    (
        "jsonb[]",
        "'[{\"b\": 1.0, \"a\": [1]}, null, [2]]'",
        "{\"{\\\"a\\\": [1], \\\"b\\\": 1.0}\",NULL,[2]}",
    ),
    ("json[]", "'[{\"a\": [1]}]'", "{\"{\\\"a\\\": [1]}\"}"),
    ("boolean", "1", "true"),
    ("boolean", "0.0", "false"),
    ("boolean", "'1'", "true"),
    ("boolean", "'False'", "false"),
    ("timestamptz", "'2021-03-04 05:06:07.000 +00:00'", "2021-03-04 05:06:07+00"),
    ("timestamptz", "'2021-03-04 05:06:07.123456+02:00'", "2021-03-04 03:06:07.123456+00"),
    ("timestamptz", "'2021-03-04 05:06:07.123 +0000 UTC'", "2021-03-04 05:06:07.123+00"),
    ("timestamptz", "'2021-03-04 05:06:07 -0730 -0730'", "2021-03-04 12:36:07+00"),
    ("time", "'2000-01-01 12:30:15'", "12:30:15"),
    ("time", "'2000-01-01 12:30:15.250000'", "12:30:15.25"),
    ("uuid", "'{0188A5EB-0000-7000-8000-000000000001}'", "0188a5eb-0000-7000-8000-000000000001"),
    ("uuid", "'0188a5eb000070008000000000000001'", "0188a5eb-0000-7000-8000-000000000001"),
    ("uuid", "x'0188a5eb000070008000000000000001'", "0188a5eb-0000-7000-8000-000000000001"),
    ("port", "8080", "8080"),
    ("span", "'P2D'", "2 days"),
    ("citext", "'Ab'", "Ab"),
    ("jsonb", "'{\"a\": \"\\ud83d\\ude00\"}'", "{\"a\": \"😀\"}"),
];

/// The same with the kind of the conversion.
const CONVERTED: &[(&str, &str, &str, &str)] = &[
    ("timestamp", "'2021-03-04T05:06:07.1234567'", "2021-03-04 05:06:07.123457", "second_rounded"),
    ("timestamptz", "'2021-12-31T23:59:59.999999999Z'", "2022-01-01 00:00:00+00", "second_rounded"),
    ("timestamp(3)", "'2021-03-04 05:06:07.1235'", "2021-03-04 05:06:07.124", "second_rounded"),
    ("timestamp(0)", "'1999-12-31 23:59:58.5'", "1999-12-31 23:59:58", "second_rounded"),
    ("time", "'23:59:59.9999999'", "24:00:00", "second_rounded"),
    ("time(2)", "'12:30:15.125'", "12:30:15.13", "second_rounded"),
    ("interval", "'1.00:00:00.1234567'", "1 day 00:00:00.123457", "second_rounded"),
    ("interval(2)", "'00:00:00.125'", "00:00:00.13", "second_rounded"),
    ("interval(0)", "'-00:00:00.5'", "-00:00:01", "second_rounded"),
    ("timestamp", "'2021-03-04 05:06:07 +02:00'", "2021-03-04 03:06:07", "offset_converted"),
    ("timestamp", "'2021-03-04 05:06:07Z'", "2021-03-04 05:06:07", "offset_converted"),
    ("numeric(10,2)", "0.1 * 3", "0.30", "real_as_shown"),
    ("numeric", "0.1 * 3", "0.3", "real_as_shown"),
    ("numeric(10,2)", "2.675", "2.68", "number_rounded"),
    ("numeric(10,2)", "'-2.675'", "-2.68", "number_rounded"),
    ("money", "0.125", "$0.13", "number_rounded"),
    ("numeric(4,1)[]", "'[0.25, 7]'", "{0.3,7.0}", "number_rounded"),
    ("jsonb", "'{\"a\": 1, \"a\": 2}'", "{\"a\": 2}", "repeated_keys"),
    ("jsonb[]", "'[[{\"a\": 1, \"a\": 2}]]'", "{\"[{\\\"a\\\": 2}]\"}", "repeated_keys"),
];

/// A type, a literal, and a part of the refusal.
const REFUSED: &[(&str, &str, &str)] = &[
    ("interval", "90000000", "--map 't.v using microseconds'"),
    ("interval", "'1970-01-02 00:00:00'", "--map 't.v using since_1970'"),
    ("interval", "'1:30'", "it cannot be read as interval"),
    ("cidr", "'10.0.0.1/8'", "it has bits to the right of its mask"),
    ("inet", "'10.0.0'", "it cannot be read as inet"),
    ("macaddr", "'08:00:2b'", "it cannot be read as macaddr"),
    ("money", "'$5'", "does not fit money"),
    ("int[]", "'[[1],[2,3]]'", "its inner arrays differ in length or depth"),
    ("int[]", "'{1,2}'", "a text that is not JSON from byte 2 on"),
    ("mood[]", "'[\"angry\"]'", "it cannot be read as mood[]"),
    ("int2[]", "'[40000]'", "beyond the range of smallint[]"),
    ("boolean", "'yes'", "it cannot be read as boolean"),
    ("boolean", "2", "it cannot be read as boolean"),
    ("date", "'2021-03-04 00:00:00Z'", "it cannot be read as date"),
    ("timestamp", "'9999-12-31 23:59:59.9999999'", "it cannot be read as timestamp"),
    ("time", "'2021-03-04 12:30:15'", "it cannot be read as time"),
    ("timestamptz", "1614834367000", "--map 't.v=timestamptz using epoch_milliseconds'"),
    ("numeric(4,2)", "99.995", "beyond the range of numeric(4,2)"),
    ("jsonb", "'[\"\\u0000\"]'", "a text with the escape \\u0000, which jsonb cannot store"),
    ("jsonb", "'[\"\\ud83d\"]'", "half of a surrogate pair"),
    ("jsonb", "'{\"a\": NaN}'", "NaN or Infinity, which JSON does not have"),
    ("json", "'{\"a\": 1,}'", "a text that is not JSON from byte 9 on"),
];

/// An empty table `t`, and types that are not built in.
async fn prepared_target() -> Target {
    let target = Target::new().await;
    target
        .run(
            "CREATE EXTENSION citext; CREATE DOMAIN port AS int CHECK (VALUE > 0); \
             CREATE DOMAIN span AS interval; CREATE TYPE mood AS ENUM ('glad', 'sad'); \
              CREATE TABLE t(v int); \
             DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone = ''UTC''', \
             current_database()); END $$; SET timezone = 'UTC'",
        )
        .await;
    target
}

/// Columns `v0`, `v1`, ... of these types with one row of these values.
fn one_row<'a>(columns: impl Iterator<Item = (&'a str, &'a str)>) -> (String, File) {
    let (mut types, mut values) = (Vec::new(), Vec::new());
    for (place, (postgres_type, value)) in columns.enumerate() {
        types.push(format!("v{place} {postgres_type}"));
        values.push((format!("v{place}"), value));
    }
    let names: Vec<&str> = values.iter().map(|(name, _)| name.as_str()).collect();
    let values: Vec<&str> = values.iter().map(|(_, value)| *value).collect();
    let file = File::new(&format!(
        "CREATE TABLE t({}); INSERT INTO t VALUES ({})",
        names.join(", "),
        values.join(", ")
    ));
    (types.join(", "), file)
}

async fn shown(target: &Target, columns: usize) -> Vec<String> {
    let texts: Vec<String> = (0..columns).map(|place| format!("v{place}::text")).collect();
    target.texts(&format!("SELECT unnest(ARRAY[{}]) FROM t", texts.join(", "))).await
}

/// The conversions that a report names: column, kind, count, example.
fn conversions(report: &MigrationReport) -> Vec<(String, &str, u64)> {
    let kinds =
        ["second_rounded", "offset_converted", "number_rounded", "real_as_shown", "repeated_keys"];
    let found = report.findings.iter().filter(|each| kinds.contains(&each.kind));
    found.map(|each| (each.column.clone().unwrap(), each.kind, each.count)).collect()
}

#[tokio::test]
async fn every_type_takes_its_values() {
    let (columns, file) = one_row(TAKEN.iter().map(|(name, value, _)| (*name, *value)));
    let target = prepared_target().await;
    target.run(&format!("DROP TABLE t; CREATE TABLE t({columns})")).await;
    let report = target.migrate(&file, &data_only()).await.unwrap();
    let expected: Vec<&str> = TAKEN.iter().map(|(.., expected)| *expected).collect();
    assert_eq!(shown(&target, TAKEN.len()).await, expected);
    assert!(conversions(&report).is_empty(), "{:?}", conversions(&report));
    let verified = target.verify(&file).await;
    assert!(verified.is_equal() && verified.tables[0].conversions.is_empty());
}

#[tokio::test]
async fn each_conversion_is_counted_by_column() {
    let (columns, file) = one_row(CONVERTED.iter().map(|(name, value, ..)| (*name, *value)));
    let target = prepared_target().await;
    target.run(&format!("DROP TABLE t; CREATE TABLE t({columns})")).await;
    let audited = audit(&file, &target).await;
    assert!(!audited.blocks());
    let report = target.migrate(&file, &data_only()).await.unwrap();
    let expected: Vec<&str> = CONVERTED.iter().map(|(_, _, expected, _)| *expected).collect();
    assert_eq!(shown(&target, CONVERTED.len()).await, expected);
    let all: Vec<(String, &str, u64)> = CONVERTED
        .iter()
        .enumerate()
        .map(|(place, (.., kind))| (format!("v{place}"), *kind, 1))
        .collect();
    assert_eq!(conversions(&report), all);
    let said = report.to_text(&TextOptions::default());
    assert!(said.contains("every row verified under the conversions named below"), "{said}");
    let verified = target.verify(&file).await;
    assert!(verified.is_equal());
    let proved = &verified.tables[0].conversions;
    let proved: Vec<_> =
        proved.iter().map(|each| (each.column.clone(), each.kind.name(), each.count)).collect();
    assert_eq!(proved, all);
    for (column, kind, _) in &all {
        let of_audit = |each: &&migrate::Finding| each.column.as_ref() == Some(column);
        let found: Vec<&str> =
            audited.findings.iter().filter(of_audit).map(|each| each.kind).collect();
        assert!(found.contains(kind), "{column} {found:?}");
    }
    let text = verified.to_text(&TextOptions::default());
    assert!(text.starts_with("equal: 1 row in 1 table, every column, under the 19 conversions"));
    let line = "t.v9: 1 text with a zone, which timestamp does not keep: converted to UTC, e.g. rowid 1 \
                \"2021-03-04 05:06:07 +02:00\"";
    assert!(text.contains(line), "{text}");
}

/// Tables that Crossover makes keep every digit, or refuse.
#[tokio::test]
async fn the_default_path_rounds_nothing() {
    let file = File::new(
        "CREATE TABLE t(price DECIMAL(10,2), at DATETIME); INSERT INTO t VALUES (2.675, NULL)",
    );
    let target = Target::new().await;
    let error = target.migrate(&file, &MigrateOptions::default()).await.unwrap_err().to_string();
    assert!(error.contains("numeric(10,2) would round or cut"), "{error}");
    file.run("UPDATE t SET price = 1.5, at = '2021-03-04 05:06:07.1234567'");
    let error = target.migrate(&file, &MigrateOptions::default()).await.unwrap_err().to_string();
    assert!(error.contains("timestamp would round or cut"), "{error}");
    let options = MigrateOptions { rules: rules(&["t.at=text"]), ..MigrateOptions::default() };
    target.migrate(&file, &options).await.unwrap();
    assert_eq!(target.texts("SELECT at FROM t").await, ["2021-03-04 05:06:07.1234567"]);
}

#[tokio::test]
async fn what_no_rule_covers_is_refused_with_the_reason() {
    let target = prepared_target().await;
    for (postgres_type, value, expected) in REFUSED {
        let file = File::new(&format!("CREATE TABLE t(v); INSERT INTO t VALUES ({value})"));
        target.run(&format!("DROP TABLE t; CREATE TABLE t(v {postgres_type})")).await;
        let error = target.migrate(&file, &data_only()).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{postgres_type} {value}: {error}");
        assert_eq!(target.texts("SELECT count(*)::text FROM t").await, ["0"]);
        assert!(audit(&file, &target).await.blocks(), "{postgres_type} {value}");
    }
}

/// A rule of a reading alone: the type is the target's, or the one that the reading implies.
#[tokio::test]
async fn a_reading_needs_no_type() {
    let file = File::new(
        "CREATE TABLE t(took BIGINT, ran DATETIME, at INTEGER); INSERT INTO t VALUES \
         (93784000005, '1970-01-02 02:03:04.000005', 1614834367), \
         (-1, '1969-12-31 23:59:59.999999', 0)",
    );
    let rules =
        rules(&["t.took using microseconds", "t.ran using since_1970", "*.at using epoch_seconds"]);
    let expected = ["1 day 02:03:04.000005 t 1614834367", "-1 days +23:59:59.999999 t 0"];
    let values =
        "SELECT format('%s %s %s', took, took = ran, extract(epoch FROM at)::bigint) FROM t";
    for table in ["CREATE TABLE t(took interval, ran interval, at timestamptz)", ""] {
        let target = Target::new().await;
        target.run(table).await;
        let data_only = !table.is_empty();
        let options =
            MigrateOptions { rules: rules.clone(), data_only, ..MigrateOptions::default() };
        target.migrate(&file, &options).await.unwrap();
        assert_eq!(target.texts(values).await, expected);
    }
    let target = Target::new().await;
    target.run("CREATE TABLE t(took bigint, ran timestamp, at timestamptz)").await;
    let options = MigrateOptions { rules, ..data_only() };
    let error = target.migrate(&file, &options).await.unwrap_err().to_string();
    assert!(error.contains("`using microseconds` is for interval, not for bigint"), "{error}");
}

/// Digits of a second and fractions of money, against the server's own input.
#[tokio::test]
async fn values_are_rounded_as_the_server_rounds() {
    let mut values = Vec::new();
    let mut seed = 45_u64;
    for id in 0..2_000 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let digits = 7 + id % 3;
        let fraction = (seed >> 20) % 10_u64.pow(digits);
        let decimal = (seed >> 30) as i64 % 100_000 - 50_000;
        let (width, hours) = (digits as usize, id % 24);
        values.push(format!(
            "({id}, '2021-03-04 {hours:02}:59:59.{fraction:0width$}', '{}.{:03}')",
            decimal / 1000,
            decimal.abs() % 1000
        ));
    }
    let file = File::new(&format!(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, at TEXT, n TEXT); INSERT INTO t VALUES {}",
        values.join(", ")
    ));
    let target = Target::new().await;
    target.run("CREATE TABLE t(id int, at timestamp, n numeric(10,2))").await;
    target.migrate(&file, &data_only()).await.unwrap();
    target
        .run(&format!(
            "CREATE TABLE s(id int, at text, n text); INSERT INTO s VALUES {}",
            values.join(", ")
        ))
        .await;
    let differing = "SELECT s.at || ' ' || s.n FROM t JOIN s USING (id) \
                     WHERE t.at <> s.at::timestamp OR t.n <> s.n::numeric(10,2)";
    assert!(target.texts(differing).await.is_empty());
    assert_eq!(target.texts("SELECT count(*)::text FROM t JOIN s USING (id)").await, ["2000"]);
}
