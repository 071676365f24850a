//! `blob export`: the same blobs as files. A folder appears whole or not at all, and takes the place
//! of an older one only then.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::ProgressBar;
use rusqlite::Connection;
use serde::Serialize;

use crate::manifest::{self, BlobKeys, Manifest};
use crate::names::{Names, id_of};
use crate::removal::{list, remove_export, set_aside};
use crate::table::bytes_of;
use crate::{BlobForm, BlobTarget, Error, space};

#[derive(Clone, Copy, Debug)]
pub struct ExportOptions {
    /// [`Form::Folder`] or [`Form::Tree`].
    pub form: BlobForm,
    /// Whether an older export in the same place is replaced.
    pub replace: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Exported {
    pub files: u64,
    pub bytes: u64,
}

/// Extent of the export, known before it begins.
struct ExportLoad {
    files: u64,
    bytes: u64,
    smallest_id: i64,
    largest_id: i64,
}

/// Writes each blob of `database` into a file of its own in the new folder `folder`. Everything is
/// written beside it first, synced, then renamed.
pub fn export(
    database: &Path,
    folder: &Path,
    options: &ExportOptions,
    progress: &ProgressBar,
    interrupted: &AtomicBool,
) -> Result<Exported, Error> {
    let source = BlobTarget::open(database)?;
    if source.form() != BlobForm::Database || options.form == BlobForm::Database {
        let problem = "export takes a database and makes files of it".to_owned();
        return Err(Error::Settings { problem });
    }
    let connection = connect::sqlite::open_read_only(database)?;
    // One snapshot: what is counted is what is written.
    connection.execute_batch("BEGIN").map_err(Error::sqlite(database))?;
    let load = measure(&connection).map_err(Error::sqlite(database))?;
    check_replaceable(folder, options.replace)?;
    let parent = space::parent_of(folder)?;
    check_room(&load, database, folder, parent, options.form)?;
    let unfinished = tempfile::Builder::new()
        .prefix(".crossover-unfinished-")
        .permissions(Permissions::from_mode(0o777))
        .tempdir_in(parent)
        .map_err(Error::io("make a folder in", parent))?;
    progress.set_length(load.files);
    let work = ExportWork { database, folder: unfinished.path(), form: options.form };
    let (exported, keys) = work.write(&connection, progress, interrupted).map_err(|error| {
        space::explain(renamed(error, unfinished.path(), folder), parent, load.bytes)
    })?;
    Manifest {
        form: options.form,
        files: exported.files,
        bytes: exported.bytes,
        largest_id: load.largest_id.cast_unsigned(),
        keys: Some(keys),
        recipe: source.recipe().copied(),
        generation: source.generation(),
    }
    .write(unfinished.path())?;
    let sync = |path: &Path| File::open(path).and_then(|open| Ok(rustix::fs::syncfs(open)?));
    sync(unfinished.path()).map_err(Error::io("sync the file system of", parent))?;
    let older = if options.replace { set_aside(folder, parent)? } else { None };
    // An empty folder gives way to it.
    if let Err(source) = fs::rename(unfinished.path(), folder) {
        if let Some(older) = older {
            fs::rename(&older, folder).map_err(Error::io("put back", &older))?;
        }
        return Err(Error::Io { doing: "make", path: folder.to_owned(), source });
    }
    // It has its own name now, and is no longer to be removed.
    let _ = unfinished.keep();
    whole_file::sync_folder_of(folder).map_err(Error::io("sync", parent))?;
    if let Some(older) = older {
        remove_export(&older)?;
    }
    Ok(exported)
}

/// An error names the place that the user knows.
fn renamed(error: Error, unfinished: &Path, folder: &Path) -> Error {
    match error {
        Error::Io { doing, path, source } => {
            let below = path.strip_prefix(unfinished).map(|name| folder.join(name));
            Error::Io { doing, path: below.unwrap_or(path), source }
        }
        other => other,
    }
}

fn measure(connection: &Connection) -> rusqlite::Result<ExportLoad> {
    let sql = "SELECT count(*), coalesce(sum(length(v)), 0), coalesce(min(k), 0), \
               coalesce(max(k), 0) FROM kv";
    connection.query_row(sql, [], |row| {
        Ok(ExportLoad {
            files: row.get::<_, i64>(0)?.cast_unsigned(),
            bytes: row.get::<_, i64>(1)?.cast_unsigned(),
            smallest_id: row.get(2)?,
            largest_id: row.get(3)?,
        })
    })
}

/// A new or empty folder is taken; an older export only with `replace`.
fn check_replaceable(folder: &Path, replace: bool) -> Result<(), Error> {
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::io("look at", folder)(error)),
        Ok(data) if !data.is_dir() => {
            let way_out = "it is not a folder; name a new one".to_owned();
            return Err(Error::Exists { path: folder.to_owned(), way_out });
        }
        Ok(_) => {}
    }
    let mut entries = fs::read_dir(folder).map_err(Error::io("read", folder))?;
    if entries.next().is_none() {
        return Ok(());
    }
    let Some(manifest) = Manifest::read(folder)? else {
        let problem = format!("it is not empty and has no {}", manifest::NAME);
        return Err(Error::NotOurs { path: folder.to_owned(), problem });
    };
    if !replace {
        let way_out = "name another folder, or replace it with --force".to_owned();
        return Err(Error::Exists { path: folder.to_owned(), way_out });
    }
    list(folder, &manifest).map(|_| ())
}

fn check_room(
    load: &ExportLoad,
    database: &Path,
    folder: &Path,
    parent: &Path,
    form: BlobForm,
) -> Result<(), Error> {
    if load.smallest_id < 0 {
        let problem = format!("key {} is negative, which no file name is", load.smallest_id);
        return Err(Error::BadBlob { path: database.to_owned(), problem });
    }
    let too_many = |problem: String| {
        Err(Error::TooManyFiles { path: folder.to_owned(), files: load.files, problem })
    };
    if form == BlobForm::Tree && load.largest_id.cast_unsigned() > BlobForm::TREE_ID_MAX {
        return too_many(format!(
            "a tree of three levels of 100 has names for the keys 0 to {}, and the largest key is \
             {}; leave --tree out",
            BlobForm::TREE_ID_MAX,
            load.largest_id
        ));
    }
    let free = space::free(parent)?;
    let blocks = load.bytes.div_ceil(free.block_bytes).saturating_mul(free.block_bytes);
    let blocks = blocks.max(load.files.saturating_mul(free.block_bytes));
    space::require(parent, blocks)?;
    match free.files {
        Some(left) if left < load.files => too_many(format!(
            "the file system has room for {left} more; make fewer blobs, or name a folder on \
             another file system"
        )),
        _ => Ok(()),
    }
}

struct ExportWork<'a> {
    database: &'a Path,
    folder: &'a Path,
    form: BlobForm,
}

impl ExportWork<'_> {
    fn write(
        &self,
        connection: &Connection,
        progress: &ProgressBar,
        interrupted: &AtomicBool,
    ) -> Result<(Exported, BlobKeys), Error> {
        let failed = Error::sqlite(self.database);
        let mut select = connection.prepare("SELECT k, v FROM kv ORDER BY k").map_err(&failed)?;
        let mut rows = select.query([]).map_err(&failed)?;
        let mut names = Names::below(self.folder, self.form);
        let (mut exported, mut keys) = (Exported { files: 0, bytes: 0 }, BlobKeys::default());
        let mut hundred = u64::MAX;
        while let Some(row) = rows.next().map_err(&failed)? {
            if interrupted.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let id = row.get::<_, i64>(0).map_err(&failed)?.cast_unsigned();
            let value = row.get_ref(1).map_err(&failed)?;
            let bytes = bytes_of(value, id, self.database)?;
            let path = names.as_path(id);
            if self.form == BlobForm::Tree && id / 100 != hundred {
                hundred = id / 100;
                let folder = path.parent().unwrap_or(self.folder);
                fs::create_dir_all(folder).map_err(Error::io("make", folder))?;
            }
            write_new(path, bytes).map_err(|source| folder_full(source, path, exported.files))?;
            keys.push(id);
            exported.files += 1;
            exported.bytes += bytes.len() as u64;
            if exported.files.is_multiple_of(256) {
                progress.set_position(exported.files);
            }
        }
        Ok((exported, keys))
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(bytes)
}

/// "No space" of a file system that has space means that the folder's index is full.
fn folder_full(source: std::io::Error, path: &Path, files: u64) -> Error {
    let folder = path.parent().unwrap_or(path);
    let room = space::free(folder).is_ok_and(|free| free.bytes > 16 << 20);
    if source.kind() == ErrorKind::StorageFull && room {
        let problem =
            "the folder, or the file system's table of files, takes no more; use --tree, \
                       or make fewer blobs"
                .to_owned();
        return Error::TooManyFiles { path: folder.to_owned(), files: files + 1, problem };
    }
    Error::Io { doing: "write", path: path.to_owned(), source }
}

/// Makes the small database of names that [`crate::LookupAccess`] reads: `file(k, name)`, a row for
/// each file of an exported folder or tree.
pub fn write_names(target: &BlobTarget, database: &Path) -> Result<u64, Error> {
    let folder = target.path();
    let Some(manifest) = Manifest::read(folder)? else {
        let problem = format!("it has no {}", manifest::NAME);
        return Err(Error::NotOurs { path: folder.to_owned(), problem });
    };
    if fs::symlink_metadata(database).is_ok() {
        let way_out = "name another file for the names".to_owned();
        return Err(Error::Exists { path: database.to_owned(), way_out });
    }
    let mut ids = Vec::new();
    crate::cold::each_file(folder, &mut |file| {
        let name = file.strip_prefix(folder).unwrap_or(file);
        ids.extend(id_of(name, manifest.form));
        Ok(())
    })?;
    ids.sort_unstable();
    let failed = Error::sqlite(database);
    let mut connection = connect::sqlite::create(database)?;
    let transaction = connection.transaction().map_err(&failed)?;
    let fill = || -> rusqlite::Result<()> {
        let table = "CREATE TABLE file(k INTEGER PRIMARY KEY, name TEXT NOT NULL)";
        transaction.execute_batch(table)?;
        let mut insert = transaction.prepare("INSERT INTO file VALUES(?1, ?2)")?;
        let mut names = Names::below(Path::new(""), manifest.form);
        for id in &ids {
            let name = names.as_path(*id).to_string_lossy().into_owned();
            insert.execute((id.cast_signed(), name))?;
        }
        Ok(())
    };
    fill().map_err(&failed)?;
    transaction.commit().map_err(&failed)?;
    Ok(ids.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_space_on_a_disk_with_room_means_a_full_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("000004");
        let told = folder_full(ErrorKind::StorageFull.into(), &path, 3);
        assert!(matches!(told, Error::TooManyFiles { files: 4, .. }), "{told}");
        assert!(told.to_string().contains("use --tree"), "{told}");
        let told = folder_full(ErrorKind::PermissionDenied.into(), &path, 3);
        assert!(matches!(told, Error::Io { .. }), "{told}");
    }
}
