//! Refusals, and messages before anything is measured.

use crate::place::{Place, error, text};

#[test]
fn what_cannot_be_measured_is_refused_with_exit_code_2() {
    let place = Place::new();
    for (words, said) in [
        (&["--on=dir[read=fast]"][..], "read is none of stdio, plain, openat"),
        (&["--on=dir[fsnyc=on]"], "did you mean `fsync`?"),
        (&["--on=dir:/tmp"], "crossover blob run"),
        (&["--on=sqlite[page_size=512]"], "page_bytes under [blob]"),
        (&["--on=sqlite[mmap_siz=5]"], "mmap_siz"),
        (&["durability", "--on=sqlite[synchronous=off]"], "synchronous is set by blob.durability"),
        (&["durability", "--on=dir[fsync=on]"], "fsync is set by blob.durability"),
        (
            &["durability", "--on=sqlite[transaction=each]"],
            "transaction is set by blob.transaction",
        ),
        (&["cold", "--on=postgres:18"], "does not measure it cold"),
        (&["cold", "--operations=read"], "--operations goes with"),
        (
            &["--operations=update", "--on=dir", "--on=dir[read=plain]"],
            "dir[read=plain] measures the same as an earlier engine",
        ),
        (&["--count=3"], "blob.count: `3` is not a whole number from 16"),
        (&["--sizes=0"], "at least 1"),
    ] {
        let words = [&["bench", "blob"], words].concat();
        let output = place.run(&words);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", error(&output));
        assert!(error(&output).contains(said), "{words:?}: {}", error(&output));
    }
    assert!(!place.path("runs").exists());
}

#[test]
fn the_plan_that_is_printed_is_the_plan_that_runs() {
    let place = Place::new();
    let words =
        ["bench", "blob", "size", "--sizes=1k,10k", "--count=500", "--on=sqlite", "--on=tree"];
    let printed = place.run(&[&words[..], &["--print-plan"]].concat());
    assert_eq!(printed.status.code(), Some(0), "{}", error(&printed));
    std::fs::write(place.path("plan.toml"), &printed.stdout).unwrap();
    let preview = |words: &[&str]| {
        let output = place.run(&[words, &["--dry-run", "--seed=1", "-v"]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", error(&output));
        text(&output.stdout)
    };
    assert_eq!(preview(&words), preview(&["bench", "plan.toml"]));
    assert!(preview(&words).contains("updates"));
    // Of the plan's own lines those are left out that differ in reading alone.
    let updates = preview(&["bench", "blob", "--operations=update"]);
    assert!(updates.contains("dir[read=stdio]") && !updates.contains("read=plain"), "{updates}");
}

#[test]
fn a_budget_too_small_is_reported_before_measuring() {
    let place = Place::new();
    let told = |budget: &str| {
        let output = place.run(&["bench", "blob", budget, "--dry-run"]);
        assert_eq!(output.status.code(), Some(0), "{}", error(&output));
        error(&output)
    };
    let small = told("--budget=1m");
    assert!(
        small.contains("--budget 1m: 5 blocks take about") && small.contains("--on"),
        "{small}"
    );
    assert!(!told("--budget=10h").contains("--budget"));
}
