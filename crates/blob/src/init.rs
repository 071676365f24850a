//! `blob init`: makes a database of blobs, whole or not at all.

use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::ProgressBar;
use rusqlite::Connection;
use serde::Serialize;
use tempfile::NamedTempFile;

use crate::target::{beside, write_recipe};
use crate::{Error, Recipe, space};

/// SQLite's cache while it fills the file, KiB: enough that pages are written once, in order.
const CACHE_KIB: u32 = 65_536;

/// How a database is made.
#[derive(Clone, Copy, Debug, Default)]
pub struct InitOptions {
    /// Whether an older database of blobs at the same path is replaced.
    pub replace: bool,
}

/// A database that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Initialized {
    /// The recipe that it was made by.
    #[serde(flatten)]
    pub recipe: Recipe,
    /// The length of the file.
    pub file_bytes: u64,
}

/// Makes the database `path` with the blobs of `recipe`: under another name first, without a
/// journal, synced, then renamed. Whatever goes wrong, nothing half made is left, and an older
/// database stays unchanged.
pub fn init(
    path: &Path,
    recipe: &Recipe,
    options: &InitOptions,
    progress: &ProgressBar,
    interrupted: &AtomicBool,
) -> Result<Initialized, Error> {
    recipe.check()?;
    let folder = space::parent_of(path)?;
    check_replaceable(path, options.replace)?;
    // The blobs alone: SQLite needs a little more.
    let needed = recipe.count.saturating_mul(recipe.blob_bytes);
    space::require(folder, needed)?;
    let unfinished = tempfile::Builder::new()
        .prefix(".crossover-unfinished-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)
        .map_err(Error::io("make a file in", folder))?;
    let made = fill(unfinished.path(), recipe, progress, interrupted);
    made.map_err(|error| space::explain(renamed(error, path), folder, needed))?;
    let file_bytes = finish(unfinished, path, options.replace)
        .map_err(|error| space::explain(error, folder, needed))?;
    Ok(Initialized { recipe: *recipe, file_bytes })
}

/// An error names the file that the user knows.
fn renamed(error: Error, path: &Path) -> Error {
    match error {
        Error::Sqlite { source, .. } => Error::Sqlite { path: path.to_owned(), source },
        other => other,
    }
}

/// Refuses to take the place of anything but, if that is wanted, an older database of blobs.
fn check_replaceable(path: &Path, replace: bool) -> Result<(), Error> {
    let exists =
        |way_out: &str| Err(Error::Exists { path: path.to_owned(), way_out: way_out.to_owned() });
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(Error::io("look at", path)(error)),
        Ok(_) if !replace => return exists("name another file, or replace it with --force"),
        Ok(data) if !data.is_file() => return exists("it is not a file; name another one"),
        Ok(_) => {
            if !holds_only_blobs(path)? {
                return exists(
                    "it holds other things than blobs, so it is not replaced; name another file",
                );
            }
        }
    }
    // SQLite would take what an older database left for a part of the new one.
    for suffix in ["-wal", "-journal"] {
        let left = beside(path, suffix);
        if left.exists() {
            let way_out =
                "it belongs to a database that was not closed; remove it first".to_owned();
            return Err(Error::Exists { path: left, way_out });
        }
    }
    Ok(())
}

/// Whether there is nothing in it but what `init`, ours or kvtest's, made. Closes it properly, so
/// that no log is left beside it.
fn holds_only_blobs(path: &Path) -> Result<bool, Error> {
    let connection = connect::sqlite::open_existing(path)?;
    let sql = "SELECT count(*) FROM sqlite_schema WHERE name NOT IN ('kv', 'blob_recipe') \
               AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
    let others: i64 =
        connection.query_row(sql, [], |row| row.get(0)).map_err(Error::sqlite(path))?;
    let ours = others == 0 && crate::table::require_blob_table(&connection, path).is_ok();
    connection.close().map_err(|(_, error)| Error::sqlite(path)(error))?;
    Ok(ours)
}

fn fill(
    path: &Path,
    recipe: &Recipe,
    progress: &ProgressBar,
    interrupted: &AtomicBool,
) -> Result<(), Error> {
    let connection = connect::sqlite::create(path)?;
    let failed = Error::sqlite(path);
    prepare(&connection, recipe).map_err(&failed)?;
    progress.set_length(recipe.count);
    let mut buffer = Vec::with_capacity(recipe.largest_bytes());
    let sql = "INSERT INTO kv(k, v) VALUES(?1, ?2)";
    let mut insert = connection.prepare(sql).map_err(&failed)?;
    for id in 1..=recipe.count {
        if interrupted.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        recipe.blob(id, 0, &mut buffer);
        insert.execute((id.cast_signed(), &buffer)).map_err(&failed)?;
        if id % 1024 == 0 {
            progress.set_position(id);
        }
    }
    drop(insert);
    connection.execute_batch("COMMIT").map_err(&failed)?;
    connection.close().map_err(|(_, error)| failed(error))
}

/// A file that is thrown away if anything goes wrong needs no journal.
fn prepare(connection: &Connection, recipe: &Recipe) -> rusqlite::Result<()> {
    let page_bytes = recipe.page_bytes.unwrap_or(4096);
    connection.execute_batch(&format!(
        "PRAGMA page_size = {page_bytes}; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; \
         PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -{CACHE_KIB}; BEGIN; \
         CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB);"
    ))?;
    write_recipe(connection, recipe)
}

/// Puts the file on storage and in its place; its length.
fn finish(unfinished: NamedTempFile, path: &Path, replace: bool) -> Result<u64, Error> {
    let failed = Error::io("write", path);
    unfinished.as_file().sync_all().map_err(&failed)?;
    let length = unfinished.as_file().metadata().map_err(&failed)?.len();
    let persisted =
        if replace { unfinished.persist(path) } else { unfinished.persist_noclobber(path) };
    persisted.map_err(|error| failed(error.error))?;
    whole_file::sync_folder_of(path).map_err(&failed)?;
    Ok(length)
}
