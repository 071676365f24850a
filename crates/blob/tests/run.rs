//! The timed pass: counts, orders, transactions, interruption, checkpoints, cold files.
#![expect(clippy::unwrap_used, reason = "tests")]

mod place;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use blob::{Access, BlobForm, BlobTarget, Error, Ids, Order, Pace, SqliteAccess, Timed, Work};
use place::{NEVER, Place, quiet, recipe};
use plan::storage::{By, FileSettings, JournalMode, SqliteSettings, Synchronous, WriteDurability};

fn pace(count: u64) -> Pace {
    Pace { count, transaction_per_blob: false, checkpoint: false }
}

fn read(access: &mut dyn Access, largest: u64, count: u64) -> Result<Timed, Error> {
    let mut ids = Ids::new(Order::Ascending, 1, largest);
    blob::time(access, &mut ids, Work::Read, &pace(count), &quiet(), &NEVER)
}

fn open(path: &Path, settings: SqliteSettings) -> SqliteAccess {
    SqliteAccess::open(path, &settings).unwrap()
}

#[test]
fn every_blob_and_byte_is_counted_and_misses_are_not() {
    let place = Place::new();
    let recipe = recipe(50, 300, 100);
    let database = place.init(&recipe);
    let bytes: usize = (1..=50).map(|id| recipe.size(id)).sum();
    let mut access = open(&database, SqliteSettings::default());
    let timed = read(&mut access, 50, 100).unwrap();
    assert_eq!((timed.blobs, timed.misses, timed.bytes), (100, 0, 2 * bytes as u64));
    assert_eq!(timed.checkpoint, None);
    access.connection().execute("DELETE FROM kv WHERE k % 2 = 0", []).unwrap();
    for by in [By::Sql, By::BlobApi] {
        let mut access = open(&database, SqliteSettings { by, ..SqliteSettings::default() });
        let timed = read(&mut access, 60, 50).unwrap();
        assert_eq!((timed.blobs, timed.misses), (50, 59));
    }
}

#[test]
fn settings_are_taken_and_read_back() {
    let place = Place::new();
    let database = place.init(&recipe(5, 300, 0));
    let access = open(
        &database,
        SqliteSettings {
            mmap_bytes: 1 << 20,
            cache_size: -2000,
            journal_mode: Some(JournalMode::Wal),
            synchronous: Some(Synchronous::Normal),
            checkpoints: false,
            ..SqliteSettings::default()
        },
    );
    let told = |name: &str| access.pragma(name).unwrap();
    assert_eq!((told("mmap_size"), told("cache_size")), ("1048576".into(), "-2000".into()));
    assert_eq!((told("journal_mode"), told("synchronous")), ("wal".into(), "1".into()));
    assert_eq!(told("wal_autocheckpoint"), "0");
    let pragmas = vec![("cache_sise".to_owned(), "1".to_owned())];
    let wrong = SqliteSettings { pragmas, ..SqliteSettings::default() };
    let told = SqliteAccess::open(&database, &wrong).err().unwrap().to_string();
    assert!(told.contains("cache_size"), "{told}");
}

#[test]
fn an_interrupted_update_leaves_the_database_as_it_was() {
    let place = Place::new();
    let recipe = recipe(40, 3000, 0);
    let database = place.init(&recipe);
    for by in [By::Sql, By::BlobApi] {
        let mut target = BlobTarget::open(&database).unwrap();
        let generation = target.begin_generation().unwrap();
        let mut access = open(&database, SqliteSettings { by, ..SqliteSettings::default() });
        let stopped = AtomicBool::new(false);
        // The signal comes while the thirtieth blob is overwritten.
        let mut ids = (1..=40).inspect(|id| stopped.store(*id == 30, Ordering::Relaxed));
        let work = Work::Update { seed: 1, generation, sizes: None };
        let told = blob::time(&mut access, &mut ids, work, &pace(40), &quiet(), &stopped);
        assert!(matches!(told, Err(Error::Interrupted)));
        drop(access);
        let mut access = open(&database, SqliteSettings::default());
        let checked = blob::check(&mut access, &recipe, 0, 1..=40, &quiet(), &NEVER).unwrap();
        assert_eq!(checked.wrong, Vec::<u64>::new(), "{by:?}");
        assert_eq!(blob::stat(&database).unwrap().integrity, ["ok"]);
    }
}

/// The ids whose blobs are of generation 1; every other one is of generation 0.
fn overwritten(path: &Path, recipe: &blob::Recipe) -> Vec<u64> {
    let mut access = open(path, SqliteSettings::default());
    let mut found = Vec::new();
    for id in 1..=recipe.count {
        let mut generation = None;
        access.read(id, &mut |bytes| generation = recipe.generation_of(id, 1, bytes)).unwrap();
        if generation.unwrap() == 1 {
            found.push(id);
        }
    }
    found
}

#[test]
fn an_interrupted_update_without_undo_keeps_whole_blobs() {
    for (journal_mode, by, transaction_per_blob) in [
        (JournalMode::Off, By::Sql, false),
        (JournalMode::Off, By::BlobApi, false),
        (JournalMode::Wal, By::Sql, true),
        (JournalMode::Delete, By::BlobApi, true),
    ] {
        let place = Place::new();
        let recipe = recipe(40, 10_000, 0);
        let database = place.init(&recipe);
        let journal_mode = Some(journal_mode);
        let settings = SqliteSettings { by, journal_mode, ..SqliteSettings::default() };
        let mut access = open(&database, settings);
        let stopped = AtomicBool::new(false);
        let mut ids = (1..=40).inspect(|id| stopped.store(*id == 30, Ordering::Relaxed));
        let work = Work::Update { seed: recipe.seed, generation: 1, sizes: Some(recipe) };
        let pace = Pace { transaction_per_blob, ..pace(40) };
        let told = blob::time(&mut access, &mut ids, work, &pace, &quiet(), &stopped).unwrap_err();
        assert!(matches!(told, Error::InterruptedAfter { blobs: 30 }), "{told}");
        assert!(told.to_string().contains("30 blobs were overwritten"), "{told}");
        drop(access);
        assert_eq!(overwritten(&database, &recipe), (1..=30).collect::<Vec<_>>());
        assert_eq!(blob::stat(&database).unwrap().integrity, ["ok"]);
    }
}

#[test]
fn wrong_bytes_are_found_in_every_form() {
    let place = Place::new();
    let recipe = recipe(20, 300, 0);
    let database = place.init(&recipe);
    let folder = place.export(&database, BlobForm::Tree);
    std::fs::write(folder.join("00/00/07"), vec![0; 300]).unwrap();
    std::fs::remove_file(folder.join("00/00/08")).unwrap();
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection.execute("UPDATE kv SET v = substr(v, 2) WHERE k = 9", []).unwrap();
    let wrong = |access: &mut dyn Access| {
        blob::check(access, &recipe, 0, 1..=20, &quiet(), &NEVER).unwrap().wrong
    };
    let files = BlobTarget::open(&folder).unwrap();
    assert_eq!(wrong(&mut files.files(&FileSettings::default()).unwrap()), [7, 8]);
    assert_eq!(wrong(&mut open(&database, SqliteSettings::default())), [9]);
}

#[test]
fn the_log_is_emptied_by_the_checkpoint_and_not_before() {
    let place = Place::new();
    let database = place.init(&recipe(20, 10_000, 0));
    let log = place.path("blobs.db-wal");
    let settings = SqliteSettings {
        journal_mode: Some(JournalMode::Wal),
        checkpoints: false,
        ..SqliteSettings::default()
    };
    let mut access = open(&database, settings);
    let work = Work::Update { seed: 1, generation: 1, sizes: None };
    let mut ids = Ids::new(Order::Once { seed: 1 }, 1, 20);
    blob::time(&mut access, &mut ids, work, &pace(20), &quiet(), &NEVER).unwrap();
    assert!(log.metadata().unwrap().len() > 200_000);
    let with = Pace { checkpoint: true, ..pace(20) };
    let timed = blob::time(&mut access, &mut ids, work, &with, &quiet(), &NEVER).unwrap();
    assert!(timed.checkpoint.is_some() && timed.with_checkpoint() > timed.time);
    assert_eq!(log.metadata().unwrap().len(), 0);
}

#[test]
fn the_blob_api_keeps_the_size_and_says_so() {
    let place = Place::new();
    let database = place.init(&recipe(3, 100, 0));
    let settings = SqliteSettings { by: By::BlobApi, ..SqliteSettings::default() };
    let told = open(&database, settings).update(2, &[1; 99]).unwrap_err().to_string();
    assert!(told.contains("blob 2 has 100 bytes and would get 99"), "{told}");
}

#[test]
fn levels_of_durability_open_as_they_say() {
    let place = Place::new();
    let database = place.init(&recipe(3, 100, 0));
    for level in WriteDurability::ALL.iter().copied() {
        let (journal_mode, synchronous) = level.of_sqlite(JournalMode::Delete);
        let mut access = open(
            &database,
            SqliteSettings {
                journal_mode: Some(journal_mode),
                synchronous: Some(synchronous),
                ..SqliteSettings::default()
            },
        );
        assert_eq!(access.pragma("journal_mode").unwrap(), journal_mode.name());
        assert!(access.update(1, &[1; 100]).unwrap());
    }
}

#[test]
fn a_replaced_file_keeps_its_mode_and_leaves_no_other_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    let folder = place.export(&place.init(&recipe(3, 100, 0)), BlobForm::Folder);
    let file = folder.join("000002");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    let settings = FileSettings {
        writing: plan::storage::Writing::Replace,
        fsync: true,
        ..Default::default()
    };
    let mut access = BlobTarget::open(&folder).unwrap().files(&settings).unwrap();
    assert!(access.update(2, &[9; 100]).unwrap());
    assert!(!access.update(4, &[9; 100]).unwrap());
    assert_eq!(std::fs::read(&file).unwrap(), [9; 100]);
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 4);
}

#[test]
fn warm_files_are_resident_and_cold_ones_are_not() {
    // On a disk: what lies in a file system of memory cannot be evicted.
    let place = Place::on_disk();
    let database = place.init(&recipe(300, 20_000, 0));
    let folder = place.export(&database, BlobForm::Tree);
    for path in [vec![database], vec![folder]] {
        assert!(blob::warm(&path, &NEVER).unwrap() >= 6_000_000);
        assert!(blob::resident_share(&path).unwrap() > Some(0.99), "{path:?}");
        // Not `evict`: as root it would drop the caches of the whole machine.
        let evicted = blob::evict_data(&path, &NEVER).unwrap();
        assert_eq!(evicted.cold.name(), "data cold, metadata warm");
        assert!(evicted.resident_share.is_some_and(|share| share < 0.05), "{path:?}: {evicted:?}");
    }
    let told = blob::resident_share(&[place.path("nothing")]).unwrap_err().to_string();
    assert!(told.contains("nothing"), "{told}");
}

#[test]
fn an_update_overwrites_no_file_that_export_did_not_write() {
    let place = Place::new();
    let recipe = recipe(20, 100, 0);
    let database = place.init(&recipe);
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection.execute("DELETE FROM kv WHERE k = 7", []).unwrap();
    let folder = place.export(&database, BlobForm::Folder);
    let names = place.path("names.db");
    blob::write_names(&BlobTarget::open(&folder).unwrap(), &names).unwrap();
    let strangers = [folder.join("000007"), folder.join("000021")];
    for stranger in &strangers {
        std::fs::write(stranger, "mine").unwrap();
    }
    let names_too = rusqlite::Connection::open(&names).unwrap();
    names_too.execute("INSERT INTO file VALUES(7, '000007')", []).unwrap();
    drop(names_too);
    let target = BlobTarget::open(&folder).unwrap();
    let files = FileSettings::default();
    let looked_up =
        blob::LookupAccess::open(&names, &folder, &SqliteSettings::default(), &files).unwrap();
    let accesses: [Box<dyn Access>; 2] =
        [Box::new(target.files(&files).unwrap()), Box::new(looked_up)];
    for mut access in accesses {
        let work = Work::Update { seed: 1, generation: 1, sizes: Some(recipe) };
        let mut ids = Ids::new(Order::Ascending, 1, 21);
        let timed = blob::time(&mut *access, &mut ids, work, &pace(19), &quiet(), &NEVER).unwrap();
        assert_eq!((timed.blobs, timed.misses), (19, 1));
        assert!(!access.update(21, &[0; 4]).unwrap());
    }
    for stranger in &strangers {
        assert_eq!(std::fs::read(stranger).unwrap(), b"mine");
    }
    assert!(matches!(blob::remove_export(&folder), Err(Error::NotOurs { .. })));
}
