//! Workload `http`: requests to an application that stands on the engine's database, or to a
//! server that is known by its URL alone.

mod answers;
mod application;
mod requests;

use std::path::PathBuf;
use std::time::Duration;

use engine::EngineSpec;

use super::{Answers, Operation, Subject, Workload};
use crate::deployment::{self, Database, Site};
use crate::http::{HttpError, Target};
use crate::load::{self, LoadOptions, TrialSample};
use crate::plan::Plan;
use crate::process::Application;
use crate::record::EngineRecord;
use crate::resource::ServerSide;
use crate::run::{RunError, RunOptions};
use crate::schedule::Levels;

/// A request that takes longer is a failure.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(300);
/// An application that has not ended by then is killed.
const STOP_GRACE: Duration = Duration::from_secs(10);

/// The requests of a plan.
pub(crate) struct Http<'p> {
    plan: &'p Plan,
}

impl<'p> Http<'p> {
    pub(crate) fn new(plan: &'p Plan) -> Self {
        Self { plan }
    }
}

impl Workload for Http<'_> {
    fn operations(&self) -> Vec<Operation> {
        let requests = self.plan.requests.iter();
        requests.map(|one| Operation { name: one.name.clone(), weight: one.weight }).collect()
    }

    fn texts(&self) -> Vec<String> {
        let requests = self.plan.requests.iter();
        requests
            .flat_map(|one| [&one.path].into_iter().chain(one.headers.values()))
            .cloned()
            .collect()
    }

    fn check(&self, engine: &EngineSpec, options: &RunOptions<'_>) -> Result<(), RunError> {
        Ok(deployment::check(engine, options)?)
    }

    fn deploy<'a>(
        &'a self,
        site: &'a Site<'a>,
        engine: &EngineSpec,
        levels: &Levels,
    ) -> Result<Box<dyn Subject + 'a>, RunError> {
        let mut database = site.database(engine, levels)?;
        let (application, target) = site.start_application(engine, levels, &mut database)?;
        let mut roots = vec![application.pid()];
        roots.extend(database.pid());
        let side = (!database.out_of_sight).then_some(ServerSide { roots });
        let expected = Answers::new();
        Ok(Box::new(HttpSubject { site, target, side, application, database, expected }))
    }
}

/// An application that answers.
struct HttpSubject<'a> {
    site: &'a Site<'a>,
    /// Where it listens.
    target: Target,
    side: Option<ServerSide>,
    application: Application,
    database: Database,
    /// What this engine's own answers were, or those that it was found to agree with.
    expected: Answers,
}

impl Subject for HttpSubject<'_> {
    fn engine(&self) -> &EngineRecord {
        &self.database.record
    }

    fn side(&self) -> Option<&ServerSide> {
        self.side.as_ref()
    }

    fn data_paths(&self) -> &[PathBuf] {
        &self.database.data_paths
    }

    fn check_answers(&mut self, cells: &[Levels], answers: &mut Answers) -> Result<(), RunError> {
        let mut distinct = Vec::new();
        for levels in cells {
            distinct.extend(requests::of_cell(self.site.plan, levels, self.site.secret)?);
        }
        let (engine, interrupted) = (&self.database.record.name, self.site.interrupted);
        answers::check(engine, &self.target, &distinct, answers, REQUEST_TIMEOUT, interrupted)?;
        for request in distinct {
            if let Some(answer) = answers.get(&request.path) {
                self.expected.insert(request.path, *answer);
            }
        }
        Ok(())
    }

    fn load(&mut self, levels: &Levels, options: &LoadOptions) -> Result<TrialSample, RunError> {
        let cell = requests::of_cell(self.site.plan, levels, self.site.secret)?;
        let mut prepared = Vec::new();
        let mut expected = Vec::new();
        for request in &cell {
            expected.push(answers::expected(request, &self.expected));
            let encoded = request.prepared(&self.target);
            prepared.push(encoded.map_err(|source| self.failed(&request.path, source))?);
        }
        let weights: Vec<u32> = self.site.plan.requests.iter().map(|one| one.weight).collect();
        let interrupted = self.site.interrupted;
        Ok(load::run(&self.target, &prepared, &weights, &expected, options, interrupted)?)
    }

    fn check_alive(&mut self) -> Result<(), RunError> {
        Ok(self.application.check().map_err(deployment::DeployError::from)?)
    }

    /// Stops the application, then the server.
    fn retire(self: Box<Self>) -> Result<(), RunError> {
        self.application.stop(STOP_GRACE);
        Ok(self.database.retire(self.site.runtime)?)
    }
}

impl HttpSubject<'_> {
    fn failed(&self, path: &str, source: HttpError) -> RunError {
        let engine = self.database.record.name.clone();
        RunError::Request { engine, path: path.to_owned(), source }
    }
}
