//! Blobs in a SQLite file, by SQL or by the blob API.

use std::path::{Path, PathBuf};

use rusqlite::blob::Blob;
use rusqlite::{Connection, MAIN_DB, Statement};

use super::Access;
use super::held::Held;
use crate::Error;
use crate::table::{bytes_of, require_table};
use plan::storage::{By, SqliteSettings};

pub struct SqliteAccess {
    // Everything that borrows from the connection stands before it, and so is dropped before it.
    blob: Option<Blob<'static>>,
    select: Statement<'static>,
    length: Statement<'static>,
    update: Statement<'static>,
    held: Held,
    /// Whether `blob` may be written.
    blob_writes: bool,
    by: By,
    path: PathBuf,
    buffer: Vec<u8>,
}

impl SqliteAccess {
    /// Opens `path`, which must have the table, with these settings, each read back.
    pub fn open(path: &Path, settings: &SqliteSettings) -> Result<Self, Error> {
        let connection = connect::sqlite::open_existing(path)?;
        set(&connection, settings)?;
        require_table(&connection, path)?;
        let held = Held::new(connection);
        // SAFETY: the statements and the blob handle are fields before `held`.
        #[expect(unsafe_code, reason = "a statement and its connection in one struct")]
        let connection = unsafe { held.lasting() };
        let prepare = |sql| connection.prepare(sql).map_err(Error::sqlite(path));
        Ok(Self {
            blob: None,
            select: prepare("SELECT v FROM kv WHERE k = ?1")?,
            length: prepare("SELECT length(v) FROM kv WHERE k = ?1")?,
            update: prepare("UPDATE kv SET v = ?2 WHERE k = ?1")?,
            held,
            blob_writes: false,
            by: settings.by,
            path: path.to_owned(),
            buffer: Vec::new(),
        })
    }

    /// The connection, to ask for counters and pragmas between the blobs.
    #[must_use]
    pub fn connection(&self) -> &Connection {
        self.held.connection()
    }

    /// Value of a pragma, such as `page_size`.
    pub fn pragma(&self, name: &str) -> Result<String, Error> {
        Ok(connect::sqlite::read_pragma(self.connection(), name)?)
    }

    fn execute(&self, sql: &str) -> Result<(), Error> {
        self.connection().execute_batch(sql).map_err(Error::sqlite(&self.path))
    }

    fn read_by_sql(&mut self, id: u64, visit: &mut dyn FnMut(&[u8])) -> Result<bool, Error> {
        let failed = Error::sqlite(&self.path);
        self.select.raw_bind_parameter(1, id.cast_signed()).map_err(&failed)?;
        let mut rows = self.select.raw_query();
        let Some(row) = rows.next().map_err(&failed)? else { return Ok(false) };
        visit(bytes_of(row.get_ref(0).map_err(&failed)?, id, &self.path)?);
        Ok(true)
    }

    fn read_by_handle(&mut self, id: u64, visit: &mut dyn FnMut(&[u8])) -> Result<bool, Error> {
        if !self.move_to(id, false)? {
            return Ok(false);
        }
        if let Some(blob) = &self.blob {
            let length = blob.len();
            if self.buffer.len() < length {
                self.buffer.resize(length, 0);
            }
            let bytes = &mut self.buffer[..length];
            blob.read_at_exact(bytes, 0).map_err(Error::sqlite(&self.path))?;
            visit(bytes);
        }
        self.let_go();
        Ok(true)
    }

    fn update_by_handle(&mut self, id: u64, bytes: &[u8]) -> Result<bool, Error> {
        if !self.move_to(id, true)? {
            return Ok(false);
        }
        if let Some(blob) = &mut self.blob {
            if blob.len() != bytes.len() {
                let (old, new) = (blob.len(), bytes.len());
                let problem = format!(
                    "blob {id} has {old} bytes and would get {new}: the blob API cannot change a \
                     size; update by SQL"
                );
                return Err(Error::BadBlob { path: self.path.clone(), problem });
            }
            blob.write_at(bytes, 0).map_err(Error::sqlite(&self.path))?;
        }
        self.let_go();
        Ok(true)
    }

    /// Puts the handle on blob `id`; false if there is none.
    fn move_to(&mut self, id: u64, writes: bool) -> Result<bool, Error> {
        let moved = match &mut self.blob {
            Some(blob) if self.blob_writes || !writes => blob.reopen(id.cast_signed()),
            _ => self.open_handle(id, writes),
        };
        let Err(source) = moved else { return Ok(true) };
        // A handle that could not be moved is of no more use (sqlite3_blob_reopen).
        self.blob = None;
        match self.size(id)? {
            None => Ok(false),
            Some(_) => Err(Error::Sqlite { path: self.path.clone(), source }),
        }
    }

    fn open_handle(&mut self, id: u64, writes: bool) -> rusqlite::Result<()> {
        self.blob = None;
        // SAFETY: the blob handle is a field before `held`.
        #[expect(unsafe_code, reason = "a statement and its connection in one struct")]
        let connection = unsafe { self.held.lasting() };
        let blob = connection.blob_open(MAIN_DB, c"kv", c"v", id.cast_signed(), !writes)?;
        self.blob = Some(blob);
        self.blob_writes = writes;
        Ok(())
    }

    /// Outside a transaction the handle's own ends only when it is closed.
    fn let_go(&mut self) {
        if self.connection().is_autocommit() {
            self.blob = None;
        }
    }
}

impl Access for SqliteAccess {
    fn read(&mut self, id: u64, visit: &mut dyn FnMut(&[u8])) -> Result<bool, Error> {
        match self.by {
            By::Sql => self.read_by_sql(id, visit),
            By::BlobApi => self.read_by_handle(id, visit),
        }
    }

    fn size(&mut self, id: u64) -> Result<Option<u64>, Error> {
        let failed = Error::sqlite(&self.path);
        self.length.raw_bind_parameter(1, id.cast_signed()).map_err(&failed)?;
        let mut rows = self.length.raw_query();
        let Some(row) = rows.next().map_err(&failed)? else { return Ok(None) };
        let length = row.get::<_, Option<i64>>(0).map_err(&failed)?;
        Ok(Some(length.map_or(0, i64::cast_unsigned)))
    }

    fn update(&mut self, id: u64, bytes: &[u8]) -> Result<bool, Error> {
        if self.by == By::BlobApi {
            return self.update_by_handle(id, bytes);
        }
        let failed = Error::sqlite(&self.path);
        self.update.raw_bind_parameter(1, id.cast_signed()).map_err(&failed)?;
        self.update.raw_bind_parameter(2, bytes).map_err(&failed)?;
        Ok(self.update.raw_execute().map_err(&failed)? > 0)
    }

    fn begin(&mut self) -> Result<(), Error> {
        self.execute("BEGIN")
    }

    fn commit(&mut self) -> Result<(), Error> {
        // A handle that writes is a statement under way, which COMMIT would refuse.
        self.blob = None;
        self.execute("COMMIT")
    }

    fn rollback(&mut self) -> Result<bool, Error> {
        self.blob = None;
        // Without a journal ROLLBACK is undefined and can break the file; between two blobs COMMIT
        // leaves each of them whole.
        let has_journal = self.pragma("journal_mode")? != "off";
        // After some errors SQLite has ended the transaction by itself.
        if !self.connection().is_autocommit() {
            self.execute(if has_journal { "ROLLBACK" } else { "COMMIT" })?;
        }
        Ok(has_journal)
    }

    fn checkpoint(&mut self) -> Result<(), Error> {
        let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
        let busy = self.connection().query_row(sql, [], |row| row.get::<_, i64>(0));
        match busy.map_err(Error::sqlite(&self.path))? {
            0 => Ok(()),
            _ => Err(Error::Settings {
                problem: format!(
                    "{}: another program reads it, so the checkpoint could not be finished",
                    self.path.display()
                ),
            }),
        }
    }
}

pub(super) fn set(connection: &Connection, settings: &SqliteSettings) -> Result<(), Error> {
    let mut pragmas = vec![("cache_size".to_owned(), settings.cache_size.to_string())];
    let mut add = |name: &str, value: String| pragmas.push((name.to_owned(), value));
    if settings.mmap_bytes > 0 {
        add("mmap_size", settings.mmap_bytes.to_string());
    }
    if let Some(mode) = settings.journal_mode {
        add("journal_mode", mode.name().to_owned());
    }
    if let Some(level) = settings.synchronous {
        add("synchronous", level.name().to_owned());
    }
    if !settings.checkpoints {
        add("wal_autocheckpoint", "0".to_owned());
    }
    pragmas.extend(settings.pragmas.iter().cloned());
    let all = pragmas.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    connect::sqlite::pragmas(connection, all)?;
    Ok(())
}
