//! Limits on the size of a plan, checked before its trials are listed, which takes memory.

use crate::Design;
use crate::Levels;
use crate::{LoadModel, Plan, PlanError, TrialSettings, clients};

const TRIALS_MAX: f64 = 100_000.0;
const OBSERVATIONS_BYTES_MAX: f64 = 20e9;
/// Bytes of one observation, in memory and packed in its file.
const OBSERVATION_BYTES: f64 = 9.0;
/// Assumed rate of a trial that lasts a time, whose number of answers is unknown. More than a
/// month of such trials is refused.
const ANSWERS_PER_SECOND: f64 = 1_000.0;
/// Requests are numbered by 16 bits.
const REQUESTS_MAX: usize = 65_535;

impl Plan {
    /// Refuses by bounds alone what cannot even be listed.
    pub(crate) fn check_bounds(&self) -> Result<(), PlanError> {
        let count = |factor: &super::Factor| factor.levels.len() as f64;
        let alone = self.factors.values().filter(|factor| factor.alone);
        let bases: f64 = 1.0 + alone.map(|factor| (count(factor) - 1.0).max(0.0)).sum::<f64>();
        let crossed = self.factors.values().filter(|factor| !factor.alone);
        let cells = bases * crossed.map(count).product::<f64>();
        let treatments = cells * self.engines.len() as f64;
        let blocks = self.first_blocks() as f64;
        if treatments > TRIALS_MAX * 10.0 || blocks > TRIALS_MAX {
            return Err(too_many_trials(treatments, blocks));
        }
        if self.requests.len() > REQUESTS_MAX {
            let message = format!("{} are more than {REQUESTS_MAX}", self.requests.len());
            return Err(PlanError::impossible("request", message));
        }
        Ok(())
    }

    /// Refuses more trials, and more observations, than fit.
    pub(crate) fn check_size(&self) -> Result<(), PlanError> {
        let design = Design::of(self);
        let treatments = design.treatments();
        let blocks = self.first_blocks() as f64;
        if treatments.len() as f64 * blocks > TRIALS_MAX {
            return Err(too_many_trials(treatments.len() as f64, blocks));
        }
        let of_block: f64 = treatments.iter().map(|(_, levels)| self.answers_in(levels)).sum();
        let bytes = of_block * blocks * OBSERVATION_BYTES;
        if bytes <= OBSERVATIONS_BYTES_MAX {
            return Ok(());
        }
        let message = format!(
            "{} trials leave about {:.0} GB of observations, and at most {:.0} GB are taken; make \
             them shorter or fewer",
            treatments.len() as f64 * blocks,
            bytes / 1e9,
            OBSERVATIONS_BYTES_MAX / 1e9
        );
        let largest = self.requests.iter().enumerate().max_by_key(|(_, request)| request.weight);
        let key = match largest {
            Some((index, one)) if f64::from(one.weight) > ANSWERS_PER_SECOND => {
                format!("request.{index}.weight")
            }
            _ => "trial".to_owned(),
        };
        Err(PlanError::impossible(&key, message))
    }

    /// How many answers a trial has, at the least or as usual.
    fn answers_in(&self, levels: &Levels) -> f64 {
        let round = self.rules().answers_per_round(levels) * f64::from(clients(levels));
        match self.trial {
            TrialSettings::Passes { passes } => round * f64::from(passes),
            TrialSettings::Steady { time } => {
                let per_second = match self.load.model {
                    LoadModel::Open => self.rate_at(levels).unwrap_or(ANSWERS_PER_SECOND),
                    LoadModel::Closed => ANSWERS_PER_SECOND,
                };
                let least = if self.load.model == LoadModel::Open { 0.0 } else { round };
                (time.0 as f64 * per_second).max(least)
            }
        }
    }
}

fn too_many_trials(treatments: f64, blocks: f64) -> PlanError {
    let key = if blocks > treatments { "replicates" } else { "factors" };
    let plural = |count: f64| if count == 1.0 { "" } else { "s" };
    let message = format!(
        "{treatments} treatment{} in {blocks} block{} are {} trials, and at most {TRIALS_MAX} are \
         taken; name fewer levels or blocks",
        plural(treatments),
        plural(blocks),
        treatments * blocks
    );
    PlanError::impossible(key, message)
}
