//! Flags that every experiment has, and the plan that they override.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use plan::{Bytes, Compare, OnError, Percent, Plan, Seconds, TrialSettings};

use crate::shared::Usage;

/// Flags of every experiment.
#[derive(clap::Args)]
#[command(next_help_heading = "Options of every experiment")]
pub struct RunArguments {
    /// Number of blocks; at least 5 for intervals and verdicts
    #[arg(long, value_name = "N", env = "CROSSOVER_REPLICATES")]
    pub replicates: Option<NonZeroUsize>,
    /// Add blocks, at least ten, until every interval is at most this wide to either side: 3%
    #[arg(long, value_name = "PERCENT", env = "CROSSOVER_PRECISION")]
    pub precision: Option<Percent>,
    /// Engines whose ratio is shown to lie within this share are equal [default: 5%]
    #[arg(long, value_name = "PERCENT", env = "CROSSOVER_EQUIVALENT_WITHIN")]
    pub equivalent_within: Option<Percent>,
    /// Exit code 99 where an engine is slower than the first by more than this share, or a version than
    /// the first version; 3 where that is undecided: 10%
    #[arg(long, value_name = "PERCENT", env = "CROSSOVER_FAIL_ON_REGRESSION")]
    pub fail_on_regression: Option<Percent>,
    /// Pairs of engines that are compared; `all` needs more blocks for the same difference, which
    /// --dry-run states [default: first, and the other pairs apart where the blocks carry them]
    #[arg(long, value_enum, env = "CROSSOVER_COMPARE")]
    pub compare: Option<CompareArgument>,
    /// Share of requests that may be refused or time out without costing the verdict; a wrong answer
    /// always does [default: 0.1%, of oltp 1%]
    #[arg(long, value_name = "PERCENT", env = "CROSSOVER_MAX_FAILURES")]
    pub max_failures: Option<Percent>,
    /// Begin no block beyond the fifth, and no bisection, that would end after this time: 20m, 2h
    #[arg(long, value_name = "TIME", env = "CROSSOVER_BUDGET")]
    pub budget: Option<Seconds>,
    /// Length of a steady trial: 10s, 1m
    #[arg(long, value_name = "TIME", env = "CROSSOVER_TIME")]
    pub time: Option<Seconds>,
    /// Another value for a constant of the plan, as scale=0.1; repeatable
    #[arg(long = "constant", value_name = "NAME=VALUE", value_parser = constant)]
    pub constants: Vec<(String, String)>,
    /// Starts every random choice; chosen and printed where it is not given
    #[arg(long, value_name = "NUMBER", env = "CROSSOVER_SEED")]
    pub seed: Option<u64>,
    /// Processors of application and database: 0 or 0,1
    #[arg(long, value_name = "LIST", value_delimiter = ',', env = "CROSSOVER_SERVER_CPUS")]
    pub server_cpus: Option<Vec<usize>>,
    /// Memory of application and database together, page cache included: 1GiB
    #[arg(long, value_name = "SIZE", env = "CROSSOVER_SERVER_MEMORY")]
    pub server_memory: Option<Bytes>,
    /// Processors of the measuring client
    #[arg(long, value_name = "LIST", value_delimiter = ',', env = "CROSSOVER_CLIENT_CPUS")]
    pub client_cpus: Option<Vec<usize>>,
    /// When an engine ends in the middle of a trial, which is void then
    #[arg(long, value_enum, env = "CROSSOVER_ON_ERROR")]
    pub on_error: Option<OnErrorArgument>,
    /// Do not wait, up to a minute before a trial, until other programs leave the machine alone
    #[arg(long, env = "CROSSOVER_NO_WAIT_FOR_QUIET")]
    pub no_wait_for_quiet: bool,
    /// Print treatments and expected duration, with -v their order; measure nothing
    #[arg(long, env = "CROSSOVER_DRY_RUN")]
    pub dry_run: bool,
    /// Take an interrupted run up again: an id, a folder, or `latest`
    #[arg(long, value_name = "RUN")]
    pub resume: Option<String>,
    /// The folder of all runs
    #[arg(long, value_name = "FOLDER", default_value = "runs", env = "CROSSOVER_RUNS")]
    pub runs: PathBuf,
}

fn constant(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE, such as scale=0.1".to_owned()),
    }
}

/// The comparisons of three engines and more.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum CompareArgument {
    /// Every engine with the first, no other pair
    First,
    /// Every engine with every other
    All,
}

/// Continuation after an engine has ended in the middle of a trial.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum OnErrorArgument {
    /// The engine is started again and the run goes on
    Continue,
    /// The run stops; it can be resumed
    Stop,
}

impl RunArguments {
    /// Overrides what the plan says.
    ///
    /// # Errors
    /// A constant that the plan does not have, a time where trials end with their passes.
    pub fn apply(&self, plan: &mut Plan) -> anyhow::Result<()> {
        for (name, value) in &self.constants {
            let suggestion = engine::nearest(name, plan.constants.keys().map(String::as_str));
            let known = plan.constants.get_mut(name).ok_or_else(|| {
                Usage(format!("--constant {name}: the plan has no such constant{suggestion}"))
            })?;
            known.clone_from(value);
        }
        match (&mut plan.trial, self.time) {
            (TrialSettings::Steady { time }, Some(wanted)) => *time = wanted,
            (TrialSettings::Passes { .. }, Some(_)) => {
                let text = "--time goes with steady trials; a pass ends by itself";
                return Err(Usage(text.to_owned()).into());
            }
            _ => {}
        }
        plan.replicates = self.replicates.map_or(plan.replicates, NonZeroUsize::get);
        plan.budget = self.budget.or(plan.budget);
        plan.precision = self.precision.or(plan.precision);
        plan.equivalent_within = self.equivalent_within.unwrap_or(plan.equivalent_within);
        plan.fail_on_regression = self.fail_on_regression.or(plan.fail_on_regression);
        plan.compare = match self.compare {
            Some(CompareArgument::First) => Some(Compare::First),
            Some(CompareArgument::All) => Some(Compare::All),
            None => plan.compare,
        };
        plan.max_failures = self.max_failures.or(plan.max_failures);
        plan.seed = self.seed.or(plan.seed);
        plan.server_memory = self.server_memory.or(plan.server_memory);
        plan.wait_for_quiet &= !self.no_wait_for_quiet;
        plan.on_error = match self.on_error {
            Some(OnErrorArgument::Continue) => OnError::Continue,
            Some(OnErrorArgument::Stop) => OnError::Stop,
            None => plan.on_error,
        };
        if self.server_cpus.is_some() {
            plan.server_cpus.clone_from(&self.server_cpus);
        }
        if self.client_cpus.is_some() {
            plan.client_cpus.clone_from(&self.client_cpus);
        }
        Ok(())
    }

    /// True if a flag is set that `--resume` would have to compare with the run's plan. The pattern
    /// names every field, so that a new flag does not compile until it is listed here.
    pub fn changes_plan(&self) -> bool {
        let Self {
            replicates,
            precision,
            equivalent_within,
            fail_on_regression,
            compare,
            max_failures,
            budget,
            time,
            constants,
            seed,
            server_cpus,
            server_memory,
            client_cpus,
            on_error,
            no_wait_for_quiet,
            dry_run: _,
            resume: _,
            runs: _,
        } = self;
        let judged = precision.is_some()
            || equivalent_within.is_some()
            || fail_on_regression.is_some()
            || compare.is_some();
        let cut =
            budget.is_some() || time.is_some() || max_failures.is_some() || on_error.is_some();
        let placed = server_cpus.is_some() || server_memory.is_some() || client_cpus.is_some();
        let drawn = replicates.is_some() || seed.is_some() || !constants.is_empty();
        judged || cut || placed || drawn || *no_wait_for_quiet
    }
}
