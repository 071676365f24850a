//! Factors, levels and numbers in words.

use notation::digits;
use plan::{CLIENTS_AS, CONNECTION_BY, DELAY_MS, Level, Plan};
use stats::Estimate;

/// The name of an axis over the factor.
pub fn factor_label(name: &str) -> &str {
    match name {
        "days" => "Period",
        "clients" => "Clients",
        "blob_bytes" => "Blob size",
        "page_bytes" => "Page size",
        "operation" => "Operation",
        "mix" => "Workload",
        DELAY_MS => "Distance",
        other => other,
    }
}

/// The noun of one level in a sentence: `at every period`.
pub fn axis_noun(name: &str) -> String {
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
        DELAY_MS => Some("ms"),
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
        (DELAY_MS, Level::Number(ms)) => format!("{ms} ms of distance"),
        (CLIENTS_AS, Level::Text(form)) => format!("clients as {form}"),
        (CONNECTION_BY, Level::Text(way)) => format!("connected by {way}"),
        ("mix", Level::Text(mix)) => mix.replace('_', " "),
        (_, Level::Number(number)) => format!("{name} {number}"),
        (_, Level::Text(text)) => format!("{name} {text}"),
    }
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

/// `52.1 (50.9 to 53.3)`.
pub fn number(estimate: &Estimate) -> String {
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => {
            format!("{} ({} to {})", digits(estimate.value), digits(low), digits(high))
        }
        _ => digits(estimate.value),
    }
}

/// How often as fast, of a ratio of responses: above 1 is faster, of a time as of a rate.
pub fn speed(lower_is_better: bool, ratio: Estimate) -> Estimate {
    if lower_is_better { ratio.inverse() } else { ratio }
}

/// The title of a column of speeds: `Times as fast as sqlite`.
pub fn speed_title(lower_is_better: bool, base: &str) -> String {
    match lower_is_better {
        true => format!("Times as fast as {base}"),
        false => format!("Times the throughput of {base}"),
    }
}
