//! `--dry-run`: what an experiment would measure, in which order, and for how long.

use std::path::Path;

use lab::preview::{Preview, Start};
use plan::Plan;
use plan::counted;

use crate::shared::{Outcome, OutputFormat, Shared};

/// Prints the treatments, their order and the expected duration, learnt from `runs` where it can be.
pub fn show(plan: &Plan, runs: &Path, shared: &Shared) -> anyhow::Result<Outcome> {
    let mut preview = Preview::of(plan)?;
    preview.learn(plan, runs);
    match shared.output_format {
        OutputFormat::Text => shared.print(&text(&preview))?,
        OutputFormat::Json => shared.print_json(&preview)?,
        OutputFormat::Csv => shared.print(&csv(&preview))?,
    }
    Ok(Outcome::Done)
}

fn text(preview: &Preview) -> String {
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
    lines.extend(preview.treatments.iter().map(|one| format!("  {}: {}", one.engine, one.levels)));
    lines.push(String::new());
    lines.push(format!("Order with seed {}{}:", preview.seed, preview.seed_note()));
    for block in &preview.order {
        lines.push(format!("  block {}", block.block));
        lines.extend(block.starts.iter().map(|start| format!("    {}", in_words(start))));
    }
    lines.join("\n") + "\n"
}

fn in_words(start: &Start) -> String {
    format!("{}: {}", start.engine, start.treatments.join(" | "))
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
