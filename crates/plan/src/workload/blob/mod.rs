//! Workload `blob`: blobs read and overwritten in databases and in files.

mod cell;
mod repeated;
mod storage;

use engine::{EngineKind, KindProperties};

use super::{Operation, WorkloadRules};
use crate::ConnectionUse;
use crate::{Blob, BlobOperation, Data, Levels, LoadModel, Plan, PlanError, WorkloadKind};

pub use storage::{BlobStorage, StorageForm};

pub(super) struct BlobRules<'p>(pub &'p Plan);

impl WorkloadRules for BlobRules<'_> {
    fn operations(&self) -> Vec<Operation> {
        vec![Operation::only(WorkloadKind::Blob)]
    }

    fn own_key(&self) -> Option<&'static str> {
        self.0.blob.as_ref().map(|_| "blob")
    }

    fn only_reads(&self) -> bool {
        self.0.cells().iter().all(|levels| {
            self.0.blob_at(levels).is_ok_and(|cell| cell.operation == BlobOperation::Read)
        })
    }

    fn texts(&self) -> Vec<(String, String)> {
        self.start_texts().into_iter().map(|text| ("blob".to_owned(), text)).collect()
    }

    fn start_texts(&self) -> Vec<String> {
        self.0.blob.iter().flat_map(Blob::texts_for_all).collect()
    }

    fn start_texts_of(&self, kind: EngineKind) -> Vec<String> {
        let KindProperties { is_embedded, has_files, .. } = kind.properties();
        let has_pages = is_embedded && !has_files;
        let of_sqlite = self.0.blob.iter().filter(|_| has_pages);
        of_sqlite.map(|blob| blob.page_bytes.to_string()).collect()
    }

    fn data_texts(&self) -> Vec<String> {
        self.0.blob.iter().flat_map(Blob::texts_of_data).collect()
    }

    fn own_data(&self) -> Option<String> {
        self.0.blob.as_ref().map(|blob| format!("{blob:?}"))
    }

    fn answers_per_round(&self, levels: &Levels) -> f64 {
        self.0.blob_at(levels).map_or(0.0, |cell| cell.per_pass as f64)
    }

    fn is_cold(&self, levels: &Levels) -> bool {
        self.0.blob_at(levels).is_ok_and(|cell| cell.cold)
    }

    fn repeats(&self, index: usize, cell: &Levels) -> bool {
        repeated::repeats(self.0, index, cell)
    }

    fn check(&self) -> Result<(), PlanError> {
        let plan = self.0;
        let load = &plan.load;
        let refused = [
            (plan.data != Data::Present, "data", "is made by workload blob; leave it out"),
            (load.model == LoadModel::Open, "load.model", "is closed in workload blob"),
            (
                load.connection == ConnectionUse::PerRequest,
                "load.connection",
                "is per_client in workload blob",
            ),
            (
                load.think_time.is_some() || plan.factors.contains_key("think_time"),
                "load.think_time",
                "has no place in workload blob",
            ),
        ];
        if let Some((_, key, why)) = refused.into_iter().find(|(wrong, ..)| *wrong) {
            return Err(PlanError::impossible(key, why));
        }
        for levels in plan.cells() {
            let cell = plan.blob_at(&levels)?;
            let clients = crate::clients(&levels);
            if cell.operation == BlobOperation::Update && (clients > 1 || cell.cold) {
                let (key, what) = match cell.cold {
                    true => ("blob.cache", "cold caches are for reads"),
                    false => ("factors.clients", "one client at a time updates"),
                };
                let message = format!("{what}; measure updates in a plan of their own");
                return Err(PlanError::impossible(key, message));
            }
        }
        Ok(())
    }
}
