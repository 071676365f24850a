//! Workload `http`: requests to an application.

use engine::{EngineSource, EngineSpec};

use super::{Operation, WorkloadRules};
use crate::load_model::CONNECTIONS_MAX;
use crate::{Plan, PlanError, is_safe};

pub(super) struct HttpRules<'p>(pub &'p Plan);

impl WorkloadRules for HttpRules<'_> {
    fn unit_of_work(&self) -> &'static str {
        "request"
    }

    fn own_key(&self) -> Option<&'static str> {
        let source = self.0.request_source.as_ref().map(|_| "requests");
        (!self.0.requests.is_empty()).then_some("request").or(source)
    }

    fn filling(&self) -> &'static str {
        ""
    }

    fn own_data(&self) -> Option<String> {
        None
    }

    fn only_reads(&self) -> bool {
        self.0.requests.iter().all(|request| is_safe(&request.method))
    }

    fn texts(&self) -> Vec<(String, String)> {
        let requests = self.0.requests.iter().enumerate();
        let texts = requests.flat_map(|(index, one)| {
            one.texts().map(move |(key, text)| (format!("request.{index}.{key}"), text.to_owned()))
        });
        texts.collect()
    }

    fn operations(&self) -> Vec<Operation> {
        let requests = self.0.requests.iter();
        requests.map(|one| Operation { name: one.name.clone(), weight: one.weight }).collect()
    }

    fn copies_data(&self) -> bool {
        true
    }

    fn has_application(&self) -> bool {
        true
    }

    fn connections_max(&self) -> u16 {
        CONNECTIONS_MAX
    }
}

impl Plan {
    pub(super) fn resolve_http(&mut self) -> Result<(), PlanError> {
        if self.requests.is_empty() {
            let message = "there is none; write [[request]] and path = \"/\"";
            return Err(PlanError::impossible("request", message));
        }
        for (index, request) in self.requests.iter_mut().enumerate() {
            request.resolve(index)?;
        }
        let runs_already = |engine: &EngineSpec| matches!(engine.source, EngineSource::HttpUrl(_));
        match self.engines.iter().find(|engine| !runs_already(engine)) {
            Some(engine) if self.application.start.is_empty() => {
                let message = format!(
                    "is missing for {engine}: give the command that serves, \
                     or name applications that run already by their http:// URLs"
                );
                Err(PlanError::impossible("application.start", message))
            }
            _ => Ok(()),
        }
    }
}
