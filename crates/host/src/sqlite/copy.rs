//! Copies of a SQLite file: the run's own, with statistics as the plan wants, and one for each trial
//! that writes.

use std::path::{Path, PathBuf};

use connect::sqlite::file as sqlite_file;
use engine::EngineSpec;
use plan::{Levels, PlanError};

use crate::database::Template;
use crate::error::DeployError;
use crate::file;
use crate::site::{Site, file_name};

/// The run's copy of the plan's data for `engine`, by SQLite's own backup, so that a write-ahead log
/// beside the source is not forgotten.
pub(crate) fn copy_of_data(
    site: &Site<'_>,
    engine: &EngineSpec,
    levels: &Levels,
) -> Result<PathBuf, DeployError> {
    let Some(data) = site.dataset(levels) else {
        return Err(PlanError::impossible("data", "has nothing for `sqlite`").into());
    };
    // One copy for each line of the plan and dataset; the line's settings are the connections'
    // business.
    let name = format!("{}-{}.db", file_name(&engine.label()), data.digest);
    let path = site.scratch.join(name);
    if !path.exists() {
        site.one_off.time(|| {
            file::copy_database(&data.path, &path)?;
            data.check_unchanged()
        })?;
    }
    Ok(path)
}

/// Where the copy of a trial lies.
pub(crate) fn copy_of_trial(site: &Site<'_>) -> PathBuf {
    site.scratch.join("trial.db")
}

/// Copies the closed file `template` in place of the last copy. What the copy holds.
pub(crate) fn copy_for_trial(template: &Path, copy: &Path) -> Result<String, DeployError> {
    let io = |source| DeployError::Io { path: copy.to_owned(), source };
    sqlite_file::remove(copy).map_err(io)?;
    // Shares the blocks where the file system can.
    sqlite_file::copy(template, copy).map_err(io)?;
    file::contents(copy)
}

/// Contents of a template, noted beside it when it was made.
pub(crate) fn contents_of_template(path: &Path) -> Result<String, DeployError> {
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
pub(crate) fn settle(engine: &EngineSpec, path: &Path) -> Result<(), DeployError> {
    let connection = connect::sqlite::open_existing(path)?;
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

/// Copies the closed file `template` in place of the last copy, and compares what they hold.
pub fn copy_filled(engine: &str, template: &Path, copy: &Path) -> Result<(), DeployError> {
    let contents = contents_of_template(template)?;
    let template = Template { place: template, contents };
    template.compare(engine, copy_for_trial(template.place, copy)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_a_template_that_was_changed_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (path, copy) = (folder.path().join("shop.db"), folder.path().join("trial.db"));
        let run = |sql| connect::sqlite::create(&path).unwrap().execute_batch(sql).unwrap();
        run("CREATE TABLE t(a); INSERT INTO t VALUES (1)");
        copy_filled("sqlite", &path, &copy).unwrap();
        // Another mode of the journal changes bytes of the file, but no row.
        run("PRAGMA journal_mode = wal");
        copy_filled("sqlite", &path, &copy).unwrap();
        run("UPDATE t SET a = 2");
        let error = copy_filled("sqlite", &path, &copy).unwrap_err().to_string();
        assert!(error.starts_with("sqlite: the copy of its data holds"), "{error}");
    }

    #[test]
    fn statistics_are_made_kept_or_removed_as_the_engine_says() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shop.db");
        let connection = connect::sqlite::create(&path).unwrap();
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
