//! A backup: one state, whole and sound, while others write; nothing where it cannot be made.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dashboard::backup::{self, Error};
use dashboard::query::{Grouping, Query};
use dashboard::store::{DashboardStore, Options};
use engine::DatabaseUrl;
use indicatif::ProgressBar;

use crate::database::sqlite;
use crate::rows::Rows;

fn make(source: &Path, target: &Path) -> Result<u64, Error> {
    let interrupted = Arc::new(AtomicBool::new(false));
    backup::sqlite(source, target, &ProgressBar::hidden(), &interrupted)
}

async fn teams(path: &Path) -> Vec<u8> {
    let url = DatabaseUrl::Sqlite(path.to_owned());
    let store = DashboardStore::open(&url, &Options::default()).await.unwrap();
    let pairs = [("start", "1960-01-01"), ("end", "2030-01-01")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    store.answer(Query::parse(Grouping::Teams, &pairs).unwrap()).await.unwrap().body
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_during_writes_answers_as_the_original() {
    let database = sqlite(&Rows::nasty());
    let source = database.file();
    let before = teams(source).await;
    // Not yet ended: what it writes must be in no backup.
    let mut writer = connect::sqlite::open_existing(source).unwrap();
    let change = writer.transaction().unwrap();
    change.execute("DELETE FROM traffic", []).unwrap();
    let target = source.with_file_name("backup.db");
    let bytes = make(source, &target).unwrap();
    assert_eq!(bytes, target.metadata().unwrap().len());
    assert_eq!(teams(&target).await, before);
    change.commit().unwrap();
    assert_ne!(teams(source).await, before, "the change itself changed nothing");
    assert_eq!(teams(&target).await, before);
}

#[tokio::test]
async fn a_backup_replaces_no_file_and_leaves_none_unfinished() {
    let database = sqlite(&Rows::nasty());
    let source = database.file();
    let thesis = source.with_file_name("thesis.txt");
    std::fs::write(&thesis, "years of work").unwrap();
    assert!(matches!(make(source, &thesis), Err(Error::Exists { .. })));
    assert!(matches!(make(source, source), Err(Error::Exists { .. })));
    assert_eq!(std::fs::read_to_string(&thesis).unwrap(), "years of work");
    let target = source.with_file_name("backup.db");
    let interrupted = Arc::new(AtomicBool::new(true));
    let stopped = backup::sqlite(source, &target, &ProgressBar::hidden(), &interrupted);
    assert!(matches!(stopped, Err(Error::Interrupted)));
    assert!(make(&thesis, &target).is_err());
    let folder = source.parent().unwrap();
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = names.filter(|name| name.to_string_lossy().contains("backup")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn a_damaged_database_gives_no_backup() {
    let database = sqlite(&Rows::nasty());
    let source = database.file();
    let index: i64 = {
        let connection = connect::sqlite::open_existing(source).unwrap();
        let root = "SELECT rootpage FROM sqlite_schema WHERE name = 'articles_published'";
        connection.query_row(root, [], |row| row.get(0)).unwrap()
    };
    let mut bytes = std::fs::read(source).unwrap();
    let page = usize::try_from(index - 1).unwrap() * 4_096;
    bytes[page + 4_000..page + 4_096].fill(0xA5);
    std::fs::write(source, bytes).unwrap();
    let target = source.with_file_name("backup.db");
    let error = make(source, &target).unwrap_err();
    assert!(matches!(error, Error::NotSound { .. } | Error::Sqlite(_)), "{error}");
    assert!(!target.exists());
}
