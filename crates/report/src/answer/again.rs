//! The way out of an undecided comparison: a new run, judged by its own blocks.

use notation::counted;
use stats::crossing::Crossing;

use super::Background;
use crate::analysis::{Compared, Sweep};

/// More blocks than this are not offered: they would take too long to be likely.
const BLOCKS_MAX: usize = 200;

/// `A new run of 37 blocks (11 minutes) would probably show a difference of the size seen: crossover
/// bench --again RUN --replicates 37`. None where nothing is open or more blocks are not likely to
/// help.
pub(super) fn sentence(background: &Background<'_>, together: &[&Sweep]) -> Option<String> {
    let run = background.run?;
    let open = together.iter().filter(|sweep| !sweep.is_settled());
    let wanted: Option<Vec<usize>> = open.map(|sweep| blocks(sweep)).collect();
    let blocks = wanted?.into_iter().max().filter(|blocks| *blocks <= BLOCKS_MAX)?;
    let time = background.seconds_per_block.map(|seconds| match seconds * blocks as f64 / 60.0 {
        minutes @ ..1.5 => format!(" (about {:.0} s)", minutes * 60.0),
        minutes @ ..90.0 => format!(" (about {minutes:.0} minutes)"),
        minutes => format!(" (about {:.1} hours)", minutes / 60.0),
    });
    Some(format!(
        "A new run of {}{} would probably show a difference of the size seen: crossover bench \
         --again {run} --replicates {blocks}",
        counted(blocks, "block"),
        time.unwrap_or_default()
    ))
}

/// Blocks of a new run that would settle a sweep; none if more than a thousand, or if failures are
/// in the way.
fn blocks(sweep: &Sweep) -> Option<usize> {
    if !sweep.left_out.is_empty() || sweep.results.iter().any(|one| one.time_outs_could_turn) {
        return None;
    }
    let measured = sweep.results.iter().map(|one| one.ratio.replicates).max()?;
    if sweep.crossings.is_empty() {
        let needed =
            sweep.results.iter().filter(|one| !one.is_settled()).map(Compared::more_blocks);
        return Some(measured + needed.collect::<Option<Vec<_>>>()?.into_iter().max()?);
    }
    let stretches = sweep.crossings.iter().filter_map(|crossing| match crossing {
        Crossing::Inconclusive { more_blocks, .. } => Some(*more_blocks),
        _ => None,
    });
    Some(measured + stretches.collect::<Option<Vec<_>>>()?.into_iter().max()?)
}
