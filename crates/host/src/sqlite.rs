//! SQLite's part of a deployment: settings tried before any data is made, and the run's own copy of
//! the data, with fresh statistics.

use std::path::Path;

use engine::{DatabaseUrl, EngineSpec};

use crate::file;
use crate::site::file_name;
use crate::template::{DataUse, Template};
use crate::{Database, DeployError, Site};
use plan::Levels;
use plan::PlanError;
use record::EngineRecord;

/// The pragmas that only a database without tables takes.
const OF_EMPTY: [&str; 3] = ["page_size", "auto_vacuum", "encoding"];

/// Tries the settings on an empty file in `folder`, where those of a run will lie: a database in
/// memory has a journal of its own and is never mapped.
pub fn try_settings(engine: &EngineSpec, folder: &Path) -> Result<(), DeployError> {
    let mut settings: Vec<(&str, &str)> = engine.engine_settings().collect();
    // The first write, such as a new journal mode's, ends the time for these.
    settings.sort_by_key(|(name, _)| !is_of_empty(name));
    if settings.is_empty() {
        return Ok(());
    }
    let path = folder.join(format!("settings-{}.db", std::process::id()));
    let io = |source| DeployError::Io { path: path.clone(), source };
    std::fs::create_dir_all(folder).map_err(io)?;
    let tried = engine::sqlite::create(&path)
        .and_then(|connection| engine::sqlite::pragmas(&connection, settings));
    // It is empty, and the next trial of settings takes its place.
    let _ = std::fs::remove_file(&path);
    tried?;
    Ok(())
}

/// Tries the settings on a file of the user's without writing to it.
pub(super) fn check_yours(engine: &EngineSpec, path: &Path) -> Result<(), DeployError> {
    let connection = engine::sqlite::open_read_only(path)?;
    for (name, wanted) in engine.engine_settings() {
        if name.eq_ignore_ascii_case("journal_mode") {
            let failed = |source| DeployError::Sqlite { path: path.to_owned(), source };
            let own: String = connection
                .pragma_query_value(None, "journal_mode", |row| row.get(0))
                .map_err(failed)?;
            if !own.eq_ignore_ascii_case(wanted) {
                return Err(no_effect(engine, name, "a database of yours is never written to"));
            }
        }
    }
    engine::sqlite::pragmas(&connection, engine.engine_settings())?;
    Ok(())
}

/// Refuses what only a database without tables takes.
pub(super) fn check_copy(engine: &EngineSpec) -> Result<(), DeployError> {
    match engine.engine_settings().find(|(name, _)| is_of_empty(name)) {
        Some((name, _)) => {
            Err(no_effect(engine, name, "a copy of data keeps what its file was made with"))
        }
        None => Ok(()),
    }
}

fn is_of_empty(name: &str) -> bool {
    OF_EMPTY.iter().any(|one| one.eq_ignore_ascii_case(name))
}

fn no_effect(engine: &EngineSpec, setting: &str, why: &'static str) -> DeployError {
    DeployError::NoEffect { engine: engine.label(), setting: setting.to_owned(), why }
}

impl Site<'_> {
    /// A copy of the data made for this run, by SQLite's own backup, so that a write-ahead log
    /// beside the source is not forgotten.
    pub(super) fn sqlite_copy(
        &self,
        engine: &EngineSpec,
        levels: &Levels,
        data_use: DataUse,
    ) -> Result<Database, DeployError> {
        let Some(data) = self.dataset(levels) else {
            return Err(PlanError::impossible("data", "has nothing for `sqlite`").into());
        };
        // One copy for each line of the plan and dataset; the line's settings are the
        // connections' business.
        let name = format!("{}-{}.db", file_name(&engine.label()), data.digest);
        let path = self.scratch.join(name);
        if !path.exists() {
            self.one_off.time(|| copy_database(&data.path, &path))?;
        }
        if data_use == DataUse::Read {
            settle(engine, &path)?;
            return self.sqlite_file(engine, &path);
        }
        let contents = self.one_off.time(|| contents_of_template(&path))?;
        let mut database = self.sqlite_file(engine, &path)?;
        database.template = Some(Template::Sqlite { path, contents });
        self.renew(engine, &mut database)?;
        Ok(database)
    }

    pub(super) fn sqlite_file(
        &self,
        engine: &EngineSpec,
        path: &Path,
    ) -> Result<Database, DeployError> {
        let path = std::path::absolute(path)
            .map_err(|source| DeployError::Io { path: path.to_owned(), source })?;
        let settings = engine.engine_settings();
        Ok(Database {
            record: EngineRecord {
                name: engine.label(),
                version: "SQLite".to_owned(),
                settings: settings.map(|(k, v)| (k.to_owned(), v.to_owned())).collect(),
                ..Default::default()
            },
            url: DatabaseUrl::Sqlite(path.clone()),
            server: None,
            temporary_files: None,
            template: None,
            data_paths: vec![path],
            out_of_sight: false,
        })
    }
}

/// What a template holds, noted beside it when it was made.
fn contents_of_template(path: &Path) -> Result<String, DeployError> {
    let note = path.with_extension("contents");
    let io = |source| DeployError::Io { path: note.clone(), source };
    match std::fs::read_to_string(&note) {
        Ok(contents) => Ok(contents),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let contents = file::contents(path)?;
            std::fs::write(&note, &contents).map_err(io)?;
            Ok(contents)
        }
        Err(error) => Err(io(error)),
    }
}

/// Fresh statistics, none, or those of the copied file, as the plan wants.
pub(super) fn settle(engine: &EngineSpec, path: &Path) -> Result<(), DeployError> {
    let connection = engine::sqlite::open_existing(path)?;
    let statistics = match engine.own("analyze") {
        Some("off") => without_statistics(&connection),
        Some("keep") => Ok(()),
        _ => connection.execute_batch("ANALYZE"),
    };
    statistics.map_err(|source| DeployError::Sqlite { path: path.to_owned(), source })
}

/// Removes what ANALYZE has left: the planner guesses then.
fn without_statistics(connection: &rusqlite::Connection) -> Result<(), rusqlite::Error> {
    let mut tables =
        connection.prepare("SELECT name FROM sqlite_schema WHERE name GLOB 'sqlite_stat[0-9]'")?;
    let names = tables.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    names.iter().try_for_each(|name| connection.execute_batch(&format!("DROP TABLE {name}")))
}

/// Copies under a temporary name, so that a copy that is cut off is never measured.
fn copy_database(source: &Path, target: &Path) -> Result<(), DeployError> {
    let temporary = target.with_extension("tmp");
    let failed = |source| DeployError::Sqlite { path: target.to_owned(), source };
    let connection = engine::sqlite::open_read_only(source)?;
    match std::fs::remove_file(&temporary) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(DeployError::Io { path: temporary, source: error });
        }
        _ => {}
    }
    let mut copy = engine::sqlite::create(&temporary)?;
    rusqlite::backup::Backup::new(&connection, &mut copy)
        .and_then(|backup| backup.step(-1))
        .map_err(failed)?;
    drop(copy);
    std::fs::rename(&temporary, target)
        .map_err(|source| DeployError::Io { path: target.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_made_kept_or_removed_as_the_engine_says() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shop.db");
        let connection = engine::sqlite::create(&path).unwrap();
        connection
            .execute_batch("CREATE TABLE t(a); CREATE INDEX i ON t(a); INSERT INTO t VALUES (1)")
            .unwrap();
        let rows = || -> i64 {
            let sql = "SELECT count(*) FROM sqlite_schema WHERE name GLOB 'sqlite_stat[0-9]'";
            connection.query_row(sql, [], |row| row.get(0)).unwrap()
        };
        for (engine, has_statistics) in [
            ("sqlite[analyze=keep]", false),
            ("sqlite", true),
            ("sqlite[analyze=keep]", true),
            ("sqlite[analyze=off]", false),
        ] {
            settle(&engine.parse().unwrap(), &path).unwrap();
            assert_eq!(rows() > 0, has_statistics, "{engine}");
        }
    }
}
