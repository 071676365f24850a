//! Options of a server: release or folder, settings, data directory, initialisation of the cluster.

use std::path::PathBuf;

use engine::{EngineSource, EngineSpec, VersionRequest};

use crate::Error;

/// Options of [`crate::PostgresServer::start`].
#[derive(Debug, Clone)]
pub struct StartOptions {
    /// The release, if no folder is named.
    pub version: VersionRequest,
    /// A folder with the programs instead (`postgres:PATH`).
    pub folder: Option<PathBuf>,
    /// Settings given at start (`-c name=value`), in PostgreSQL's own units.
    pub settings: Vec<(String, String)>,
    /// Settings for every release of an experiment: given at start where this release knows them,
    /// left out where it does not, refused where it does not take the value. `settings` stand above
    /// them.
    pub common_settings: Vec<(String, String)>,
    /// Names the data: a data directory belongs to the exact release, the choices of initdb and
    /// this digest. Empty: the directory of `server start`, kept whatever it holds.
    pub data_digest: String,
    /// A directory of a random name instead, removed when the server stops.
    pub temporary: bool,
    /// How the cluster is initialised.
    pub initdb: InitdbChoices,
    /// Listen on 127.0.0.1 as well, with scram and a random password.
    pub tcp: bool,
    /// The CPUs the server may use; all if absent. Linux only.
    pub cpus: Option<Vec<usize>>,
    /// Leave the server running when this program ends (`server start`).
    pub persistent: bool,
    /// The database to create if it is missing.
    pub database: String,
}

/// The choices of initdb that bear on measurements, the same for every release unless told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InitdbChoices {
    /// `--encoding`. UTF8: SQLite's texts are.
    pub encoding: String,
    /// `--locale`. C: every machine has it, and it compares bytes, as SQLite's BINARY does.
    pub locale: String,
    /// `--data-checksums`. On: the default since release 18, asked for before it as well.
    pub data_checksums: bool,
}

impl Default for InitdbChoices {
    fn default() -> Self {
        Self { encoding: "UTF8".to_owned(), locale: "C".to_owned(), data_checksums: true }
    }
}

impl InitdbChoices {
    /// One line for records: `UTF8 C checksums`.
    #[must_use]
    pub fn describe(&self) -> String {
        let checksums = if self.data_checksums { "checksums" } else { "no checksums" };
        format!("{} {} {checksums}", self.encoding, self.locale)
    }
}

impl StartOptions {
    /// Release `version` (`18`, `16.10`, `9.6`, `newest`) with its own settings on a Unix socket,
    /// ending with the program.
    pub fn new(version: &str) -> Result<Self, Error> {
        Ok(Self::for_version(version.parse()?))
    }

    fn for_version(version: VersionRequest) -> Self {
        Self {
            version,
            folder: None,
            settings: Vec::new(),
            common_settings: Vec::new(),
            data_digest: String::new(),
            temporary: false,
            initdb: InitdbChoices::default(),
            tcp: false,
            cpus: None,
            persistent: false,
            database: "crossover".to_owned(),
        }
    }

    /// For an engine as named in a plan or on the command line, with its settings.
    pub fn for_engine(engine: &EngineSpec) -> Result<Self, Error> {
        let mut options = match &engine.source {
            EngineSource::Postgres(version) => Self::for_version(version.clone()),
            EngineSource::PostgresFolder(folder) => {
                Self { folder: Some(folder.clone()), ..Self::for_version(VersionRequest::newest()) }
            }
            _ => return Err(Error::NotManaged { engine: engine.to_string() }),
        };
        let settings = engine.engine_settings();
        options.settings =
            settings.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        Ok(options)
    }

    /// The same on data of its own that is removed when the server stops: for tests and for
    /// engines that start empty.
    #[must_use]
    pub fn temporary(mut self) -> Self {
        self.temporary = true;
        self
    }
}
