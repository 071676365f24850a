//! Figures of the blob experiment, and their report.

use serde_json::{Value, json};

use super::{find, measured};
use crate::place::{Place, read_json, text};

#[test]
fn every_form_is_measured_and_reported_as_in_the_article() {
    let place = Place::new();
    let document = measured(
        &place,
        &[
            "--count=120",
            "--passes=2",
            "--replicates=1",
            "--on=sqlite",
            "--on=sqlite[access=blob_api]",
            "--on=sqlite[access=blob_api,mmap_size=100000000,label=mapped]",
            "--on=sqlite[journal_mode=wal,synchronous=normal,label=wal]",
            "--on=sqlite[journal_mode=off,synchronous=off,label=off]",
            "--on=sqlite[transaction=each]",
            "--on=dir[read=stdio]",
            "--on=dir[read=openat]",
            "--on=dir[fsync=on]",
            "--on=tree",
            "--on=sqlite+dir",
            "--on=postgres:18",
        ],
    );
    let trials = place.trials();
    // Twelve lines, of which dir[fsync=on] is read, and dir[read=openat] overwritten, as
    // dir[read=stdio] is: measured once.
    assert_eq!(trials.len(), 11 * 2);
    for trial in &trials {
        assert_eq!(trial["status"], "ok", "{trial}");
        let reads = trial["levels"]["operation"] == "read";
        // Two passes over 120 blobs, or two transactions of 12 updates.
        assert_eq!(trial["requests"], if reads { 240 } else { 24 });
        let bytes = trial["counters"]["blob_bytes"].as_f64().unwrap();
        let blobs = trial["requests"].as_f64().unwrap();
        assert!((8_000.0..=12_000.0).contains(&(bytes / blobs)), "{trial}");
        // Files too: nothing is to be done there until the sync.
        for key in ["checkpoint_seconds", "sync_seconds"] {
            assert_eq!(trial.get(key).is_some(), !reads, "{key}: {trial}");
        }
        assert_eq!(trial["counters"].get("blob_offers_again").is_some(), reads);
        let repeated = if reads { "dir[fsync=on]" } else { "dir[read=openat]" };
        assert_ne!(trial["engine"], repeated);
    }
    let blob = &document["blob"];
    check_pictures(&blob["pictures"]);
    // 120 files of 8 to 12 kB fill their last blocks on average by half: they take more room.
    let room = &find(&blob["space"], "engine", "dir[read=stdio]");
    assert_eq!(room["blobs"], 120);
    assert!(room["allocated_bytes"].as_u64() > room["content_bytes"].as_u64());
    let files = find(&blob["times"], "engine", "dir[read=stdio]");
    // None where another program disturbed one of its two samples.
    let share = files["open_close_fraction"].as_f64();
    assert!(share.is_none_or(|share| share > 0.0 && share <= 1.0), "{files}");
    let read = |trial: &&Value| trial["counters"].get("file_open_close_us_mean").is_some();
    assert!(trials.iter().filter(read).count() > 0, "{trials:?}");
    // The log is moved into the database outside of the time of a blob, and told beside it.
    let of_wal = blob["times"].as_array().unwrap().iter().filter(|one| one["engine"] == "wal");
    let whole = of_wal.filter_map(|one| {
        let whole = one["time_per_blob_with_checkpoint_us"].as_f64()?;
        Some(whole > one["time_per_blob_us"]["value"].as_f64().unwrap())
    });
    assert_eq!(whole.collect::<Vec<_>>(), [true]);
    let verdicts = blob["claims"].as_array().unwrap().iter();
    let missing: Vec<&Value> = verdicts.filter(|one| one["verdict"] == "not_measured").collect();
    assert_eq!(missing.len(), 1 + usize::from(share.is_none()), "only cold caches: {missing:?}");
    for (engine, durability) in [
        ("sqlite", "survives_power_loss"),
        ("wal", "survives_program_crash"),
        ("off", "none"),
        ("dir[read=stdio]", "none"),
        ("postgres:18", "survives_power_loss"),
    ] {
        assert_eq!(find(&document["engines"], "name", engine)["durability"], durability);
    }
    let text = place.expect(0, &["report", "latest", "--format=text"]);
    for part in ["Time per blob", "µs per blob", "Room on storage", "What the article claims"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// The article's five, each with a paragraph from its numbers.
fn check_pictures(pictures: &Value) {
    let pictures = pictures.as_array().unwrap();
    let ids: Value = pictures.iter().map(|picture| picture["id"].clone()).collect();
    let expected = ["read_sql", "read_blob_api", "read_mmap", "update_wal", "update_off"];
    assert_eq!(ids, json!(expected));
    for picture in pictures {
        let base = picture["base"].as_str().unwrap();
        assert!(picture["paragraph"].as_str().unwrap().starts_with(base), "{picture}");
        assert!(find(&picture["bars"], "engine", "tree")["ratio"]["value"].is_f64());
    }
}

#[test]
fn sizes_are_swept_and_large_blobs_are_fewer() {
    let place = Place::new();
    let words = [
        "size",
        "--sizes=1k,100k",
        "--count=400",
        "--total=2M",
        "--passes=1",
        "--replicates=5",
        "--no-bisection",
        "--on=dir[read=plain]",
        "--on=sqlite",
    ];
    let document = measured(&place, &words);
    let factor = find(&document["factors"], "name", "blob_bytes");
    assert_eq!(factor["levels"][1]["label"], "100 kB");
    for trial in place.trials() {
        let size = trial["levels"]["blob_bytes"].as_f64().unwrap();
        let blobs = if size < 2_000.0 { 400 } else { 20 };
        let updates = trial["levels"]["operation"] == "update";
        assert_eq!(trial["requests"], if updates { blobs / 10 } else { blobs });
    }
    // One sweep of reads and one of updates.
    assert!(document["crossings"].as_array().unwrap().len() >= 2);
    let durabilities = document["engines"].as_array().unwrap().iter();
    assert!(durabilities.map(|one| &one["durability"]).all(|one| one == "none"));
}

#[test]
fn claims_are_judged_by_blobs_of_their_own_size_only() {
    let place = Place::new();
    let words = [
        "page-size",
        "--sizes=1k,100k",
        "--count=200",
        "--total=2M",
        "--passes=1",
        "--replicates=1",
        "--on=sqlite",
        "--on=dir[read=plain]",
    ];
    let document = measured(&place, &words);
    let pages = &document["blob"]["page_sizes"];
    assert_eq!((&pages["of"], &pages["by"]), (&json!("dir[read=plain]"), &json!("sqlite")));
    assert_eq!(pages["blob_bytes"], json!([1e3, 1e5]));
    let rows = pages["rows"].as_array().unwrap();
    let sizes: Value = rows.iter().map(|row| row["page_bytes"].clone()).collect();
    assert_eq!(sizes, json!([1024.0, 4096.0, 16_384.0, 65_536.0]));
    for ratio in rows.iter().flat_map(|row| row["ratios"].as_array().unwrap()) {
        assert!(ratio["value"].as_f64().unwrap() > 0.0, "{pages}");
    }
    let claims = document["blob"]["claims"].as_array().unwrap();
    assert!(claims.iter().all(|claim| claim["verdict"] == "not_measured"), "{claims:?}");
}

#[test]
fn pictures_of_several_runs_are_each_relative_to_own_sqlite() {
    let place = Place::new();
    let words = ["--operations=read", "--count=50", "--passes=1", "--replicates=1"];
    for _ in 0..2 {
        measured(&place, &[&words[..], &["--on=sqlite", "--on=dir"]].concat());
    }
    let runs = place.runs();
    let [a, b] = &runs[..] else { panic!("two runs: {runs:?}") };
    let [a, b] = [a, b].map(|run| run.file_name().unwrap().to_str().unwrap());
    let report = place.run(&["report", a, b, "--format=text"]);
    let text = text(&report.stdout);
    let mut lines = text.lines().skip_while(|line| !line.starts_with("Reads, by SQLite's SQL"));
    let header = lines.find(|line| line.contains("Times SQLite")).unwrap();
    assert!(header.contains(a) && header.contains(b), "{header}");
    let dir = lines.find(|line| line.trim_start().starts_with("dir ")).unwrap();
    let ratios = dir.split_whitespace().filter(|word| word.parse::<f64>().is_ok());
    assert!(ratios.count() >= 2, "{dir}");
}

#[test]
fn cold_trials_read_each_blob_once_and_say_how_cold_they_were() {
    // Nothing is cold in memory.
    let place = Place::on_disk();
    let words = [
        "cold",
        // Of them two of a hundred are read.
        "--count=2500",
        "--passes=3",
        "--replicates=1",
        "--on=sqlite",
        "--on=dir[read=plain]",
    ];
    let document = measured(&place, &words);
    for trial in place.trials() {
        let cold = trial["levels"]["cache"] == "cold";
        assert_eq!(trial["requests"], if cold { 50 } else { 150 });
        let resident = trial["counters"].get("blob_resident_before_fraction");
        assert_eq!(resident.is_some(), cold);
        assert!(resident.is_none_or(|share| share.as_f64().unwrap() <= 0.05));
    }
    assert!(document["conditions"].as_str().unwrap().contains("cold where it says so"));
    let run = read_json(&place.only_run().join("run.json"));
    let settings = run["engines"]["sqlite (cache=cold)"]["settings"].to_string();
    assert!(settings.contains("data cold") || settings.contains("data and metadata cold"));
}

#[test]
fn readers_share_a_pass_and_forms_share_their_durability() {
    let place = Place::new();
    let words = ["clients", "--count=90", "--passes=1", "--replicates=1", "--on=sqlite"];
    measured(&place, &words);
    for trial in place.trials() {
        assert_eq!(trial["requests"], 90, "all clients together read each blob once");
    }
    let place = Place::new();
    let words =
        ["durability", "--count=40", "--passes=1", "--replicates=1", "--on=sqlite", "--on=dir"];
    let document = measured(&place, &words);
    let warnings = document["warnings"].to_string();
    assert!(!warnings.contains("durability_differs"), "{warnings}");
    let run = read_json(&place.only_run().join("run.json"));
    for (start, promise) in [
        ("sqlite", "none"),
        ("dir", "none"),
        ("sqlite (durability=program_crash)", "survives_program_crash"),
        ("dir (durability=program_crash)", "survives_program_crash"),
        ("sqlite (durability=power_loss)", "survives_power_loss"),
        ("dir (durability=power_loss)", "survives_power_loss"),
        ("sqlite (durability=power_loss, transaction=each)", "survives_power_loss"),
    ] {
        assert_eq!(run["engines"][start]["durability"], promise, "{start}");
    }
    // Three promises, for all at once and for each blob, by both lines.
    assert_eq!(place.trials().len(), 12);
}
