//! The steps of the blob experiment as a user calls them, every option once, at tiny sizes.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod place;
#[expect(dead_code, reason = "it checks whole runs for others")]
mod schema;

use std::process::Output;

use place::Place;
use serde_json::Value;

/// A place with a database of blobs, a folder, a tree and the names of the tree's files.
fn blobs() -> Place {
    let place = Place::new();
    done(&place, "init x.db --count 300 --size 5k --variance 1k --seed 7");
    done(&place, "export x.db flat");
    done(&place, "export x.db tree --tree --names names.db");
    place
}

fn told(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

fn blob(place: &Place, words: &str) -> Output {
    let words: Vec<&str> = std::iter::once("blob").chain(words.split(' ')).collect();
    place.run(&words)
}

/// What is printed by a command that succeeds.
fn done(place: &Place, words: &str) -> String {
    let output = blob(place, words);
    let (stdout, stderr) = told(&output);
    assert!(output.status.success(), "{words}: {stderr}");
    stdout
}

fn json(place: &Place, words: &str) -> Value {
    let text = done(place, &format!("{words} --output-format json"));
    if words.starts_with("run ") {
        return schema::check("blob-run", &text);
    }
    serde_json::from_str(&text).unwrap()
}

/// The message of a command that fails with this exit code.
fn refused(place: &Place, words: &str, code: i32) -> String {
    let output = blob(place, words);
    let (stdout, stderr) = told(&output);
    assert_eq!(output.status.code(), Some(code), "{words}: {stderr}");
    assert_eq!(stdout, "", "{words}");
    stderr
}

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
fn the_same_seed_reads_the_same_bytes_and_a_drawn_one_is_printed() {
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
fn wrong_usage_is_named_and_ends_with_2() {
    let place = blobs();
    for (words, message) in [
        ("init y.db --size 0", "at least 1 byte"),
        ("init y.db --size 2G", "1,000,000,000"),
        ("init y.db --size 10 --variance 10", "smaller than the size"),
        ("init y.db --count 0", "at least 1"),
        ("init y.db --page-size 1000", "power of two"),
        ("run x.db --fsync", "--fsync is not for x.db, which is a database"),
        ("run x.db --read plain", "--read is not for x.db"),
        ("run flat --blob-api", "--blob-api is not for flat, which is a folder"),
        ("run tree --mmap 1M", "--mmap is not for tree, which is a tree"),
        ("run x.db --journal-mode well", "truncate, persist"),
        ("run x.db --random --once", "cannot be used with"),
        ("run x.db --count 0", "at least 1"),
        ("run x.db --mmap 100G", "mmap_size"),
        ("run flat --transaction-per-blob", "files are in no transaction"),
        ("run x.db --random --start 5", "cannot be used with"),
        ("run flat --fsync", "--fsync goes with --update"),
        ("run tree --write replace", "--write goes with --update"),
        ("run flat --update --read plain", "--read goes with reads"),
        ("run x.db --cold --random", "use --once with --cold"),
    ] {
        let stderr = refused(&place, words, 2);
        assert!(stderr.contains(message), "{words}: {stderr}");
    }
}

#[test]
fn what_is_not_there_or_not_ours_is_named_and_left_alone() {
    let place = blobs();
    std::fs::create_dir(place.path("photos")).unwrap();
    std::fs::write(place.path("photos/000001"), "mine").unwrap();
    std::fs::write(place.path("letter.txt"), "Dear all").unwrap();
    rusqlite::Connection::open(place.path("shop.db"))
        .unwrap()
        .execute_batch("CREATE TABLE orders(a)")
        .unwrap();
    for (words, message) in [
        ("run nothing", "there is nothing"),
        ("run letter.txt", "letter.txt is not a SQLite database"),
        ("run shop.db", "no table kv"),
        ("stat shop.db", "no table kv"),
        ("export shop.db out", "no table kv"),
        ("export x.db photos --force", "was not written by crossover blob export"),
        ("run photos --update", "was not written by crossover blob export"),
        ("export x.db flat", "--force"),
        ("init x.db", "--force"),
        ("init shop.db --force", "other things than blobs"),
        ("init no/such/folder/x.db", "no/such/folder"),
        ("init vast.db --count 1G --size 1M", "has no space left"),
        ("run tree --names names.db --max-id 5 --start 1 --names shop.db", "cannot be used"),
    ] {
        let code = if message == "cannot be used" { 2 } else { 1 };
        let stderr = refused(&place, words, code);
        assert!(stderr.contains(message), "{words}: {stderr}");
    }
    assert_eq!(std::fs::read(place.path("photos/000001")).unwrap(), b"mine");
    assert!(!place.path("vast.db").exists());
}

#[test]
fn wrong_bytes_end_with_3() {
    let place = blobs();
    std::fs::write(place.path("flat/000007"), "wrong").unwrap();
    let output = blob(&place, "run flat --check");
    let (stdout, _) = told(&output);
    assert_eq!(output.status.code(), Some(3), "{stdout}");
    assert!(stdout.contains("1 of 300 blobs are wrong or missing, the first 7"), "{stdout}");
}

#[test]
fn a_damaged_database_ends_with_3() {
    use std::os::unix::fs::FileExt as _;
    let place = blobs();
    // Its header counts five free pages where there are none.
    let file = std::fs::OpenOptions::new().write(true).open(place.path("x.db")).unwrap();
    file.write_all_at(&5_u32.to_be_bytes(), 36).unwrap();
    for words in ["stat x.db", "run x.db --count 1 --integrity-check"] {
        let output = blob(&place, words);
        let (stdout, stderr) = told(&output);
        assert_eq!(output.status.code(), Some(3), "{words}: {stderr}");
        assert!(stdout.contains("size is 0 but should be 5"), "{words}: {stdout}");
    }
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
    assert_eq!(
        (&run["state"], &run["count"]),
        (&"warm (100% in the page cache)".into(), &600.into())
    );
}

#[test]
fn an_export_that_finds_no_room_says_what_is_missing_and_leaves_nothing() {
    let place = Place::new();
    done(&place, "init x.db --count 300 --size 5k");
    std::fs::create_dir(place.path("tiny")).unwrap();
    for (options, said) in [
        // Known before the first file; found on the way, since each file takes two blocks.
        ("size=1m", "has no space left"),
        ("size=2m", "has no space left"),
        ("size=9m,nr_inodes=50", "files are too many"),
    ] {
        let script = format!(
            "mount -t tmpfs -o {options} tmpfs tiny && {{ {} blob export x.db tiny/out; \
             code=$?; ls -A tiny; exit $code; }}",
            env!("CARGO_BIN_EXE_crossover"),
        );
        let mut command = std::process::Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script]);
        let output = command.current_dir(place.folder.path()).output().unwrap();
        let (stdout, stderr) = told(&output);
        if stderr.contains("unshare:") || stderr.contains("mount:") {
            return eprintln!("skipped: this system lets nobody mount, so no disk can be small");
        }
        assert_eq!((output.status.code(), stdout.as_str()), (Some(1), ""), "{options}: {stderr}");
        assert!(stderr.contains(said), "{options}: {stderr}");
    }
}

/// The message of a command that fails since no file may grow beyond so many blocks of 512 bytes
/// (1,024 in some shells): a write that succeeds in part, as on a disk that fills up, for everybody.
fn cut_off(place: &Place, blocks: u32, words: &str) -> String {
    let program = env!("CARGO_BIN_EXE_crossover");
    // Not ignored, the signal would kill the program.
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec {program} blob {words}");
    let mut command = std::process::Command::new("sh");
    let output = command.args(["-c", &script]).current_dir(place.folder.path()).output().unwrap();
    let (stdout, stderr) = told(&output);
    assert_eq!((output.status.code(), stdout.as_str()), (Some(1), ""), "{words}: {stderr}");
    stderr
}

#[test]
fn a_write_that_fails_half_way_names_the_file_and_leaves_whole_blobs_and_nothing_else() {
    let place = blobs();
    let count = |name: &str| std::fs::read_dir(place.path(name)).unwrap().count();
    let before = (count("."), count("flat"));
    for (blocks, words, said) in [
        (512, "init y.db --count 300 --size 5k", "y.db"),
        (4, "export x.db out", "out/000001"),
        (4, "export x.db out --tree", "out/00/00/01"),
        (64, "run x.db --update --count 300", "x.db"),
        (64, "run x.db --update --count 300 --blob-api", "x.db"),
        (4, "run flat --update --write replace --count 5", "flat/000001"),
    ] {
        let stderr = cut_off(&place, blocks, words);
        assert!(stderr.contains(said), "{words}: {stderr}");
        assert_eq!((count("."), count("flat")), before, "{words}");
    }
    assert_eq!(json(&place, "stat x.db")["integrity"][0], "ok");
    for target in ["x.db", "flat"] {
        done(&place, &format!("run {target} --count 300 --check"));
    }
}

/// Starts updates that would take for ever, asks them to stop when `begun`, and gives what is said.
fn interrupted(place: &Place, more: &str, begun: impl Fn() -> bool) -> String {
    use std::io::Read as _;
    let words = format!("blob run x.db --update --random --count 1G {more}");
    let words: Vec<&str> = words.split(' ').collect();
    let mut child = place.command(&words).spawn().unwrap();
    while !begun() {
        assert_eq!(child.try_wait().unwrap(), None);
        std::thread::yield_now();
    }
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    let status = child.wait().unwrap();
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(status.code(), Some(1), "{stderr}");
    // Whatever the journal, the file is whole and every blob the old or the new one.
    assert_eq!(json(place, "stat x.db")["integrity"][0], "ok");
    done(place, "run x.db --count 1 --check");
    stderr
}

#[test]
fn an_update_that_is_interrupted_leaves_the_database_whole_and_says_what_became_of_it() {
    let place = blobs();
    for (mode, suffix) in [("delete", "journal"), ("wal", "wal")] {
        // The file is there when the first blob is overwritten, or about to be.
        let beside = place.path(&format!("x.db-{suffix}"));
        let told = interrupted(&place, &format!("--journal-mode {mode}"), || beside.exists());
        assert!(told.contains("rolled back: x.db is as it was before"), "{told}");
        assert!(mode == "wal" || !beside.exists());
    }
    for more in ["--journal-mode off", "--journal-mode delete --transaction-per-blob --no-sync"] {
        let place = blobs();
        let changed = || place.path("x.db").metadata().unwrap().modified().unwrap();
        let before = changed();
        let told = interrupted(&place, more, || changed() != before);
        assert!(told.contains("blobs were overwritten and stay so"), "{told}");
        assert!(!told.contains("rolled back"), "{told}");
    }
}
