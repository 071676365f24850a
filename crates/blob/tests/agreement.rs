//! Init, export and every way of reading agree byte for byte, before and after updates.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod place;

use std::path::Path;

use blob::{Access, BlobForm, BlobTarget, Ids, LookupAccess, Order, Pace, Recipe, Work};
use place::{NEVER, Place};
use plan::storage::{By, FileSettings, Reading, SqliteSettings, Writing};
use proptest::prelude::*;

const READINGS: [Reading; 3] = [Reading::Stdio, Reading::Plain, Reading::Openat];

/// Every way of reading these blobs.
fn accesses(target: &BlobTarget, names: &Path) -> Vec<(String, Box<dyn Access>)> {
    let mut all: Vec<(String, Box<dyn Access>)> = Vec::new();
    if target.form() == BlobForm::Database {
        for by in [By::Sql, By::BlobApi] {
            for mmap_bytes in [0, 1 << 30] {
                let settings = SqliteSettings { by, mmap_bytes, ..SqliteSettings::default() };
                let name = format!("{by:?}, mmap {mmap_bytes}");
                all.push((name, Box::new(target.sqlite(&settings).unwrap())));
            }
        }
        return all;
    }
    for reading in READINGS {
        let settings = FileSettings { reading, ..FileSettings::default() };
        let form = target.form();
        all.push((format!("{form:?}, {reading:?}"), Box::new(target.files(&settings).unwrap())));
        let sqlite = SqliteSettings::default();
        let access = LookupAccess::open(names, target.path(), &sqlite, &settings).unwrap();
        all.push((format!("{form:?}, {reading:?}, looked up"), Box::new(access)));
    }
    all
}

/// What every way reads is what the recipe says, in a transaction and without one.
fn agree(target: &BlobTarget, names: &Path, recipe: &Recipe) {
    let mut expected = Vec::new();
    for (name, mut access) in accesses(target, names) {
        for transaction in [true, false] {
            if transaction {
                access.begin().unwrap();
            }
            for id in 1..=recipe.count {
                let mut found = Vec::new();
                let length = access.read_into(id, &mut found).unwrap();
                assert_eq!(length, Some(recipe.size(id)), "{name}: {id}");
                assert_eq!(access.size(id).unwrap(), Some(found.len() as u64), "{name}: {id}");
                let generation = recipe.generation_of(id, target.generation(), &found).unwrap();
                recipe.blob(id, generation, &mut expected);
                assert_eq!(found, expected, "{name}: {id}");
                assert!(access.open_and_close(id).unwrap(), "{name}: {id}");
            }
            for id in [0, recipe.count + 1] {
                let visit = &mut |_: &[u8]| panic!("{name}: there is no {id}");
                assert!(!access.read(id, visit).unwrap(), "{name}: {id}");
                assert_eq!(access.size(id).unwrap(), None, "{name}: {id}");
            }
            if transaction {
                access.commit().unwrap();
            }
        }
    }
}

/// Overwrites some blobs and leaves the others.
fn update(target: &mut BlobTarget, access: &mut dyn Access, transaction_per_blob: bool, seed: u64) {
    let recipe = *target.recipe().unwrap();
    let generation = target.begin_generation().unwrap();
    let work = Work::Update { seed: recipe.seed, generation, sizes: Some(recipe) };
    let mut ids = Ids::new(Order::Random { seed }, 1, recipe.count);
    let pace = Pace { count: recipe.count / 2 + 1, transaction_per_blob, checkpoint: true };
    let timed = blob::time(access, &mut ids, work, &pace, &place::quiet(), &NEVER).unwrap();
    assert_eq!((timed.blobs, timed.misses), (pace.count, 0));
}

proptest! {
    #![proptest_config(testing::cases(6))]

    #[test]
    fn every_form_and_every_way_agree_byte_for_byte(
        count in 1_u64..120,
        blob_bytes in prop_oneof![1_u64..40, 4000_u64..4200, 8000_u64..13_000, 60_000_u64..70_000],
        variance in 0.0..0.99_f64,
        page_bytes in prop_oneof![Just(None), Just(Some(512)), Just(Some(16_384))],
        seed: u64,
        transaction_per_blob: bool,
    ) {
        let count = if blob_bytes > 20_000 { count.min(20) } else { count };
        let variance_bytes = (variance * blob_bytes as f64) as u64;
        let recipe = Recipe { count, blob_bytes, variance_bytes, page_bytes, seed };
        let place = Place::new();
        let database = place.init(&recipe);
        for form in [BlobForm::Folder, BlobForm::Tree] {
            let folder = place.export(&database, form);
            let mut target = BlobTarget::open(&folder).unwrap();
            prop_assert_eq!((target.form(), target.recipe()), (form, Some(&recipe)));
            let names = place.path(&format!("{form:?}.db"));
            prop_assert_eq!(blob::write_names(&target, &names).unwrap(), count);
            agree(&target, &names, &recipe);
            for (fsync, writing) in [(false, Writing::Overwrite), (true, Writing::Replace)] {
                let settings = FileSettings { fsync, writing, ..FileSettings::default() };
                let mut access = target.files(&settings).unwrap();
                update(&mut target, &mut access, transaction_per_blob, seed);
            }
            agree(&BlobTarget::open(&folder).unwrap(), &names, &recipe);
        }
        let mut target = BlobTarget::open(&database).unwrap();
        prop_assert_eq!(target.recipe(), Some(&recipe));
        agree(&target, Path::new(""), &recipe);
        for by in [By::Sql, By::BlobApi] {
            let mut access =
                target.sqlite(&SqliteSettings { by, ..SqliteSettings::default() }).unwrap();
            update(&mut target, &mut access, transaction_per_blob, seed);
        }
        let target = BlobTarget::open(&database).unwrap();
        prop_assert_eq!(target.generation(), 2);
        agree(&target, Path::new(""), &recipe);
        // What was updated is exported as it is, and checked as such.
        let again = BlobTarget::open(&place.export(&database, BlobForm::Folder)).unwrap();
        let mut access = again.files(&FileSettings::default()).unwrap();
        let all = 1..=count;
        let checked =
            blob::check(&mut access, &recipe, 2, all, &place::quiet(), &NEVER).unwrap();
        prop_assert_eq!((checked.blobs, checked.wrong), (count, Vec::new()));
    }
}
