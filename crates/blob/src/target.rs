//! Target at a path: a database, a folder or a tree of blobs, ours or kvtest's.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension as _};

use crate::manifest::Manifest;
use crate::names::id_of;
use crate::space::DiskSpace;
use crate::{BlobForm, Error, FileAccess, Recipe, SqliteAccess, table};
use plan::storage::{FileSettings, SqliteSettings};

#[derive(Clone, Debug)]
pub struct BlobTarget {
    path: PathBuf,
    form: BlobForm,
    recipe: Option<Recipe>,
    generation: u64,
    largest_id: u64,
    /// Marks a folder as ours.
    manifest: Option<Manifest>,
}

impl BlobTarget {
    /// Finds out what lies at `path`.
    ///
    /// # Errors
    /// [`Error::NoTarget`], [`Error::NoTable`], [`Error::Empty`] where there are no blobs;
    /// [`Error::Engine`], [`Error::Io`], [`Error::Sqlite`].
    pub fn open(path: &Path) -> Result<Self, Error> {
        let kind = fs::metadata(path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => {
                let problem = "there is nothing; make a database with crossover blob init, a \
                               folder of its blobs with crossover blob export";
                Error::NoTarget { path: path.to_owned(), problem: problem.to_owned() }
            }
            _ => Error::io("open", path)(error),
        })?;
        let target = if kind.is_dir() { Self::folder(path)? } else { Self::database(path)? };
        if target.largest_id == 0 {
            return Err(Error::Empty { path: path.to_owned() });
        }
        Ok(target)
    }

    fn database(path: &Path) -> Result<Self, Error> {
        let connection = connect::sqlite::open_read_only(path)?;
        table::require_table(&connection, path)?;
        let failed = Error::sqlite(path);
        let largest: Option<i64> =
            connection.query_row("SELECT max(k) FROM kv", [], |row| row.get(0)).map_err(&failed)?;
        let kept = read_recipe(&connection).map_err(&failed)?;
        Ok(Self {
            path: path.to_owned(),
            form: BlobForm::Database,
            recipe: kept.map(|(recipe, _)| recipe),
            generation: kept.map_or(0, |(_, generation)| generation),
            largest_id: largest.map_or(0, |largest| u64::try_from(largest).unwrap_or(0)),
            manifest: None,
        })
    }

    fn folder(path: &Path) -> Result<Self, Error> {
        if let Some(manifest) = Manifest::read(path)? {
            return Ok(Self {
                path: path.to_owned(),
                form: manifest.form,
                recipe: manifest.recipe,
                generation: manifest.generation,
                largest_id: manifest.largest_id,
                manifest: Some(manifest),
            });
        }
        // As kvtest tells them apart.
        let form = if path.join("00").is_dir() { BlobForm::Tree } else { BlobForm::Folder };
        let mut largest_id = 0;
        crate::cold::each_file(path, &mut |file| {
            let name = file.strip_prefix(path).ok();
            let id = name.and_then(|name| id_of(name, form));
            largest_id = largest_id.max(id.unwrap_or(0));
            Ok(())
        })?;
        let (path, recipe) = (path.to_owned(), None);
        Ok(Self { path, form, recipe, generation: 0, largest_id, manifest: None })
    }

    /// The path as given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    #[must_use]
    pub fn form(&self) -> BlobForm {
        self.form
    }

    /// How the blobs were made; unknown where kvtest made them.
    #[must_use]
    pub fn recipe(&self) -> Option<&Recipe> {
        self.recipe.as_ref()
    }

    /// The newest generation that any blob may have: how many update passes there were.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The largest id there is (or was, when the folder was exported).
    #[must_use]
    pub fn largest_id(&self) -> u64 {
        self.largest_id
    }

    /// Notes with the data that a new generation will be written, before any of it is, so that a
    /// later check of the blobs accepts both. Returns the number of that generation.
    ///
    /// # Errors
    /// [`Error::NotOurs`] for a folder that `export` did not write, [`Error::NotOurTable`] for a
    /// table of another program: nothing may be overwritten there. [`Error::Sqlite`],
    /// [`Error::Io`].
    pub fn begin_generation(&mut self) -> Result<u64, Error> {
        let next = self.generation + 1;
        if self.form == BlobForm::Database {
            let connection = connect::sqlite::open_existing(&self.path)?;
            table::require_blob_table(&connection, &self.path)?;
            if self.recipe.is_some() {
                let sql = "UPDATE blob_recipe SET generation = ?1";
                let noted = connection.execute(sql, [next.cast_signed()]);
                noted.map_err(Error::sqlite(&self.path))?;
            }
        } else {
            let Some(manifest) = &mut self.manifest else {
                let problem = format!("it has no {}", crate::manifest::NAME);
                return Err(Error::NotOurs { path: self.path.clone(), problem });
            };
            manifest.generation = next;
            manifest.write(&self.path)?;
        }
        self.generation = next;
        Ok(next)
    }

    pub fn sqlite(&self, settings: &SqliteSettings) -> Result<SqliteAccess, Error> {
        if self.form != BlobForm::Database {
            let problem = format!("{} is a folder, not a database", self.path.display());
            return Err(Error::Settings { problem });
        }
        SqliteAccess::open(&self.path, settings)
    }

    /// Opens a folder or a tree.
    pub fn files(&self, settings: &FileSettings) -> Result<FileAccess, Error> {
        FileAccess::open(&self.path, self.form, settings)
    }

    /// Space on storage, with a write-ahead log or a journal beside a database.
    pub fn disk(&self) -> Result<DiskSpace, Error> {
        let mut disk = DiskSpace::default();
        if self.form == BlobForm::Database {
            for suffix in ["", "-wal", "-journal"] {
                match fs::metadata(beside(&self.path, suffix)) {
                    Ok(data) => disk.add(&data),
                    Err(error) if error.kind() == ErrorKind::NotFound && !suffix.is_empty() => {}
                    Err(error) => return Err(Error::io("look at", &self.path)(error)),
                }
            }
        } else {
            add_folder(&self.path, &mut disk)?;
        }
        Ok(disk)
    }
}

fn add_folder(folder: &Path, disk: &mut DiskSpace) -> Result<(), Error> {
    disk.add(&fs::metadata(folder).map_err(Error::io("look at", folder))?);
    for entry in fs::read_dir(folder).map_err(Error::io("read", folder))? {
        let entry = entry.map_err(Error::io("read", folder))?;
        let data = entry.metadata().map_err(Error::io("look at", &entry.path()))?;
        if data.is_dir() {
            add_folder(&entry.path(), disk)?;
        } else if entry.file_name() != crate::manifest::NAME {
            disk.add(&data);
        }
    }
    Ok(())
}

/// The path of a file that SQLite keeps beside a database.
pub(crate) fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

/// The recipe that `init` kept and the newest generation; `None` where kvtest made the blobs.
fn read_recipe(connection: &Connection) -> rusqlite::Result<Option<(Recipe, u64)>> {
    let sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'blob_recipe'";
    if !connection.prepare(sql)?.exists([])? {
        return Ok(None);
    }
    let row = connection.query_row("SELECT recipe, generation FROM blob_recipe", [], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))
    });
    // A recipe of another program, or of a later version of this one, is as good as none.
    Ok(row.optional()?.and_then(|(text, generation)| {
        Some((serde_json::from_str(&text).ok()?, u64::try_from(generation).ok()?))
    }))
}

/// Keeps the recipe with the blobs.
pub(crate) fn write_recipe(connection: &Connection, recipe: &Recipe) -> rusqlite::Result<()> {
    connection.execute_batch(
        "CREATE TABLE blob_recipe(recipe TEXT NOT NULL, generation INTEGER NOT NULL)",
    )?;
    let text = serde_json::to_string(recipe).unwrap_or_default();
    connection.execute("INSERT INTO blob_recipe VALUES(?1, 0)", [text])?;
    Ok(())
}
