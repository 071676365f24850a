//! `crossover bench oltp`: short transactions over the number of clients, without writing a plan.

use std::num::{NonZeroU16, NonZeroU32};
use std::str::FromStr as _;

use engine::EngineSpec;
use plan::oltp::{Distribution, Mix};
use plan::{Checkpoints, Factor, Level, Oltp, Plan, Scale, Seconds, Setting};

use super::client_form::ClientForm;
use super::distance::ConnectionWay;
use super::{RunArguments, carry_out};
use crate::flag::{EngineList, non_zero};
use crate::shared::{CommandOutcome, Shared, Usage};

/// experiments/oltp.toml, as built.
const PLAN: &str = include_str!("../../../../../experiments/oltp.toml");

/// `crossover bench oltp`
#[derive(clap::Args)]
pub struct Arguments {
    /// An engine: postgres:14, postgres:18, sqlite, mariadb, mariadb:11.4, a URL; repeatable
    #[arg(long = "on", value_name = "ENGINE", env = "CROSSOVER_ON")]
    engines: Vec<EngineList>,
    /// What a transaction does: read_only, read_write, point_select, write_only, update_index,
    /// update_non_index, insert, delete, secondary_index, join, join_misled, variable_rows, churn,
    /// encoding [default: read_only,read_write]
    #[arg(
        long = "workload",
        value_name = "LIST",
        value_delimiter = ',',
        env = "CROSSOVER_WORKLOAD"
    )]
    workloads: Vec<String>,
    /// Numbers of clients [default: 1,2,4,8,16,32,64]
    #[arg(long, value_name = "LIST", value_delimiter = ',', env = "CROSSOVER_CLIENTS")]
    clients: Vec<NonZeroU16>,
    #[command(flatten)]
    form: ClientForm,
    #[command(flatten)]
    way: ConnectionWay,
    /// Rows of each table: 500K, 2M [default: 1M]
    #[arg(long, value_name = "ROWS", value_parser = non_zero::<NonZeroU32>, env = "CROSSOVER_TABLE_SIZE")]
    table_size: Option<NonZeroU32>,
    /// Number of tables [default: 1]
    #[arg(long, value_name = "N", env = "CROSSOVER_TABLES")]
    tables: Option<NonZeroU32>,
    /// Which keys are chosen: uniform, special, zipfian, pareto [default: special]
    #[arg(long, value_name = "NAME", env = "CROSSOVER_DISTRIBUTION")]
    distribution: Option<String>,
    /// Load before each trial that is not counted [default: 2s]
    #[arg(long, value_name = "TIME", env = "CROSSOVER_WARM_UP")]
    warm_up: Option<Seconds>,
    /// What trials that write show: none ends in one, or at least two do (90s and more), or as it
    /// comes
    #[arg(long, value_enum, env = "CROSSOVER_CHECKPOINTS")]
    checkpoints: Option<CheckpointsArgument>,
    /// A setting of all engines of a kind, as postgres.work_mem=16MB; repeatable
    #[arg(long = "setting", value_name = "KIND.NAME=VALUE", value_parser = setting)]
    settings: Vec<(String, String, String)>,
    /// Checksums of pages in PostgreSQL's data directories, the same for every release
    #[arg(long, value_name = "true|false", env = "CROSSOVER_DATA_CHECKSUMS")]
    data_checksums: Option<bool>,
    /// Print the plan that all this fills in, and measure nothing
    #[arg(long)]
    print_plan: bool,
    #[command(flatten)]
    run: RunArguments,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum CheckpointsArgument {
    /// None ends in a trial
    Between,
    /// At least two end in each
    Sustained,
    /// As the engines are set
    Any,
}

fn setting(text: &str) -> Result<(String, String, String), String> {
    let wrong = || "write KIND.NAME=VALUE, such as postgres.work_mem=16MB".to_owned();
    let (name, value) = text.split_once('=').ok_or_else(wrong)?;
    let (kind, name) = name.split_once('.').ok_or_else(wrong)?;
    Ok((kind.to_owned(), name.to_owned(), value.to_owned()))
}

/// Runs `crossover bench oltp`.
pub fn run(arguments: &Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let plan = plan(arguments)?;
    if arguments.print_plan {
        shared.print(&plan.to_toml()?)?;
        return Ok(CommandOutcome::Done);
    }
    carry_out(plan, &arguments.run, shared)
}

fn plan(arguments: &Arguments) -> anyhow::Result<Plan> {
    let mut plan = plan::parse(PLAN, "experiments/oltp.toml")?;
    if !arguments.engines.is_empty() {
        plan.engines = EngineList::all(&arguments.engines);
    }
    if !arguments.clients.is_empty() {
        let levels = arguments.clients.iter().map(|clients| Level::Number(clients.get().into()));
        let factor = Factor::new(levels.collect());
        plan.factors.insert("clients".to_owned(), Factor { swept: Some(Scale::Log), ..factor });
    }
    let usage = |error: plan::oltp::UnknownName| Usage(error.to_string());
    let mut oltp = plan.oltp.take().unwrap_or_default();
    let mixes: Result<Vec<Mix>, _> =
        arguments.workloads.iter().map(|name| Mix::from_str(name.trim())).collect();
    match mixes.map_err(usage)?.as_slice() {
        [] => {}
        [only] => {
            oltp.mix = *only;
            plan.factors.remove("mix");
        }
        several => {
            let levels = several.iter().map(|mix| Level::Text(mix.name().to_owned()));
            plan.factors.insert("mix".to_owned(), Factor::new(levels.collect()));
        }
    }
    if let Some(name) = &arguments.distribution {
        oltp.distribution = Distribution::from_str(name).map_err(usage)?;
    }
    fill(&mut oltp, arguments);
    plan.oltp = Some(oltp);
    arguments.form.apply(&mut plan);
    arguments.way.apply(&mut plan);
    let names: Vec<String> = plan.engines.iter().map(EngineSpec::label).collect();
    plan.title =
        format!("How many transactions, and up to how many clients: {}?", names.join(", "));
    arguments.run.apply(&mut plan)?;
    Ok(plan.resolved()?)
}

fn fill(oltp: &mut Oltp, arguments: &Arguments) {
    oltp.table_size = arguments.table_size.map_or(oltp.table_size, NonZeroU32::get);
    oltp.tables = arguments.tables.map_or(oltp.tables, NonZeroU32::get);
    oltp.warm_up = arguments.warm_up.unwrap_or(oltp.warm_up);
    oltp.checkpoints = match arguments.checkpoints {
        Some(CheckpointsArgument::Between) => Some(Checkpoints::Between),
        Some(CheckpointsArgument::Sustained) => Some(Checkpoints::Sustained),
        Some(CheckpointsArgument::Any) => None,
        None => oltp.checkpoints,
    };
    oltp.initdb.data_checksums = arguments.data_checksums.unwrap_or(oltp.initdb.data_checksums);
    for (kind, name, value) in &arguments.settings {
        let settings = oltp.settings.entry(kind.clone()).or_default();
        settings.insert(name.clone(), Setting(value.clone()));
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn plan_of(words: &[&str]) -> anyhow::Result<Plan> {
        plan(&Line::try_parse_from([&["oltp"], words].concat())?.arguments)
    }

    #[test]
    fn the_flags_fill_a_plan_that_reads_back_as_itself() {
        let words = [
            "--on",
            "postgres:14",
            "--on",
            "postgres:18",
            "--on",
            "sqlite",
            "--on",
            "mariadb",
            "--workload",
            "read_only",
            "--clients",
            "1,2,4,1024",
            "--clients-as",
            "threads",
            "--time",
            "60s",
            "--replicates",
            "5",
            "--tables",
            "3",
            "--table-size",
            "5000",
            "--distribution",
            "zipfian",
            "--setting",
            "postgres.work_mem=16MB",
        ];
        let plan = plan_of(&words).unwrap();
        let again = plan::read(&plan.to_toml().unwrap(), "plan.toml").unwrap();
        assert_eq!(again, plan);
        assert_eq!(plan.engines.len(), 4);
        let oltp = plan.oltp.unwrap();
        assert_eq!((oltp.mix, oltp.tables, oltp.table_size), (Mix::ReadOnly, 3, 5_000));
        assert_eq!(oltp.distribution, Distribution::Zipfian);
        assert_eq!(oltp.settings["postgres"]["work_mem"], Setting("16MB".to_owned()));
        assert!(!plan.factors.contains_key("mix"));
    }

    #[test]
    fn mistakes_are_named_with_what_there_is() {
        let wrong = plan_of(&["--workload", "read_onyl"]).unwrap_err().to_string();
        assert!(wrong.contains("did you mean `read_only`"), "{wrong}");
        let wrong = plan_of(&["--distribution", "gauss"]).unwrap_err().to_string();
        assert!(wrong.contains("uniform"), "{wrong}");
        let wrong = plan_of(&["--setting", "work_mem=1"]).unwrap_err().to_string();
        assert!(wrong.contains("KIND.NAME=VALUE"), "{wrong}");
    }
}
