//! Kept records of runs: the list, removals, reports in every form, damaged records.

use std::path::Path;

use serde_json::{Value, json};

use super::written::{Sitting, change_trials};
use crate::place::{Place, error, read_json};
use crate::schema;

#[test]
fn runs_are_listed_filtered_and_removed() {
    let place = Place::new();
    assert_eq!(place.expect(0, &["runs", "--output-format=json"]), "[]\n");
    let old = place.record(&Sitting::new("20261001-080000-http-0001", 1.0));
    place.record(&Sitting::new("20261101-080000-http-0002", 1.0));
    schema::check_runs(&place.path("runs"));
    let listed = place.expect(0, &["runs", "--output-format=json"]);
    let all = schema::check("runs", &listed);
    assert_eq!(all[0]["id"], "20261101-080000-http-0002", "the newest first");
    assert_eq!((&all[0]["blocks"], &all[0]["complete"]), (&json!(5), &json!(true)));
    assert!(
        all[0]["verdict"].as_str().unwrap().contains("one is shown faster than other"),
        "{all}"
    );
    let count = |words: &[&str]| {
        let words = [&["runs", "--output-format=csv"], words].concat();
        place.expect(0, &words).lines().count() - 1
    };
    assert_eq!((count(&["WHICH"]), count(&["--since=2026-10-15"]), count(&["nothing"])), (2, 1, 0));
    assert_eq!((count(&["--workload=http"]), count(&["--workload=sql"])), (2, 0));
    assert!(place.expect(0, &["runs"]).contains("Which of two?"));
    let message = place.refused(2, &["runs", "--since=yesterday-ish"]);
    assert!(message.contains("neither a date"), "{message}");

    let message = place.refused(2, &["runs", "remove", "20261001-080000-http-0001"]);
    assert!(message.contains("--yes"), "{message}");
    let removed = place.expect(0, &["runs", "remove", "20261001-080000-http-0001", "--yes"]);
    assert_eq!(removed, "20261001-080000-http-0001\n");
    assert!(!old.exists());
    assert_eq!(count(&[]), 1);
}

#[test]
fn only_what_is_certainly_a_run_is_removed() {
    let place = Place::new();
    let run = place.record(&Sitting::new("20261101-080000-http-0002", 1.0));
    let renamed = place.path("runs").join("mine");
    std::fs::rename(&run, &renamed).unwrap();
    std::os::unix::fs::symlink(&renamed, place.path("runs").join("link")).unwrap();
    let other = place.path("other");
    std::fs::create_dir(&other).unwrap();
    let broken = place.record(&Sitting::new("20261102-080000-http-0003", 1.0));
    std::fs::write(broken.join("run.json"), "{").unwrap();
    for (name, reason) in [
        ("mine", "belongs to the run 20261101-080000-http-0002"),
        ("link", "it is a link"),
        ("../other", "there is no run"),
        ("20261102-080000-http-0003", "cannot be read"),
    ] {
        let message = place.refused(1, &["runs", "remove", name, "--yes"]);
        assert!(message.contains(reason), "{message}");
    }
    assert!(renamed.join("run.json").is_file() && other.is_dir() && broken.is_dir());
}

#[test]
fn a_run_that_is_being_measured_is_neither_removed_nor_resumed() {
    let place = Place::new();
    let id = "20261101-080000-http-0002";
    let run = place.record(&Sitting::new(id, 1.0));
    // As the laboratory holds it while it measures.
    let measuring = std::fs::File::open(&run).unwrap();
    measuring.try_lock().unwrap();
    let message = place.refused(1, &["runs", "remove", id, "--yes"]);
    assert!(message.contains("is being measured"), "{message}");
    let message = place.refused(1, &["bench", "--resume", id]);
    assert!(message.contains("is being measured"), "{message}");
    // A child that another test is starting may hold the file, too, until it runs its program.
    measuring.unlock().unwrap();
    place.expect(0, &["runs", "remove", id, "--yes"]);
    assert!(!run.exists());
}

#[test]
fn a_report_has_every_form_and_several_runs_stand_side_by_side() {
    let place = Place::new();
    let run = place.record(&Sitting::new("20261101-080000-http-0001", 1.0));
    place.record(&Sitting::new("20261101-080000-http-0002", 3.0));
    let one = "20261101-080000-http-0001";
    let both = [one, "20261101-080000-http-0002"];
    assert_eq!(place.expect(0, &["report", one]).trim(), run.join("report.html").to_str().unwrap());
    let page = place.expect(0, &["report", both[0], both[1], "--common-axes"]);
    let page = std::fs::read_to_string(page.trim()).unwrap();
    assert!(page.contains("\"common_axes\":true") && page.contains(both[1]));

    let document = schema::check("report", &place.expect(0, &["report", one, "--format=json"]));
    assert_eq!(document["treatments"].as_array().unwrap().len(), 4);
    let words = ["report", both[0], both[1], "--format=json"];
    assert_eq!(
        schema::check("report", &place.expect(0, &words))["documents"][1]["run"]["id"],
        both[1]
    );

    let csv = place.expect(0, &["report", both[0], both[1], "--format=csv"]);
    assert_eq!(csv.lines().count(), 1 + 2 * 4);
    assert!(csv.starts_with("run,clients,engine,response_time_ms_mean,low,high,"), "{csv}");
    let csv = place.expect(0, &["report", one, "--format=csv", "--rows=trial"]);
    assert_eq!(csv.lines().count(), 1 + 20);
    let markdown = place.expect(0, &["report", one, "--format=markdown"]);
    assert!(markdown.starts_with("# Which of two?\n"), "{markdown}");
    assert!(markdown.contains("| Clients   | Engine | "), "{markdown}");
    let text = place.expect(0, &["report", both[0], both[1], "--format=text"]);
    assert!(text.contains(&format!("{}, ms", both[1])), "{text}");
    let file = place.expect(0, &["report", one, "--format=markdown", "--output=out.md"]);
    assert_eq!(std::fs::read_to_string(file.trim()).unwrap(), markdown);
    for (words, reason) in [
        (["report", one, "--common-axes"], "several runs"),
        (["report", one, "--rows=trial"], "--format csv"),
    ] {
        assert!(place.refused(2, &words).contains(reason));
    }
}

#[test]
fn a_duration_excludes_the_pause_before_a_resumption() {
    let place = Place::new();
    let id = "20261101-080000-http-0001";
    let run = place.record(&Sitting::new(id, 1.0));
    let path = run.join("run.json");
    let mut record = read_json(&path);
    record["resumed"] = json!(["2026-11-01T10:00:00Z"]);
    std::fs::write(&path, record.to_string()).unwrap();
    // Ten trials of a second from 08:00, the last from 08:00:30; ten from 10:00, to 10:00:41.
    change_trials(&run, |trial| {
        let number = trial["number"].as_u64().unwrap();
        let (hour, second) = if number <= 10 { (8, number * 3) } else { (10, number * 2) };
        trial["started"] = json!(format!("2026-11-01T{hour:02}:00:{second:02}Z"));
    });
    let report = place.expect(0, &["report", id, "--format=json"]);
    assert_eq!(schema::check("report", &report)["run"]["duration_seconds"], json!(31.0 + 41.0));
}

#[test]
fn truncated_or_newer_records_are_named_older_ones_read() {
    let place = Place::new();
    let id = "20261101-080000-http-0001";
    let run = place.record(&Sitting::new(id, 1.0));
    let cut = |path: &Path| {
        let text = std::fs::read_to_string(path).unwrap();
        std::fs::write(path, &text[..text.len() / 2]).unwrap();
        text
    };
    let whole = cut(&run.join("trials/0003.json"));
    let message = place.refused(1, &["report", id]);
    assert!(message.contains("0003.json is damaged") && message.contains("--resume"), "{message}");
    let listed = schema::check("runs", &place.expect(0, &["runs", "--output-format=json"]));
    assert_eq!((&listed[0]["verdict"], &listed[0]["id"]), (&Value::Null, &json!(id)));
    assert!(listed[0]["error"].as_str().unwrap().contains("0003.json"), "{listed}");
    std::fs::write(run.join("trials/0003.json"), whole).unwrap();

    let whole = cut(&run.join("run.json"));
    let remedy = format!("restore it from a copy, or remove the run: rm -r runs/{id}");
    let message = place.refused(1, &["report", id]);
    assert!(message.contains("run.json is damaged") && message.contains(&remedy), "{message}");
    let mut newer: Value = serde_json::from_str(&whole).unwrap();
    newer["schema_version"] = json!(2);
    newer["environment"] = json!("of another form");
    std::fs::write(run.join("run.json"), newer.to_string()).unwrap();
    let message = place.refused(1, &["compare", id, "latest"]);
    assert!(message.contains("newer Crossover") && message.contains("update"), "{message}");

    let mut older: Value = serde_json::from_str(&whole).unwrap();
    older.as_object_mut().unwrap().remove("interleaved_with");
    older["rounds"][0].as_object_mut().unwrap().remove("blocks");
    std::fs::write(run.join("run.json"), older.to_string()).unwrap();
    let document = schema::check("report", &place.expect(0, &["report", id, "--format=json"]));
    assert_eq!(document["warnings"][0]["kind"], "shared_cores", "not incomplete: {document}");
    for missing in ["trials", "plan.toml"] {
        std::fs::rename(run.join(missing), place.path(missing)).unwrap();
        let message = place.refused(1, &["report", id]);
        assert!(message.contains(missing) && message.contains(&remedy), "{message}");
    }
}

#[test]
fn a_run_that_lost_files_says_what_it_lacks() {
    let place = Place::new();
    let id = "20261101-080000-http-0001";
    let run = place.record(&Sitting::new(id, 1.0));
    let kinds = || {
        let report = place.expect(0, &["report", id, "--format=json"]);
        let warnings = schema::check("report", &report)["warnings"].clone();
        let kinds = warnings.as_array().unwrap().iter().map(|one| one["kind"].clone());
        kinds.collect::<Vec<Value>>()
    };
    std::fs::write(run.join("trials/0002.histogram"), "cut").unwrap();
    assert!(kinds().contains(&json!("histogram_damaged")), "{:?}", kinds());
    std::fs::remove_file(run.join("trials/0003.json")).unwrap();
    assert!(kinds().contains(&json!("incomplete")), "{:?}", kinds());
    let listed = schema::check("runs", &place.expect(0, &["runs", "--output-format=json"]));
    assert_eq!(listed[0]["complete"], json!(false), "{listed}");
}

/// On a disk of 40 kB, mounted where only this process sees it.
#[test]
fn a_full_disk_under_a_page_is_told_once() {
    let place = Place::new();
    let run = place.record(&Sitting::new("20261101-080000-http-000a", 1.0));
    let folder = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=40k tmpfs . && cd \"$PWD\" && \
                  \"$CROSSOVER\" report \"$RUN\" --output page.html; code=$?; ls -A; exit $code";
    let program = env!("CARGO_BIN_EXE_crossover").as_ref();
    let environment = [("CROSSOVER", program), ("RUN", run.as_os_str())];
    let output = testing::run_with_own_mounts(script, folder.path(), &environment);
    let Some(output) = output else { return };
    let said = error(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let told = "error: cannot write page.html: No space left on device (os error 28)\n";
    assert_eq!((said.as_str(), output.stdout.as_slice()), (told, b"".as_slice()));
}
