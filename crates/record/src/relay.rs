//! Addition of a relay to a round trip, as a run has measured it.

use serde::{Deserialize, Serialize};

/// Addition of a relay to a round trip, beside the delay that it was asked for. Upper bounds are
/// those of 95% intervals over blocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RelayAddition {
    /// By each of the three ways.
    pub round_trips: usize,
    /// A round trip without a relay.
    pub direct_us: f64,
    /// More of a round trip through a relay without delay.
    pub added_us: f64,
    pub added_us_high: f64,
    /// The delay of the third way.
    pub delay_us: f64,
    /// More of a round trip through a relay with that delay, the delay itself taken away.
    pub late_us: f64,
    pub late_us_high: f64,
}

impl RelayAddition {
    /// The least ratio of a delay to what the relay adds to it.
    pub const DELAYS_PER_ADDITION: f64 = 5.0;

    /// The most that the relay adds, with a delay or without.
    pub fn most_us(&self) -> f64 {
        self.added_us_high.max(self.late_us_high).max(0.0)
    }

    /// The shortest delay that is measured with this relay.
    pub fn delay_ms_min(&self) -> f64 {
        self.most_us() * Self::DELAYS_PER_ADDITION / 1_000.0
    }
}
