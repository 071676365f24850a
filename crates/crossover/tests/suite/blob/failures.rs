//! Failures of the steps: inputs that are wrong, in the way, missing or cut off are named, and the
//! user's files stay unchanged.

use super::{blob, blobs, done, json, refused, told};
use crate::place::Place;

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
fn an_export_without_room_is_refused_and_leaves_nothing() {
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
        let output = testing::run_with_own_mounts(&script, place.folder.path(), &[]);
        let Some(output) = output else { return };
        let (stdout, stderr) = told(&output);
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
fn a_write_failing_half_way_leaves_only_whole_blobs() {
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
fn an_interrupted_update_leaves_the_database_whole() {
    let place = blobs();
    for (mode, suffix) in [("delete", "journal"), ("wal", "wal")] {
        // The file is there when the first blob is overwritten, or about to be.
        let beside = place.path(&format!("x.db-{suffix}"));
        let told = interrupted(&place, &format!("--journal-mode {mode}"), || beside.exists());
        assert!(told.contains("rolled back: x.db is unchanged"), "{told}");
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
