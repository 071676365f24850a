//! Factors, levels and crossings in words.

use stats::Estimate;
use stats::crossing::{Crossing, Side};

use super::{Compared, Failures, Shown, Sweep};
use plan::Levels;
use plan::counted;
use plan::{Level, Plan};

/// What an axis over the factor is called.
pub fn factor_label(name: &str) -> &str {
    match name {
        "days" => "Period",
        "clients" => "Clients",
        "blob_bytes" => "Blob size",
        "page_bytes" => "Page size",
        "operation" => "Operation",
        "mix" => "Workload",
        other => other,
    }
}

/// What one level of it is called in a sentence: `at every period`.
pub(super) fn axis_noun(name: &str) -> String {
    match name {
        "clients" => "number of clients".to_owned(),
        other => factor_label(other).to_lowercase(),
    }
}

/// The unit of the factor's levels, where it has one.
pub fn factor_unit(name: &str) -> Option<&'static str> {
    match name {
        "days" => Some("days"),
        "blob_bytes" | "page_bytes" => Some("bytes"),
        _ => None,
    }
}

/// The name of a level: its label in the plan, otherwise the number with its unit.
pub fn level_label(plan: &Plan, name: &str, level: &Level) -> String {
    if let Some(label) = plan.factors.get(name).and_then(|factor| factor.label(level)) {
        return label.to_owned();
    }
    match (name, level) {
        ("days", Level::Number(days)) => plural(*days, "day"),
        ("clients", Level::Number(clients)) => plural(*clients, "client"),
        ("blob_bytes", Level::Number(bytes)) => bytes_in_words(*bytes),
        ("page_bytes", Level::Number(bytes)) => format!("pages of {bytes} bytes"),
        ("mix", Level::Text(mix)) => mix.replace('_', " "),
        (_, Level::Number(number)) => format!("{name} {number}"),
        (_, Level::Text(text)) => format!("{name} {text}"),
    }
}

/// `month (31 days)`: the label with the number behind it, for sentences.
pub(super) fn level_in_words(plan: &Plan, name: &str, level: f64) -> String {
    let level = Level::Number(level);
    let label = level_label(plan, name, &level);
    let says_all = |unit: &str| {
        label.ends_with(unit)
            || label.ends_with("day")
            || matches!((name, &level), ("blob_bytes", Level::Number(bytes)) if is_round(*bytes))
    };
    match factor_unit(name) {
        Some(unit) if !says_all(unit) => format!("{label} ({level} {unit})"),
        _ => label,
    }
}

/// Three significant digits are all of it.
fn is_round(bytes: f64) -> bool {
    let last_digit = 10f64.powf((bytes.log10().floor() - 2.0).max(0.0));
    bytes % last_digit == 0.0
}

/// `14.1 kB`: three significant digits, none of them a needless zero.
pub fn bytes_in_words(bytes: f64) -> String {
    let (value, unit) = match bytes {
        1e6.. => (bytes / 1e6, "MB"),
        1e3.. => (bytes / 1e3, "kB"),
        _ => (bytes, "bytes"),
    };
    let rounded: f64 = digits(value).parse().unwrap_or(value);
    format!("{rounded} {unit}")
}

fn plural(number: f64, unit: &str) -> String {
    if number == 1.0 { format!("1 {unit}") } else { format!("{number} {unit}s") }
}

/// The levels of the other factors, as `2 clients`; empty where there are none. A factor that is
/// varied alone is named only where it is not at its first level.
pub(super) fn others(plan: &Plan, levels: &Levels) -> String {
    let varied = levels.iter().filter(|(name, level)| !plan.is_base(name, level));
    varied.map(|(name, level)| level_label(plan, name, level)).collect::<Vec<_>>().join(", ")
}

/// One sweep in one sentence.
pub fn sentence(plan: &Plan, sweep: &Sweep) -> String {
    // Several stretches without a verdict share one phrase, with what the worst of them needs.
    let is_open = |c: &&Crossing| matches!(c, Crossing::Inconclusive { .. });
    let settled = sweep.crossings.iter().filter(|c| !is_open(c));
    let worst = sweep.crossings.iter().filter(is_open).max_by_key(|c| match c {
        Crossing::Inconclusive { more_blocks: Some(more), .. } => *more,
        _ => usize::MAX,
    });
    let what: Vec<_> = settled.chain(worst).map(|c| crossing(plan, sweep, c)).collect();
    let said = match (axis(plan, sweep), sweep.results.first()) {
        (_, None) => format!("{} and {} could not be compared", sweep.a, sweep.b),
        (None, Some(result)) => match (result.shown(), result.sign.faster()) {
            (Shown::Equal, _) => {
                format!("{} and {} are {}", sweep.a, sweep.b, equal(plan, sweep, result))
            }
            (_, Some(side)) => {
                format!("{} is faster than {}", name(sweep, side), name(sweep, other(side)))
            }
            (_, None) if result.time_outs_could_turn => {
                format!("undecided between {} and {}: time-outs could turn it", sweep.a, sweep.b)
            }
            (_, None) => format!("no verdict between {} and {}", sweep.a, sweep.b),
        },
        (Some(factor), Some(_)) => what.join("; ") + &left_out(plan, sweep, factor),
    };
    about(plan, sweep, &(said + &failures(sweep)))
}

/// `; sqlite failed in 5 of 31,771 requests, postgres:18 in none`; empty where none failed.
fn failures(sweep: &Sweep) -> String {
    let [a, b] = &sweep.failures;
    if a.failed + b.failed == 0 {
        return String::new();
    }
    let of = |name: &str, one: &Failures| match one.failed {
        0 => format!("{name} in none"),
        failed => format!("{name} in {failed} of {} requests", one.requests),
    };
    format!("; failures: {}, {}", of(&sweep.a, a), of(&sweep.b, b))
}

/// `equal within 5% (2% faster)`, of the first engine of the sweep.
fn equal(plan: &Plan, sweep: &Sweep, result: &Compared) -> String {
    let within = format!("equal within {}", plan.equivalent_within);
    match result.sign.faster() {
        None => within,
        Some(side) => {
            let ratio = result.ratio.value;
            let percent = 100.0 * (1.0 - ratio.min(1.0 / ratio));
            format!("{within} ({} {}% faster)", name(sweep, side), digits(percent))
        }
    }
}

/// Where the lines of one sweep cross, and no more of it.
pub(super) fn brackets(plan: &Plan, sweep: &Sweep) -> String {
    let bracketed = sweep.crossings.iter().filter(|c| matches!(c, Crossing::Bracketed { .. }));
    let said: Vec<_> = bracketed.map(|c| crossing(plan, sweep, c)).collect();
    about(plan, sweep, &said.join("; "))
}

/// A sentence that begins with what it is about, where the run has more than one comparison.
fn about(plan: &Plan, sweep: &Sweep, said: &str) -> String {
    let pair = (plan.engines.len() > 2).then(|| format!("{} against {}", sweep.a, sweep.b));
    let parts = [Some(others(plan, &sweep.levels)), pair, sweep.request.clone()];
    let subject: Vec<_> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    if subject.is_empty() { format!("{said}.") } else { format!("{}: {said}.", subject.join(", ")) }
}

/// The factor along which a sweep goes: the one that its levels leave open.
fn axis<'p>(plan: &'p Plan, sweep: &Sweep) -> Option<&'p str> {
    plan.factors.keys().map(String::as_str).find(|name| !sweep.levels.contains_key(*name))
}

pub(super) fn crossing(plan: &Plan, sweep: &Sweep, crossing: &Crossing) -> String {
    let Some(factor) = axis(plan, sweep) else { return String::new() };
    let level = |level: f64| level_in_words(plan, factor, level);
    let noun = axis_noun(factor);
    match crossing {
        Crossing::Bracketed { last, first, faster_before, faster_after, .. } => format!(
            "{} is faster up to {}, {} from {}, both measured",
            name(sweep, *faster_before),
            level(*last),
            name(sweep, *faster_after),
            level(*first),
        ),
        Crossing::NotInRange { faster } => match ends(sweep) {
            Some((low, high)) if low < high => format!(
                "{} is faster than {} at every {noun} measured, {} to {}",
                name(sweep, *faster),
                name(sweep, other(*faster)),
                level(low),
                level(high),
            ),
            _ => format!("{} is faster than {}", name(sweep, *faster), name(sweep, other(*faster))),
        },
        Crossing::Inconclusive { more_blocks, .. } => {
            let blocks = sweep.results.iter().map(|r| r.ratio.replicates).max().unwrap_or(0);
            let way_out = match more_blocks {
                _ if blocks < stats::INTERVAL_MIN_REPLICATES => {
                    format!("at least 5 blocks are needed, {blocks} measured")
                }
                Some(more) => {
                    format!("about {} would settle it", counted(*more, "more block"))
                }
                None => "more blocks are not likely to settle it".to_owned(),
            };
            match sweep.results.iter().all(Compared::is_settled) {
                true => stretches(plan, sweep, factor),
                false => format!("{} ({way_out})", stretches(plan, sweep, factor)),
            }
        }
    }
}

/// `; nothing to compare at 8 clients`, where failures or void trials left levels out.
fn left_out(plan: &Plan, sweep: &Sweep, factor: &str) -> String {
    let levels = sweep.left_out.iter().map(|level| level_in_words(plan, factor, *level));
    match levels.collect::<Vec<_>>().join(", ") {
        levels if levels.is_empty() => levels,
        levels => {
            let why = sweep.left_out_reasons.first().map(|first| format!(" ({first})"));
            format!("; nothing to compare at {levels}{}", why.unwrap_or_default())
        }
    }
}

/// Neighbouring levels that show the same, from the lowest to the highest.
fn stretches(plan: &Plan, sweep: &Sweep, factor: &str) -> String {
    let same = |one: &Compared, next: &Compared| {
        one.shown() == next.shown() && one.time_outs_could_turn == next.time_outs_could_turn
    };
    let said = sweep.results.chunk_by(same).filter_map(|stretch| {
        let (first, last) = (stretch.first()?, stretch.last()?);
        let level = |level: f64| level_in_words(plan, factor, level);
        let place = match stretch.len() {
            1 => format!("at {}", level(first.level)),
            _ => format!("from {} to {}", level(first.level), level(last.level)),
        };
        Some(match (first.shown(), first.sign.faster()) {
            (Shown::Equal, _) if stretch.len() == 1 => {
                format!("both are {} {place}", equal(plan, sweep, first))
            }
            (Shown::Equal, _) => {
                format!("both are equal within {} {place}", plan.equivalent_within)
            }
            (_, Some(side)) => format!("{} is faster {place}", name(sweep, side)),
            (_, None) if first.time_outs_could_turn => {
                format!("undecided {place}: time-outs could turn it")
            }
            (_, None) => format!("no verdict {place}"),
        })
    });
    said.collect::<Vec<_>>().join(", ")
}

fn ends(sweep: &Sweep) -> Option<(f64, f64)> {
    let low = sweep.results.first()?.level;
    let high = sweep.results.last()?.level;
    Some((low, high))
}

/// The engine on one side of a sweep.
pub(super) fn name(sweep: &Sweep, side: Side) -> &str {
    match side {
        Side::A => &sweep.a,
        Side::B => &sweep.b,
    }
}

fn other(side: Side) -> Side {
    match side {
        Side::A => Side::B,
        Side::B => Side::A,
    }
}

/// `52.1 (50.9 to 53.3)`.
pub fn number(estimate: &Estimate) -> String {
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => {
            format!("{} ({} to {})", digits(estimate.value), digits(low), digits(high))
        }
        _ => digits(estimate.value),
    }
}

/// Three significant digits, no exponent.
pub fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    #[expect(clippy::cast_possible_truncation, reason = "between -308 and 308")]
    let magnitude = value.abs().log10().floor() as i32;
    let decimals = usize::try_from((2 - magnitude).max(0)).unwrap_or(0);
    format!("{value:.decimals$}")
}
