//! `crossover bench dashboard`: the article's experiment, or the article's load on any server.

use std::num::NonZeroU16;
use std::path::PathBuf;

use engine::EngineSpec;

use super::data::{FileContents, largest_blog};
use super::{
    PlanFilling, ReferenceData, RunArguments, article, carry_out, check, reference, resume, url,
};
use crate::command::report;
use crate::flag::{scale, sqlite_file};
use crate::shared::{CommandOutcome, Shared, Usage};

/// The article's experiment: nine requests over four periods, with 1, 2 and 4 clients.
#[derive(clap::Args)]
pub struct Arguments {
    /// An engine: sqlite, postgres:18, 'postgres:18[work_mem=16MB]', a URL; repeatable
    #[arg(long = "on", value_name = "ENGINE")]
    engines: Vec<EngineSpec>,
    /// Periods: week, month, quarter, year or a number of days such as 120d
    #[arg(long, value_name = "LIST", value_delimiter = ',', env = "CROSSOVER_PERIODS")]
    periods: Vec<String>,
    /// First day of every period [default: 2021-01-01]
    #[arg(long, value_name = "DATE", env = "CROSSOVER_START")]
    start: Option<String>,
    /// Last day of the period, with --url only [default: 2021-12-31]
    #[arg(long, value_name = "DATE", env = "CROSSOVER_END", requires = "url")]
    end: Option<String>,
    /// Numbers of clients [default: 1,2,4; with --url: 2]
    #[arg(long, value_name = "LIST", value_delimiter = ',', env = "CROSSOVER_CLIENTS")]
    clients: Vec<NonZeroU16>,
    /// `reference`, or a SQLite file with a dashboard's data [default: reference]
    #[arg(long, value_name = "reference|FILE", env = "CROSSOVER_DATA", value_parser = sqlite_file())]
    data: Option<PathBuf>,
    /// Size of the reference dataset, 1 being the article's
    #[arg(long, value_name = "NUMBER", env = "CROSSOVER_SCALE", value_parser = scale)]
    scale: Option<f64>,
    /// One blog, or `all` [default: the blog with most articles]
    #[arg(long, value_name = "NAME", env = "CROSSOVER_BLOG")]
    blog: Option<String>,
    /// Count the distinct articles of each row too
    #[arg(long, value_name = "articles", env = "CROSSOVER_COUNT")]
    count: Option<Count>,
    /// `steady` loops until the time ends; `article` sends one pass of nine per client
    #[arg(long, value_enum, env = "CROSSOVER_MODE")]
    mode: Option<LoadMode>,
    /// Measure the periods named and no others, even where the lines cross
    #[arg(long, env = "CROSSOVER_NO_BISECTION")]
    no_bisection: bool,
    /// Send the article's load once to a server that speaks the query API, ours or not
    #[arg(long, value_name = "URL", conflicts_with_all = ["engines", "periods", "data", "scale", "mode", "time", "constants", "replicates", "precision", "equivalent_within", "fail_on_regression", "compare", "max_failures", "resume", "budget", "count", "server_cpus", "server_memory", "client_cpus", "on_error", "no_wait_for_quiet", "dry_run", "no_bisection"], env = "CROSSOVER_URL")]
    url: Option<String>,
    /// A file with the API key for --url, `-` for standard input; otherwise CROSSOVER_KEY
    #[arg(long, value_name = "FILE", requires = "url")]
    key_file: Option<PathBuf>,
    #[command(flatten)]
    run: RunArguments,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Count {
    Articles,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum LoadMode {
    /// One pass of nine per client, a connection per request, best of three
    Article,
    /// Loop until the time ends; verdicts use this
    Steady,
}

/// Runs `crossover bench dashboard`.
pub fn run(arguments: Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    if let Some(server) = &arguments.url {
        let load = url::UrlLoad {
            url: server.clone(),
            key_file: arguments.key_file.clone(),
            clients: match arguments.clients.as_slice() {
                [] => None,
                [one] => Some(*one),
                _ => return Err(Usage("--url takes one number of --clients".into()).into()),
            },
            start: arguments.start.clone(),
            end: arguments.end.clone(),
            blog: arguments.blog.clone(),
            seed: arguments.run.seed,
        };
        return url::run(&load, shared);
    }
    if arguments.end.is_some() || arguments.key_file.is_some() {
        // clap does not say so where another flag conflicts with --url.
        return Err(Usage("--end and --key-file go with --url".into()).into());
    }
    match &arguments.run.resume {
        Some(name) if !arguments.changes_plan() => {
            report::show(&resume(name, None, &arguments.run.runs, shared)?, shared)
        }
        _ => carry_out(plan(&arguments, shared)?, &arguments.run, shared),
    }
}

impl Arguments {
    fn changes_plan(&self) -> bool {
        let Self {
            engines,
            periods,
            start,
            end: _,
            clients,
            data,
            scale,
            blog,
            count,
            mode,
            no_bisection,
            url: _,
            key_file: _,
            run,
        } = self;
        let swept = !engines.is_empty() || !periods.is_empty() || !clients.is_empty();
        let data = start.is_some() || data.is_some() || scale.is_some();
        let asked = blog.is_some() || count.is_some() || mode.is_some() || *no_bisection;
        swept || data || asked || run.changes_plan()
    }
}

fn plan(arguments: &Arguments, shared: &Shared) -> anyhow::Result<plan::Plan> {
    let mut filling = PlanFilling {
        engines: arguments.engines.clone(),
        periods: arguments.periods.clone(),
        start: arguments.start.clone(),
        clients: arguments.clients.iter().map(|clients| clients.get()).collect(),
        count_articles: arguments.count == Some(Count::Articles),
        article_mode: arguments.mode == Some(LoadMode::Article),
        no_bisection: arguments.no_bisection,
        ..PlanFilling::default()
    };
    // Mistakes in periods, dates, engines and their settings are named before anything is generated.
    let mut bare = article(&filling).map_err(|error| Usage(format!("{error:#}")))?;
    arguments.run.apply(&mut bare)?;
    let bare = bare.resolved()?;
    if arguments.run.dry_run {
        return Ok(bare);
    }
    check(&bare, &arguments.run.runs, shared)?;
    let data = match &arguments.data {
        Some(path) if path.as_os_str() != "reference" => {
            if arguments.scale.is_some() {
                return Err(Usage("--scale goes with --data reference".into()).into());
            }
            path.clone()
        }
        _ => {
            let data = ReferenceData { scale: arguments.scale.unwrap_or(1.0) };
            reference(data, &shared.locations()?, shared)?
        }
    };
    filling.blog = match arguments.blog.as_deref() {
        Some("all") => None,
        Some(blog) => Some(blog.to_owned()),
        None => Some(largest_blog(&data)?),
    };
    let contents = FileContents::read(&data)?;
    filling.data = Some(data);
    let mut plan = article(&filling)?;
    contents.check_start(plan.constants.get("start").map_or("", String::as_str))?;
    plan.conditions = format!("{}; {}", contents.describe(), plan.conditions);
    arguments.run.apply(&mut plan)?;
    Ok(plan.resolved()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_that_url_would_ignore_is_refused_beside_it() {
        let command = <Arguments as clap::Args>::augment_args(clap::Command::new("dashboard"));
        let url = command.get_arguments().find(|one| one.get_id() == "url").unwrap();
        let refused: Vec<_> = command.get_arg_conflicts_with(url);
        let refused: Vec<_> = refused.iter().map(|one| one.get_id().as_str()).collect();
        let taken = ["start", "end", "clients", "blog", "url", "key_file", "seed", "runs"];
        let all = command.get_arguments().map(|one| one.get_id().as_str());
        let ignored: Vec<_> =
            all.filter(|one| !taken.contains(one) && !refused.contains(one)).collect();
        assert_eq!(ignored, [""; 0]);
    }
}
