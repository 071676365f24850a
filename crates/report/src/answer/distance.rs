//! The cost of distance: the slope of the response time over the delay of a round trip.

use std::collections::BTreeMap;

use notation::{counted, digits};
use plan::{DELAY_MS, Level, Levels, LoadModel, STEP, clients};
use stats::{Estimate, Method, mean_estimate};

use super::wording::Wording;
use super::{names, place};
use crate::analysis::{CONFIDENCE_LEVEL, Treatment, number};

/// The factor of clients.
const CLIENTS: &str = "clients";

/// For each server and set of other levels, at the fewest clients: `each ms of distance costs a
/// request on PostgreSQL 18 41.0 ms (40.9 to 41.1): it waits for 41.0 round trips`. Only treatments
/// that `is_told` picks count.
pub(super) fn sentences(
    wording: &Wording<'_>,
    is_told: impl Fn(&Treatment) -> bool,
) -> Vec<String> {
    let mut lines: BTreeMap<(&str, Levels), Vec<&Treatment>> = BTreeMap::new();
    let fewest = wording.treatments.iter().map(|one| clients(&one.levels)).min().unwrap_or(1);
    let judged = wording.treatments.iter().filter(|one| one.standing.is_judged());
    for one in judged.filter(|one| clients(&one.levels) == fewest && is_told(one)) {
        let mut others = one.measured_at.clone();
        // An engine without a distance is at one level of it.
        if others.remove(DELAY_MS).is_some() && one.levels == one.measured_at {
            lines.entry((&one.engine, others)).or_default().push(one);
        }
    }
    let said = lines.iter().filter_map(|((engine, others), treatments)| {
        Some(sentence(wording, engine, others, slope(treatments)?, fewest))
    });
    said.collect()
}

fn sentence(
    wording: &Wording<'_>,
    engine: &str,
    others: &Levels,
    (slope, relays): (Estimate, usize),
    clients: u16,
) -> String {
    let unit = wording.plan.unit_of_work();
    let mut levels = others.clone();
    // Each engine has one step alone here.
    levels.remove(STEP);
    let places = match levels.remove(CLIENTS) {
        Some(_) if clients > 1 => counted(usize::from(clients), "client"),
        _ => String::new(),
    };
    let places = [places, place::others(wording.plan, &levels)];
    let places: Vec<&str> =
        places.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    let at = match places.as_slice() {
        [] => String::new(),
        some => format!("{}: ", some.join(", ")),
    };
    let size = match slope.method {
        Method::RangeOnly => {
            let blocks = counted(slope.replicates, "block");
            format!("{} ms ({blocks}, so without an interval)", digits(slope.value))
        }
        _ => format!("{} ms", number(&slope)),
    };
    let engine = wording.names.get(engine);
    let cost = format!("each ms of distance costs a {unit} on {engine} {size}");
    // Several clients wait for each other too, and with one relay the slope holds what that adds.
    let trips = match (clients, wording.plan.load.model) {
        (1, LoadModel::Closed) if relays > 1 => format!(
            ", so it waits for about {} round trips, one after another",
            digits(slope.value)
        ),
        _ => String::new(),
    };
    format!("{}.", names::capital(&format!("{at}{cost}{trips}")))
}

/// The mean over blocks of each block's slope by least squares, and the number of delays with a relay;
/// none with fewer than two delays. A
/// direct connection has no relay, which adds something by itself: it counts only where there is one
/// further delay alone.
fn slope(treatments: &[&Treatment]) -> Option<(Estimate, usize)> {
    let delay = |one: &Treatment| one.measured_at.get(DELAY_MS).and_then(Level::number);
    let relayed = treatments.iter().filter(|one| delay(one).is_some_and(|ms| ms > 0.0)).count();
    let mut blocks: BTreeMap<usize, Vec<(f64, f64)>> = BTreeMap::new();
    for one in treatments {
        let delay = delay(one)?;
        if delay == 0.0 && relayed > 1 {
            continue;
        }
        for (block, ms) in &one.time_blocks {
            blocks.entry(*block).or_default().push((delay, *ms));
        }
    }
    let slopes: Vec<f64> = blocks.values().filter_map(|points| least_squares(points)).collect();
    Some((mean_estimate(&slopes, CONFIDENCE_LEVEL)?, relayed))
}

fn least_squares(points: &[(f64, f64)]) -> Option<f64> {
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let spread: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    let together: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    (spread > 0.0).then(|| together / spread)
}

#[cfg(test)]
mod tests {
    use super::least_squares;

    #[test]
    fn a_slope_is_the_round_trips_of_a_request() {
        let forty_one = [(0.0, 3.0), (0.5, 23.5), (1.0, 44.0), (5.0, 208.0)];
        let slope = least_squares(&forty_one).unwrap();
        assert!((slope - 41.0).abs() < 1e-9, "{slope}");
        assert_eq!(least_squares(&[(1.0, 3.0), (1.0, 4.0)]), None);
        assert_eq!(least_squares(&[]), None);
    }
}
