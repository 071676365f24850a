//! Levels in sentences: `a year of data`, `up to 12 days`, `1 client`.

use plan::{Level, Levels, Plan};

use crate::analysis::{Sweep, axis_noun, level_label};

/// The factor along which a sweep goes: the one that its levels leave open.
pub(super) fn axis<'p>(plan: &'p Plan, sweep: &Sweep) -> Option<&'p str> {
    plan.factors.keys().map(String::as_str).find(|name| !sweep.levels.contains_key(*name))
}

/// The levels of the other factors, as `2 clients`; empty where there are none. A factor that is
/// varied alone is named only where it is not at its first level.
pub(super) fn others(plan: &Plan, levels: &Levels) -> String {
    in_words(plan, levels).join(", ")
}

/// Each level in words, one that is varied alone only where it is not at its first.
pub(super) fn in_words(plan: &Plan, levels: &Levels) -> Vec<String> {
    let varied = levels.iter().filter(|(name, level)| !plan.is_base(name, level));
    let word = |(name, of): (&String, &Level)| match of {
        Level::Number(number) => level(plan, name, *number),
        Level::Text(_) => level_label(plan, name, of),
    };
    varied.map(word).collect()
}

/// A level of a factor: `a year`, `12 days`, `8 clients`.
pub(super) fn level(plan: &Plan, factor: &str, level: f64) -> String {
    let label = level_label(plan, factor, &Level::Number(level));
    match (factor, label.as_str()) {
        ("days", "day" | "week" | "month" | "quarter" | "year") => format!("a {label}"),
        _ => label,
    }
}

/// `a year of data`; none of a factor that is no period.
pub(super) fn data(plan: &Plan, factor: &str, at: f64) -> Option<String> {
    (factor == "days").then(|| format!("{} of data", level(plan, factor, at)))
}

/// ` at every period measured, a week to a year`; empty where one level was measured.
pub(super) fn everywhere(plan: &Plan, sweep: &Sweep, factor: &str) -> String {
    let ends = sweep.results.first().zip(sweep.results.last());
    match ends {
        Some((low, high)) if low.level < high.level => format!(
            " at every {} measured, {} to {}",
            axis_noun(factor),
            level(plan, factor, low.level),
            level(plan, factor, high.level)
        ),
        _ => String::new(),
    }
}

/// `1 client, 2 clients and 4 clients`.
pub(super) fn listed(words: &[String]) -> String {
    match words.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}
