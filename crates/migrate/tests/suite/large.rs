//! Rows of many megabytes: hashed by pieces as whole, with their differences found.

use migrate::{MigrateOptions, MigrationReport, TextOptions};

use crate::support::{File, Target};

/// Rows of 9 MB among small ones: bytes, texts, documents and a key behind them.
fn large_rows() -> File {
    File::new(
        "CREATE TABLE doc(a TEXT, b BLOB, c VARCHAR(20000000), n NUMERIC, j JSON, \
             id INTEGER, part INTEGER, PRIMARY KEY (part, id)); \
         INSERT INTO doc VALUES ('x', zeroblob(9000000), NULL, 1.5, '[1]', 1, 7), \
             (replace(hex(zeroblob(4500000)), '0', 'é'), NULL, 'y', 2, NULL, 2, 7), \
             (NULL, x'00', hex(zeroblob(5000000)), NULL, '{\"a\": 1}', 3, 7), \
             ('small', x'01', 'small', 3, '{}', 4, 7); \
         CREATE TABLE loose(v TEXT, w JSON); \
         INSERT INTO loose VALUES (hex(randomblob(5000000)), '{}'), ('a', 'null'), (NULL, NULL), \
             ('b', '[\"' || hex(randomblob(5000000)) || '\", 1]')",
    )
}

async fn moved(file: &File, target: &Target) -> MigrationReport {
    let options = MigrateOptions { part_bytes: 1_000_000, ..MigrateOptions::default() };
    target.migrate(file, &options).await.unwrap()
}

#[tokio::test]
async fn large_rows_arrive_and_are_proved() {
    let (file, target) = (large_rows(), Target::new().await);
    let report = moved(&file, &target).await;
    let proof = report.verification.unwrap();
    assert!(proof.is_equal(), "{}", proof.to_text(&TextOptions::default()));
    assert!(proof.tables.iter().all(|table| table.source_rows == 4));
    let sizes =
        "SELECT concat_ws(' ', octet_length(a), octet_length(b), length(c)) FROM doc ORDER BY id";
    assert_eq!(target.texts(sizes).await, ["1 9000000", "18000000 1", "1 10000000", "5 1 5"]);

    // One byte, far inside.
    target.run("UPDATE doc SET b = set_byte(b, 8000000, 1) WHERE id = 1").await;
    let proof = target.verify(&file).await;
    assert!(!proof.is_equal());
    let text = proof.to_text(&TextOptions::default());
    assert!(text.contains("doc: part 7, id 1: b is"), "{text}");
}

#[test]
fn the_audit_notes_the_memory_for_a_large_document() {
    let file = File::new(
        "CREATE TABLE t(j JSON); INSERT INTO t VALUES ('[\"' || hex(zeroblob(34000000)) || '\"]')",
    );
    let text = file.whole_audit_text(&[]);
    let message = "t.j: the longest document has 64.8 MiB: comparing it as jsonb takes about 259 MiB \
                   of memory\n    remedy: --map 't.j=json' takes it once";
    assert!(text.contains(message), "{text}");
    assert!(!file.whole_audit_text(&["t.j=json"]).contains("the longest document"));
}

#[test]
fn the_audit_notes_the_memory_for_rows_with_large_values() {
    let file = File::new(
        "CREATE TABLE a(x BLOB, y BLOB); \
         INSERT INTO a VALUES (zeroblob(70000000), zeroblob(3000000)), (NULL, NULL); \
         CREATE TABLE b(x BLOB); INSERT INTO b VALUES (zeroblob(60000000))",
    );
    let report = file.audit(&[]).unwrap();
    let noted = report.findings.iter().filter(|finding| finding.kind == "large_rows");
    let noted: Vec<String> = noted.map(ToString::to_string).collect();
    let readers = std::thread::available_parallelism().unwrap().get().min(4);
    let held = match readers {
        1 => "one at a time".to_owned(),
        _ => format!(
            "up to {readers} at a time, {} of memory",
            notation::bytes(73_000_000 * readers as u64)
        ),
    };
    let expected = format!("a: rows of up to 69.6 MiB: audit and migrate hold {held}");
    assert_eq!(noted, [format!("{expected}; see that there is as much")]);
}
