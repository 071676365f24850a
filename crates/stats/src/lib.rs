//! Pure mathematics for experiments: estimates with intervals, comparisons, crossings.
//! No input, no output, no clock: the laboratory measures, this crate says what that shows.
//! METHOD.md explains each statistic to a reader who doubts it.

pub mod crossing;

mod best_of;
mod bootstrap;
mod equivalence;
mod estimate;
mod holm;
mod one_sided;
mod outlier;
mod power;
mod quantile;
mod ratio;
mod student_t;
mod welch;

pub use best_of::best_of;
pub use bootstrap::{BOOTSTRAP_MIN_REPLICATES, bca_interval};
pub use equivalence::{Equivalence, equivalence, unpaired_equivalence};
pub use estimate::{
    Estimate, INTERVAL_MIN_REPLICATES, Method, geometric_mean_estimate, mean_estimate,
};
pub use holm::holm;
pub use one_sided::{OneSided, one_sided};
pub use outlier::outlier;
pub use power::{log_deviation, smallest_difference};
pub use quantile::{percentile_min_observations, percentile_supported, quantile};
pub use ratio::{RatioComparison, ratio_comparison};
pub use welch::{WELCH_MIN_REPLICATES, unpaired_ratio_comparison};
