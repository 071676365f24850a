//! Results of one engine, and thresholds, in words.

use notation::counted;
use plan::{Bound, ResponseVariable};

use super::sentence::Sentence;
use super::wording::Wording;
use super::{names, place, size, starvation};
use crate::analysis::{Analysis, Judgement, Treatment};

/// One engine: its thresholds, then from which value to which its response goes.
pub(super) fn headline(wording: &Wording<'_>, analysis: &Analysis) -> Vec<Sentence> {
    let thresholds = match (missed(wording, analysis), analysis.thresholds.as_slice()) {
        (Some(missed), _) => Some(missed),
        (None, []) => None,
        (None, all) => {
            let open = all.iter().filter(|one| one.met.is_none()).count();
            Some(match (open, all.len()) {
                (0, 1) => "The threshold is met.".to_owned(),
                (0, all) => format!("All {all} thresholds are met."),
                (1, all) => format!("1 of {} is undecided.", counted(all, "threshold")),
                (open, all) => format!("{open} of {} are undecided.", counted(all, "threshold")),
            })
        }
    };
    let values = values(wording, analysis).map(Sentence::plain);
    let thresholds = thresholds.map(Sentence::plain);
    [thresholds, values, starvation::sentence(wording)].into_iter().flatten().collect()
}

/// `2 of 6 thresholds are missed: mean 212 ms, wanted < 200 ms (SQLite, a year, 4 clients)`: the
/// worst of them, and how many.
pub(super) fn missed(wording: &Wording<'_>, analysis: &Analysis) -> Option<String> {
    let missed: Vec<&Judgement> =
        analysis.thresholds.iter().filter(|one| one.met == Some(false)).collect();
    let excess = |one: &&&Judgement| {
        let (Bound::Below(bound) | Bound::Above(bound)) = one.bound;
        one.estimate.map_or(0.0, |estimate| (estimate.value / bound).ln().abs())
    };
    let worst = missed.iter().max_by(|x, y| excess(x).total_cmp(&excess(y)))?;
    let said = threshold(wording, worst);
    Some(match (missed.len(), analysis.thresholds.len()) {
        (1, 1) => format!("Missed: {said}."),
        (some, all) => format!("Missed, {some} of {}: {said}.", counted(all, "threshold")),
    })
}

/// `mean 212 ms, wanted < 200 ms (a year, 4 clients)`.
fn threshold(wording: &Wording<'_>, one: &Judgement) -> String {
    let value = one.estimate.map(|estimate| size::of_response(one.response, estimate.value));
    let (sign, Bound::Below(bound) | Bound::Above(bound)) = (sign(one.bound), one.bound);
    let mut at = place::in_words(wording.plan, &one.levels);
    if wording.plan.engines.len() > 1 {
        at.insert(0, wording.names.get(&one.engine).to_owned());
    }
    let at = if at.is_empty() { String::new() } else { format!(" ({})", at.join(", ")) };
    format!(
        "{} {}, wanted {sign} {}{at}",
        short(one.response),
        value.unwrap_or_else(|| "not measured".to_owned()),
        size::bound(one.response, bound)
    )
}

fn sign(bound: Bound) -> &'static str {
    match bound {
        Bound::Below(_) => "<",
        Bound::Above(_) => ">",
    }
}

/// The name of a response beside its value.
fn short(response: ResponseVariable) -> &'static str {
    match response {
        ResponseVariable::ResponseTimeMsMean => "mean",
        ResponseVariable::ResponseTimeMsP50 => "median",
        ResponseVariable::ResponseTimeMsP90 => "p90",
        ResponseVariable::ResponseTimeMsP95 => "p95",
        ResponseVariable::ResponseTimeMsP99 => "p99",
        ResponseVariable::ResponseTimeMsP999 => "p99.9",
        ResponseVariable::RequestsPerSecond => "requests per second",
        ResponseVariable::TransactionsPerSecond => "transactions per second",
        ResponseVariable::CpuSecondsPerRequest => "CPU time per request",
        ResponseVariable::FailureFraction => "failed requests",
    }
}

/// `SQLite: mean 3.1 ms (a week, 1 client) to 940 ms (a year, 4 clients).`
fn values(wording: &Wording<'_>, analysis: &Analysis) -> Option<String> {
    let response = wording.plan.response();
    let counts =
        |one: &&Treatment| one.estimate.is_some() && !one.saturated && one.standing.is_judged();
    let measured: Vec<&Treatment> = analysis.treatments.iter().filter(counts).collect();
    let value = |one: &&&Treatment| one.estimate.map_or(0.0, |estimate| estimate.value);
    let least = measured.iter().min_by(|x, y| value(x).total_cmp(&value(y)));
    let most = measured.iter().max_by(|x, y| value(x).total_cmp(&value(y)));
    let Some((least, most)) = least.zip(most) else {
        let why = analysis.treatments.iter().find_map(|one| one.standing.reason());
        return why.map(|why| format!("There is no result: {why}."));
    };
    let said = |one: &Treatment| {
        let at = place::in_words(wording.plan, &one.levels).join(", ");
        let at = if at.is_empty() { at } else { format!(" ({at})") };
        let estimate = one.estimate?;
        Some(format!("{}{at}", size::value(response, estimate.value)))
    };
    let engine = names::capital(wording.names.get(&least.engine));
    let short = short(response);
    let (first, last) = (said(least)?, said(most)?);
    let lead = match response.lower_is_better() {
        // A threshold of the mean is judged by the arithmetic one.
        true if analysis.thresholds.iter().any(|one| one.response == response) => {
            format!("{engine}: geometric {short} ")
        }
        true => format!("{engine}: {short} "),
        false => format!("{engine}: "),
    };
    let unit = if response.lower_is_better() { String::new() } else { format!(" {short}") };
    Some(match measured.len() {
        1 => {
            let interval = least.estimate.and_then(|estimate| {
                let [low, high] =
                    [estimate.low?, estimate.high?].map(|bound| size::value(response, bound));
                Some(format!("; 95%: {low} to {high}"))
            });
            format!("{lead}{first}{unit}{}.", interval.unwrap_or_default())
        }
        _ => format!("{lead}{first} to {last}{unit}."),
    })
}
