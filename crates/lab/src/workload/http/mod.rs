//! Workload `http`: requests to an application that stands on the engine's database, or to a
//! server that is known by its URL alone.

mod answers;
mod application;
mod difference;
mod plans;
mod probe;
mod reach;
mod requests;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::{EngineSource, EngineSpec};

use self::answers::Pass;
use self::application::{find_application, start_application, switch};
use self::plans::Explainer;
use self::probe::ReachProbe;
use self::reach::Reach;
use super::{Answers, Counters, Subject, Workload, WriteBack};
use crate::error::RunError;
use host::HostOptions;
use host::observe;
use host::process::ChildApplication;
use host::{self, DataUse, Database, DeployError, Distance, Site, is_tcp, needs_tcp};
use load::http::{Connection, HttpError, PreparedRequest, Target};
use load::resource::ServerSide;
use load::{self, Expected, TrialSample};
use plan::Levels;
use plan::LoadOptions;
use plan::{Plan, PlanError};
use record::{EngineRecord, OperationPlan};

/// An untimed request that takes longer has failed.
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

    /// An application opens its database by itself: a setting not passed to it has no effect.
    fn check_settings_are_passed(&self, engine: &EngineSpec) -> Result<(), DeployError> {
        let kind = engine.source.kind().properties();
        let why = if kind.is_application {
            "the application runs already, with the settings of its own start"
        } else if kind.is_hosted && kind.is_embedded && !self.plan.application.receives_settings() {
            "no word of application.start is {settings}, so the application never hears of it"
        } else {
            return Ok(());
        };
        let Some((setting, _)) = engine.engine_settings().next() else { return Ok(()) };
        Err(DeployError::NoEffect { engine: engine.label(), setting: setting.to_owned(), why })
    }
}

impl Workload for Http<'_> {
    fn check(&self, engine: &EngineSpec, options: &HostOptions<'_>) -> Result<(), RunError> {
        self.check_settings_are_passed(engine)?;
        match &engine.source {
            EngineSource::HttpUrl(url) => {
                let ca_file = self.plan.application.ca_file.as_deref();
                match (Target::trusting(url, ca_file), ca_file) {
                    (Err(HttpError::Tls { reason, .. }), Some(_)) => {
                        return Err(PlanError::impossible("application.ca_file", reason).into());
                    }
                    (target, _) => target.map_err(DeployError::from)?,
                };
            }
            EngineSource::PostgresUrl(url) if needs_tcp(self.plan) && !is_tcp(url) => {
                let message = format!(
                    "{engine}: {{jdbc_url}} works over TCP only; give host and port in the URL"
                );
                return Err(PlanError::impossible("engines", message).into());
            }
            _ => {
                host::check_copy(engine)?;
                host::check(engine, options)?;
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
        let before = &site.plan.application.before;
        let (engine, levels) = (engine.clone(), levels.clone());
        let expected = Answers::new();
        if let EngineSource::HttpUrl(url) = &engine.source {
            switch(site, before, "before", &engine, &levels, None, site.interrupted)?;
            let (record, target) = find_application(site, &engine, &levels, url)?;
            let (side, application, database) = (None, None, None);
            return Ok(Box::new(HttpSubject {
                site,
                engine,
                levels,
                record,
                target,
                side,
                application,
                database,
                distance: Distance::default(),
                reach: None,
                expected,
                explainer: None,
                ended: false,
            }));
        }
        let mut database = host::deploy(site, &engine, &levels, DataUse::Change)?;
        let distance = Distance::to_database(site, &database, &levels)?;
        let address = distance.address(&database)?;
        switch(site, before, "before", &engine, &levels, Some(&address), site.interrupted)?;
        let mut reach = Reach::watch(site, &engine, &levels, &database);
        let record = &mut database.record;
        let (application, target) = start_application(site, &engine, &levels, &address, record)?;
        reach.note_start(&application);
        let mut roots = vec![application.pid()];
        roots.extend(database.hosted.pids());
        Ok(Box::new(HttpSubject {
            site,
            engine,
            levels,
            record: database.record.clone(),
            target,
            side: (!database.out_of_sight).then_some(ServerSide { roots }),
            application: Some(application),
            database: Some(database),
            distance,
            reach: Some(reach),
            expected,
            explainer: None,
            ended: false,
        }))
    }
}

struct HttpSubject<'a> {
    site: &'a Site<'a>,
    engine: EngineSpec,
    levels: Levels,
    record: EngineRecord,
    target: Target,
    side: Option<ServerSide>,
    /// None where it is known by its URL alone.
    application: Option<ChildApplication>,
    database: Option<Database>,
    /// Between the application and its database.
    distance: Distance,
    /// Kept until load is offered; none where the database is unknown.
    reach: Option<Reach<'a>>,
    /// This engine's own answers, or those that it was found to agree with.
    expected: Answers,
    /// Tells plans until load is offered, or why there are none.
    explainer: Option<Result<Explainer<'a>, String>>,
    ended: bool,
}

impl Subject for HttpSubject<'_> {
    fn engine(&self) -> &EngineRecord {
        &self.record
    }

    fn side(&self) -> Option<&ServerSide> {
        self.side.as_ref()
    }

    fn data_paths(&self) -> &[PathBuf] {
        self.database.as_ref().map_or(&[], |database| &database.data_paths)
    }

    fn check_answers(&mut self, cells: &[Levels], answers: &mut Answers) -> Result<(), RunError> {
        let mut all = Vec::new();
        for levels in cells {
            all.extend(requests::of_cell(self.site.plan, levels, self.site.secret)?);
        }
        let distinct = requests::distinct(all);
        let mut reach = self.reach.take();
        let checked = self.pass().check_all(&distinct, reach.as_mut(), answers);
        self.reach = reach;
        checked?;
        self.distance.check_used()?;
        for request in distinct {
            if let Some(answer) = answers.get(&request.key()) {
                self.expected.insert(request.key(), *answer);
            }
        }
        Ok(())
    }

    fn load(&mut self, levels: &Levels, options: &LoadOptions) -> Result<TrialSample, RunError> {
        (self.explainer, self.reach) = (None, None);
        let cell = requests::of_cell(self.site.plan, levels, self.site.secret)?;
        let mut prepared = Vec::new();
        let mut expected = Vec::new();
        for request in &cell {
            // The untimed pass has seen every request of every cell.
            let answer = self.expected.get(&request.key()).copied();
            expected.push(answer.map_or(Expected::Alike(200), |answer| request.expected(answer)));
            let encoded = request.prepared(&self.target);
            prepared.push(encoded.map_err(|source| self.failed(&request.path, source))?);
        }
        let weights: Vec<u32> = self.site.plan.requests.iter().map(|one| one.weight).collect();
        let interrupted = self.site.interrupted;
        Ok(load::run(&self.target, &prepared, &weights, &expected, options, interrupted)?)
    }

    fn write_back(&mut self) -> Result<Option<WriteBack>, RunError> {
        match &self.database {
            Some(database) if !self.site.plan.only_reads() => {
                let checkpoint = database.hosted.checkpoint(self.site)?;
                Ok(checkpoint.map(|checkpoint| WriteBack { checkpoint, sync: None }))
            }
            _ => Ok(None),
        }
    }

    fn counters(&mut self) -> Counters {
        let runtime = self.site.runtime;
        let database = self.database.as_mut();
        let mut counters =
            database.map(|database| database.hosted.counters(runtime)).unwrap_or_default();
        counters.extend(self.distance.counters());
        counters.extend(self.metrics().unwrap_or_default());
        counters
    }

    fn plans(&mut self, levels: &Levels) -> Vec<OperationPlan> {
        let (site, database) = (self.site, self.database.as_ref());
        let explainer = self.explainer.get_or_insert_with(|| match database {
            Some(database) => Explainer::start(site, &self.engine, &self.levels, database),
            None => Err("the application is known by its URL alone".to_owned()),
        });
        match requests::of_cell(site.plan, levels, site.secret) {
            Ok(cell) => plans::of_cell(&cell, explainer),
            Err(_) => Vec::new(),
        }
    }

    fn after_turn(&mut self, levels: &Levels) -> Counters {
        let (Some(database), Some(application)) = (&self.database, &self.application) else {
            return Counters::new();
        };
        if self.site.plan.application.own_database {
            return Counters::new();
        }
        let Ok(cell) = requests::of_cell(self.site.plan, levels, self.site.secret) else {
            return Counters::new();
        };
        let weights = self.site.plan.requests.iter().map(|one| one.weight);
        let probe = ReachProbe {
            pass: self.pass(),
            activity: database.hosted.activity(self.site.runtime).ok(),
            application: ServerSide { roots: vec![application.pid()] },
            // What is written to a database of the user's stays there.
            writes: !self.engine.source.is_yours(),
        };
        probe.counters(cell.into_iter().zip(weights).collect())
    }

    fn check_alive(&mut self) -> Result<(), RunError> {
        self.distance.check_alive()?;
        if let Some(application) = &self.application {
            let known = application.check_at(&self.target, self.site.interrupted);
            known.map_err(DeployError::from)?;
        }
        Ok(self.database.as_mut().map_or(Ok(()), |database| database.hosted.check_alive())?)
    }

    /// Stops the application, then the server, and switches a remote application back.
    fn retire(mut self: Box<Self>) -> Result<(), RunError> {
        self.end()
    }
}

impl HttpSubject<'_> {
    fn pass(&self) -> Pass<'_> {
        Pass {
            engine: &self.record.name,
            target: &self.target,
            timeout: self.site.plan.load.timeout(),
            kept: self.site.scratch,
            interrupted: self.site.interrupted,
        }
    }

    /// The engine's counters as the application reports them, if the plan has a path for that.
    fn metrics(&self) -> Option<Counters> {
        let path = self.site.plan.application.metrics.as_str();
        let request = PreparedRequest::get(&self.target, "metrics", path, &[]).ok()?;
        let open = Connection::open(&self.target, REQUEST_TIMEOUT, self.site.interrupted);
        let fetched = (!path.is_empty()).then(|| open.ok()?.fetch(&request).ok())??;
        Some(observe::from_metrics(&String::from_utf8_lossy(&fetched.body)))
    }

    fn failed(&self, path: &str, source: HttpError) -> RunError {
        let engine = self.record.name.clone();
        RunError::Request { engine, path: path.to_owned(), source }
    }

    /// A process that has been stopped already is left alone.
    fn end(&mut self) -> Result<(), RunError> {
        (self.explainer, self.reach) = (None, None);
        if self.ended {
            return Ok(());
        }
        self.ended = true;
        if let Some(application) = self.application.take() {
            application.stop(STOP_GRACE);
        }
        let after = &self.site.plan.application.after;
        let database = self.database.as_ref();
        let address = database.map(|database| self.distance.address(database)).transpose()?;
        // Switched back even where the user asked to stop.
        let going_on = AtomicBool::new(false);
        let (site, address) = (self.site, address.as_ref());
        let back = switch(site, after, "after", &self.engine, &self.levels, address, &going_on);
        if let Some(database) = self.database.take() {
            database.hosted.drop_copy(self.site);
            database.hosted.retire(self.site.runtime)?;
        }
        Ok(back?)
    }
}

impl Drop for HttpSubject<'_> {
    /// A run that breaks off leaves a remote application as it found it, too.
    fn drop(&mut self) {
        let _ = self.end();
    }
}
