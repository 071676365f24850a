//! A SQLite file that is measured: a copy of the plan's data, or a file of the user's.

use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::EngineSpec;
use plan::Levels;
use record::EngineRecord;

use super::activity::FileActivity;
use super::copy::{contents_of_template, copy_for_trial, copy_of_data, copy_of_trial, settle};
use super::counters::facts;
use crate::activity::Activity;
use crate::address::Address;
use crate::database::{DataUse, Database, HostedDatabase, Template, say_copying};
use crate::error::DeployError;
use crate::file;
use crate::site::Site;

/// A SQLite file that is measured.
pub struct SqliteDatabase {
    engine: EngineSpec,
    path: PathBuf,
    /// Source of each writing trial's copy; `None` for read-only use.
    template: Option<Template<PathBuf>>,
}

/// The run's copy of the plan's data.
pub(crate) fn deploy_copy(
    site: &Site<'_>,
    engine: &EngineSpec,
    levels: &Levels,
    data_use: DataUse,
) -> Result<Database, DeployError> {
    let path = copy_of_data(site, engine, levels)?;
    let template = match data_use {
        DataUse::Read => None,
        DataUse::Change => {
            let contents = site.one_off.time(|| contents_of_template(&path))?;
            Some(Template { place: path.clone(), contents })
        }
    };
    let mut database = database(engine, &path, template)?;
    database.renew(site)?;
    Ok(database)
}

/// The user's own file, uncopied.
pub(crate) fn deploy_yours(engine: &EngineSpec, path: &Path) -> Result<Database, DeployError> {
    database(engine, path, None)
}

fn database(
    engine: &EngineSpec,
    path: &Path,
    template: Option<Template<PathBuf>>,
) -> Result<Database, DeployError> {
    let path = std::path::absolute(path)
        .map_err(|source| DeployError::Io { path: path.to_owned(), source })?;
    let settings = engine.engine_settings();
    let record = EngineRecord {
        version: "SQLite".to_owned(),
        settings: settings.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        ..EngineRecord::default()
    };
    let hosted = SqliteDatabase { engine: engine.clone(), path: path.clone(), template };
    Ok(Database::new(engine, record, vec![path], hosted))
}

impl SqliteDatabase {
    /// That of `database`, if it is SQLite's.
    pub fn of(database: &Database) -> Option<&Self> {
        database.downcast()
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl HostedDatabase for SqliteDatabase {
    fn address(&self) -> Address {
        Address::of_file(&self.path)
    }

    fn renew(&mut self, site: &Site<'_>) -> Result<Option<PathBuf>, DeployError> {
        if let Some(template) = &self.template {
            say_copying(site, &self.engine);
            self.path = copy_of_trial(site);
            template.compare(&self.engine.label(), copy_for_trial(&template.place, &self.path)?)?;
        }
        settle(&self.engine, &self.path)?;
        Ok(self.template.as_ref().map(|_| self.path.clone()))
    }

    fn drop_copy(&self, site: &Site<'_>) {
        if self.template.is_some() {
            let _ = connect::sqlite::file::remove(&copy_of_trial(site));
        }
    }

    fn checkpoint(&self, _site: &Site<'_>) -> Result<Option<Duration>, DeployError> {
        file::checkpoint(&self.path).map(Some)
    }

    fn activity(&self, _runtime: &tokio::runtime::Handle) -> Result<Box<dyn Activity>, String> {
        Ok(Box::new(FileActivity::watch(&self.path, self.template.is_some())?))
    }

    fn facts(&self, _runtime: &tokio::runtime::Handle) -> Option<(u64, Option<bool>)> {
        facts(&self.path)
    }
}
