//! `crossover bench blob`: the article's experiment on blobs, and what its readers ask beyond it.

use engine::EngineSpec;
use lab::preview::Preview;
use plan::{Factor, Knob, Level, Plan, Scale, Seconds, TrialSettings};

use super::{RunArguments, carry_out};
use crate::flag::positive;
use crate::shared::{CommandOutcome, Shared, Usage};

/// The plans that ship with the program, as built.
const ARTICLE: &str = include_str!("../../../../../experiments/blob.toml");
const SIZE: &str = include_str!("../../../../../experiments/blob-size.toml");
const PAGE_SIZE: &str = include_str!("../../../../../experiments/blob-page-size.toml");
const COLD: &str = include_str!("../../../../../experiments/blob-cold.toml");
const DURABILITY: &str = include_str!("../../../../../experiments/blob-durability.toml");
const CLIENTS: &str = include_str!("../../../../../experiments/blob-clients.toml");

/// Blobs in a SQLite database, in files, in PostgreSQL: read at random and overwritten.
#[derive(clap::Args)]
pub struct Arguments {
    /// Which question is asked
    #[arg(value_enum, default_value = "article")]
    question: BlobQuestion,
    /// An engine: sqlite, 'sqlite[access=blob_api]', 'dir[read=openat]', tree, sqlite+dir,
    /// postgres:18; repeatable
    #[arg(long = "on", value_name = "ENGINE")]
    engines: Vec<EngineSpec>,
    /// How many blobs: 10k, 100000
    #[arg(long, value_name = "N", value_parser = positive, env = "CROSSOVER_COUNT")]
    count: Option<u64>,
    /// Sizes of blobs: 10k or 1k,100k,1M; several are swept
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = positive, env = "CROSSOVER_SIZES")]
    sizes: Vec<u64>,
    /// Fewer blobs where all of one size together would be larger: 128M, 1GiB
    #[arg(long, value_name = "SIZE", value_parser = positive, env = "CROSSOVER_TOTAL")]
    total: Option<u64>,
    /// What is done to the blobs
    #[arg(
        long,
        value_enum,
        value_name = "LIST",
        value_delimiter = ',',
        env = "CROSSOVER_OPERATIONS"
    )]
    operations: Vec<OperationFlag>,
    /// Let a trial be N passes over all blobs, not a length of time
    #[arg(long, value_name = "N", conflicts_with = "time", env = "CROSSOVER_PASSES")]
    passes: Option<u32>,
    /// Measure the sizes named and no others, even where the lines cross
    #[arg(long, env = "CROSSOVER_NO_BISECTION")]
    no_bisection: bool,
    /// Print the plan that all this fills in, and measure nothing
    #[arg(long)]
    print_plan: bool,
    #[command(flatten)]
    run: RunArguments,
}

/// The plans, by what they ask.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum BlobQuestion {
    /// The article's table and its claims
    Article,
    /// From which size on files are faster
    Size,
    /// Which size of pages for which size of blobs
    PageSize,
    /// Cold caches beside warm ones
    Cold,
    /// What a promise to keep the data costs
    Durability,
    /// One to sixteen concurrent readers
    Clients,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
enum OperationFlag {
    /// Every blob read in random order
    Read,
    /// Some overwritten by others of the same size
    Update,
}

impl OperationFlag {
    fn name(self) -> &'static str {
        self.into()
    }
}

/// Runs `crossover bench blob`.
pub fn run(arguments: &Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let plan = plan(arguments)?;
    if arguments.print_plan {
        shared.print(&plan.to_toml()?)?;
        return Ok(CommandOutcome::Done);
    }
    if arguments.run.resume.is_none() {
        warn_about_budget(&plan, shared)?;
    }
    carry_out(plan, &arguments.run, shared)
}

/// Says which part of the work exceeds the plan's budget: blocks beyond the fifth and bisections
/// are left out for it, no more.
fn warn_about_budget(plan: &Plan, shared: &Shared) -> anyhow::Result<()> {
    let preview = Preview::of(plan)?;
    let (Some(budget), Some(seconds)) = (plan.budget, preview.assumed_seconds) else {
        return Ok(());
    };
    let blocks = preview.blocks.min(stats::INTERVAL_MIN_REPLICATES);
    let least = seconds * blocks as u64 / preview.blocks.max(1) as u64;
    if least > budget.0 {
        let minutes = Seconds(least.div_ceil(60) * 60);
        shared.say(&format!(
            "--budget {budget}: {blocks} blocks take about {minutes} all the same, and intervals need \
             {}; name fewer engines, sizes or blobs (--on, --sizes, --count, --total)",
            stats::INTERVAL_MIN_REPLICATES
        ));
    }
    Ok(())
}

fn plan(arguments: &Arguments) -> anyhow::Result<Plan> {
    let (text, name) = match arguments.question {
        BlobQuestion::Article => (ARTICLE, "blob.toml"),
        BlobQuestion::Size => (SIZE, "blob-size.toml"),
        BlobQuestion::PageSize => (PAGE_SIZE, "blob-page-size.toml"),
        BlobQuestion::Cold => (COLD, "blob-cold.toml"),
        BlobQuestion::Durability => (DURABILITY, "blob-durability.toml"),
        BlobQuestion::Clients => (CLIENTS, "blob-clients.toml"),
    };
    let mut plan = plan::parse(text, &format!("experiments/{name}"))?;
    if !arguments.engines.is_empty() {
        plan.engines.clone_from(&arguments.engines);
    }
    let blob = plan.blob.get_or_insert_default();
    if let Some(count) = arguments.count {
        blob.count = Knob::Number(count);
    }
    if let Some(total) = arguments.total {
        blob.total_max = Knob::Number(total);
    }
    set_sizes(&mut plan, arguments);
    set_operations(&mut plan, arguments)?;
    if arguments.engines.is_empty() {
        // A line that the user named is refused by its name instead.
        plan.leave_out_repeated_lines();
    }
    if let Some(passes) = arguments.passes {
        plan.trial = TrialSettings::Passes { passes };
    }
    arguments.run.apply(&mut plan)?;
    Ok(plan.resolved()?)
}

/// One size is the size of all blobs, several are the x axis.
fn set_sizes(plan: &mut Plan, arguments: &Arguments) {
    if arguments.no_bisection
        && let Some(factor) = plan.factors.get_mut("blob_bytes")
    {
        factor.bisect = false;
    }
    let swept = plan.factors.contains_key("blob_bytes");
    let levels: Vec<Level> =
        arguments.sizes.iter().map(|size| Level::Number(*size as f64)).collect();
    match (levels.is_empty(), &arguments.sizes[..]) {
        (true, _) => {}
        (false, [one]) if !swept => {
            plan.blob.get_or_insert_default().bytes = Knob::Number(*one);
        }
        (false, _) => {
            // The x axis is one factor's; readers then make panels.
            plan.factors.values_mut().for_each(|factor| factor.swept = None);
            let bisect = plan.factors.get("blob_bytes").is_some_and(|factor| factor.bisect);
            let factor = Factor { swept: Some(Scale::Log), bisect, ..Factor::new(levels) };
            plan.factors.insert("blob_bytes".to_owned(), factor);
            plan.blob.get_or_insert_default().bytes = "{blob_bytes}".into();
        }
    }
}

fn set_operations(plan: &mut Plan, arguments: &Arguments) -> anyhow::Result<()> {
    let Some(factor) = plan.factors.get_mut("operation") else {
        if arguments.operations.is_empty() {
            return Ok(());
        }
        let text = "--operations goes with the questions article and size";
        return Err(Usage(text.to_owned()).into());
    };
    if !arguments.operations.is_empty() {
        let wanted: Vec<&str> = arguments.operations.iter().map(|one| one.name()).collect();
        let kept = factor.levels.iter().zip(&factor.labels);
        let kept = kept.filter(|(level, _)| wanted.contains(&level.to_string().as_str()));
        let (levels, labels): (Vec<Level>, Vec<String>) =
            kept.map(|(level, label)| (level.clone(), label.clone())).unzip();
        (factor.levels, factor.labels) = (levels, labels);
    }
    Ok(())
}
