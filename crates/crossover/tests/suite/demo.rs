//! `crossover demo` at a tiny size: every chapter in order, on a real PostgreSQL. Its report is
//! left for the browser tests.

use std::path::{Path, PathBuf};

use crate::place::{Place, error, text};

#[test]
fn the_whole_story_is_told_in_order_and_leaves_a_report() {
    let place = Place::new();
    let output = place.run(&["demo", "--no-serve", "--scale=0.01", "--replicates=1", "--time=1s"]);
    let (said, errors) = (text(&output.stdout), error(&output));
    assert_eq!(output.status.code(), Some(0), "{said}\n{errors}");
    assert!(said.lines().count() <= 60, "{said}");
    let mut rest = said.as_str();
    for part in [
        "1. The database as found",
        "80 articles and ",
        "2. What PostgreSQL would refuse of it",
        "articles.uuid: 80 text values (UUIDs) in a column declared integer",
        "articles.slug: 4 values longer than varchar(256)",
        "3. The repaired schema",
        "PostgreSQL would take every value",
        "4. The move to PostgreSQL 18",
        "read back and compared, value by value: equal.",
        "5. SQLite or PostgreSQL?",
        "1 block shows values and no verdict",
        "year",
        "6. The same year from totals",
        "times as fast on SQLite (",
        "times as fast on PostgreSQL (",
        "7. Blobs in the database or in files?",
        "1 block shows values and no verdict",
        "What it means",
        "The evidence",
        "report.html",
        "It took ",
    ] {
        let found = rest.find(part);
        assert!(found.is_some(), "{part:?} is missing or out of order in:\n{said}\n{errors}");
        rest = &rest[found.unwrap()..];
    }
    let of_the_article = |run: &PathBuf| {
        let plan = std::fs::read_to_string(run.join("plan.toml")).unwrap();
        plan.contains("SQLite or PostgreSQL for the dashboard?")
    };
    let report = place.runs().into_iter().find(of_the_article).unwrap().join("report.html");
    let page = std::fs::read_to_string(&report).unwrap();
    assert!(page.contains("response_time_ms_mean") && !page.contains("__CROSSOVER_REPORT__"));
    std::fs::copy(report, Path::new(env!("CARGO_TARGET_TMPDIR")).join("report.html")).unwrap();
}
