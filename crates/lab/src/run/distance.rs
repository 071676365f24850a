//! The addition of a relay to the delays of a plan, measured before anything is made.

use std::time::Duration;

use crate::error::RunError;
use host::{DeployError, file};
use notation::digits;
use plan::{DELAY_MS, Level, Levels, Plan, PlanError};
use record::counter::RELAY_BYTES;
use record::{RelayAddition, Trial};

/// Measures the relay of a plan with delays.
pub(super) fn measure_relay_of(
    plan: &Plan,
    say: &dyn Fn(&str),
) -> Result<Option<RelayAddition>, RunError> {
    plan.shortest_delay()?.map(|shortest| measure_relay(shortest, say)).transpose()
}

/// Measures the relay, says so, and refuses a `shortest` delay that it is a large part of.
///
/// # Errors
/// That refusal, or the relay's own.
pub fn measure_relay(shortest: Duration, say: &dyn Fn(&str)) -> Result<RelayAddition, RunError> {
    let measured = host::relay::measure(&file::program()?, shortest);
    let measured = measured.map_err(|error| {
        DeployError::Relay(format!("what it adds to a round trip cannot be measured: {error}"))
    })?;
    say(&report::relay_in_words(&measured));
    let shortest_ms = shortest.as_secs_f64() * 1e3;
    if shortest_ms >= measured.delay_ms_min() {
        return Ok(measured);
    }
    let message = format!(
        "a delay of {shortest_ms} ms is under {} times what the relay itself adds to a round trip \
         on this machine (up to {} us); use 0 or at least {} ms",
        RelayAddition::DELAYS_PER_ADDITION,
        digits(measured.most_us()),
        digits(measured.delay_ms_min() * 1.1),
    );
    Err(PlanError::impossible("factors.delay_ms", message).into())
}

/// The reason why a trial at a distance is void: nothing that it measured went that far.
pub(super) fn unused_relay(trial: &Trial) -> Option<String> {
    let is_unused = trial.counters.get(RELAY_BYTES) == Some(&0.0);
    is_unused.then(|| DeployError::Relay(host::NOTHING_FORWARDED.to_owned()).to_string())
}

/// A crossing is not looked for between delays that the relay itself is a large part of.
pub(super) fn leave_out_short_delays(cells: &mut Vec<Levels>, relay: Option<&RelayAddition>) {
    let Some(shortest_ms) = relay.map(RelayAddition::delay_ms_min) else { return };
    cells.retain(|levels| {
        let delay_ms = levels.get(DELAY_MS).and_then(Level::number);
        delay_ms.is_none_or(|ms| ms == 0.0 || ms >= shortest_ms)
    });
}
