//! Two plans measured as one: in each block the one and then the other, in random order, so that
//! whatever the machine does meets both. Each leaves a run of its own that names the other.

use jiff::Timestamp;
use rand::{RngExt as _, SeedableRng as _, rngs::Xoshiro256PlusPlus};

use super::scratch::Scratch;
use super::world::{Laboratory, ThisMachine};
use super::{begin, random_seed, round};
use crate::error::RunError;
use crate::options::RunOptions;
use plan::Levels;
use plan::Plan;
use plan::derive_seed;
use plan::{Design, Round};
use record::Finished;
use record::RecordError;
use report::comparison::Difference;

/// Measures the treatments that `a` and `b` have in common again, in `blocks` blocks. The new runs
/// are returned in the order of the old ones.
///
/// # Errors
/// [`RunError`]: no cell in common, other data, and everything that ends a run. What was recorded
/// by then stays, and cannot be resumed.
pub fn interleave(
    [a, b]: [&Finished; 2],
    blocks: usize,
    options: &RunOptions<'_>,
) -> Result<Vec<Finished>, RunError> {
    let lab = Laboratory { options, world: &ThisMachine };
    let others = b.cells();
    let cells: Vec<Levels> = a.cells().into_iter().filter(|cell| others.contains(cell)).collect();
    if cells.is_empty() {
        let (a, b) = (a.run.id.clone(), b.run.id.clone());
        let why = "They have no levels in common.";
        return Err(RecordError::NotInterleaved { a, b, why }.into());
    }
    let seed = random_seed()?;
    let round = Round { cells, blocks };
    let mut claimed = Vec::new();
    let mut sides = Vec::new();
    let mut places = Vec::new();
    for (number, run) in [a, b].into_iter().enumerate() {
        let plan = repeated(&run.plan, blocks, derive_seed(seed, &[number as u64]) >> 32);
        let scratch = Scratch::create(&options.locations.data)?;
        let (finished, datasets) = begin(&lab, plan, round.clone(), &scratch)?;
        claimed.push(finished.folder.claim()?);
        places.push((scratch, datasets));
        sides.push(finished);
    }
    let digests: Vec<&String> = sides.iter().map(|side| &side.run.data_digest).collect();
    if digests.first() != digests.last() {
        for side in &sides {
            // Nothing was measured.
            let _ = std::fs::remove_dir_all(side.folder.path());
        }
        let (a, b) = (a.run.id.clone(), b.run.id.clone());
        let why = Difference::Data.message();
        return Err(RecordError::NotInterleaved { a, b, why }.into());
    }
    let ids: Vec<String> = sides.iter().map(|side| side.run.id.clone()).collect();
    for (side, other) in sides.iter_mut().zip(ids.iter().rev()) {
        side.run.fixed_work.clone_from(&a.run.fixed_work);
        side.run.interleaved_with = Some(other.clone());
        side.folder.write_run(&side.run)?;
    }
    let mut settings = Vec::new();
    for ((scratch, datasets), side) in places.iter().zip(&sides) {
        settings.push(round::TurnSetting::new(lab, &scratch.path, datasets, &side.plan)?);
    }
    let plans: Vec<Plan> = sides.iter().map(|side| side.plan.clone()).collect();
    let designs: Vec<Design<'_>> = plans.iter().map(Design::of).collect();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    for block in 1..=blocks {
        let mut turns: Vec<_> = sides.iter_mut().zip(designs.iter().zip(&settings)).collect();
        if random.random_bool(0.5) {
            turns.reverse();
        }
        for (side, (design, setting)) in turns {
            options.progress.set_length(design.planned(&side.run.rounds) as u64);
            round::carry_out_block(design, side, 0, block, setting).map_err(
                |error| match error {
                    RunError::Interrupted { .. } => RunError::RerunInterrupted,
                    error => error,
                },
            )?;
        }
    }
    for side in &mut sides {
        side.run.complete = true;
        side.run.finished = Some(Timestamp::now());
        side.folder.write_run(&side.run)?;
    }
    Ok(sides)
}

/// The same plan, with this many blocks and nothing that depends on what they show.
fn repeated(plan: &Plan, blocks: usize, seed: u64) -> Plan {
    let mut plan = plan.clone();
    plan.replicates = blocks;
    plan.seed = Some(seed);
    plan.precision = None;
    plan.budget = None;
    for factor in plan.factors.values_mut() {
        factor.bisect = false;
    }
    plan
}
