//! Every step, and every option of it.

use serde_json::Value;

use super::{blob, blobs, done, json, refused, told};
use crate::place::Place;

#[test]
fn one_thing_made_is_one_thing_printed() {
    let place = Place::new();
    assert_eq!(done(&place, "init x.db --count 10 --size 100"), "x.db\n");
    assert_eq!(done(&place, "export x.db out"), "out\n");
    let made = json(&place, "init y.db --count 10 --size 100 --pagesize 1024");
    assert_eq!((&made["count"], &made["page_bytes"]), (&10.into(), &1024.into()));
    let stat = json(&place, "stat y.db");
    assert_eq!((&stat["count"], &stat["page_bytes"]), (&10.into(), &1024.into()));
    assert!(done(&place, "stat x.db --vacuum").contains("integrity"));
    assert!(done(&place, "stat x.db --output-format csv").starts_with("count,"));
}

#[test]
fn every_way_to_read_reads_every_byte_and_finds_it_right() {
    let place = blobs();
    let bytes = json(&place, "stat x.db")["blob_bytes_sum"].clone();
    let ways = [
        "x.db",
        "x.db --blob-api",
        "x.db --mmap 1GiB",
        "x.db --mmap 1GiB --blob-api --cache-size -2000",
        "x.db --descending --start 100 --transaction-per-blob",
        "x.db --once --seed 3 --blob-api --transaction-per-blob",
        "flat --read stdio",
        "flat --read plain --once",
        "flat --read openat --ascending",
        "tree --descending",
        "tree --read openat --names names.db --warm",
    ];
    for way in ways {
        let run = json(&place, &format!("run {way} --count 300 --check"));
        assert_eq!((&run["bytes"], &run["count"]), (&bytes, &300.into()), "{way}");
        assert_eq!(run["checked"]["wrong"], Value::Array(Vec::new()), "{way}");
        let time = run["time_per_blob_us"].as_f64().unwrap();
        let rate = run["megabytes_per_second"].as_f64().unwrap();
        let product = time * rate * 300.0 / bytes.as_f64().unwrap();
        assert!((product - 1.0).abs() < 1e-6, "{way}: {run}");
    }
}

#[test]
fn settings_are_printed_as_the_engine_has_them() {
    let place = blobs();
    let run = json(
        &place,
        "run x.db --random --seed 5 --mmap 1M --cache-size 77 --journal-mode WAL \
         --synchronous normal --update --stats --integrity-check --no-checkpoint",
    );
    let settings = &run["settings"];
    for (name, value) in [
        ("mmap_size", "1000000"),
        ("cache_size", "77"),
        ("journal_mode", "wal"),
        ("synchronous", "normal"),
        ("by", "sql"),
    ] {
        assert_eq!(settings[name], value, "{name}: {run}");
    }
    assert_eq!((&run["seed"], &run["order"]), (&5.into(), &"random".into()));
    assert_eq!(run["integrity"][0], "ok");
    assert_eq!(run["durability"], "process");
    assert!(run["checkpoint_ms"].is_null(), "{run}");
    assert!(run["statistics"]["sqlite_cache_misses"].as_u64().unwrap() > 0, "{run}");
    assert!(run["statistics"]["io_bytes_written_by_calls"].as_u64().unwrap() > 0, "{run}");
}

#[test]
fn updates_change_the_bytes_keep_the_sizes_and_check_as_right() {
    let place = blobs();
    let sizes = json(&place, "stat x.db")["blob_bytes_sum"].clone();
    let ways = [
        "x.db --random",
        "x.db --random --blob-api",
        "x.db --once --journal-mode wal --no-sync",
        "x.db --transaction-per-blob --no-sync",
        "x.db --transaction-per-blob --blob-api --no-sync",
        "flat --random",
        "flat --once --fsync",
        "tree --random --write replace",
        "tree --once --write replace --fsync --names names.db",
    ];
    for way in ways {
        let run = json(&place, &format!("run {way} --update --count 20 --check"));
        assert_eq!((&run["work"], &run["count"]), (&"update".into(), &20.into()), "{way}");
        assert_eq!(run["checked"]["wrong"], Value::Array(Vec::new()), "{way}");
        let on_database = way.starts_with("x.db");
        assert_eq!(run["checkpoint_ms"].is_null(), !on_database, "{way}: {run}");
    }
    let stat = json(&place, "stat x.db");
    assert_eq!((&stat["blob_bytes_sum"], &stat["integrity"][0]), (&sizes, &"ok".into()));
    // The database was updated, the folder exported before that was too: both are right still.
    done(&place, "export x.db again");
    done(&place, "run again --count 1 --check");
}

#[test]
fn an_update_of_a_folder_ends_where_the_export_ended() {
    let place = blobs();
    std::fs::write(place.path("flat/000301"), "mine").unwrap();
    let run = json(&place, "run flat --update --start 295 --max-id 400 --count 20");
    assert_eq!((&run["count"], &run["misses"]), (&20.into(), &0.into()), "{run}");
    assert_eq!(run["max_id"], 300);
    assert_eq!(std::fs::read(place.path("flat/000301")).unwrap(), b"mine");
}

#[test]
fn the_spellings_of_kvtest_work_too() {
    let place = Place::new();
    done(&place, "init x.db --count 300 --size 1000 --pagesize 4096 --variance 100");
    done(&place, "export x.db x --tree");
    for words in [
        "run x.db --asc --nosync --multitrans --jmode delete --count 10",
        "run x.db --desc --nocheckpoint --update --count 10",
        "run x.db --random --count 10 --max-id 1000000 --blob-api --stats --integrity-check",
        "run x --count 10 --max-id 300 --start 2",
        "run x --update --fsync --count 10",
    ] {
        assert!(done(&place, words).contains("time per blob"), "{words}");
    }
    let (stdout, stderr) = told(&blob(&place, "run x --multitrans --count 10"));
    assert!(!stdout.contains("a transaction for each"), "{stdout}");
    assert!(stderr.contains("--multitrans changes nothing here"), "{stderr}");
}

#[test]
fn opening_alone_is_a_part_of_reading_and_only_files_have_it() {
    let place = blobs();
    let run = json(&place, "run flat --open-only --count 300");
    assert_eq!((&run["work"], &run["bytes"]), (&"open_and_close".into(), &0.into()));
    assert!(refused(&place, "run x.db --open-only", 2).contains("--open-only is not for x.db"));
}

#[test]
fn the_same_seed_reads_the_same_bytes() {
    let place = blobs();
    let bytes = |words: &str| json(&place, words)["bytes"].clone();
    let once = bytes("run x.db --random --seed 1 --count 50");
    assert_eq!(once, bytes("run flat --random --seed 1 --count 50"));
    assert_ne!(once, bytes("run x.db --random --seed 2 --count 50"));
    assert!(json(&place, "run x.db --random --count 5")["seed"].is_u64());
    let text = done(&place, "run x.db --random --count 5");
    assert!(text.contains("random (seed ") && text.contains("rate: "), "{text}");
    assert!(done(&place, "run tree --output-format csv").starts_with("target,form,"));
}

#[test]
fn cold_blobs_are_taken_once_and_the_state_is_named() {
    let place = blobs();
    for target in ["x.db --once", "flat", "tree --once --names names.db"] {
        let run = json(&place, &format!("run {target} --cold --count 1000 --check"));
        assert_eq!((&run["count"], &run["misses"]), (&300.into(), &0.into()), "{run}");
        let state = run["state"].as_str().unwrap();
        let named = state.contains("data cold") || state.contains("data and metadata cold");
        assert!(named && state.ends_with("% in the page cache)"), "{state}");
    }
    let run = json(&place, "run flat --warm --count 600");
    // Another program may empty the machine's page cache meanwhile, as the runs above do.
    let state = run["state"].as_str().unwrap();
    assert!(state.starts_with("warm (") && state.ends_with("% in the page cache)"), "{state}");
    assert_eq!(run["count"], 600);
}
