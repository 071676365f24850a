//! Fixed work: a trial that changes data is a list of executions, the same on every engine. A trial of
//! fixed length would have the faster engine use its keys up and be timed for doing nothing.

use std::collections::BTreeSet;
use std::time::Duration;

use notation::thousands;

use crate::error::RunError;
use crate::workload::{KeyReach, Subject, TableComparison};
use load::TrialSample;
use plan::{Design, Levels, LoadModel, LoadOptions, Mode, Plan, PlanError, TrialSettings, clients};
use record::{FixedWork, Run, work_at};

/// The pilot's load is at most so long.
const PILOT_TIME: Duration = Duration::from_secs(1);
/// Less work than this says little, s.
const WORK_SECONDS_MIN: f64 = 0.2;
/// The most that a much slower engine may prolong a trial, as a multiple of its time.
const LONGER_MAX: f64 = 10.0;

/// Whether trials of this plan are fixed work where they change data.
pub(super) fn is_wanted(plan: &Plan) -> bool {
    let is_compared = plan.engines.len() > 1 || matches!(plan.trial, TrialSettings::Steady { .. });
    plan.load.model == LoadModel::Closed && is_compared
}

/// One engine's work at one cell, as the pilot saw it.
pub(super) struct WorkSeen {
    engine: String,
    levels: Levels,
    /// Of each client; none where the plan says how many rounds there are.
    seconds_per_round: Option<f64>,
    /// Of the load that told so.
    pub load_time: Duration,
    reaches: Vec<KeyReach>,
}

/// Looks at each of `cells` that changes data: how far its keys reach, and how long a round takes.
pub(super) fn observe(
    design: &Design<'_>,
    index: usize,
    cells: &[Levels],
    subject: &mut dyn Subject,
) -> Result<Vec<WorkSeen>, RunError> {
    let plan = design.plan();
    let Some(engine) = plan.engines.get(index).filter(|_| is_wanted(plan)) else {
        return Ok(Vec::new());
    };
    let cells: BTreeSet<Levels> =
        cells.iter().map(|cell| design.canonical_levels(engine, cell)).collect();
    // Before any load: it uses up keys that are asked for here.
    let mut reached = Vec::new();
    for levels in cells {
        if let Some(reaches) = subject.key_reaches(&levels)?.filter(|all| !all.is_empty()) {
            reached.push((levels, reaches));
        }
    }
    let mut seen = Vec::new();
    for (levels, reaches) in reached {
        let (seconds_per_round, load_time) = match plan.trial {
            TrialSettings::Passes { .. } => (None, Duration::ZERO),
            TrialSettings::Steady { time } => {
                subject.prepare(&levels)?;
                let time = time.duration().min(PILOT_TIME);
                let mode = Mode::Steady { time, minimum_rounds: 1 };
                let seed = plan.seed.unwrap_or_default();
                let options = LoadOptions { mode, ..plan.load_at(&levels, seed)? };
                let sample = subject.load(&levels, &options)?;
                if sample.observations.is_empty() {
                    // A client has ended; a trial would say so.
                    continue;
                }
                let rounds_max = rounds_max(plan, &levels, &reaches).map(|(rounds, _)| rounds);
                (Some(seconds_per_round(plan, &levels, &sample, rounds_max)), sample.wall_time)
            }
        };
        seen.push(WorkSeen {
            engine: engine.label(),
            levels,
            seconds_per_round,
            load_time,
            reaches,
        });
    }
    Ok(seen)
}

/// The rounds of each client for which all keys suffice, and the operation whose keys end first.
fn rounds_max(plan: &Plan, levels: &Levels, reaches: &[KeyReach]) -> Option<(u64, KeyReach)> {
    let rounds = |reach: &KeyReach| {
        Some((reach.executions? / per_round(plan, levels, reach.operation), *reach))
    };
    reaches.iter().filter_map(rounds).min_by_key(|(rounds, _)| *rounds)
}

/// Executions of an operation while each client walks one round.
fn per_round(plan: &Plan, levels: &Levels, operation: usize) -> u64 {
    let weight = plan.operations_at(levels).get(operation).map_or(1, |one| one.weight);
    u64::from(clients(levels)) * u64::from(weight.max(1))
}

/// From the rates of all clients together, since one that waits for the others' locks does few rounds
/// for as long as they run. What came after the keys were used up does not count.
fn seconds_per_round(
    plan: &Plan,
    levels: &Levels,
    sample: &TrialSample,
    rounds_max: Option<u64>,
) -> f64 {
    let round: u64 = plan.operations_at(levels).iter().map(|one| u64::from(one.weight)).sum();
    let most = rounds_max.map_or(u64::MAX, |rounds| rounds.max(1).saturating_mul(round));
    let mut of_clients = vec![(0_u64, u64::MAX, 0_u64); usize::from(clients(levels))];
    for one in sample.observations.iter() {
        let Some((done, begun, ended)) = of_clients.get_mut(usize::from(one.client)) else {
            continue;
        };
        if *done < most {
            *done += 1;
            *begun = (*begun).min(one.start_ns);
            *ended = (*ended).max(one.start_ns + one.response_time_ns);
        }
    }
    let per_second =
        of_clients.iter().filter(|(done, ..)| *done > 0).map(|(done, begun, ended)| {
            // A clock's tick, so that nothing is divided by zero.
            *done as f64 / ended.saturating_sub(*begun).max(1) as f64 * 1e9
        });
    of_clients.len() as f64 * round as f64 / per_second.sum::<f64>()
}

/// The work of every cell that the pilot saw, with the sentences to be said of it.
pub(super) struct DecidedWork {
    pub work: Vec<FixedWork>,
    pub said: Vec<String>,
    /// A trial's mean length; none where it is not known.
    pub trial_time: Option<Duration>,
}

pub(super) fn decide(design: &Design<'_>, seen: &[WorkSeen]) -> Result<DecidedWork, PlanError> {
    let plan = design.plan();
    let mut decided = DecidedWork { work: Vec::new(), said: Vec::new(), trial_time: None };
    let mut seconds = Vec::new();
    for cells in compared_cells(design) {
        let here: Vec<&WorkSeen> = seen.iter().filter(|one| cells.contains(&one.levels)).collect();
        if here.is_empty() {
            continue;
        }
        let rounds = match plan.trial {
            TrialSettings::Passes { passes } => passes,
            TrialSettings::Steady { time } => {
                let far = round_trips_seconds(plan, &cells)?;
                let (rounds, said) = rounds_for(plan, time.duration().as_secs_f64(), far, &here)?;
                decided.said.extend(said);
                rounds
            }
        };
        let times = here.iter().filter_map(|one| one.seconds_per_round);
        seconds.extend(times.map(|one| one * f64::from(rounds)));
        let keyed = |one: &&WorkSeen| matches!(one.reaches.as_slice(), [only] if only.keyed);
        let keyed = here.iter().all(keyed);
        decided.work.push(FixedWork { cells: cells.into_iter().collect(), rounds, keyed });
    }
    if !seconds.is_empty() {
        let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
        decided.trial_time = Duration::try_from_secs_f64(mean).ok();
    }
    Ok(decided)
}

/// The time, s, that a round waits for the longest distance among `cells`, by one round trip for each
/// operation: the pilot looked at the shortest.
fn round_trips_seconds(plan: &Plan, cells: &BTreeSet<Levels>) -> Result<f64, PlanError> {
    let mut longest = 0.0_f64;
    for levels in cells {
        let round: u64 = plan.operations_at(levels).iter().map(|one| u64::from(one.weight)).sum();
        longest = longest.max(plan.delay_at(levels)?.as_secs_f64() * round as f64);
    }
    Ok(longest)
}

/// The rounds for which the fastest engine is busy for `time`, s; a sentence where that is otherwise.
/// The slowest waits `far`, s, more in each round than was seen.
fn rounds_for(
    plan: &Plan,
    time: f64,
    far: f64,
    here: &[&WorkSeen],
) -> Result<(u32, Option<String>), PlanError> {
    let time_of = |one: &&&WorkSeen| one.seconds_per_round.unwrap_or(time);
    let by_time = |a: &&&WorkSeen, b: &&&WorkSeen| time_of(a).total_cmp(&time_of(b));
    let (Some(fastest), Some(slowest)) = (here.iter().min_by(by_time), here.iter().max_by(by_time))
    else {
        return Ok((1, None));
    };
    let (fast, slow) = (time_of(&fastest), time_of(&slowest) + far);
    let least = (WORK_SECONDS_MIN / fast).ceil().max(1.0);
    let wanted = (time / fast).ceil().max(1.0);
    let bounded = (LONGER_MAX * time / slow).floor().max(least).min(wanted);
    let reach = |one: &&WorkSeen| rounds_max(plan, &one.levels, &one.reaches);
    let shortest = here.iter().filter_map(reach).min_by_key(|(rounds, _)| *rounds);
    let (rounds, said) = match shortest {
        Some((rounds, reach)) if (rounds as f64) < least => {
            let needed = least * per_round(plan, &fastest.levels, reach.operation) as f64;
            return Err(used_up(plan, fastest, reach, needed));
        }
        Some((rounds, reach)) if (rounds as f64) < bounded => {
            let name = plan.statements.get(reach.operation).map_or("", |one| one.name.as_str());
            let lasts = notation::digits(rounds as f64 * fast);
            let said = format!(
                "a trial lasts about {lasts} s on {} and not {time} s: the keys of {name} are then used up",
                fastest.engine
            );
            (rounds as f64, Some(said))
        }
        _ => (bounded, None),
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    let rounds = rounds as u32;
    Ok((rounds, said))
}

/// Why keys that are soon used up are refused, and how many there must be.
fn used_up(plan: &Plan, fastest: &WorkSeen, reach: KeyReach, needed: f64) -> PlanError {
    let name = plan.statements.get(reach.operation).map_or("", |one| one.name.as_str());
    let clients = notation::counted(usize::from(clients(&fastest.levels)), "client");
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    let needed = thousands(needed as u64);
    let message = format!(
        "{name} finds nothing to do when its values come again, and its {} are used up by {clients} on \
         {} in less than 200 ms, which is too short to be measured: {needed} are needed. Take more rows \
         (a wider range, or a query that returns more keys), or write transaction = true and a second \
         statement that puts back what the first one took",
        thousands(reach.executions.unwrap_or_default()),
        fastest.engine
    );
    PlanError::impossible(&format!("statement.{}.parameters", reach.operation), message)
}

/// Cells whose trials are compared: a factor that acts on one engine alone joins its levels with the
/// other engines' single cell.
fn compared_cells(design: &Design<'_>) -> Vec<BTreeSet<Levels>> {
    let rules = design.plan().rules();
    let mut groups: Vec<BTreeSet<Levels>> = Vec::new();
    for cell in design.cells() {
        let engines = design.plan().engines.iter().enumerate();
        let engines = engines.filter(|(index, _)| !rules.repeats(*index, cell));
        let mut joined: BTreeSet<Levels> =
            engines.map(|(_, engine)| design.canonical_levels(engine, cell)).collect();
        let (same, others): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|group| !group.is_disjoint(&joined));
        groups = others;
        joined.extend(same.into_iter().flatten());
        groups.push(joined);
    }
    groups
}

/// The load of a trial: the plan's, or its fixed work in the order that the run's seed gives.
pub(super) fn load_of(
    plan: &Plan,
    run: &Run,
    levels: &Levels,
    seed: u64,
) -> Result<LoadOptions, PlanError> {
    let load = plan.load_at(levels, seed)?;
    Ok(match work_at(&run.fixed_work, levels) {
        Some(work) => LoadOptions { mode: Mode::Passes(work.rounds), seed: run.seed, ..load },
        None => load,
    })
}

/// `true` where trials at `levels` are fixed work.
pub(super) fn is_at(run: &Run, levels: &Levels) -> bool {
    work_at(&run.fixed_work, levels).is_some()
}

/// How far the tables are compared that a trial at `levels` has written to.
pub(super) fn table_comparison(plan: &Plan, run: &Run, levels: &Levels) -> TableComparison {
    match work_at(&run.fixed_work, levels) {
        None => TableComparison::None,
        Some(work) if work.keyed || clients(levels) == 1 => TableComparison::Digest,
        // It was asked already, and holds whatever client came first.
        Some(_) if plan.invariant.is_some() => TableComparison::None,
        Some(_) => TableComparison::Rows,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = r#"
        title = "t"
        workload = "sql"
        data = { command = ["true"] }
        engines = ["sqlite", "postgres:18[work_mem={memory}]"]
        trial = { mode = "steady", time = "2s" }
        factors = { clients = [1, 4], memory = ["4MB", "16MB"] }
        [[statement]]
        name = "deletion"
        text = "DELETE FROM t WHERE id = :id"
        weight = 2
        parameters = { id = { range = [1, 10] } }
    "#;

    fn seen(plan: &Plan, engine: usize, clients: f64, round: f64, keys: Option<u64>) -> WorkSeen {
        let design = Design::of(plan);
        let mut levels = plan.base();
        levels.insert("clients".to_owned(), plan::Level::Number(clients));
        let engine = &plan.engines[engine];
        WorkSeen {
            engine: engine.label(),
            levels: design.canonical_levels(engine, &levels),
            seconds_per_round: Some(round),
            load_time: Duration::ZERO,
            reaches: vec![KeyReach { operation: 0, executions: keys, keyed: keys.is_some() }],
        }
    }

    #[test]
    fn the_fastest_engine_is_busy_for_the_time_of_a_trial() {
        let plan = plan::read(PLAN, "t.toml").unwrap();
        let design = Design::of(&plan);
        let all = [
            seen(&plan, 0, 1.0, 0.001, None),
            seen(&plan, 1, 1.0, 0.004, None),
            seen(&plan, 0, 4.0, 0.002, Some(1_000_000)),
            seen(&plan, 1, 4.0, 0.001, Some(1_000_000)),
        ];
        let decided = decide(&design, &all).unwrap();
        assert!(decided.said.is_empty());
        let rounds: Vec<u32> = decided.work.iter().map(|work| work.rounds).collect();
        assert_eq!(rounds, [2_000, 2_000]);
        let keyed: Vec<bool> = decided.work.iter().map(|work| work.keyed).collect();
        assert!(keyed.contains(&true) && keyed.contains(&false), "{keyed:?}");
        // The setting acts on one engine: all of its levels are compared with the other's one.
        assert!(decided.work.iter().all(|work| work.cells.len() == 2), "{:?}", decided.work);
        assert_eq!(decided.trial_time, Some(Duration::from_secs(4)));
        let other = Levels::from([
            ("clients".to_owned(), plan::Level::Number(8.0)),
            ("memory".to_owned(), plan::Level::Text("4MB".to_owned())),
        ]);
        assert_eq!(work_at(&decided.work, &other).unwrap().rounds, 2_000, "of a bisection");
        assert_eq!(work_at(&[], &other), None);
    }

    #[test]
    fn a_distance_that_the_pilot_did_not_see_shortens_the_list() {
        let text = PLAN.replace("factors = { ", "factors = { delay_ms = [0, 5], ");
        let plan = plan::read(&text, "t.toml").unwrap();
        let near = [seen(&plan, 0, 1.0, 0.001, None), seen(&plan, 1, 1.0, 0.001, None)];
        let decided = decide(&Design::of(&plan), &near).unwrap();
        // Ten times 2 s, by 1 ms and two round trips of 5 ms in each round.
        assert_eq!(decided.work[0].rounds, 1_818);
    }

    #[test]
    fn keys_and_a_much_slower_engine_shorten_the_list() {
        let plan = plan::read(PLAN, "t.toml").unwrap();
        let decided = |sqlite: WorkSeen, postgres: WorkSeen| {
            let decided = decide(&Design::of(&plan), &[sqlite, postgres]);
            decided.map(|decided| (decided.work[0].rounds, decided.said.join("; ")))
        };
        let slow = seen(&plan, 1, 1.0, 0.1, None);
        assert_eq!(decided(seen(&plan, 0, 1.0, 0.001, None), slow).unwrap().0, 200);
        let keys = || Some(900);
        let (rounds, said) =
            decided(seen(&plan, 0, 1.0, 0.001, keys()), seen(&plan, 1, 1.0, 0.002, keys()))
                .unwrap();
        assert_eq!(rounds, 450);
        assert!(said.contains("about 0.45") && said.contains("the keys of deletion"), "{said}");
        let few = || Some(399);
        let refused = decided(seen(&plan, 0, 1.0, 0.001, few()), seen(&plan, 1, 1.0, 0.002, few()));
        let said = refused.unwrap_err().to_string();
        assert!(said.contains("its 399 are used up by 1 client on sqlite"), "{said}");
        assert!(said.contains("400 are needed"), "{said}");
    }
}
