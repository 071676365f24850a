//! Sentences for each outcome of the three lines.

use super::super::result::tests::row;
use super::super::tuned::NewIndex;
use super::*;

type SeenRatio = Option<(f64, Shown)>;

const FASTER: SeenRatio = Some((0.25, Shown::Faster));
const MUCH_FASTER: SeenRatio = Some((0.005, Shown::Faster));
const SLOWER: SeenRatio = Some((3.0, Shown::Slower));
const EQUAL: SeenRatio = Some((1.01, Shown::Equal));
const OPEN: SeenRatio = Some((1.2, Shown::Undecided));

fn tuned() -> Tuned {
    let index = |statement: &str| NewIndex {
        name: statement.to_owned(),
        sql: statement.to_owned(),
        bytes: 1,
        used_by: vec![statement.to_owned()],
    };
    Tuned {
        path: std::path::PathBuf::new(),
        file_bytes: 1,
        indexes: vec![index("s0"), index("s1"), index("not measured")],
        plans_changed_by_analyze: Vec::new(),
        journal_becomes_wal: true,
        cache_kib: 2000,
        synchronous: "2".to_owned(),
    }
}

/// By statement what is shown of PostgreSQL against SQLite and against SQLite, tuned.
fn said(shown: &[(SeenRatio, SeenRatio)], left_out: usize) -> String {
    let tuned = tuned();
    let row = |(place, (to_sqlite, to_tuned)): (usize, &(_, _))| {
        row(&format!("s{place}"), "postgres:18", *to_sqlite, *to_tuned)
    };
    let rows: Vec<StatementResult> = shown.iter().enumerate().map(row).collect();
    let has_tuned = shown.iter().any(|(_, tuned)| tuned.is_some());
    let tuned = has_tuned.then_some(&tuned);
    paragraphs(&VerdictFacts {
        rows: &rows,
        engines: &["postgres:18"],
        tuned,
        not_measured: left_out,
        margin: "5%",
    })
}

#[test]
fn nothing_to_do_is_the_smallest_step() {
    let text = said(&[(SLOWER, SLOWER), (EQUAL, SLOWER)], 1);
    let expected = "PostgreSQL is not needed: SQLite as it is is at least as fast as \
                    postgres:18 for all 2 measured statements: faster for 1 (3.00 times as fast: \"s0\"), equal within 5% \
                    for 1. 1 statement was not measured.";
    assert_eq!(text, expected);
}

#[test]
fn tuning_is_enough_where_postgres_is_nowhere_faster() {
    let text = said(&[(MUCH_FASTER, SLOWER), (FASTER, EQUAL)], 0);
    let expected = "Tuned SQLite is enough: with ANALYZE and 2 indexes, which postgres:18 \
                    was measured without, it is at least as fast as postgres:18 for all 2 \
                    statements: faster for 1 (3.00 times as fast: \"s0\"), equal within 5% for 1. As it is, SQLite is not enough: \
                    postgres:18 is faster for 2 (up to 200 times as fast: \"s0\").";
    assert_eq!(text, expected);
}

#[test]
fn the_gain_of_tuning_is_said_beside_the_verdict() {
    let tuned = tuned();
    let rows = [
        row("s0", LABEL, MUCH_FASTER, None),
        row("s0", "postgres:18", SLOWER, SLOWER),
        row("s1", LABEL, OPEN, None),
        row("s1", "postgres:18", OPEN, EQUAL),
    ];
    let engines = ["postgres:18", "postgres:16"];
    let facts = VerdictFacts {
        rows: &rows,
        engines: &engines,
        tuned: Some(&tuned),
        not_measured: 0,
        margin: "5%",
    };
    let text = paragraphs(&facts);
    let gain = "It is faster than the file as it is for 1 (200 times as fast: \"s0\").";
    assert!(text.contains(gain) && !text.contains("postgres:16"), "{text}");
}

#[test]
fn postgres_is_the_step_where_it_is_never_slower() {
    let text = said(&[(FASTER, FASTER), (EQUAL, EQUAL)], 0);
    let expected = "postgres:18 is the smallest step that is enough: of 2 statements it is \
                    faster than tuned SQLite for 1 (4.00 times as fast: \"s0\"); tuned SQLite \
                    is equal within 5% for 1. As it is, SQLite is not enough";
    assert!(text.starts_with(expected), "{text}");
    let mixed = said(&[(FASTER, FASTER), (SLOWER, SLOWER)], 0);
    let expected = "Tuned SQLite is not enough throughout: of 2 statements postgres:18 is \
                    faster for 1 (4.00 times as fast: \"s0\"); tuned SQLite is faster for 1";
    assert!(mixed.starts_with(expected), "{mixed}");
}

#[test]
fn undecided_stays_undecided() {
    let text = said(&[(OPEN, OPEN), (SLOWER, SLOWER)], 0);
    let expected = "Whether tuned SQLite is enough is undecided: of 2 statements tuned SQLite \
                    is faster for 1 (3.00 times as fast: \"s1\"); 1 is undecided (\"s0\").";
    assert!(text.starts_with(expected), "{text}");
    let text = said(&[(OPEN, SLOWER)], 0);
    let now = "For SQLite as it is that is undecided: 1 statement without verdict";
    assert!(text.contains(now), "{text}");
    let text = said(&[(OPEN, None)], 0);
    assert!(text.starts_with("Whether SQLite is enough is undecided"), "{text}");
    assert_eq!(said(&[], 0), "Nothing was measured, so there is no verdict.");
}
