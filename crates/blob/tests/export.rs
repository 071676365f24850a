//! Folders of blobs: whole or not at all, and nothing of anybody else is touched.
#![expect(clippy::unwrap_used, reason = "tests")]

mod place;

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use blob::{BlobForm, BlobTarget, Error, ExportOptions};
use place::{NEVER, Place, quiet, recipe};

fn export(database: &Path, folder: &Path, form: BlobForm, replace: bool) -> Result<u64, Error> {
    let options = ExportOptions { form, replace };
    blob::export(database, folder, &options, &quiet(), &NEVER).map(|exported| exported.files)
}

fn count_entries(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn names_are_kvtests_and_a_trees_folder_has_at_most_100() {
    let place = Place::new();
    let database = place.init(&recipe(250, 10, 0));
    let (flat, tree) = (place.path("flat"), place.path("tree"));
    assert_eq!(export(&database, &flat, BlobForm::Folder, false).unwrap(), 250);
    assert_eq!(export(&database, &tree, BlobForm::Tree, false).unwrap(), 250);
    assert!(flat.join("000001").is_file() && flat.join("000250").is_file());
    assert_eq!(count_entries(&flat), 251);
    assert!(tree.join("00/00/01").is_file() && tree.join("00/02/50").is_file());
    assert_eq!(count_entries(&tree.join("00")), 3);
    assert_eq!(count_entries(&tree.join("00/00")), 99);
    assert_eq!(count_entries(&tree.join("00/01")), 100);
    let disk = BlobTarget::open(&tree).unwrap().disk().unwrap();
    assert_eq!((disk.files, disk.bytes), (250, 2500));
    assert!(disk.allocated_bytes >= 250 * 512, "{disk:?}");
}

#[test]
fn an_empty_folder_is_taken_and_a_foreign_one_is_left_alone() {
    let place = Place::new();
    let database = place.init(&recipe(5, 10, 0));
    let folder = place.path("photos");
    fs::create_dir(&folder).unwrap();
    assert_eq!(export(&database, &folder, BlobForm::Folder, false).unwrap(), 5);

    let foreign = place.path("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("000001"), "mine").unwrap();
    for replace in [false, true] {
        let told = export(&database, &foreign, BlobForm::Folder, replace).unwrap_err();
        assert!(matches!(told, Error::NotOurs { .. }), "{told}");
    }
    assert!(matches!(blob::remove_export(&foreign), Err(Error::NotOurs { .. })));
    assert_eq!(fs::read(foreign.join("000001")).unwrap(), b"mine");
}

#[test]
fn an_older_export_is_replaced_unless_it_holds_a_foreign_file() {
    let place = Place::new();
    let database = place.init(&recipe(300, 10, 0));
    for form in [BlobForm::Folder, BlobForm::Tree] {
        let folder = place.export(&database, form);
        let told = export(&database, &folder, form, false).unwrap_err().to_string();
        assert!(told.contains("--force"), "{told}");
        // From one form to the other: nothing of the old one is left.
        export(&database, &folder, BlobForm::Tree, true).unwrap();
        assert_eq!(count_entries(&folder), 2);
        for stranger in ["notes.txt", "00/99", "00/00/zz", "00/00/99x"] {
            let path = folder.join(stranger);
            fs::write(&path, "mine").unwrap();
            let told = export(&database, &folder, form, true).unwrap_err();
            assert!(told.to_string().contains(stranger), "{told}");
            assert!(matches!(blob::remove_export(&folder), Err(Error::NotOurs { .. })));
            assert!(folder.join("00/00/01").is_file());
            fs::remove_file(path).unwrap();
        }
        blob::remove_export(&folder).unwrap();
        assert!(!folder.exists());
    }
}

#[test]
fn an_interrupted_export_leaves_nothing() {
    let place = Place::new();
    let database = place.init(&recipe(5, 10, 0));
    let (folder, stopped) = (place.path("out"), AtomicBool::new(true));
    let options = ExportOptions { form: BlobForm::Tree, replace: false };
    let told = blob::export(&database, &folder, &options, &quiet(), &stopped);
    assert!(matches!(told, Err(Error::Interrupted)));
    assert_eq!(place.names(), ["blobs.db"]);
}

#[test]
fn an_older_export_stays_until_the_new_one_is_whole() {
    let place = Place::new();
    let database = place.init(&recipe(5, 10, 0));
    let folder = place.export(&database, BlobForm::Folder);
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection.execute("DELETE FROM kv WHERE k > 3", []).unwrap();
    let options = ExportOptions { form: BlobForm::Folder, replace: true };
    let stopped = AtomicBool::new(true);
    let told = blob::export(&database, &folder, &options, &quiet(), &stopped);
    assert!(matches!(told, Err(Error::Interrupted)));
    assert_eq!((count_entries(&folder), place.names().len()), (6, 2));
    assert_eq!(export(&database, &folder, BlobForm::Folder, true).unwrap(), 3);
    // Nothing of the old one is left, in its place or beside it.
    assert_eq!((count_entries(&folder), place.names().len()), (4, 2));
}

#[test]
fn keys_without_a_name_in_a_tree_are_refused_with_the_remedy() {
    let place = Place::new();
    let database = place.init(&recipe(3, 10, 0));
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection.execute("UPDATE kv SET k = 1000000 WHERE k = 3", []).unwrap();
    let told =
        export(&database, &place.path("out"), BlobForm::Tree, false).unwrap_err().to_string();
    assert!(told.contains("leave --tree out"), "{told}");
    assert_eq!(export(&database, &place.path("out"), BlobForm::Folder, false).unwrap(), 3);
    assert!(place.path("out/1000000").is_file());
    connection.execute("UPDATE kv SET k = -1 WHERE k = 1", []).unwrap();
    let told =
        export(&database, &place.path("new"), BlobForm::Folder, false).unwrap_err().to_string();
    assert!(told.contains("negative"), "{told}");
}

#[test]
fn a_database_of_kvtest_is_taken_and_a_wrong_one_named() {
    let place = Place::new();
    let kvtest = place.path("kvtest.db");
    let connection = rusqlite::Connection::open(&kvtest).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB);
             WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<20)
             INSERT INTO kv(k,v) SELECT x, randomblob(100+x%11) FROM c;",
        )
        .unwrap();
    let folder = place.path("out");
    assert_eq!(export(&kvtest, &folder, BlobForm::Folder, false).unwrap(), 20);
    let target = BlobTarget::open(&folder).unwrap();
    assert_eq!((target.recipe(), target.largest_id()), (None, 20));

    let (other, bad) = (place.path("other.db"), place.path("bad.db"));
    rusqlite::Connection::open(&other).unwrap().execute_batch("CREATE TABLE t(a)").unwrap();
    let told = export(&other, &place.path("new"), BlobForm::Folder, false).unwrap_err().to_string();
    assert!(told.contains("no table kv") && told.contains("blob init"), "{told}");
    let connection = rusqlite::Connection::open(&bad).unwrap();
    connection
        .execute_batch("CREATE TABLE kv(k INTEGER PRIMARY KEY, v); INSERT INTO kv VALUES(1, 5)")
        .unwrap();
    let told = export(&bad, &place.path("new"), BlobForm::Folder, false).unwrap_err().to_string();
    assert!(told.contains("key 1") && told.contains("Integer"), "{told}");
}

#[test]
fn a_folder_of_kvtest_is_read_and_never_overwritten() {
    let place = Place::new();
    let database = place.init(&recipe(120, 10, 0));
    for (form, largest) in [(BlobForm::Folder, 120), (BlobForm::Tree, 120)] {
        let folder = place.export(&database, form);
        fs::remove_file(folder.join("crossover-blobs.json")).unwrap();
        let mut target = BlobTarget::open(&folder).unwrap();
        // Not the thousand that kvtest assumes.
        assert_eq!((target.form(), target.largest_id()), (form, largest));
        assert!(matches!(target.begin_generation(), Err(Error::NotOurs { .. })));
    }
    let empty = place.path("empty");
    fs::create_dir(&empty).unwrap();
    assert!(matches!(BlobTarget::open(&empty), Err(Error::Empty { .. })));
    let nothing = BlobTarget::open(&place.path("nothing")).unwrap_err().to_string();
    assert!(nothing.contains("there is nothing") && nothing.contains("blob init"), "{nothing}");
}

#[test]
fn a_folder_that_may_not_be_written_is_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    let database = place.init(&recipe(5, 10, 0));
    let locked = place.path("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o500)).unwrap();
    // Root may write everywhere: a file in the way is refused to everybody.
    let below = if rustix::process::geteuid().is_root() { database.clone() } else { locked };
    let told =
        export(&database, &below.join("out"), BlobForm::Folder, false).unwrap_err().to_string();
    assert!(told.contains(&below.display().to_string()), "{told}");
}
