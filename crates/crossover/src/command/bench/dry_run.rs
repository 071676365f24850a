//! `--dry-run`: what an experiment would measure, in which order, and for how long.

use std::collections::BTreeSet;
use std::path::Path;

use engine::EngineSource;
use lab::error::RunError;
use lab::preview::{Block, Preview, PreviewStart, PreviewTreatment};
use notation::counted;
use plan::{Design, Plan, WorkloadKind};

use crate::shared::{CommandOutcome, OutputFormat, Shared};

/// Prints the treatments, their order and the expected duration, learnt from `runs` where it can be.
pub fn show(plan: &Plan, runs: &Path, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    try_settings(plan)?;
    let mut preview = Preview::of(plan)?;
    preview.learn(plan, runs);
    preview.load_libraries(plan, &shared.locations()?, shared.interrupted())?;
    match shared.output_format {
        OutputFormat::Text => shared.print(&text(&preview, shared.verbose))?,
        OutputFormat::Json => shared.print_json(&preview)?,
        OutputFormat::Csv => shared.print(&csv(&preview))?,
    }
    Ok(CommandOutcome::Done)
}

/// Refuses settings that the SQLite that is built in does not take, as a run does. Servers are not there
/// to be asked, and other workloads have settings of their own.
fn try_settings(plan: &Plan) -> anyhow::Result<()> {
    if plan.workload != WorkloadKind::Sql {
        return Ok(());
    }
    let mut tried = BTreeSet::new();
    for (index, levels) in Design::of(plan).treatments() {
        let engine = plan.engine_at(*index, levels)?;
        let is_built_in =
            engine.source == EngineSource::Sqlite && plan.sqlite_of(&engine).is_none();
        if is_built_in && tried.insert(engine.to_string()) {
            host::try_settings(&engine, &std::env::temp_dir()).map_err(RunError::from)?;
        }
    }
    Ok(())
}

/// One screen, or with `verbose` every treatment in its order.
fn text(preview: &Preview, verbose: bool) -> String {
    let mut lines = vec![preview.title.clone(), String::new()];
    let at_least = if preview.blocks_may_grow { "at least " } else { "" };
    lines.push(format!(
        "{} and {} in each of {at_least}{}: {}",
        counted(preview.treatments.len(), "treatment"),
        counted(preview.starts_per_block, "start"),
        counted(preview.blocks, "block"),
        counted(preview.trials, "trial"),
    ));
    lines.push(preview.duration_in_words());
    lines.extend(preview.budget.map(|budget| {
        format!(
            "Budget {budget}: the first five blocks are measured all the same; no later block begins, and \
             no bisection, that would end after it."
        )
    }));
    lines.extend(preview.power.as_ref().map(lab::preview::ExpectedPower::in_words));
    lines.extend(preview.percentiles.iter().cloned());
    if !preview.libraries.is_empty() {
        lines.push("\nLibraries of SQLite:".to_owned());
        lines.extend(preview.libraries.iter().map(|one| format!("  {}", one.in_words())));
    }
    lines.push(String::new());
    lines.push("Treatments:".to_owned());
    let order = format!("Order with seed {}{}", preview.seed, preview.seed_note());
    if verbose {
        let line = |one: &PreviewTreatment| format!("  {}: {}", one.engine, one.levels);
        lines.extend(preview.treatments.iter().map(line));
        lines.push(format!("\n{order}:"));
        lines.extend(preview.order.iter().map(block_in_words));
    } else {
        lines.extend(preview.treatments.chunk_by(|a, b| a.engine == b.engine).map(of_engine));
        lines.push(format!("\n{order}: -v lists it"));
    }
    lines.join("\n") + "\n"
}

fn block_in_words(block: &Block) -> String {
    let mut lines = vec![format!("  block {}", block.block)];
    let line = |one: &PreviewStart| format!("    {}: {}", one.engine, one.treatments.join(" | "));
    lines.extend(block.starts.iter().map(line));
    lines.join("\n")
}

/// The treatments of one engine in a line: all where they are few.
fn of_engine(treatments: &[PreviewTreatment]) -> String {
    match treatments {
        [first, _, _, .., last] => format!(
            "  {}: {} treatments, from \"{}\" to \"{}\"",
            first.engine,
            treatments.len(),
            first.levels,
            last.levels,
        ),
        [first, ..] => {
            let levels: Vec<&str> = treatments.iter().map(|one| one.levels.as_str()).collect();
            format!("  {}: {}", first.engine, levels.join(" | "))
        }
        [] => String::new(),
    }
}

fn csv(preview: &Preview) -> String {
    let of_start = |block: &Block, number: usize, start: &PreviewStart| -> Vec<Vec<String>> {
        let row = |levels: &String| {
            vec![block.block.to_string(), number.to_string(), start.engine.clone(), levels.clone()]
        };
        start.treatments.iter().map(row).collect()
    };
    let rows = preview.order.iter().flat_map(|block| {
        let starts = (1..).zip(&block.starts);
        starts.flat_map(|(number, start)| of_start(block, number, start)).collect::<Vec<_>>()
    });
    notation::csv_table(&["block", "start", "engine", "levels"], rows)
}
