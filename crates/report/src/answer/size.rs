//! Sizes in words: times, rates, shares and differences with their intervals.

use notation::{digits, thousands};
use plan::ResponseVariable;
use stats::Estimate;

/// A value of the response with its unit: `410 ms`, `12.1 µs`, `12,300`.
pub(super) fn value(response: ResponseVariable, value: f64) -> String {
    match response.lower_is_better() {
        true => time(value),
        false => grouped(value),
    }
}

/// Two values in one unit, that of the smaller: `65.2 µs against 164 µs`.
pub(crate) fn against(response: ResponseVariable, (one, other): (f64, f64)) -> String {
    let both = match response.lower_is_better() && one.min(other) < MICROSECONDS_BELOW_MS {
        true => [one, other].map(|ms| format!("{} µs", grouped(ms * 1e3))),
        false => [one, other].map(|of| value(response, of)),
    };
    both.join(" against ")
}

/// The same of any response that a threshold may be about.
pub(super) fn of_response(response: ResponseVariable, of: f64) -> String {
    match response {
        ResponseVariable::FailureFraction => percent_in_words(of * 100.0),
        ResponseVariable::CpuSecondsPerRequest => time(of * 1e3),
        _ => value(response, of),
    }
}

/// A bound as written in the plan, with its unit.
pub(super) fn bound(response: ResponseVariable, bound: f64) -> String {
    match response.unit() {
        Some(unit) => format!("{bound} {unit}"),
        None => bound.to_string(),
    }
}

/// Shorter times are written in microseconds.
const MICROSECONDS_BELOW_MS: f64 = 0.1;

pub(super) fn time(ms: f64) -> String {
    match ms {
        ..MICROSECONDS_BELOW_MS => format!("{} µs", digits(ms * 1e3)),
        10_000.0.. => format!("{} s", digits(ms / 1e3)),
        _ => format!("{} ms", grouped(ms)),
    }
}

/// Three significant digits, and commas between thousands.
fn grouped(value: f64) -> String {
    if value < 1_000.0 {
        return digits(value);
    }
    let step = 10f64.powf(value.log10().floor() - 2.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "above 1,000")]
    let rounded = ((value / step).round() * step).round() as u64;
    thousands(rounded)
}

/// `0.42 to 0.46`; none where there is no interval.
pub(crate) fn interval(estimate: &Estimate) -> Option<String> {
    let (low, high) = (estimate.low?, estimate.high?);
    // Two digits do not tell them apart.
    let written = if share(low) == share(high) { digits } else { share };
    Some(format!("{} to {}", written(low), written(high)))
}

/// A ratio: two digits where it is below 1, as `0.44`, otherwise three.
pub(crate) fn share(ratio: f64) -> String {
    match ratio {
        0.1..0.995 => format!("{ratio:.2}"),
        _ => digits(ratio),
    }
}

/// How often as fast: `2.28 times as fast`, of a rate `3.03 times the throughput`.
pub(super) fn times(response: ResponseVariable, speed: f64) -> String {
    match response.lower_is_better() {
        true => format!("{} times as fast", share(speed)),
        false => format!("{} times the {}", share(speed), response.noun()),
    }
}

fn percent_in_words(percent: f64) -> String {
    match percent {
        10.0.. => format!("{percent:.0}%"),
        0.995..10.0 => format!("{percent:.1}%").replace(".0%", "%"),
        _ => format!("{percent:.2}%"),
    }
}
