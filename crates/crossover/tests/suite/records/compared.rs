//! Runs compared: one sitting per side, several, or both sides in one, and what cannot be.

use serde_json::{Value, json};

use super::written::{PLAN, Sitting, change_trials, run_json};
use crate::place::Place;
use crate::schema;

/// One value of every row.
fn column(compared: &Value, name: &str) -> Vec<String> {
    let rows = compared["rows"].as_array().unwrap();
    rows.iter().map(|row| row[name].as_str().unwrap().to_owned()).collect()
}

#[test]
fn one_sitting_per_side_gives_ratios_and_no_verdict() {
    let place = Place::new();
    let (a, b) = ("20261101-080000-http-000a", "20261102-080000-http-000b");
    place.record(&Sitting::new(a, 1.0));
    place.record(&Sitting::new(b, 1.5));
    let compared = place.expect(3, &["compare", a, b, "--output-format=json"]);
    let compared = schema::check("compare", &compared);
    assert_eq!(compared["design"], "too_few_sittings");
    for row in compared["rows"].as_array().unwrap() {
        let ratio = row["ratio"]["value"].as_f64().unwrap();
        assert!((ratio - 1.5).abs() < 0.05, "{row}");
        assert!(row["verdict"].is_null() && row["ratio"]["low"].is_null(), "{row}");
    }
    let text = place.expect(3, &["compare", a, b, "--fail-on-regression=5%"]);
    assert!(text.contains("Ratios and no verdict") && text.contains("--rerun"), "{text}");
    // The same two, measured block by block in one sitting.
    place.record(&Sitting { interleaved_with: Some(b), ..Sitting::new(a, 1.0) });
    place.record(&Sitting { interleaved_with: Some(a), ..Sitting::new(b, 1.5) });
    let compared = place.expect(0, &["compare", a, b, "--output-format=json"]);
    let compared = schema::check("compare", &compared);
    assert_eq!(
        (&compared["design"], &compared["rows"][0]["verdict"]),
        (&json!("interleaved"), &json!("slower"))
    );
    place.expect(99, &["compare", a, b, "--fail-on-regression=5%"]);
    place.expect(0, &["compare", b, a, "--fail-on-regression=5%"]);
}

/// As two versions of an application that are served side by side.
#[test]
fn versions_whose_url_comes_from_a_constant_are_compared() {
    let place = Place::new();
    let (a, b) = ("20261101-080000-http-000a", "20261102-080000-http-000b");
    let of = |address: &str, commands: &str| {
        let engines = r#"["sqlite[label=one]", "sqlite[label=other]"]"#;
        let urls = r#"["http://{address}/a[label=one]", "http://{address}/b[label=other]"]"#;
        let plan = PLAN.replace(engines, urls);
        let plan = plan.replace("start = [\"app\"]", &format!("prepare = [{commands}]"));
        format!("{plan}[constants]\naddress = \"{address}\"\n")
    };
    // The digests of an earlier program, which counted every constant.
    let side = |id, other, plan: &str, data, factor| {
        let interleaved_with = Some(other);
        place.record(&Sitting { plan, data, interleaved_with, ..Sitting::new(id, factor) });
    };
    side(a, b, &of("localhost:8001", r#"["fill"]"#), "plan-1", 1.0);
    side(b, a, &of("localhost:8002", r#"["fill"]"#), "plan-2", 1.5);
    let text = place.expect(99, &["compare", a, b, "--fail-on-regression=10%"]);
    assert!(text.starts_with("B is slower by more than 10% in 4 of 4 treatments."), "{text}");
    // But what is filled otherwise holds other rows.
    side(a, b, &of("localhost:8001", r#"["fill", "{address}"]"#), "plan-1", 1.0);
    side(b, a, &of("localhost:8002", r#"["fill", "{address}"]"#), "plan-1", 1.5);
    assert!(place.refused(2, &["compare", a, b]).contains("different data"));
}

#[test]
fn two_blocks_in_one_sitting_show_ratios_and_no_interval() {
    let place = Place::new();
    let (a, b) = ("20261101-080000-http-000a", "20261102-080000-http-000b");
    for (id, other) in [(a, b), (b, a)] {
        let run = place.record(&Sitting { interleaved_with: Some(other), ..Sitting::new(id, 1.0) });
        for number in 9..=20 {
            std::fs::remove_file(run.join(format!("trials/{number:04}.json"))).unwrap();
        }
    }
    let text = place.expect(3, &["compare", a, b]);
    assert!(text.contains("Ratios and no verdict after 2 blocks: at least 5"), "{text}");
    assert!(text.contains("the smallest and the largest") && !text.contains("95%"), "{text}");
}

#[test]
fn a_treatment_that_fails_is_named_and_passes_no_threshold() {
    let place = Place::new();
    let (a, b) = ("20261101-080000-http-000a", "20261102-080000-http-000b");
    place.record(&Sitting { interleaved_with: Some(b), ..Sitting::new(a, 1.0) });
    let run = place.record(&Sitting { interleaved_with: Some(a), ..Sitting::new(b, 1.0) });
    let compare = ["compare", a, b, "--fail-on-regression=5%", "--output-format=json"];
    place.expect(0, &compare);
    // One wrong answer of `other` with 2 clients.
    change_trials(&run, |trial| {
        let cell = (&trial["block"], &trial["engine"], &trial["levels"]["clients"]);
        if cell == (&json!(1), &json!("other"), &json!(2.0)) {
            trial["failures"] = json!(1);
        }
    });
    let compared = schema::check("compare", &place.expect(3, &compare));
    assert_eq!(compared["rows"].as_array().unwrap().len(), 3);
    let warning = &compared["warnings"][0];
    assert_eq!(warning["kind"], "left_out");
    assert!(warning["message"].as_str().unwrap().ends_with(": other, 2 clients."), "{warning}");
}

#[test]
fn a_treatment_that_stands_in_several_cells_is_compared_once() {
    let place = Place::new();
    let (a, b) = ("20261101-080000-http-000a", "20261102-080000-http-000b");
    let plan = PLAN.replace("label=other", "cache_size={cache},label=other");
    let plan = plan.replace("clients = [1, 2]", "clients = [1, 2]\ncache = [-2000, -4000]");
    for (id, other) in [(a, b), (b, a)] {
        let sitting =
            Sitting { plan: &plan, interleaved_with: Some(other), ..Sitting::new(id, 1.0) };
        let run = place.record(&sitting);
        let cell = |clients: f64, cache: f64| json!({ "clients": clients, "cache": cache });
        let mut record = run_json(&sitting);
        record["rounds"][0]["cells"] =
            [cell(1.0, -2000.0), cell(1.0, -4000.0), cell(2.0, -2000.0), cell(2.0, -4000.0)].into();
        std::fs::write(run.join("run.json"), record.to_string()).unwrap();
        change_trials(&run, |trial| trial["levels"]["cache"] = json!(-2000.0));
    }
    // `one` knows no cache; `other` was measured with the first one only.
    let compared = place.expect(3, &["compare", a, b, "--output-format=json"]);
    let compared = schema::check("compare", &compared);
    assert_eq!(column(&compared, "engine_a"), ["one", "one", "other", "other"]);
    let message = compared["warnings"][0]["message"].as_str().unwrap();
    assert_eq!(message.matches("other, ").count(), 2, "{message}");
}

#[test]
fn several_sittings_per_side_have_verdicts() {
    let place = Place::new();
    let days = ["01", "02", "03"];
    let side = |letter: &str, factor: f64, noise: f64| -> String {
        let ids: Vec<String> =
            days.iter().map(|day| format!("202611{day}-080000-http-{letter}")).collect();
        for (id, drift) in ids.iter().zip([1.0 - noise, 1.0, 1.0 + noise]) {
            place.record(&Sitting::new(id, factor * drift));
        }
        ids.join(",")
    };
    let (a, same, slow, noisy) = (
        side("000a", 1.0, 0.002),
        side("000b", 1.001, 0.002),
        side("000c", 1.2, 0.002),
        side("000d", 1.04, 0.05),
    );
    let verdicts = |b: &str, code: i32, more: &[&str]| -> Vec<String> {
        let words = [&["compare", &a, b, "--output-format=json"], more].concat();
        let compared = schema::check("compare", &place.expect(code, &words));
        assert_eq!(compared["design"], "several_sittings");
        let headline = compared["summary"]["headline"].as_str().unwrap();
        let text = place.expect(code, &[&["compare", &a, b], more].concat());
        assert!(text.starts_with(headline), "{text}");
        let said = compared["summary"]["sentences"].as_array().unwrap();
        assert!(said.iter().all(|one| one.as_str().unwrap().contains("of A's time")), "{said:?}");
        column(&compared, "verdict")
    };
    assert_eq!(verdicts(&slow, 0, &[]), ["slower"; 4]);
    assert_eq!(verdicts(&slow, 99, &["--fail-on-regression=5%"]), ["slower"; 4]);
    let junit = ["compare", &a, &slow, "--fail-on-regression=5%", "--format=junit"];
    let junit = place.expect(99, &junit);
    assert!(junit.contains("tests=\"4\" failures=\"4\" skipped=\"0\""), "{junit}");
    let markdown = place.expect(0, &["compare", &a, &slow, "--format=markdown"]);
    assert!(markdown.starts_with("**Of 4 treatments B is slower in 4."), "{markdown}");
    assert!(markdown.contains("|---"), "{markdown}");
    assert_eq!(verdicts(&same, 0, &["--equivalent-within=3%"]), ["equivalent"; 4]);
    assert_eq!(verdicts(&same, 0, &["--fail-on-regression=5%"]), ["equivalent"; 4]);
    assert_eq!(verdicts(&noisy, 3, &["--fail-on-regression=5%"]), ["undecided"; 4]);
}

#[test]
fn runs_of_different_work_are_refused_in_a_comparison() {
    let place = Place::new();
    let a = "20261101-080000-http-000a";
    place.record(&Sitting::new(a, 1.0));
    let other_data = Sitting { data: "e", ..Sitting::new("20261102-080000-http-000b", 1.0) };
    place.record(&other_data);
    let plan = PLAN.replace("\"all\"", "\"some\"");
    let other_work = Sitting { plan: &plan, ..Sitting::new("20261103-080000-http-000c", 1.0) };
    place.record(&other_work);
    // The same names, but the plan's constants ask for something else.
    let plan = PLAN.replace("path = \"/\"", "path = \"/?blog={blog}\"");
    let asked = |blog: &str| format!("{plan}[constants]\nblog = \"{blog}\"\n");
    let [one_blog, other_blog] = ["one", "other"].map(asked);
    let one_blog = Sitting { plan: &one_blog, ..Sitting::new("20261103-080000-http-000e", 1.0) };
    let other_blog =
        Sitting { plan: &other_blog, ..Sitting::new("20261103-080000-http-000f", 1.0) };
    place.record(&one_blog);
    place.record(&other_blog);
    let message = place.refused(2, &["compare", one_blog.id, other_blog.id]);
    assert!(message.contains("different work"), "{message}");
    for (b, reason) in
        [(other_data.id, "different data"), (other_work.id, "different work"), (a, "named twice")]
    {
        let message = place.refused(2, &["compare", a, b]);
        assert!(message.contains(reason), "{message}");
    }
    let renamed = PLAN.replace("label=other", "label=third");
    let third = Sitting { plan: &renamed, ..Sitting::new("20261104-080000-http-000d", 1.0) };
    let run = place.record(&third);
    change_trials(&run, |trial| {
        if trial["engine"] == "other" {
            trial["engine"] = json!("third");
        }
    });
    let mut record = run_json(&third);
    record["environment"]["cpu_model"] = json!("another processor");
    std::fs::write(run.join("run.json"), record.to_string()).unwrap();
    let text = place.expect(3, &["compare", a, third.id]);
    assert!(text.contains("other of side A is compared with third of side B"), "{text}");
    assert!(text.contains("different machines"), "{text}");
}
