//! A world without servers and without time: engines that answer as a function says, a clock that
//! their answers move.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::EngineSpec;
use host::observe::{Quiet, QuietWait};
use host::{HostOptions, Site};
use indicatif::ProgressBar;
use load::resource::{ServerSide, ThreadUse};
use load::{OperationTotals, TrialSample};
use plan::{Levels, LoadOptions, Mode, Plan};
use record::{EngineRecord, Finished, Observation, Outcome};
use server::Locations;

use crate::error::RunError;
use crate::options::{ExpectedEnd, RunOptions, TimeLimit};
use crate::run::world::{Laboratory, World};
use crate::run::{resume_in, start_in};
use crate::workload::{Answers, Subject, Workload};

/// Seconds of one answer, by engine, levels and how many trials were measured before.
pub type ResponseSeconds = dyn Fn(&str, &Levels, usize) -> f64;

/// What happens besides answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incident {
    None,
    /// The user interrupts the run in the trial of this number, from 1.
    Interrupt(usize),
    /// The engine ends in it.
    EngineEnds(usize),
}

pub struct MockWorld<'a> {
    begun: Instant,
    passed: Cell<Duration>,
    response: &'a ResponseSeconds,
    pub incident: Cell<Incident>,
    pub interrupted: AtomicBool,
    /// The starts of engines in their order.
    pub starts: RefCell<Vec<String>>,
    /// Engine and levels of each measured load.
    pub loads: RefCell<Vec<(String, Levels)>>,
}

impl<'a> MockWorld<'a> {
    pub fn new(response: &'a ResponseSeconds) -> Self {
        Self {
            begun: Instant::now(),
            passed: Cell::default(),
            response,
            incident: Cell::new(Incident::None),
            interrupted: AtomicBool::new(false),
            starts: RefCell::default(),
            loads: RefCell::default(),
        }
    }
}

impl World for MockWorld<'_> {
    fn workload<'p>(&'p self, _plan: &'p Plan) -> Box<dyn Workload + 'p> {
        Box::new(MockWorkload(self))
    }

    fn now(&self) -> Instant {
        self.begun + self.passed.get()
    }

    fn wait_for_quiet(
        &self,
        _quiet: &Quiet,
        _side: Option<&ServerSide>,
        _interrupted: &AtomicBool,
        _tell: &dyn Fn(String),
    ) -> QuietWait {
        QuietWait::default()
    }
}

struct MockWorkload<'w>(&'w MockWorld<'w>);

impl Workload for MockWorkload<'_> {
    fn check(&self, _engine: &EngineSpec, _options: &HostOptions<'_>) -> Result<(), RunError> {
        Ok(())
    }

    fn deploy<'a>(
        &'a self,
        _site: &'a Site<'a>,
        engine: &EngineSpec,
        _levels: &Levels,
    ) -> Result<Box<dyn Subject + 'a>, RunError> {
        self.0.starts.borrow_mut().push(engine.label());
        let record = EngineRecord { name: engine.label(), ..EngineRecord::default() };
        Ok(Box::new(MockSubject { world: self.0, record, has_ended: false }))
    }
}

struct MockSubject<'w> {
    world: &'w MockWorld<'w>,
    record: EngineRecord,
    has_ended: bool,
}

impl Subject for MockSubject<'_> {
    fn engine(&self) -> &EngineRecord {
        &self.record
    }

    fn side(&self) -> Option<&ServerSide> {
        None
    }

    fn data_paths(&self) -> &[PathBuf] {
        &[]
    }

    fn check_answers(&mut self, _cells: &[Levels], _answers: &mut Answers) -> Result<(), RunError> {
        Ok(())
    }

    fn includes_warm_up(&self) -> bool {
        true
    }

    fn load(&mut self, levels: &Levels, options: &LoadOptions) -> Result<TrialSample, RunError> {
        let world = self.world;
        let before = world.loads.borrow().len();
        let seconds = Duration::from_secs_f64((world.response)(&self.record.name, levels, before));
        assert!(matches!(options.mode, Mode::Passes(1)), "{:?}", options.mode);
        world.passed.set(world.passed.get() + seconds);
        world.loads.borrow_mut().push((self.record.name.clone(), levels.clone()));
        match world.incident.get() {
            Incident::Interrupt(trial) if trial == before + 1 => {
                world.interrupted.store(true, Ordering::Relaxed);
            }
            Incident::EngineEnds(trial) if trial == before + 1 => self.has_ended = true,
            _ => {}
        }
        Ok(sample(seconds))
    }

    fn check_alive(&mut self) -> Result<(), RunError> {
        match self.has_ended {
            true => Err(RunError::Random("the engine has ended".to_owned())),
            false => Ok(()),
        }
    }

    fn retire(self: Box<Self>) -> Result<(), RunError> {
        Ok(())
    }
}

/// One right answer.
fn sample(seconds: Duration) -> TrialSample {
    let response_time_ns = u64::try_from(seconds.as_nanos()).unwrap();
    let one =
        Observation { client: 0, request: 0, start_ns: 0, response_time_ns, outcome: Outcome::Ok };
    TrialSample {
        observations: std::iter::once(one).collect(),
        operations: vec![OperationTotals { count: 1, response_time_ns, ..Default::default() }],
        first_failure: None,
        requests_per_second: 1.0 / seconds.as_secs_f64(),
        wall_time: seconds,
        client_cpu_seconds: 0.0,
        client_use: ThreadUse::default(),
        connections_opened: 1,
        clients_given_up: 0,
        offered_per_second: None,
        saturated: false,
    }
}

/// A folder with runs, and what options need besides.
pub struct MockPlace {
    folder: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
}

impl MockPlace {
    pub fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        Self { folder: tempfile::tempdir().unwrap(), runtime }
    }

    pub fn start(&self, world: &MockWorld<'_>, plan: Plan) -> Result<Finished, RunError> {
        self.within(world, None, |lab| start_in(lab, plan))
    }

    pub fn resume(&self, world: &MockWorld<'_>) -> Result<Finished, RunError> {
        world.interrupted.store(false, Ordering::Relaxed);
        self.within(world, None, |lab| resume_in(lab, "latest", None))
    }

    /// A start with so many seconds, in which so many blocks are to fit.
    pub fn start_within(
        &self,
        world: &MockWorld<'_>,
        (seconds, blocks_min): (u64, usize),
        plan: Plan,
    ) -> Result<Finished, RunError> {
        let end = world.begun + Duration::from_secs(seconds);
        self.within(world, Some(TimeLimit { end, blocks_min }), |lab| start_in(lab, plan))
    }

    fn within<T>(
        &self,
        world: &MockWorld<'_>,
        time_limit: Option<TimeLimit>,
        work: impl FnOnce(&Laboratory<'_>) -> T,
    ) -> T {
        let path = |name: &str| self.folder.path().join(name);
        let locations = Locations {
            cache: path("cache"),
            data: path("data"),
            runtime: path("runtime"),
            offline: false,
        };
        let options = RunOptions {
            runs: &path("runs"),
            command_line: "a test".to_owned(),
            locations: &locations,
            runtime: self.runtime.handle(),
            progress: &ProgressBar::hidden(),
            expected_end: &ExpectedEnd::default(),
            say: &|_| {},
            interrupted: &world.interrupted,
            time_limit,
        };
        work(&Laboratory { options: &options, world })
    }
}
