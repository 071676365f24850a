//! A limit of memory on real processes: what is read twice and does not fit is read from storage
//! twice. Where this account cannot make groups, each test says so and proves nothing.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use load::resource::{MemoryGroup, MemoryLimitError};

static GOING_ON: AtomicBool = AtomicBool::new(false);

const MIB: u64 = 1 << 20;

fn group(limit_bytes: u64) -> Option<MemoryGroup> {
    let made = MemoryGroup::create(limit_bytes);
    if let Err(error @ MemoryLimitError::Unavailable { .. }) = &made {
        testing::skip(&error.to_string());
        return None;
    }
    Some(made.unwrap())
}

/// Lets a process of `group` read a file of `bytes` twice.
fn read_twice(group: &MemoryGroup, folder: &Path, bytes: u64) {
    let path = folder.join("data");
    // Not zeros alone: some file systems do not store these.
    let piece: Vec<u8> = (0..MIB).map(|place| (place * 31 % 251) as u8).collect();
    let mut file = std::fs::File::create(&path).unwrap();
    for _ in 0..bytes / MIB {
        std::io::Write::write_all(&mut file, &piece).unwrap();
    }
    drop(file);
    host::prewarm::evict(&path, &GOING_ON).unwrap();
    let mut reader = Command::new("sh");
    reader.args(["-c", "cat \"$1\" > /dev/null; cat \"$1\" > /dev/null", "sh"]).arg(&path);
    let inside = group.enter().unwrap();
    let mut reader = reader.stdin(Stdio::null()).spawn().unwrap();
    drop(inside);
    assert!(reader.wait().unwrap().success());
}

#[test]
fn a_file_larger_than_the_limit_is_read_from_storage_again() {
    let (limit, file) =
        if testing::prove() { (1024 * MIB, 2048 * MIB) } else { (64 * MIB, 128 * MIB) };
    let Some(small) = group(limit) else { return };
    // Not /tmp, which may lie in memory.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    assert_eq!(small.limit_bytes(), limit);
    read_twice(&small, folder.path(), file);
    let counters = small.counters();
    eprintln!("{file} bytes read twice under {limit}: {counters:?}, {:?}", small.used_bytes());
    assert!(small.used_bytes().unwrap() <= limit);
    assert_eq!(counters.get("cgroup_out_of_memory_kills"), Some(&0.0));
    let Some(refaults) = counters.get("cgroup_refaults") else {
        return testing::skip("this kernel does not count refaults of a group");
    };
    let pages = file as f64 / rustix::param::page_size() as f64;
    assert!(*refaults > pages / 4.0, "{refaults} refaults of {pages} pages");

    if !testing::prove() {
        return;
    }
    // What fits is read once, but for pages that the kernel takes back for others' sake, which a
    // busy machine has many of: the refaults above come from the limit.
    let Some(large) = group(2 * file) else { return };
    read_twice(&large, folder.path(), file);
    let refaults = large.counters()["cgroup_refaults"];
    assert!(refaults < pages / 10.0, "{refaults} refaults of {pages} pages");
    assert!(large.used_bytes().unwrap() as f64 > file as f64 * 0.9, "charged to another group");
}
