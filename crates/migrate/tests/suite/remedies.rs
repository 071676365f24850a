//! Remedies of the audit: rules and statements are taken from its report and applied, then the
//! result is migrated and run. `make prove` does this on releases 9.6 and 14 too.

use std::collections::BTreeSet;

use migrate::{Finding, MigrateOptions, Severity};

use crate::support::{File, Target, rules};

/// Broken files, each to be repaired by its audit report alone.
const CASES: [&str; 33] = [
    // Types.
    "CREATE TABLE t(a BLOB); INSERT INTO t VALUES (0.1 + 0.2), ('x'), (x'00ff')",
    "CREATE TABLE t(any1, any2 BLOB); INSERT INTO t VALUES (1, 2), ('a', 'b'), (x'00', x'01')",
    "CREATE TABLE t(a); INSERT INTO t VALUES ('a'), (x'6100')",
    "CREATE TABLE t(a INTEGER); INSERT INTO t VALUES (1), (x'61')",
    "CREATE TABLE t(a INTEGER); INSERT INTO t VALUES ('a'), ('b' || char(0))",
    "CREATE TABLE t(a INTEGER); INSERT INTO t VALUES (1), (CAST(x'ff' AS TEXT)), (2.5)",
    "CREATE TABLE t(a INTEGER); INSERT INTO t VALUES (9e18), (1e300), (0.5)",
    "CREATE TABLE t(a SMALLINT, b MEDIUMINT); INSERT INTO t VALUES (70000, 5000000000)",
    "CREATE TABLE t(a REAL); INSERT INTO t VALUES (1.5), ('x'), (9007199254740993)",
    "CREATE TABLE t(a NUMERIC(4,2), b DECIMAL(3)); INSERT INTO t VALUES (123456.789, 9e999)",
    "CREATE TABLE t(a NUMERIC); INSERT INTO t VALUES (9e999), (x'00')",
    "CREATE TABLE t(a VARCHAR(3), b CHAR(2)); INSERT INTO t VALUES ('abcd', 'x'), (x'00', 'xyz')",
    "CREATE TABLE t(a VARCHAR(3)); INSERT INTO t VALUES (replace(hex(zeroblob(6000000)), '0', 'a'))",
    "CREATE TABLE t(a TEXT, b TEXT); INSERT INTO t VALUES (CAST(x'ff' AS TEXT), 'a' || char(0))",
    "CREATE TABLE t(a BOOLEAN, b BOOLEAN); INSERT INTO t VALUES ('yes', 2), (1, 0)",
    "CREATE TABLE t(a BLOB); INSERT INTO t VALUES (1), (2.5)",
    "CREATE TABLE t(id INTEGER PRIMARY KEY, u INTEGER UNIQUE, d INTEGER, at INTEGER, z INTEGER); \
     INSERT INTO t VALUES (1, '00000000-0000-4000-8000-000000000001', '2021-01-02', \
         '2021-01-02 03:04:05', '2021-01-02T03:04:05Z')",
    "CREATE TABLE t(at DATETIME, day DATE, b DATETIME); \
     INSERT INTO t VALUES (1614834367, 1614834367, 1614834367000), (1614834368, 1614834369, 'x')",
    "CREATE TABLE t(u UUID UNIQUE); INSERT INTO t VALUES \
         ('00000000-0000-4000-8000-00000000000A'), ('00000000-0000-4000-8000-00000000000a')",
    "CREATE TABLE t(u TEXT UNIQUE, n TEXT UNIQUE, i INTEGER UNIQUE); INSERT INTO t VALUES \
         ('00000000-0000-4000-8000-00000000000A', '1.5', '00000000-0000-4000-8000-00000000000A'), \
         ('00000000-0000-4000-8000-00000000000a', '1.50', '00000000-0000-4000-8000-00000000000a')",
    "CREATE TABLE t(a TIMESTAMPTZ, b TIMESTAMPTZ, j JSON); \
     INSERT INTO t VALUES ('2021-01-01', '2021-01-01 00:00:00+02:00', '{\"a\": 1, \"a\": 2}')",
    "CREATE TABLE t(u TEXT, d TEXT, f TEXT, n TEXT, m TEXT, j TEXT, k TEXT, created_at INTEGER); \
     INSERT INTO t VALUES ('00000000-0000-4000-8000-000000000001', '2021-01-02', 'true', '12', \
         '1.5', '[\"\\u0000\"]', '{\"a\": []}', 1614834367)",
    "CREATE TABLE t(a DATETIME, b DATETIME, c DATETIME, d DATE); INSERT INTO t VALUES \
         ('2021-01-02T03:04:05Z', '2021-01-02T03:04:05+02:00', '2021-01-02', '2021-01-02 03:04'), \
         ('2021-01-02T03:04:05Z', '2021-01-02', 'soon', '2021-01-02')",
    "CREATE TABLE t(a DATETIME, b TIMESTAMP, c INTEGER, sent_at INTEGER); INSERT INTO t VALUES \
         (1614834367000, 1614834367000000, 1614834367000, 1614834367000000), (NULL, NULL, NULL, NULL)",
    // Keys and names.
    "CREATE TABLE p(id TEXT PRIMARY KEY); CREATE TABLE t(p_id INTEGER REFERENCES p(id)); \
     INSERT INTO p VALUES ('1'); INSERT INTO t VALUES (1)",
    "CREATE TABLE p(id BLOB PRIMARY KEY); CREATE TABLE t(p_id TEXT REFERENCES p(id)); \
     INSERT INTO p VALUES (x'00ff'); INSERT INTO t VALUES (NULL)",
    "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE t(p_id REFERENCES p(id)); \
     INSERT INTO p VALUES (1); INSERT INTO t VALUES ('1'), (NULL)",
    "CREATE TABLE \"a name of more than sixty-three bytes, which PostgreSQL would cut off\"(\
         \"another one of more than sixty-three bytes, which it would cut off\" INT, xmin INT, \"\")",
    "CREATE TABLE t(name TEXT COLLATE NOCASE UNIQUE, n INT COLLATE NOCASE, code TEXT COLLATE RTRIM, \
         UNIQUE (name, n, code)); CREATE INDEX i ON t(code COLLATE NOCASE); \
     CREATE UNIQUE INDEX u ON t(n, code COLLATE NOCASE) WHERE n > 0; \
     INSERT INTO t VALUES ('a', 1, 'b'), ('B', 2, 'c ')",
    "CREATE TABLE p(code TEXT COLLATE NOCASE PRIMARY KEY); \
     CREATE TABLE k(id INTEGER PRIMARY KEY, c TEXT REFERENCES p(code)); \
     INSERT INTO p VALUES ('a'); INSERT INTO k VALUES (1, 'a'), (2, NULL)",
    // Features that are not carried over.
    "CREATE TABLE t(n INT CHECK (n % 2 = 0), j TEXT CHECK (json_extract(j, '$.a') > 0), \
         g INT AS (n * 2), h TEXT AS (strftime('%W', j))); \
     CREATE INDEX i ON t(abs(n)); CREATE INDEX k ON t(n) WHERE j GLOB 'x*'; \
     CREATE VIEW v AS SELECT group_concat(j) FROM t WHERE n == 1; \
     CREATE TRIGGER r BEFORE UPDATE ON t BEGIN SELECT RAISE(ABORT, 'no'); END; \
     CREATE VIRTUAL TABLE s USING fts5(title, body); CREATE VIRTUAL TABLE o USING fts4(a, b)",
    "PRAGMA user_version = 3; CREATE TABLE p(id INTEGER PRIMARY KEY); \
     CREATE TABLE t(a INT UNIQUE ON CONFLICT REPLACE, p_id INT REFERENCES p DEFERRABLE INITIALLY \
         DEFERRED, q_id INT REFERENCES q)",
    "CREATE TABLE t(a INT PRIMARY KEY, b TEXT NOT NULL DEFAULT (datetime('now', 'localtime')), \
         c DATETIME DEFAULT (datetime('now', 'localtime')), d TEXT DEFAULT (lower(hex(randomblob(16)))), \
         e TEXT DEFAULT (hex(randomblob(16))), f BLOB DEFAULT (randomblob(16)), \
         g INTEGER DEFAULT (random()), h INTEGER DEFAULT '', i NUMERIC DEFAULT 'n/a', \
         j TEXT DEFAULT (datetime('now', '+1 day')), k BOOLEAN DEFAULT 'yes', \
         l TIME DEFAULT (time('now', 'localtime')), m DATE DEFAULT (date('now', 'localtime')), \
         n INTEGER DEFAULT CURRENT_TIMESTAMP, o TEXT DEFAULT (abs(random())))",
];

/// The texts between each `start` and the next `end`.
fn between<'a>(text: &'a str, start: &str, end: &str) -> Vec<&'a str> {
    let parts = text.split(start).skip(1);
    parts.map(|part| part.split(end).next().unwrap()).collect()
}

/// The rule of the next step, otherwise those of the remedy.
fn rules_of(finding: &Finding) -> Vec<String> {
    let of_fix = || between(&finding.fix, "--map '", "'").into_iter().map(str::to_owned).collect();
    finding.mapping.clone().map_or_else(of_fix, |rule| vec![rule])
}

/// Two rules for one column would be refused.
fn overrule(rules: &mut Vec<String>, rule: &str) {
    let place = |rule: &str| rule.split('=').next().unwrap().to_owned();
    rules.retain(|own| place(own) != place(rule));
    rules.push(rule.to_owned());
}

/// The rules in a finding's hints; rules side by side belong together.
fn hints_of(finding: &Finding) -> Vec<Vec<String>> {
    let side_by_side = finding.fix.replace("' --map '", "\n");
    let hints = between(&side_by_side, "--map '", "'").into_iter();
    hints.map(|rules| rules.split('\n').map(str::to_owned).collect()).collect()
}

/// Applies the remedies of blockers until there are none.
fn mend(file: &File) -> Result<Vec<String>, String> {
    let mut applied: Vec<String> = Vec::new();
    for _ in 0..4 {
        let known: Vec<&str> = applied.iter().map(String::as_str).collect();
        let report = file.audit(&known).unwrap();
        let before = applied.clone();
        let blockers = report.findings.iter().filter(|each| each.severity == Severity::Blocker);
        let blockers: Vec<&Finding> = blockers.collect();
        if blockers.is_empty() {
            return Ok(applied);
        }
        let mut statements = BTreeSet::new();
        for blocker in &blockers {
            let rules = rules_of(blocker);
            let again = rules.iter().any(|rule| before.contains(rule));
            assert!(!again, "again: {blocker}");
            statements.extend(between(&blocker.fix, "in the source: ", ";"));
            statements.extend(between(&blocker.fix, "for example ", ";"));
            rules.iter().for_each(|rule| overrule(&mut applied, rule));
        }
        assert!(!statements.is_empty() || applied != before, "{}", file.audit_text(&[]));
        // A table's own new name comes after those of its columns.
        let (tables, others): (Vec<&str>, Vec<&str>) =
            statements.into_iter().partition(|statement| statement.contains("\" RENAME TO "));
        for statement in others.into_iter().chain(tables) {
            file.run(statement);
        }
    }
    Err(format!("blockers remain: {}", file.audit_text(&[])))
}

#[tokio::test]
async fn every_remedy_that_the_audit_prints_works() {
    let target = Target::new().await;
    for (number, script) in CASES.iter().enumerate() {
        let file = File::new(script);
        let applied = mend(&file).unwrap();
        let known: Vec<&str> = applied.iter().map(String::as_str).collect();
        let hints = file.audit(&known).unwrap().findings;
        let hints: BTreeSet<Vec<String>> = hints.iter().flat_map(hints_of).collect();
        // As it is, and with each hint.
        let variants = std::iter::once(None).chain(hints.iter().map(Some));
        for (variant, hint) in variants.enumerate() {
            let schema = format!("case_{number}_{variant}");
            let mut all = applied.clone();
            hint.into_iter().flatten().for_each(|rule| overrule(&mut all, rule));
            let all: Vec<&str> = all.iter().map(String::as_str).collect();
            target.run("SET search_path = public; CREATE EXTENSION IF NOT EXISTS citext").await;
            let options = MigrateOptions {
                rules: rules(&all),
                schema: Some(schema.clone()),
                ..MigrateOptions::default()
            };
            let report = target.migrate(&file, &options).await;
            let report = report.unwrap_or_else(|error| panic!("{script}\n{all:?}\n{error}"));
            target.run(&format!("SET search_path = {schema}, public")).await;
            for finding in &report.findings {
                let statement = finding.statement.as_deref().unwrap_or_default();
                let done = target.client.batch_execute(statement).await;
                done.unwrap_or_else(|error| panic!("{finding}\n{statement}\n{error:?}"));
            }
        }
    }
    let row = "INSERT INTO case_32_0.t(a, h) VALUES (1, 2) RETURNING format('%s %s %s %s', \
               length(b), length(d), octet_length(f), c BETWEEN localtimestamp - '1 min'::interval \
               AND localtimestamp)";
    assert_eq!(target.texts(row).await, ["19 32 16 t"]);
}

/// A default of SQLite gives PostgreSQL's rows the same value, or is a finding.
#[tokio::test]
async fn defaults_give_the_same_values() {
    let target = Target::new().await;
    let file = File::new(
        "CREATE TABLE t(a INTEGER DEFAULT 1.0, b TEXT DEFAULT \"\", c TEXT DEFAULT \"it's\", \
             d TEXT DEFAULT word, e BLOB DEFAULT x'00ff', f BOOLEAN DEFAULT 1.0, \
             g BOOLEAN DEFAULT 'false', h NUMERIC DEFAULT 1e3, i REAL DEFAULT 1, \
             j TEXT DEFAULT 1.50, k INTEGER DEFAULT (1 + 1), l TEXT DEFAULT ('a' || 'b\\'), \
             m DATETIME DEFAULT '2021-01-02 03:04:05', n JSON DEFAULT '{}', \
             o VARCHAR(5) DEFAULT 'abc', p INTEGER DEFAULT '7', q TEXT DEFAULT NULL, \
             r INTEGER DEFAULT (cast(strftime('%s', 'now') as integer)), \
             s TEXT DEFAULT CURRENT_DATE, t TEXT DEFAULT (strftime('%Y-%m-%dT%H:%MZ', 'now')), \
             u INTEGER DEFAULT -0x10, v UUID DEFAULT x'00000000000040008000000000000001', \
             w TIMESTAMP DEFAULT CURRENT_DATE, x TIME DEFAULT CURRENT_TIME)",
    );
    let report = target.migrate(&file, &MigrateOptions::default()).await.unwrap();
    assert!(report.not_carried_over.is_empty(), "{:#?}", report.findings);
    target.run("SET TIME ZONE 'Asia/Tokyo'; INSERT INTO t DEFAULT VALUES").await;
    let row =
        "SELECT concat_ws('|', a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, u, v) FROM t";
    let expected = "1||it's|word|\\x00ff|t|f|1000|1|1.5|2|ab\\|2021-01-02 03:04:05|{}|abc|7|-16|\
                    00000000-0000-4000-8000-000000000001";
    assert_eq!(target.texts(row).await, [expected]);
    file.run("INSERT INTO t DEFAULT VALUES");
    let stored: (i64, String, String) = file
        .connection()
        .query_row("SELECT r, s, t FROM t", [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap();
    let row = "SELECT format('%s %s %s', r - $1::bigint BETWEEN -60 AND 60, \
               s BETWEEN ($2::text::date - 1)::text AND $2::text, length(t)) FROM t";
    let row = target.client.query_one(row, &[&stored.0, &stored.1]).await;
    let row: String = row.unwrap().get(0);
    assert_eq!(row, format!("t t {}", stored.2.len()));
}
