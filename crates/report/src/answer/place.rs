//! Levels in sentences: `a year of data`, `up to 12 days`, `1 client`.

use plan::{CLIENTS_AS, Level, Levels, Plan};

use crate::analysis::{CLIENTS, Sweep, axis_noun, level_label};

/// The factor along which a sweep goes: the one that its levels leave open.
pub(super) fn axis<'p>(plan: &'p Plan, sweep: &Sweep) -> Option<&'p str> {
    plan.factors.keys().map(String::as_str).find(|name| !sweep.levels.contains_key(*name))
}

/// The levels of the other factors, as `2 clients`; empty where there are none. A factor that is
/// varied alone is named only where it is not at its first level.
pub(super) fn others(plan: &Plan, levels: &Levels) -> String {
    in_words(plan, levels).join(", ")
}

/// Each level in words, one that is varied alone only where it is not at its first. The form of
/// clients is said with their number: `2 clients as threads`; one client has no other form.
pub(super) fn in_words(plan: &Plan, levels: &Levels) -> Vec<String> {
    let clients = levels.get(CLIENTS).filter(|clients| !plan.is_base(CLIENTS, clients));
    let form = levels.get(CLIENTS_AS).filter(|_| clients.is_some());
    let is_apart = |name: &str| form.is_none() || name != CLIENTS_AS;
    let varied = levels.iter().filter(|(name, level)| is_apart(name) && !plan.is_base(name, level));
    let word = |(name, of): (&String, &Level)| match (of, form) {
        (Level::Number(number), Some(Level::Text(form))) if name == CLIENTS && *number > 1.0 => {
            format!("{} as {form}", level(plan, name, *number))
        }
        (Level::Number(number), _) => level(plan, name, *number),
        (Level::Text(_), _) => level_label(plan, name, of),
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

/// The cell at a level of a sweep.
pub(super) fn levels_at(plan: &Plan, sweep: &Sweep, level: f64) -> Levels {
    let mut levels: Levels = sweep.levels.clone();
    if let Some(factor) = axis(plan, sweep) {
        levels.insert(factor.to_owned(), Level::Number(level));
    }
    levels
}

/// Some neighbouring levels among `all` that were measured: `at every period measured, a week to a
/// year`, `up to a month`, `at a quarter`.
pub(super) fn among(plan: &Plan, factor: &str, levels: &[f64], all: &[f64]) -> String {
    let (Some(first), Some(last)) = (levels.first(), levels.last()) else { return String::new() };
    let word = |at: &f64| level(plan, factor, *at);
    match (levels.len() == 1, Some(first) == all.first(), Some(last) == all.last()) {
        (true, ..) => format!("at {}", word(first)),
        (_, true, true) => {
            let noun = axis_noun(factor);
            format!("at every {noun} measured, {} to {}", word(first), word(last))
        }
        (_, true, false) => format!("up to {}", word(last)),
        (_, false, true) => format!("from {} on", word(first)),
        (_, false, false) => format!("from {} to {}", word(first), word(last)),
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
