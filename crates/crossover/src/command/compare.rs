//! `crossover compare`: one recorded run against another, or several sittings of each; `--rerun`
//! measures both again, block by block in turn.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use lab::run::interleave;
use plan::Percent;
use record::Finished;
use record::RunFolder;
use report::comparison::{
    Comparison, ComparisonOptions, Incomparable, compare, differences, junit, markdown, text,
};

use crate::command::bench::with_options;
use crate::command::report::terminal_width;
use crate::shared::{CommandOutcome, OutputFormat, Shared, Usage};

/// `crossover compare`
#[derive(clap::Args)]
pub struct Arguments {
    /// The base: a run, or several sittings of it as A1,A2,A3
    #[arg(value_name = "RUN")]
    a: String,
    /// What is compared with it: a run, or several sittings as B1,B2,B3
    #[arg(value_name = "RUN")]
    b: String,
    /// Also show where both are the same within this share, as 3%
    #[arg(long, value_name = "PERCENT", env = "CROSSOVER_EQUIVALENT_WITHIN")]
    equivalent_within: Option<Percent>,
    /// Exit code 99 where the second is slower by more than this share, 3 where that is undecided
    #[arg(long, value_name = "PERCENT", env = "CROSSOVER_FAIL_ON_REGRESSION")]
    fail_on_regression: Option<Percent>,
    /// The form of the comparison [default: what --output-format says]
    #[arg(long, value_enum, env = "CROSSOVER_FORMAT")]
    format: Option<ComparisonFormat>,
    /// Measure both again on this machine, their blocks in turn, and compare the new runs
    #[arg(long)]
    rerun: bool,
    /// Blocks of a rerun [default: as many as the runs had, at least 5]
    #[arg(long, value_name = "N", requires = "rerun")]
    replicates: Option<NonZeroUsize>,
    /// The folder of all runs
    #[arg(long, value_name = "FOLDER", default_value = "runs", env = "CROSSOVER_RUNS")]
    runs: PathBuf,
}

/// The forms of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ComparisonFormat {
    /// For a terminal
    Text,
    /// One document
    Json,
    /// A line for each treatment
    Csv,
    /// For a ticket or a pull request
    Markdown,
    /// For a CI server: a test case for each treatment, a failure for each regression
    Junit,
}

/// Runs `crossover compare`.
pub fn run(arguments: &Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let mut a = side(&arguments.runs, &arguments.a)?;
    let mut b = side(&arguments.runs, &arguments.b)?;
    if arguments.rerun {
        (a, b) = rerun(&a, &b, arguments, shared)?;
    }
    let wishes = ComparisonOptions {
        equivalent_within: arguments.equivalent_within.map(|share| share.0),
        fail_on_regression: arguments.fail_on_regression.map(|share| share.0),
    };
    let comparison = compare(&a, &b, wishes).map_err(refused)?;
    let format = arguments.format.unwrap_or(match shared.output_format {
        OutputFormat::Text => ComparisonFormat::Text,
        OutputFormat::Json => ComparisonFormat::Json,
        OutputFormat::Csv => ComparisonFormat::Csv,
    });
    match format {
        ComparisonFormat::Text => shared.print(&text(&comparison, terminal_width()))?,
        ComparisonFormat::Json => shared.print_json(&comparison)?,
        ComparisonFormat::Csv => shared.print(&csv(&comparison)?)?,
        ComparisonFormat::Markdown => shared.print(&markdown(&comparison))?,
        ComparisonFormat::Junit => shared.print(&junit(&comparison))?,
    }
    Ok(if comparison.has_regression() {
        CommandOutcome::Missed
    } else if comparison.is_undecided() {
        CommandOutcome::Findings
    } else {
        CommandOutcome::Done
    })
}

/// Runs that cannot be compared are the user's mistake.
fn refused(error: Incomparable) -> anyhow::Error {
    Usage(error.to_string()).into()
}

fn side(runs: &Path, names: &str) -> anyhow::Result<Vec<Finished>> {
    let read = |name: &str| Ok(Finished::read(RunFolder::find(runs, name.trim())?)?);
    names.split(',').map(read).collect()
}

fn rerun(
    a: &[Finished],
    b: &[Finished],
    arguments: &Arguments,
    shared: &Shared,
) -> anyhow::Result<(Vec<Finished>, Vec<Finished>)> {
    let ([a], [b]) = (a, b) else {
        return Err(Usage("--rerun takes one run per side".into()).into());
    };
    // The data are compared when they are there again; the machine is this one for both.
    let same_work = |difference: &report::comparison::Difference| {
        *difference != report::comparison::Difference::Data && difference.is_prohibitive()
    };
    if let Some(difference) = differences(a, b).into_iter().find(same_work) {
        let (a, b) = (a.run.id.clone(), b.run.id.clone());
        return Err(refused(Incomparable::Different { a, b, difference }));
    }
    let as_before = a.plan.replicates.max(b.plan.replicates).max(report::analysis::BLOCKS_MIN);
    let blocks = arguments.replicates.map_or(as_before, NonZeroUsize::get);
    let mut runs =
        with_options(&arguments.runs, shared, |options| Ok(interleave([a, b], blocks, options)?))?;
    let of_b = runs.split_off(1);
    Ok((runs, of_b))
}

fn csv(comparison: &Comparison) -> anyhow::Result<String> {
    let header = [
        "where",
        "engine_a",
        "engine_b",
        "a_response_time_ms",
        "b_response_time_ms",
        "ratio",
        "low",
        "high",
        "replicates",
        "p_value",
        "verdict",
        "regression",
    ];
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let word = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let mut rows = Vec::new();
    for row in &comparison.rows {
        rows.push(vec![
            row.place.clone(),
            row.engine_a.clone(),
            row.engine_b.clone(),
            row.a_response_time_ms.to_string(),
            row.b_response_time_ms.to_string(),
            row.ratio.value.to_string(),
            number(row.ratio.low),
            number(row.ratio.high),
            row.ratio.replicates.to_string(),
            number(row.p_value),
            word(&serde_json::to_value(row.verdict)?),
            word(&serde_json::to_value(row.regression)?),
        ]);
    }
    Ok(notation::csv_table(&header, rows))
}
