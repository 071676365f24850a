//! Rules of each workload for its plans, a file or folder each: operations, checks, and how it differs
//! from the others. The laboratory carries them out (`lab::workload`).

mod blob;
mod http;
mod oltp;
mod sql;

use engine::EngineKind;

use crate::{Levels, Plan, PlanError, ResponseVariable, WorkloadKind};

pub use blob::{BlobStorage, StorageForm};

/// One operation of the mix: a request, a statement, a transaction. In an observation,
/// `request` is its index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// A short name for tables, unique in the mix.
    pub name: String,
    /// How often it is done in a round.
    pub weight: u32,
}

impl Operation {
    /// The only one of a workload whose mix has no parts.
    fn only(workload: WorkloadKind) -> Self {
        Self { name: workload.properties().unit_of_work.to_owned(), weight: 1 }
    }
}

/// Rules of a workload for its plans. A method has a default here where most workloads are alike.
pub trait WorkloadRules {
    /// A key of the plan that has a meaning in this workload alone, where the plan has one.
    fn own_key(&self) -> Option<&'static str>;

    /// Whether nothing is written, as far as the plan shows; where it does not, writes are taken for
    /// possible.
    fn only_reads(&self) -> bool;

    /// Every text of the mix in which a placeholder may stand, with its key in the plan.
    fn texts(&self) -> Vec<(String, String)>;

    /// A description of the data that the workload makes itself: part of the digest by which runs are
    /// compared.
    fn own_data(&self) -> Option<String>;

    /// Checks the workload's own keys at every planned cell. Factors are resolved.
    fn check(&self) -> Result<(), PlanError> {
        Ok(())
    }

    /// Checks the application's commands, whose placeholders are known to exist.
    fn check_commands(&self) -> Result<(), PlanError> {
        Ok(())
    }

    /// The mix, in the order of the plan.
    fn operations(&self) -> Vec<Operation>;

    /// Whether operation number `index` is not done at `levels`.
    fn is_left_out(&self, _index: usize, _levels: &Levels) -> bool {
        false
    }

    /// The way out where the answers to an operation are not all the same.
    fn remedy_of_wrong_answer(&self, _index: usize) -> Option<String> {
        None
    }

    /// Texts whose placeholders need a new start of every engine.
    fn start_texts(&self) -> Vec<String> {
        Vec::new()
    }

    /// The same of engines of one kind.
    fn start_texts_of(&self, _kind: EngineKind) -> Vec<String> {
        Vec::new()
    }

    /// Texts whose placeholders decide which data an engine holds.
    fn data_texts(&self) -> Vec<String> {
        Vec::new()
    }

    /// How many answers a client gets in a round.
    fn answers_per_round(&self, _levels: &Levels) -> f64 {
        self.operations().iter().map(|one| f64::from(one.weight)).sum()
    }

    /// How many answers of the engine an operation waits for, one after the other.
    fn waits_per_operation(&self, _levels: &Levels) -> u64 {
        1
    }

    /// Whether caches are emptied before a trial.
    fn is_cold(&self, _levels: &Levels) -> bool {
        false
    }

    /// Whether an earlier line does at `cell` just what line number `index` does, so that this one
    /// is not measured there.
    fn repeats(&self, _index: usize, _cell: &Levels) -> bool {
        false
    }
}

fn rules_of(kind: WorkloadKind, plan: &Plan) -> Box<dyn WorkloadRules + '_> {
    match kind {
        WorkloadKind::Http => Box::new(http::HttpRules(plan)),
        WorkloadKind::Sql => Box::new(sql::SqlRules(plan)),
        WorkloadKind::Blob => Box::new(blob::BlobRules(plan)),
        WorkloadKind::Oltp => Box::new(oltp::OltpRules(plan)),
    }
}

impl Plan {
    /// The rules of its workload.
    pub fn rules(&self) -> Box<dyn WorkloadRules + '_> {
        rules_of(self.workload, self)
    }

    /// The mix of the workload, in the order of the plan.
    pub fn operations(&self) -> Vec<Operation> {
        self.rules().operations()
    }

    /// The mix at `levels`: operations that are not done there have the weight 0.
    pub fn operations_at(&self, levels: &Levels) -> Vec<Operation> {
        let rules = self.rules();
        let mut operations = rules.operations();
        for (index, operation) in operations.iter_mut().enumerate() {
            if rules.is_left_out(index, levels) {
                operation.weight = 0;
            }
        }
        operations
    }

    /// Whether nothing is written, as far as the plan shows.
    pub fn only_reads(&self) -> bool {
        self.rules().only_reads()
    }

    /// The response by which the engines of this plan are compared.
    pub fn response(&self) -> ResponseVariable {
        self.own_response.unwrap_or(self.workload.properties().response)
    }

    /// The unit that a client asks for at a time.
    pub fn unit_of_work(&self) -> &'static str {
        match self.response() {
            ResponseVariable::TransactionsPerSecond => "transaction",
            _ => self.workload.properties().unit_of_work,
        }
    }

    /// The share of requests that may fail without costing a treatment its verdict.
    pub fn failures_max(&self) -> f64 {
        self.max_failures.map_or_else(|| self.workload.properties().failures_max, |share| share.0)
    }

    /// A name for the data where no file holds it: the commands that fill the engines, constants filled
    /// in, and the rows that the workload makes. A constant that stands elsewhere, as in the URL of an
    /// engine, makes no other data: answers are compared all the same.
    pub fn declared_data(&self) -> String {
        let filled = |word: &String| {
            let constants = self.constants.iter();
            constants.fold(word.clone(), |word, (name, value)| {
                word.replace(&format!("{{{name}}}"), value)
            })
        };
        let commands = self.application.prepare.iter();
        let commands: Vec<Vec<String>> =
            commands.map(|words| words.iter().map(filled).collect()).collect();
        let own = self.rules().own_data().unwrap_or_default();
        format!("{commands:?} {own}")
    }

    /// Refuses keys of other workloads, which would have no effect.
    pub(crate) fn refuse_foreign_keys(&self) -> Result<(), PlanError> {
        let others = WorkloadKind::ALL.iter().filter(|kind| **kind != self.workload);
        let mut foreign = others.filter_map(|kind| Some((kind, rules_of(*kind, self).own_key()?)));
        match foreign.next() {
            None => Ok(()),
            Some((kind, key)) => {
                let message = format!("belongs to workload = \"{}\"", kind.name());
                Err(PlanError::impossible(key, message))
            }
        }
    }

    /// Checks what needs no factor, and fills in what is left open.
    pub(crate) fn resolve_workload(&mut self) -> Result<(), PlanError> {
        match self.workload {
            WorkloadKind::Http => self.resolve_http(),
            WorkloadKind::Sql => Ok(()),
            WorkloadKind::Blob => {
                self.blob.get_or_insert_default();
                Ok(())
            }
            WorkloadKind::Oltp => self.resolve_oltp(),
        }
    }
}
