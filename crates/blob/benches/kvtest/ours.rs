//! Our side of a case, in a process of its own: the pass of `crossover blob run`, with opening and
//! closing inside the clock, since kvtest has them there.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use blob::{Access, BlobForm, BlobTarget, Pace, Work};
use indicatif::ProgressBar;
use plan::storage::{By, FileSettings, SqliteSettings, Synchronous};

use crate::ids::KvtestIds;

pub fn run(words: &[String]) {
    let has = |word: &str| words.iter().any(|each| each == word);
    let value = |word: &str| -> Option<u64> {
        let place = words.iter().position(|each| each == word)?;
        words.get(place + 1)?.parse().ok()
    };
    let target = BlobTarget::open(Path::new(&words[0])).unwrap();
    let update = has("--update");
    let pace = Pace {
        count: value("--count").unwrap(),
        transaction_per_blob: has("--multitrans"),
        checkpoint: update,
    };
    let mut ids = KvtestIds::new(value("--max-id").unwrap().try_into().unwrap());
    let sizes = target.recipe().copied();
    let work = match update {
        // kvtest's updates are no generation of ours: nothing is checked after these.
        true => Work::Update { seed: 0xb10b ^ u64::from(std::process::id()), generation: 1, sizes },
        false => Work::Read,
    };
    let (never, quiet) = (AtomicBool::new(false), ProgressBar::hidden());
    let begin = Instant::now();
    let mut access: Box<dyn Access> = if target.form() == BlobForm::Database {
        let settings = SqliteSettings {
            by: if has("--blob-api") { By::BlobApi } else { By::Sql },
            mmap_bytes: value("--mmap").unwrap_or(0),
            synchronous: has("--nosync").then_some(Synchronous::Off),
            ..SqliteSettings::default()
        };
        Box::new(target.sqlite(&settings).unwrap())
    } else {
        let settings = FileSettings { fsync: has("--fsync"), ..FileSettings::default() };
        Box::new(target.files(&settings).unwrap())
    };
    let timed = blob::time(&mut *access, &mut ids, work, &pace, &quiet, &never).unwrap();
    drop(access);
    let time_us = begin.elapsed().as_secs_f64() * 1e6 / timed.blobs as f64;
    println!("Microseconds per BLOB {}: {time_us:.3}", if update { "write" } else { "read" });
}
