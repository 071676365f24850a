//! Storage of blobs that an engine of the plan names: in a database or in files, how they are read,
//! and how they are written. Keys in brackets that have no meaning there are refused.

use engine::{EngineSource, EngineSpec};

use crate::storage::{
    By, FileSettings, JournalMode, Reading, SqliteSettings, Synchronous, WriteDurability, Writing,
};
use crate::{BlobCell, BlobOperation, Durability, PlanError};

/// Where the blobs of a line lie, and how they are accessed.
#[derive(Clone, Debug, PartialEq)]
pub struct BlobStorage {
    pub form: StorageForm,
    /// Each blob in a transaction of its own.
    pub transaction_per_blob: bool,
}

/// Every key by which a bracket changes what a write survives, on whichever engine.
const DURABILITY_KEYS: [&str; 6] =
    ["journal_mode", "synchronous", "write", "fsync", "synchronous_commit", "full_page_writes"];

#[derive(Clone, Debug, PartialEq)]
pub enum StorageForm {
    Sqlite(SqliteSettings),
    /// A file each, in one folder or a tree.
    Files {
        tree: bool,
        settings: FileSettings,
    },
    /// A file each; the file's name is looked up in a SQLite file first.
    Lookup(SqliteSettings, FileSettings),
    /// In a column of type `bytea`.
    Postgres,
}

impl BlobStorage {
    /// The storage that `engine` names where the plan makes of it what `cell` says, and the engine
    /// with the settings of its durability.
    pub fn at(engine: &EngineSpec, cell: &BlobCell) -> Result<(EngineSpec, Self), PlanError> {
        let mut set = engine.clone();
        if let Some(tier) = cell.durability {
            for (key, value) in Self::settings_of(engine, tier)? {
                let taken = set.settings.set(key, value);
                taken.map_err(|message| PlanError::impossible("engines", message))?;
            }
        }
        let mut line = Self::of(&set)?;
        if cell.transaction_per_blob {
            refuse_set_twice(engine, &["transaction"], "blob.transaction")?;
            line.transaction_per_blob = true;
        }
        Ok((set, line))
    }

    /// The storage that `engine` names by itself.
    pub fn of(engine: &EngineSpec) -> Result<Self, PlanError> {
        let form = match &engine.source {
            EngineSource::Sqlite => StorageForm::Sqlite(sqlite(engine)?),
            EngineSource::Dir => StorageForm::Files { tree: false, settings: files(engine)? },
            EngineSource::Tree => StorageForm::Files { tree: true, settings: files(engine)? },
            EngineSource::SqliteDir => StorageForm::Lookup(sqlite(engine)?, files(engine)?),
            EngineSource::Postgres(_) | EngineSource::PostgresFolder(_) => StorageForm::Postgres,
            _ => {
                let message = format!(
                    "{} cannot be measured by workload blob, which makes its blobs itself: write \
                     sqlite, dir, tree, sqlite+dir, or a PostgreSQL that Crossover starts \
                     (postgres:18); for your own file or folder there is crossover blob run",
                    engine.label()
                );
                return Err(PlanError::impossible("engines", message));
            }
        };
        let transaction_per_blob =
            word(engine, "transaction", &[("one", false), ("each", true)])?.unwrap_or(false);
        Ok(Self { form, transaction_per_blob })
    }

    /// Whether this line does in `operation` just what `other` does: how a file is read makes no
    /// difference to overwriting it, nor how it is written to reading it.
    pub fn equals_in(&self, other: &Self, operation: BlobOperation) -> bool {
        let alike = |one: &FileSettings, other: &FileSettings| match operation {
            BlobOperation::Read => one.reading == other.reading,
            BlobOperation::Update => (one.writing, one.fsync) == (other.writing, other.fsync),
        };
        match (&self.form, &other.form) {
            (
                StorageForm::Files { tree, settings },
                StorageForm::Files { tree: other_tree, settings: others },
            ) => tree == other_tree && alike(settings, others),
            (StorageForm::Lookup(sqlite, files), StorageForm::Lookup(other_sqlite, others)) => {
                sqlite == other_sqlite
                    && self.transaction_per_blob == other.transaction_per_blob
                    && alike(files, others)
            }
            _ => false,
        }
    }

    /// The form in one word.
    pub fn form_name(&self) -> &'static str {
        match self.form {
            StorageForm::Sqlite(_) => "sqlite",
            StorageForm::Files { tree: false, .. } => "dir",
            StorageForm::Files { tree: true, .. } => "tree",
            StorageForm::Lookup(..) => "sqlite+dir",
            StorageForm::Postgres => "postgres",
        }
    }

    /// The settings that give `tier`, for every line alike: as pairs for the bracket, in which no
    /// setting that decides on durability may stand then, not even where the tier needs none.
    fn settings_of(
        engine: &EngineSpec,
        tier: Durability,
    ) -> Result<Vec<(&'static str, &'static str)>, PlanError> {
        refuse_set_twice(engine, &DURABILITY_KEYS, "blob.durability")?;
        let kind = engine.source.kind().properties();
        let [none, program_crash, power_loss] = kind.durability_settings;
        let settings = match tier {
            Durability::None => none,
            Durability::SurvivesProgramCrash => program_crash,
            Durability::SurvivesPowerLoss | Durability::Unknown => power_loss,
        };
        let files: &[(&str, &str)] = match tier {
            Durability::SurvivesProgramCrash if kind.has_files => &[("write", "replace")],
            Durability::SurvivesPowerLoss if kind.has_files => {
                &[("write", "replace"), ("fsync", "on")]
            }
            _ => &[],
        };
        Ok([settings, files].concat())
    }

    /// Events that a finished write survives, where this program knows them; a server is asked.
    pub fn durability(&self) -> Durability {
        let judged = match &self.form {
            StorageForm::Sqlite(settings) => WriteDurability::with_sqlite(
                settings.journal_mode.unwrap_or(JournalMode::Delete),
                settings.synchronous.unwrap_or(Synchronous::Full),
            ),
            StorageForm::Files { settings, .. } | StorageForm::Lookup(_, settings) => {
                WriteDurability::with_files(settings.writing, settings.fsync)
            }
            StorageForm::Postgres => return Durability::Unknown,
        };
        match judged {
            WriteDurability::None => Durability::None,
            WriteDurability::Process => Durability::SurvivesProgramCrash,
            WriteDurability::Power => Durability::SurvivesPowerLoss,
        }
    }
}

/// Refuses a bracket with any of `keys`, which `knob` of the plan sets.
fn refuse_set_twice(engine: &EngineSpec, keys: &[&str], knob: &str) -> Result<(), PlanError> {
    let is_one = |key: &str| keys.iter().any(|one| one.eq_ignore_ascii_case(key));
    match engine.settings.iter().find(|(key, _)| is_one(key)) {
        None => Ok(()),
        Some((key, _)) => {
            let message =
                format!("{}: {key} is set by {knob}; write one of the two", engine.label());
            Err(PlanError::impossible("engines", message))
        }
    }
}

/// How a SQLite file is opened. What is not set is kvtest's, but for the journal, which is always
/// set: the file is shared by lines, and its mode is kept in it.
fn sqlite(engine: &EngineSpec) -> Result<SqliteSettings, PlanError> {
    let by = word(engine, "access", &[("sql", By::Sql), ("blob_api", By::BlobApi)])?;
    let mut settings = SqliteSettings {
        by: by.unwrap_or_default(),
        journal_mode: Some(JournalMode::Delete),
        synchronous: Some(Synchronous::Full),
        ..SqliteSettings::default()
    };
    for (key, value) in engine.engine_settings() {
        let wrong = |why: String| {
            PlanError::impossible("engines", format!("{}: {key}: {why}", engine.label()))
        };
        let no_number = |_| wrong(format!("`{value}` is not a whole number"));
        match key.to_ascii_lowercase().as_str() {
            "journal_mode" => settings.journal_mode = Some(value.parse().map_err(wrong)?),
            "synchronous" => settings.synchronous = Some(value.parse().map_err(wrong)?),
            "mmap_size" => settings.mmap_bytes = value.parse().map_err(no_number)?,
            "cache_size" => settings.cache_size = value.parse().map_err(no_number)?,
            "page_size" => return Err(wrong("is page_bytes under [blob]".to_owned())),
            _ => settings.pragmas.push((key.to_owned(), value.to_owned())),
        }
    }
    Ok(settings)
}

/// How files are read and written; kvtest's ways where nothing is said.
fn files(engine: &EngineSpec) -> Result<FileSettings, PlanError> {
    let reading =
        [("stdio", Reading::Stdio), ("plain", Reading::Plain), ("openat", Reading::Openat)];
    let writing = [("overwrite", Writing::Overwrite), ("replace", Writing::Replace)];
    if let (Some((key, _)), false) = (engine.engine_settings().next(), has_database(engine)) {
        let nearest = engine::nearest(key, ["read", "write", "fsync", "label"]);
        let message = format!(
            "{}: files have no setting `{key}`{nearest}; there are read, write, fsync",
            engine.label()
        );
        return Err(PlanError::impossible("engines", message));
    }
    Ok(FileSettings {
        reading: word(engine, "read", &reading)?.unwrap_or_default(),
        writing: word(engine, "write", &writing)?.unwrap_or_default(),
        fsync: word(engine, "fsync", &[("on", true), ("off", false)])?.unwrap_or(false),
    })
}

fn has_database(engine: &EngineSpec) -> bool {
    matches!(engine.source, EngineSource::SqliteDir)
}

/// The value of one of our own keys; none where it is not given.
fn word<T: Copy>(
    engine: &EngineSpec,
    key: &str,
    words: &[(&str, T)],
) -> Result<Option<T>, PlanError> {
    let Some(text) = engine.own(key) else { return Ok(None) };
    let found = words.iter().find(|(word, _)| *word == text);
    match found {
        Some((_, value)) => Ok(Some(*value)),
        None => {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let nearest = engine::nearest(text, known.iter().copied());
            let message = format!(
                "{}: {key} is none of {}: `{text}`{nearest}",
                engine.label(),
                known.join(", ")
            );
            Err(PlanError::impossible("engines", message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(engine: &str) -> Result<BlobStorage, String> {
        BlobStorage::of(&engine.parse().unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn what_stands_in_brackets_is_understood() {
        let StorageForm::Sqlite(settings) =
            line("sqlite[access=blob_api,mmap_size=1000000,journal_mode=wal]").unwrap().form
        else {
            unreachable!("SQLite")
        };
        assert_eq!((settings.by, settings.mmap_bytes), (By::BlobApi, 1_000_000));
        assert_eq!(settings.journal_mode, Some(JournalMode::Wal));
        let StorageForm::Files { tree, settings } =
            line("tree[read=openat,fsync=on]").unwrap().form
        else {
            unreachable!("files")
        };
        assert_eq!((tree, settings.reading, settings.fsync), (true, Reading::Openat, true));
        assert!(line("sqlite[transaction=each]").unwrap().transaction_per_blob);
        assert_eq!(line("postgres:18[work_mem=1MB]").unwrap().form, StorageForm::Postgres);
    }

    #[test]
    fn what_has_no_meaning_is_refused_with_what_has() {
        for (engine, said) in [
            ("dir[read=fast]", "read is none of stdio, plain, openat: `fast`"),
            ("dir[fsnc=on]", "did you mean `fsync`?"),
            ("sqlite[access=blobapi]", "did you mean `blob_api`?"),
            ("sqlite[page_size=512]", "page_bytes under [blob]"),
            ("sqlite[journal_mode=wall]", "`wall` is none of"),
            ("dir:/tmp/blobs", "crossover blob run"),
            ("mariadb", "cannot be measured by workload blob"),
        ] {
            let refusal = line(engine).unwrap_err();
            assert!(refusal.contains(said), "{engine}: {refusal}");
        }
    }

    fn cell(durability: Option<Durability>, transaction_per_blob: bool) -> BlobCell {
        BlobCell {
            operation: BlobOperation::Update,
            count: 16,
            bytes: 100,
            variance: 0,
            page_bytes: 4_096,
            per_pass: 1,
            transaction_per_blob,
            cold: false,
            durability,
            seed: 1,
        }
    }

    fn at(engine: &str, cell: &BlobCell) -> Result<BlobStorage, String> {
        let at = BlobStorage::at(&engine.parse().unwrap(), cell);
        at.map(|(_, line)| line).map_err(|error| error.to_string())
    }

    #[test]
    fn a_durability_tier_is_equal_on_every_form() {
        let tiers =
            [Durability::None, Durability::SurvivesProgramCrash, Durability::SurvivesPowerLoss];
        for tier in tiers {
            for engine in ["sqlite", "dir", "tree"] {
                assert_eq!(at(engine, &cell(Some(tier), false)).unwrap().durability(), tier);
            }
            for (engine, key) in [
                ("sqlite[synchronous=off]", "synchronous"),
                ("sqlite[Journal_Mode=off]", "Journal_Mode"),
                ("dir[fsync=on]", "fsync"),
                ("tree[write=replace]", "write"),
                ("postgres:18[fsync=off]", "fsync"),
                ("postgres:18[synchronous_commit=off]", "synchronous_commit"),
            ] {
                let refusal = at(engine, &cell(Some(tier), false)).unwrap_err();
                let said = format!("{key} is set by blob.durability; write one of the two");
                assert!(refusal.contains(&said), "{engine}: {refusal}");
            }
        }
        assert!(at("dir[fsync=on]", &cell(None, false)).is_ok());
    }

    #[test]
    fn each_blob_has_its_own_transaction_by_default() {
        for engine in ["sqlite", "postgres:18", "dir"] {
            for each in [false, true] {
                let line = at(engine, &cell(None, each)).unwrap();
                assert_eq!(line.transaction_per_blob, each, "{engine}");
            }
        }
        let each = "sqlite[transaction=each]";
        assert!(at(each, &cell(None, false)).unwrap().transaction_per_blob);
        let refusal = at(each, &cell(None, true)).unwrap_err();
        assert!(refusal.contains("transaction is set by blob.transaction"), "{refusal}");
    }
}
