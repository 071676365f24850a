//! Crossing of two lines along a swept factor: measured levels, the signs they show, and the
//! bracket between the last level where one engine is shown faster and the first where the
//! other is. Nothing here extrapolates, and an interpolated point never carries an interval.

mod bisection;
mod find;
mod more_blocks;
mod sign;

pub use bisection::{MOST_LEVELS_MORE, next_level};
pub use find::find;
pub use more_blocks::more_blocks_of;
pub use sign::{classify, classify_planned, signs};

use serde::{Deserialize, Serialize};

use crate::Estimate;

/// One of the two engines compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The engine whose times are above the line of the ratio a/b.
    A,
    /// The engine whose times are below it.
    B,
}

/// Result of the measurements at one level, after Holm's correction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sign {
    /// a is shown faster: the ratio of times a/b is below one.
    AFaster,
    BFaster,
    /// Neither is shown; this is not the same as equal.
    Undecided,
}

impl Sign {
    /// The faster side, if one is shown.
    pub fn faster(self) -> Option<Side> {
        match self {
            Self::AFaster => Some(Side::A),
            Self::BFaster => Some(Side::B),
            Self::Undecided => None,
        }
    }
}

/// One measured level of the swept factor.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LevelResult {
    /// The level, in the factor's unit.
    pub level: f64,
    /// The ratio of times a/b.
    pub ratio: Estimate,
    pub sign: Sign,
    /// For how many verdicts `sign` was corrected; `more_blocks` expects as many.
    pub verdicts: usize,
}

/// The scale of the swept axis: where the middle lies and how one interpolates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AxisScale {
    /// Equal steps are equal differences.
    Linear,
    /// Equal steps are equal ratios; every level is positive.
    Log,
}

/// Result of a sweep about one place where the lines may cross.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Crossing {
    /// The lines cross between two measured levels.
    Bracketed {
        /// The last measured level at which `faster_before` is shown faster.
        last: f64,
        /// The first measured level after it at which `faster_after` is shown faster.
        first: f64,
        /// The faster side up to `last`.
        faster_before: Side,
        /// The faster side from `first`.
        faster_after: Side,
        /// About where, by interpolation; has no interval and decides nothing.
        about: f64,
    },
    /// Every measured level shows the same side faster.
    NotInRange { faster: Side },
    /// Levels that show neither side, not enclosed by opposite signs.
    Inconclusive {
        /// About how many more blocks would settle it at the spread observed; None if more than
        /// a thousand, or if nothing can be said.
        more_blocks: Option<usize>,
        /// The stretch without a verdict, up to the nearest level that shows a side or to the
        /// end of the sweep; None if no level shows any.
        between: Option<(f64, f64)>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Method;

    /// A level measured in ten blocks whose paired log differences have the mean `ln(ratio)` and
    /// the standard deviation 0.1: the interval reaches 2.262 * 0.1 / sqrt(10) each way.
    pub(super) fn level(level: f64, ratio: f64, sign: Sign) -> LevelResult {
        let half_width: f64 = 2.262157162798205 * 0.1 / 10.0_f64.sqrt();
        let ratio = Estimate {
            value: ratio,
            low: Some(ratio * (-half_width).exp()),
            high: Some(ratio * half_width.exp()),
            confidence_level: 0.95,
            method: Method::StudentTLogRatio,
            replicates: 10,
        };
        LevelResult { level, ratio, sign, verdicts: 1 }
    }
}
