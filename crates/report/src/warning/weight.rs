//! The weight of warnings: those that can change the answer come first, remarks last.

use serde::Serialize;

use crate::grid::{Form, escaped};

/// Kinds that can change the answer, the gravest first: the work differs, values are missing or too few, the
/// load was not what was wanted, the machine disturbed, engines were not set alike.
pub(super) const DOUBTS: [&str; 40] = [
    "answers_differ",
    "answered_without_engine",
    "reach_out_of_sight",
    "failures",
    "void_trials",
    "incomplete",
    "cut_by_budget",
    "too_few_blocks",
    "different_work",
    "writes_without_effect",
    "different_load",
    "different_data",
    "left_out",
    "durability_differs",
    "durability_unknown",
    "saturated",
    "client_starved",
    "client_busy",
    "relay_saturated",
    "clients_are_threads",
    "unequal_cores",
    "steal",
    "busy_machine",
    "not_quiet",
    "drift",
    "not_steady",
    "different_machines",
    "different_limits",
    "different_trial_times",
    "not_warm",
    "swapped",
    "memory_pressure",
    "data_exceeds_memory",
    "statistics_missing",
    "plan_changed",
    "settings_differ",
    "uneven_checkpoints",
    "writes_stay",
    "debug_build",
    "warm_up_failures",
];

pub(super) const REMARKS: [&str; 8] = [
    "outlier",
    "cheaper_operations",
    "different_programs",
    "other_engine",
    "shared_cores",
    "idle_cores",
    "histogram_damaged",
    "resumed",
];

/// A doubt and what to do about it.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct WarningPart {
    pub kind: &'static str,
    /// Whether it can change the answer. Those that can come first, the gravest of them at the front.
    pub changes_answer: bool,
    pub message: String,
    pub advice: &'static str,
}

impl WarningPart {
    pub(crate) fn new(kind: &'static str, message: String, advice: &'static str) -> Self {
        Self { kind, changes_answer: !REMARKS.contains(&kind), message, advice }
    }
}

/// By their weight; a kind that is unknown here may be grave, and is the last of the doubts.
pub(crate) fn in_order(mut warnings: Vec<WarningPart>) -> Vec<WarningPart> {
    let place = |kinds: &[&str], kind: &str| kinds.iter().position(|known| *known == kind);
    warnings.sort_by_key(|one| match place(&REMARKS, one.kind) {
        Some(remark) => DOUBTS.len() + 1 + remark,
        None => place(&DOUBTS, one.kind).unwrap_or(DOUBTS.len()),
    });
    warnings
}

/// The most that a terminal shows; the others are counted.
const TERMINAL_MAX: usize = 5;

/// A line for each, in their order.
pub(crate) fn lines(warnings: &[WarningPart], form: Form) -> Vec<String> {
    let most = match form {
        Form::Terminal(_) => TERMINAL_MAX,
        Form::Markdown => warnings.len(),
    };
    let line = |one: &WarningPart| {
        format!("Warning: {} {}", escaped(&one.message, form), escaped(one.advice, form))
    };
    let mut lines: Vec<String> = warnings.iter().take(most).map(line).collect();
    let more = match warnings.len().saturating_sub(most) {
        0 => return lines,
        1 => "1 more warning is in the report.".to_owned(),
        more => format!("{more} more warnings are in the report."),
    };
    lines.push(more);
    lines
}

#[cfg(test)]
mod tests {
    use strum::VariantNames as _;

    use super::*;
    use crate::warning::Warning;

    fn of(kinds: &[&'static str]) -> Vec<WarningPart> {
        kinds.iter().map(|kind| WarningPart::new(kind, (*kind).to_owned(), "")).collect()
    }

    #[test]
    fn every_kind_has_its_weight() {
        for kind in Warning::VARIANTS {
            assert!(DOUBTS.contains(kind) != REMARKS.contains(kind), "{kind}");
        }
    }

    #[test]
    fn doubts_come_before_remarks_and_an_unknown_kind_between() {
        let kinds =
            ["resumed", "drift", "of_tomorrow", "failures", "shared_cores", "answers_differ"];
        let sorted = in_order(of(&kinds));
        let kinds: Vec<&str> = sorted.iter().map(|one| one.kind).collect();
        assert_eq!(
            kinds,
            ["answers_differ", "failures", "drift", "of_tomorrow", "shared_cores", "resumed"]
        );
        let doubts = sorted.iter().filter(|one| one.changes_answer);
        assert_eq!(doubts.count(), 4);
    }

    #[test]
    fn a_terminal_shows_five_and_counts_the_others() {
        let kinds = ["failures", "incomplete", "steal", "drift", "not_warm", "outlier", "resumed"];
        let all = of(&kinds);
        let shown = lines(&all, Form::Terminal(None));
        assert_eq!(shown.len(), 6);
        assert!(shown[4].contains("not_warm"), "{shown:?}");
        assert_eq!(shown[5], "2 more warnings are in the report.");
        assert_eq!(lines(&all, Form::Markdown).len(), 7);
        assert_eq!(lines(&all[..5], Form::Terminal(None)).len(), 5);
    }
}
