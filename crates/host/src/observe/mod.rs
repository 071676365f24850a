//! Observation of engines, applications, processes and the machine, outside of the timed part of a
//! trial or beside it.

mod counters;
mod quiet;
mod steadiness;
mod watch;

pub use counters::{from_metrics, of_client, of_server};
pub use quiet::{Quiet, QuietWait, wait_for_quiet};
pub use steadiness::second_half_ratio;
pub(crate) use watch::ANSWER_AT_MOST;
pub use watch::{Silent, Watch};

/// The value of a setting as an engine shows it, in lower case.
pub(crate) fn setting(settings: &[(String, String)], name: &str) -> Option<String> {
    let found = settings.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.to_ascii_lowercase())
}
