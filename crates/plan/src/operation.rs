//! Operations of a plan's mix, whatever its workload, and the texts in which placeholders stand.

use crate::oltp::LOAD_FACTORS;
use crate::schedule;
use crate::{Blob, BlobOperation, Plan, WorkloadKind, is_safe};

/// One operation of the mix: a request, a statement, a transaction. In an observation,
/// `request` is its index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// A short name for tables, unique in the mix.
    pub name: String,
    /// How often it is done in a round.
    pub weight: u32,
}

impl Plan {
    /// The mix of the workload, in the order of the plan.
    pub fn operations(&self) -> Vec<Operation> {
        let named = |(name, weight): (&str, u32)| Operation { name: name.to_owned(), weight };
        match self.workload {
            WorkloadKind::Http => {
                self.requests.iter().map(|one| named((&one.name, one.weight))).collect()
            }
            WorkloadKind::Sql => {
                self.statements.iter().map(|one| named((&one.name, one.weight))).collect()
            }
            WorkloadKind::Blob => vec![named(("blob", 1))],
            WorkloadKind::Oltp => vec![named(("transaction", 1))],
        }
    }

    /// Whether nothing is written, as far as the plan shows; where it does not, writes are taken for
    /// possible.
    pub fn only_reads(&self) -> bool {
        let reads = |sql: &String| {
            let sql = sql.trim_start().to_ascii_lowercase();
            sql.starts_with("select") || sql.starts_with("values")
        };
        match self.workload {
            WorkloadKind::Http => self.requests.iter().all(|request| is_safe(&request.method)),
            WorkloadKind::Blob => schedule::first_cells(self).iter().all(|levels| {
                self.blob_at(levels).is_ok_and(|cell| cell.operation == BlobOperation::Read)
            }),
            WorkloadKind::Oltp => {
                self.mixes().is_ok_and(|mixes| mixes.into_iter().all(|mix| !mix.writes()))
            }
            WorkloadKind::Sql => self.statements.iter().all(|one| {
                !one.texts.is_empty() && one.texts.values().all(reads)
                    || one.texts.is_empty() && reads(&one.text)
            }),
        }
    }

    /// Every text of the mix in which a placeholder may stand, with its key in the plan.
    pub fn texts(&self) -> Vec<(String, String)> {
        match self.workload {
            WorkloadKind::Http => self.texts_of_requests(),
            WorkloadKind::Sql => self.texts_of_statements(),
            WorkloadKind::Blob => {
                let texts = self.blob.iter().flat_map(Blob::texts_for_all);
                texts.map(|text| ("blob".to_owned(), text)).collect()
            }
            WorkloadKind::Oltp => {
                let acting = LOAD_FACTORS.iter().filter(|name| self.factors.contains_key(**name));
                acting.map(|name| (format!("oltp.{name}"), format!("{{{name}}}"))).collect()
            }
        }
    }

    fn texts_of_requests(&self) -> Vec<(String, String)> {
        let requests = self.requests.iter().enumerate();
        let texts = requests.flat_map(|(index, one)| {
            one.texts().map(move |(key, text)| (format!("request.{index}.{key}"), text.to_owned()))
        });
        texts.collect()
    }

    fn texts_of_statements(&self) -> Vec<(String, String)> {
        let mut texts = Vec::new();
        for (index, statement) in self.statements.iter().enumerate() {
            let key = format!("statement.{index}.text");
            texts.extend(statement.all_texts().map(|text| (key.clone(), text.clone())));
            // A factor may be a bound parameter as well.
            let names = self.factors.keys().chain(self.constants.keys());
            let names = names.filter(|name| statement.binds(name));
            texts.extend(names.map(|name| (key.clone(), format!("{{{name}}}"))));
            if self.constants.contains_key("start") && statement.binds("end") {
                texts.push((key, "{end}".to_owned()));
            }
        }
        texts
    }
}
