//! Database with its data, settled and ready for connections.

use std::any::Any;
use std::path::PathBuf;
use std::time::Duration;

use engine::EngineSpec;
use record::{Counters, EngineRecord};

use crate::activity::Activity;
use crate::address::Address;
use crate::error::DeployError;
use crate::site::Site;

/// The use that a workload makes of its database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataUse {
    /// It only reads, so it has the filled database itself.
    Read,
    /// It may change data, so it has a copy.
    Change,
}

/// The verbs of an engine for one of its databases. Its folder has them.
pub trait HostedDatabase: Any {
    fn address(&self) -> Address;

    /// Copies the template, if there is one, in place of the last copy, and leaves the database with
    /// fresh statistics and nothing to write. The folder or file of a new copy.
    fn renew(&mut self, site: &Site<'_>) -> Result<Option<PathBuf>, DeployError>;

    /// Removes the copy, as far as the engine still answers.
    fn drop_copy(&self, site: &Site<'_>);

    /// Brings what a writing trial has left unwritten to its place, which belongs to the trial. How
    /// long that took; none on a server of the user's where we may not.
    fn checkpoint(&self, site: &Site<'_>) -> Result<Option<Duration>, DeployError>;

    /// Begins to look at who uses the database, or says why that cannot be seen.
    fn activity(&self, runtime: &tokio::runtime::Handle) -> Result<Box<dyn Activity>, String>;

    /// Bytes of the database, and whether it has statistics; none where they cannot be read.
    fn facts(&self, runtime: &tokio::runtime::Handle) -> Option<(u64, Option<bool>)>;

    /// The engine's own; none of SQLite, which only connections count for.
    fn counters(&mut self, _runtime: &tokio::runtime::Handle) -> Counters {
        Counters::new()
    }

    /// The first processes of what we started for it: a server, and a pool before it.
    fn pids(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Whether the server still runs, if one was started for it. An application that lives on
    /// without its database only answers with errors.
    fn check_alive(&mut self) -> Result<(), DeployError> {
        Ok(())
    }

    /// Stops the server, if one was started for it.
    fn retire(self: Box<Self>, _runtime: &tokio::runtime::Handle) -> Result<(), DeployError> {
        Ok(())
    }
}

/// A database with its data, settled and ready for connections.
pub struct Database {
    pub record: EngineRecord,
    /// Folders or files with the data; none where they are out of sight.
    pub data_paths: Vec<PathBuf>,
    /// A server of the user's: its processes are not ours to count or to stop.
    pub out_of_sight: bool,
    pub hosted: Box<dyn HostedDatabase>,
}

impl Database {
    pub(crate) fn new(
        engine: &EngineSpec,
        record: EngineRecord,
        data_paths: Vec<PathBuf>,
        hosted: impl HostedDatabase,
    ) -> Self {
        let record = EngineRecord { name: engine.label(), ..record };
        Self { record, data_paths, out_of_sight: false, hosted: Box::new(hosted) }
    }

    /// The database as that of one engine, if it is.
    pub(crate) fn downcast<T: HostedDatabase>(&self) -> Option<&T> {
        let hosted: &dyn Any = &*self.hosted;
        hosted.downcast_ref()
    }

    pub(crate) fn downcast_mut<T: HostedDatabase>(&mut self) -> Option<&mut T> {
        let hosted: &mut dyn Any = &mut *self.hosted;
        hosted.downcast_mut()
    }

    /// Makes the copy of a database that may be changed again, with statistics of its own and
    /// nothing left to write. A filled database is a template: nothing that is measured writes to
    /// it, and each copy is checked against what was noted when the template was filled.
    pub fn renew(&mut self, site: &Site<'_>) -> Result<(), DeployError> {
        if let Some(copy) = self.hosted.renew(site)? {
            self.data_paths = vec![copy];
        }
        Ok(())
    }

    /// Notes size and statistics. Facts that cannot be read stay unknown; the next use of the
    /// database will report why.
    pub(crate) fn note_facts(&mut self, runtime: &tokio::runtime::Handle) {
        if let Some((bytes, statistics)) = self.hosted.facts(runtime) {
            self.record.data_bytes = Some(bytes);
            self.record.statistics_present = statistics;
        }
    }
}

/// A template of copies: the filled database, and what it held when it was filled.
#[derive(Clone, Debug)]
pub struct Template<P> {
    pub place: P,
    pub contents: String,
}

impl<P> Template<P> {
    /// Refuses a copy that holds anything other.
    pub fn compare(&self, engine: &str, copy: String) -> Result<(), DeployError> {
        if self.contents == copy {
            return Ok(());
        }
        let (engine, template) = (engine.to_owned(), self.contents.clone());
        Err(DeployError::CopyDiffers { engine, template, copy })
    }
}

pub(crate) fn say_copying(site: &Site<'_>, engine: &EngineSpec) {
    site.progress.set_message(format!("copying the data of {}", engine.label()));
}
