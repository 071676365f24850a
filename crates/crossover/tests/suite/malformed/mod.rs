//! Plans as people mistype them: each is refused with its place, what is wrong there, and exit code 2,
//! before anything is measured. The cases and the plans that they are made of lie beside this file.

use crate::place::{Place, error};

/// Stands before what is wrong.
const HERE: char = '‸';

struct Case {
    line: usize,
    plan: String,
    /// Line and column, from 1; none where the mistake is that something is missing.
    place: Option<(usize, usize)>,
    said: &'static str,
}

fn cases() -> Vec<Case> {
    let lines = include_str!("cases.txt").lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines.map(|(index, line)| case(index + 1, line)).collect()
}

fn case(line: usize, text: &'static str) -> Case {
    let [base, from, to, said] = text.split(" ¦ ").collect::<Vec<_>>()[..] else {
        panic!("line {line} has not four columns")
    };
    let base = match base {
        "http" => include_str!("http.toml"),
        "sql" => include_str!("sql.toml"),
        "blob" => include_str!("blob.toml"),
        "oltp" => include_str!("oltp.toml"),
        other => panic!("line {line}: {other}"),
    };
    let (from, to) = (from.replace('⏎', "\n"), to.replace('⏎', "\n"));
    assert!(base.contains(&from), "line {line}: {from} is not in the plan");
    let marked = base.replacen(&from, &to, 1);
    let place = marked.split_once(HERE).map(|(before, _)| {
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        (before.matches('\n').count() + 1, column)
    });
    Case { line, plan: marked.replace(HERE, ""), place, said }
}

#[test]
fn malformed_plans_are_refused_with_place_and_exit_code_2() {
    let cases = cases();
    assert!(cases.len() >= 120, "{}", cases.len());
    let place = Place::new();
    let data = rusqlite::Connection::open(place.path("shop.db")).unwrap();
    data.execute_batch("CREATE TABLE orders (id INTEGER PRIMARY KEY, amount REAL)").unwrap();
    for case in cases {
        place.write("plan.toml", &case.plan);
        let output = place.run(&["bench", "plan.toml"]);
        let said = error(&output);
        let told = |what: &str| format!("cases.txt, line {}: {what}: {said}", case.line);
        assert_eq!(output.status.code(), Some(2), "{}", told("exit code"));
        assert!(said.contains(case.said), "{}", told(case.said));
        let at = case.place.map(|(line, column)| format!("line {line}, column {column}: "));
        let at = format!("error: plan.toml, {}", at.as_deref().unwrap_or("line "));
        assert!(said.contains(&at), "{}", told(&at));
        // Rust's words are not those of a plan.
        for word in ["usize", "u32", "i64", " struct ", " variant ", " enum ", "untagged", "Some("]
        {
            assert!(!said.contains(word), "{}", told(word));
        }
        assert!(!place.path("runs").exists(), "{}", told("a run was begun"));
    }
}

#[test]
fn a_dry_run_refuses_what_is_too_large_as_a_run_does() {
    let place = Place::new();
    rusqlite::Connection::open(place.path("shop.db"))
        .unwrap()
        .execute("CREATE TABLE t (i)", ())
        .unwrap();
    let plan = include_str!("http.toml").replace("replicates = 5", "replicates = 1000000000");
    place.write("plan.toml", &plan);
    let output = place.run(&["bench", "plan.toml", "--dry-run"]);
    assert_eq!(output.status.code(), Some(2));
    let said = error(&output);
    let told =
        "8 treatments in 1000000000 blocks are 8000000000 trials, and at most 100000 are taken";
    assert!(said.contains(told), "{said}");
    let plan = include_str!("http.toml");
    place.write("plan.toml", plan);
    let words = ["bench", "plan.toml", "--dry-run", "--server-memory=64"];
    let told = place.refused(2, &words);
    assert!(told.contains("64 is less than a server needs to start: at least 32MiB"), "{told}");
    let shown = place.expect(0, &["bench", "plan.toml", "--dry-run", "--budget=1m"]);
    assert!(
        shown.contains("Budget 1m: the first five blocks are measured all the same"),
        "{shown}"
    );
}
