//! The time that blocks of statements take, by the pilot's times of single executions.

use std::time::Duration;

use lab::workload::SLOW;

use crate::statement::MeasuredStatement;

/// A trial lasts at least this long and no longer than needed.
pub const TRIAL: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(10));
/// Executions before a trial of a statement that is not slow: a look at its answer, and as many as a plan
/// needs to settle.
const EXECUTIONS_BEFORE: u32 = 7;
/// Passes over the quick statements of a turn's first treatment until the times are steady.
const WARM_UP_PASSES: u32 = 10;
/// A quick statement is executed in a round until this time, at most so often.
const ROUND_SHARE: Duration = Duration::from_millis(50);
const MOST_OFTEN: u32 = 50;
/// Time of every turn of an engine besides its statements: start, statistics, page cache.
pub const TURN_OVERHEAD: Duration = Duration::from_secs(2);
/// Trials take longer than a pilot says, and waits for quiet count.
const CAUTION: f64 = 1.2;

/// A statement that works on every engine, with its times.
#[derive(Clone, Debug)]
pub struct TimedStatement {
    pub statement: MeasuredStatement,
    /// By engine, or engine and distance, and by step; none at a step that does not change the engine, or where it took too long.
    pub times: Vec<Vec<Option<Duration>>>,
    /// The steps at which every engine answers in time.
    pub steps: Vec<bool>,
}

impl TimedStatement {
    /// The time of one execution at each treatment among `steps`.
    pub fn at<'t>(&'t self, steps: &'t [bool]) -> impl Iterator<Item = (usize, Duration)> + 't {
        self.times.iter().flat_map(move |of_engine| {
            let times = of_engine.iter().enumerate().filter(|(step, _)| steps[*step]);
            times.filter_map(|(step, time)| Some((step, (*time)?)))
        })
    }

    /// The same on a machine on which all takes `pace` times as long.
    pub fn slowed(&self, pace: f64) -> Self {
        let slowed = |time: &Option<Duration>| time.map(|time| time.mul_f64(pace));
        let times = self.times.iter().map(|steps| steps.iter().map(slowed).collect()).collect();
        Self { times, ..self.clone() }
    }

    pub fn longest(&self, steps: &[bool]) -> Duration {
        self.at(steps).map(|(_, time)| time).max().unwrap_or_default()
    }

    pub fn weight(&self, steps: &[bool]) -> u32 {
        let longest = self.longest(steps).max(Duration::from_micros(1));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to 1 to 50"
        )]
        let times = (ROUND_SHARE.as_secs_f64() / longest.as_secs_f64())
            .clamp(1.0, f64::from(MOST_OFTEN)) as u32;
        times
    }
}

/// Engines and steps that have a trial.
pub fn treatments(taken: &[(TimedStatement, Vec<bool>)]) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    for (one, steps) in taken {
        for (engine, times) in one.times.iter().enumerate() {
            let acting = times.iter().enumerate().filter(|(_, time)| time.is_some());
            all.extend(acting.map(|(step, _)| (engine, step)).filter(|(_, step)| steps[*step]));
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// The least time that `blocks` blocks of these statements take, the first look at all answers
/// included.
pub fn needed(taken: &[(TimedStatement, Vec<bool>)], blocks: u32) -> Duration {
    let mut checks = Duration::ZERO;
    let mut block = Duration::ZERO;
    for treatment in treatments(taken) {
        let mut round = Duration::ZERO;
        for (one, steps) in taken {
            let (engine, step) = treatment;
            let time = one.times.get(engine).and_then(|of| of.get(step).copied().flatten());
            let Some(time) = time.filter(|_| steps[step]) else { continue };
            round += time * one.weight(steps);
            checks += time;
            block += match time > SLOW {
                true => time,
                false => time * EXECUTIONS_BEFORE,
            };
            if step == 0 && time <= SLOW {
                block += time * WARM_UP_PASSES;
            }
        }
        block += round.max(TRIAL.0);
    }
    let engines = taken.first().map_or(0, |(one, _)| one.times.len());
    let turns = TURN_OVERHEAD * u32::try_from(engines).unwrap_or(u32::MAX);
    (checks + turns + (block + turns) * blocks).mul_f64(CAUTION)
}
