//! A plan of workload `oltp` made shorter until it is expected to end in time: by measuring less,
//! never by measuring less carefully. What was left out is said, and becomes a condition of the
//! report.

use engine::EngineKind;
use std::collections::BTreeMap;

use crate::preview::Preview;
use plan::available_cpus;
use plan::{Level, Plan, PlanError, Seconds, TrialSettings};

/// Fewer points do not show the shape of a line.
const CLIENT_COUNTS_MIN: usize = 4;
/// In shorter trials the first seconds weigh too much.
const TRIAL_SECONDS_MIN: u64 = 10;

/// Leaves out client counts, then releases between the first and the last, then seconds of each
/// trial, then blocks beyond the fifth, until `plan` is expected to take no longer than `budget`;
/// what was left out, in sentences. Where nothing more can be left out the last one says so.
pub fn shorten(plan: &mut Plan, budget: Seconds) -> Result<Vec<String>, PlanError> {
    let mut left_out = Vec::new();
    let steps: [fn(&mut Plan) -> Option<ShorteningStep>; 4] =
        [fewer_clients, fewer_releases, shorter_trials, fewer_blocks];
    for step in steps {
        while expected(plan)? > budget.0 {
            let Some(done) = step(plan) else { break };
            left_out.push(done);
        }
    }
    let mut said = in_words(&left_out);
    if !said.is_empty() {
        let note = format!("shortened to fit {budget}: {}", said.join("; "));
        plan.add_condition(&note);
    }
    let now = expected(plan)?;
    if now > budget.0 {
        let minutes = Seconds(now.div_ceil(60) * 60);
        said.push(format!(
            "it takes about {minutes} all the same: five blocks of trials of {TRIAL_SECONDS_MIN}s \
             are the least; name fewer engines or workloads"
        ));
    }
    Ok(said)
}

/// One step of the shortening, by the part that it left out.
enum ShorteningStep {
    Clients(f64),
    Release(String),
    Seconds(u64, u64),
    Blocks(usize, usize),
}

fn expected(plan: &Plan) -> Result<u64, PlanError> {
    Ok(Preview::of(plan)?.assumed_seconds.unwrap_or(0))
}

/// The count that lies closest to its neighbours, but neither the ends nor the one at which every
/// processor has a client.
fn fewer_clients(plan: &mut Plan) -> Option<ShorteningStep> {
    let factor = plan.factors.get_mut("clients")?;
    if factor.levels.len() <= CLIENT_COUNTS_MIN {
        return None;
    }
    let mut sorted: Vec<f64> = factor.levels.iter().filter_map(Level::number).collect();
    sorted.sort_by(f64::total_cmp);
    let cores = available_cpus().len() as f64;
    let at_cores = sorted.iter().copied().min_by(|a, b| {
        let far = |count: f64| (count.ln() - cores.ln()).abs();
        far(*a).total_cmp(&far(*b))
    })?;
    let inner = sorted.windows(3).filter_map(|three| match three {
        [before, count, after] if *count != at_cores => Some((*count, after / before)),
        _ => None,
    });
    // Of equals the largest: the course beyond the peak is the smoother one.
    let (count, _) =
        inner.min_by(|(a, near), (b, far)| near.total_cmp(far).then(b.total_cmp(a)))?;
    let index = factor.levels.iter().position(|level| *level == Level::Number(count))?;
    factor.levels.remove(index);
    if index < factor.labels.len() {
        factor.labels.remove(index);
    }
    Some(ShorteningStep::Clients(count))
}

/// The one in the middle of the releases of one kind.
fn fewer_releases(plan: &mut Plan) -> Option<ShorteningStep> {
    let mut by_kind: BTreeMap<EngineKind, Vec<usize>> = BTreeMap::new();
    for (index, engine) in plan.engines.iter().enumerate() {
        by_kind.entry(engine.source.kind()).or_default().push(index);
    }
    let most = by_kind.into_values().max_by_key(Vec::len).filter(|places| places.len() > 2)?;
    let index = *most.get(most.len() / 2)?;
    Some(ShorteningStep::Release(plan.engines.remove(index).label()))
}

fn shorter_trials(plan: &mut Plan) -> Option<ShorteningStep> {
    let TrialSettings::Steady { time } = &mut plan.trial else { return None };
    let before = time.0;
    if before <= TRIAL_SECONDS_MIN {
        return None;
    }
    time.0 = before - 1;
    Some(ShorteningStep::Seconds(before, time.0))
}

fn fewer_blocks(plan: &mut Plan) -> Option<ShorteningStep> {
    let before = plan.replicates;
    if before <= stats::INTERVAL_MIN_REPLICATES {
        return None;
    }
    plan.replicates = before - 1;
    Some(ShorteningStep::Blocks(before, plan.replicates))
}

fn in_words(steps: &[ShorteningStep]) -> Vec<String> {
    let mut counts: Vec<f64> = Vec::new();
    let mut releases: Vec<&str> = Vec::new();
    let (mut seconds, mut blocks) = (None, None);
    for step in steps {
        match step {
            ShorteningStep::Clients(count) => counts.push(*count),
            ShorteningStep::Release(label) => releases.push(label),
            ShorteningStep::Seconds(before, after) => {
                let first = seconds.map_or(*before, |(first, _)| first);
                seconds = Some((first, *after));
            }
            ShorteningStep::Blocks(before, after) => {
                let first = blocks.map_or(*before, |(first, _)| first);
                blocks = Some((first, *after));
            }
        }
    }
    counts.sort_by(f64::total_cmp);
    let counts: Vec<String> = counts.iter().map(f64::to_string).collect();
    let said = [
        (!counts.is_empty()).then(|| format!("left out {} clients", counts.join(", "))),
        (!releases.is_empty()).then(|| format!("left out {}", releases.join(", "))),
        seconds.map(|(before, after)| format!("{after} s per trial instead of {before}")),
        blocks.map(|(before, after)| format!("{after} blocks instead of {before}")),
    ];
    said.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history() -> Plan {
        let text = include_str!("../../../experiments/postgres-history.toml");
        plan::read(text, "postgres-history.toml").unwrap()
    }

    #[test]
    fn the_articles_experiment_takes_over_nine_hours() {
        let hours = expected(&history()).unwrap() / 3600;
        assert!((9..11).contains(&hours), "{hours}");
    }

    #[test]
    fn clients_then_releases_then_seconds_are_shortened() {
        let mut eight = history();
        let said = shorten(&mut eight, Seconds(8 * 3600)).unwrap();
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("left out") && said[0].ends_with("clients"), "{said:?}");
        assert_eq!(eight.engines.len(), 5);
        assert!(expected(&eight).unwrap() <= 8 * 3600);
        assert!(eight.conditions.contains("shortened to fit 8h"), "{}", eight.conditions);

        let mut half = history();
        let said = shorten(&mut half, Seconds(1800)).unwrap();
        let counts = &half.factors["clients"].levels;
        assert_eq!(counts.len(), CLIENT_COUNTS_MIN);
        assert!(counts.contains(&Level::Number(1.0)) && counts.contains(&Level::Number(1024.0)));
        let engines: Vec<String> = half.engines.iter().map(|engine| engine.label()).collect();
        assert_eq!(engines, ["postgres:10", "postgres:18"]);
        assert_eq!(half.replicates, 5);
        let TrialSettings::Steady { time } = half.trial else { panic!("{:?}", half.trial) };
        assert!(time.0 >= TRIAL_SECONDS_MIN);
        assert!(said.iter().any(|sentence| sentence.contains("postgres:12")), "{said:?}");

        let mut minute = history();
        let said = shorten(&mut minute, Seconds(60)).unwrap();
        assert!(said.last().unwrap().contains("all the same"), "{said:?}");
    }
}
