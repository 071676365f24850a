//! `--dry-run`: what an experiment would measure, in which order, and for how long.

use std::path::Path;

use lab::preview::{Preview, Treatment};
use plan::Plan;
use plan::counted;

use crate::shared::{Outcome, OutputFormat, Shared};

/// Prints the treatments, their order and the expected duration, learnt from `runs` where it can be.
pub fn show(plan: &Plan, runs: &Path, shared: &Shared) -> anyhow::Result<Outcome> {
    let mut preview = Preview::of(plan)?;
    preview.learn(plan, runs);
    match shared.output_format {
        OutputFormat::Text => shared.print(&text(&preview, shared.verbose))?,
        OutputFormat::Json => shared.print_json(&preview)?,
        OutputFormat::Csv => shared.print(&csv(&preview))?,
    }
    Ok(Outcome::Done)
}

/// One screen: single treatments and their order are listed with `-v` alone.
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
    lines.extend(preview.power.as_ref().map(lab::preview::ExpectedPower::in_words));
    lines.push(String::new());
    lines.push("Treatments:".to_owned());
    if verbose {
        let line = |one: &Treatment| format!("  {}: {}", one.engine, one.levels);
        lines.extend(preview.treatments.iter().map(line));
    } else {
        lines.extend(preview.treatments.chunk_by(|a, b| a.engine == b.engine).map(of_engine));
    }
    lines.push(String::new());
    let order = format!("Order with seed {}{}", preview.seed, preview.seed_note());
    if !verbose {
        lines.push(format!("{order}: -v lists it"));
        return lines.join("\n") + "\n";
    }
    lines.push(format!("{order}:"));
    for block in &preview.order {
        lines.push(format!("  block {}", block.block));
        let starts = block.starts.iter();
        lines.extend(
            starts.map(|one| format!("    {}: {}", one.engine, one.treatments.join(" | "))),
        );
    }
    lines.join("\n") + "\n"
}

/// The treatments of one engine in a line: all where they are few.
fn of_engine(treatments: &[Treatment]) -> String {
    match treatments {
        [first, _, .., last] if treatments.len() > 3 => format!(
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
    let mut lines = vec!["block,start,engine,levels".to_owned()];
    for block in &preview.order {
        for (number, start) in (1..).zip(&block.starts) {
            for levels in &start.treatments {
                let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
                let (engine, levels) = (quoted(&start.engine), quoted(levels));
                lines.push(format!("{},{number},{engine},{levels}", block.block));
            }
        }
    }
    lines.join("\n") + "\n"
}
