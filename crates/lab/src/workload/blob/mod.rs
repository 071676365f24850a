//! Workload `blob`: blobs read and overwritten in a database or in files, by the accesses of crate
//! `blob` in this process, or by a thin connection to PostgreSQL.

mod deploy;
mod opening;
mod postgres;
mod session;
mod session_error;
mod store;
mod subject;
mod trial;
mod watch;

use std::time::Duration;

use engine::EngineSpec;

use super::{Subject, Workload};
use crate::error::RunError;
use host::HostOptions;
use host::{self, Site};
use plan::Levels;
use plan::PlannedTrial;
use plan::{BlobCell, BlobOperation, BlobStorage, Plan, PlanError, StorageForm};

use subject::BlobSubject;

/// About what a turn at `cell` takes beside its trial, where a gigabyte is read in a second and
/// written in two and a half: for reads the files read, a pass that is not recorded and one that
/// compares every byte; for updates a copy, a transaction that is not recorded, the comparison, files
/// put back, and waiting until all of that is on storage. A server takes several times as long.
fn seconds_beside(cell: &BlobCell) -> f64 {
    let (count, gigabytes) = (cell.count as f64, (cell.count * cell.bytes) as f64 / 1e9);
    match cell.operation {
        BlobOperation::Read => 1.0 + 15e-6 * count + 2.0 * gigabytes,
        BlobOperation::Update => 1.5 + 20e-6 * count + 5.0 * gigabytes,
    }
}

/// The blobs of a plan.
pub(crate) struct Blobs<'p> {
    plan: &'p Plan,
}

impl<'p> Blobs<'p> {
    pub(crate) fn new(plan: &'p Plan) -> Self {
        Self { plan }
    }
}

impl Workload for Blobs<'_> {
    fn check(&self, engine: &EngineSpec, options: &HostOptions<'_>) -> Result<(), RunError> {
        self.plan.refuse_repeated_lines()?;
        let mut checked = Vec::new();
        for levels in self.plan.cells() {
            let cell = self.plan.blob_at(&levels)?;
            let (engine, line) = BlobStorage::at(engine, &cell)?;
            if cell.cold && line.form == StorageForm::Postgres {
                let message = format!(
                    "{} keeps blobs in memory of its own, so workload blob does not measure it cold",
                    engine.label()
                );
                return Err(PlanError::impossible("blob.cache", message).into());
            }
            let server_or_database =
                matches!(line.form, StorageForm::Postgres | StorageForm::Sqlite(_));
            if server_or_database && !checked.contains(&engine) {
                host::check(&engine, options)?;
                checked.push(engine);
            }
        }
        Ok(())
    }

    fn deploy<'a>(
        &'a self,
        site: &'a Site<'a>,
        engine: &EngineSpec,
        levels: &Levels,
    ) -> Result<Box<dyn Subject + 'a>, RunError> {
        let deployed = deploy::deploy(site, engine, levels)?;
        Ok(Box::new(BlobSubject::new(site, deployed)?))
    }

    fn seconds_per_start(&self, trials: &[PlannedTrial], starts: usize) -> u64 {
        let cells = trials.iter().filter_map(|trial| self.plan.blob_at(&trial.levels).ok());
        let seconds: f64 = cells.map(|cell| seconds_beside(&cell)).sum();
        Duration::from_secs_f64((seconds / starts.max(1) as f64).ceil()).as_secs()
    }
}
