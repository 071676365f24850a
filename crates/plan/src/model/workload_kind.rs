//! Kinds of workload, and the one table of what differs between them.

use serde::{Deserialize, Serialize};

use super::load_model::{CLIENTS_MAX, CONNECTIONS_MAX};
use crate::ResponseVariable;

/// The load of an experiment on its engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum WorkloadKind {
    /// Requests to an application over HTTP.
    Http,
    /// Statements that our own clients send to the engine itself.
    Sql,
    /// Blobs read and overwritten in databases and in files.
    Blob,
    /// Transactions on tables of our own making, by any number of clients.
    Oltp,
}

impl WorkloadKind {
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// As written in a plan and in a run's id.
    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn properties(self) -> WorkloadProperties {
        match self {
            Self::Http => WorkloadProperties {
                unit_of_work: "request",
                copies_data: true,
                has_application: true,
                connections_max: CONNECTIONS_MAX,
                ..USUAL
            },
            Self::Sql => {
                WorkloadProperties { unit_of_work: "statement", copies_data: true, ..USUAL }
            }
            Self::Blob => WorkloadProperties {
                unit_of_work: "blob",
                data_name: "blobs",
                sets_durability: true,
                syncs: true,
                ..USUAL
            },
            Self::Oltp => WorkloadProperties {
                unit_of_work: "transaction",
                is_shortened_by_budget: true,
                response: ResponseVariable::TransactionsPerSecond,
                failures_max: 0.01,
                ..USUAL
            },
        }
    }
}

/// Properties that decide elsewhere how a workload is treated, whatever the plan.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadProperties {
    /// The unit that a client asks for at a time.
    pub unit_of_work: &'static str,
    /// The data of a plan is copied into every engine, and answers are its rows.
    pub copies_data: bool,
    /// A name for the data of a server that `host` starts and fills, where neither the plan's data
    /// nor its commands name it: servers whose data has one name are one.
    pub data_name: &'static str,
    /// An application is between clients and the engine.
    pub has_application: bool,
    /// The plan sets what writes survive, so that this may be a factor.
    pub sets_durability: bool,
    /// `--budget` shortens a plan before it runs.
    pub is_shortened_by_budget: bool,
    /// A trial's writes are waited for until none is left in the page cache.
    pub syncs: bool,
    /// The response by which engines are compared.
    pub response: ResponseVariable,
    /// The share of operations that may fail unless the plan says otherwise.
    pub failures_max: f64,
    /// The most connections of open load unless the plan says otherwise.
    pub connections_max: u16,
}

const USUAL: WorkloadProperties = WorkloadProperties {
    unit_of_work: "",
    copies_data: false,
    data_name: "",
    has_application: false,
    sets_durability: false,
    is_shortened_by_budget: false,
    syncs: false,
    response: ResponseVariable::ResponseTimeMsMean,
    failures_max: 0.001,
    connections_max: CLIENTS_MAX,
};
