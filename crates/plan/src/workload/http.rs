//! Workload `http`: requests to an application.

use engine::{EngineSource, EngineSpec};

use super::{Operation, WorkloadRules};
use crate::{Plan, PlanError, is_safe};

pub(super) struct HttpRules<'p>(pub &'p Plan);

impl WorkloadRules for HttpRules<'_> {
    fn own_key(&self) -> Option<&'static str> {
        let source = self.0.request_source.as_ref().map(|_| "requests");
        (!self.0.requests.is_empty()).then_some("request").or(source)
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

    fn remedy_of_wrong_answer(&self, index: usize) -> Option<String> {
        let request = self.0.requests.get(index)?;
        let writes = self.0.requests.iter().filter(|one| !is_safe(&one.method));
        let names: Vec<&str> = writes.map(|one| one.name.as_str()).collect();
        let cause = match names.as_slice() {
            [] => "its answer is not the same every time".to_owned(),
            names => format!("{} of the same mix may change its answer", names.join(" or ")),
        };
        Some(format!(
            "{cause}; repair that, or compare less of {}: answer = \"status\" (bench http: --answer \
             status), or answer = {{ json_ignore = [\"/updated_at\"] }} (--json-ignore /updated_at)",
            request.name
        ))
    }

    /// An application that is started has to learn where it serves, and which database it uses: each
    /// engine's name stands for its own.
    fn check_commands(&self) -> Result<(), PlanError> {
        let application = &self.0.application;
        if self.0.engines.iter().all(runs_already) {
            return Ok(());
        }
        if application.listen_keys().is_empty() {
            let message = "holds none of {listen}, {port} and {host}, nor do environment, prepare \
                           and before, so the application would serve where it is not asked: write \
                           environment = { LISTEN = \"{listen}\" }, under the name that it reads \
                           (bench http: --environment 'LISTEN={listen}')";
            return Err(PlanError::impossible("application.start", message));
        }
        if application.database_keys().is_empty() && !application.own_database {
            let message = "holds no {database_url} or another form of the database's address, and no \
                           {engine}, nor do environment, prepare and before, so the application \
                           would use one database under every engine's name: write environment = { \
                           DATABASE_URL = \"{database_url}\" }, under the name that it reads (bench \
                           http: --environment 'DATABASE_URL={database_url}'), or own_database = \
                           true (--own-database) where it chooses its database by itself";
            return Err(PlanError::impossible("application.start", message));
        }
        Ok(())
    }
}

fn runs_already(engine: &EngineSpec) -> bool {
    matches!(engine.source, EngineSource::HttpUrl(_))
}

fn is_https(engine: &EngineSpec) -> bool {
    matches!(&engine.source, EngineSource::HttpUrl(url) if url.starts_with("https:"))
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
        self.check_ca_file()?;
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
    fn check_ca_file(&self) -> Result<(), PlanError> {
        let Some(path) = &self.application.ca_file else { return Ok(()) };
        let message = if !self.engines.iter().any(is_https) {
            "no engine is an https:// URL, so it changes nothing; leave it out".to_owned()
        } else if !path.is_file() {
            format!("there is no file {}; name one with certificates in PEM form", path.display())
        } else {
            return Ok(());
        };
        Err(PlanError::impossible("application.ca_file", message))
    }
}
