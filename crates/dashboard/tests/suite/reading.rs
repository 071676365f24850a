//! Commands that only read leave a SQLite file as it is: its bytes, its journal mode, and nothing
//! beside it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dashboard::{account, backup, key};
use indicatif::ProgressBar;

use crate::database::sqlite;
use crate::import::unmatched_urls;
use crate::rollup::verify;
use crate::rows::Rows;

/// The bytes of a file, and the names in its folder.
pub fn state(path: &Path) -> (Vec<u8>, BTreeSet<OsString>) {
    let folder = std::fs::read_dir(path.parent().unwrap()).unwrap();
    let names = folder.map(|entry| entry.unwrap().file_name()).collect();
    (std::fs::read(path).unwrap(), names)
}

/// Brings a file into a journal mode.
pub fn into_mode(path: &Path, mode: &str) {
    let connection = connect::sqlite::open_existing(path).unwrap();
    connect::sqlite::pragmas(&connection, [("journal_mode", mode)]).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_read_stays_as_it_is_and_alone() {
    for mode in ["delete", "wal"] {
        let database = sqlite(&Rows::nasty());
        drop(database.rollup_store().await);
        let path = database.file();
        into_mode(path, mode);
        let before = state(path);
        assert_eq!(before.1.len(), 1, "{:?}", before.1);
        unmatched_urls(&database).await;
        assert!(state(path) == before, "import unmatched, {mode}");
        assert!(verify(&database).await.unwrap().differences.is_empty());
        assert!(state(path) == before, "rollup verify, {mode}");
        key::list(&database.url).await.unwrap();
        account::list(&database.url).await.unwrap();
        assert!(state(path) == before, "key list, account list, {mode}");
        let copy = path.with_file_name("copy.db");
        let never = Arc::new(AtomicBool::new(false));
        backup::sqlite(path, &copy, &ProgressBar::hidden(), &never).unwrap();
        std::fs::remove_file(copy).unwrap();
        assert!(state(path) == before, "backup, {mode}");
    }
}
