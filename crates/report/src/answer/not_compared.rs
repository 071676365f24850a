//! Pairs of engines without a comparison of their own: nothing is said of one against the other.

use engine::EngineSpec;
use notation::counted;
use plan::{Compare, Levels};
use serde::Serialize;

use super::sentence::{Assertion, EnginePair, Sentence};
use super::wording::Wording;

/// Two engines that were measured and not compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct NotCompared {
    pub a: String,
    pub b: String,
}

/// Pairs that are named; more are counted.
const PAIRS_MAX: usize = 3;

/// The pairs that have no verdict at any level at which both have a value, with these levels.
fn pairs(wording: &Wording<'_>) -> Vec<(NotCompared, Vec<Levels>)> {
    let labels: Vec<String> = wording.plan.engines.iter().map(EngineSpec::label).collect();
    let cells = wording.verdicts.cells();
    let mut pairs = Vec::new();
    for (index, a) in labels.iter().enumerate() {
        for b in labels.iter().skip(index + 1) {
            let has_both = |cell: &&Levels| {
                let here = wording.verdicts.measured(cell);
                [a, b].into_iter().all(|label| here.iter().any(|(other, _)| other == label))
            };
            let both: Vec<Levels> = cells.iter().filter(has_both).cloned().collect();
            let is_compared = |cell: &Levels| wording.verdicts.is_compared(a, b, cell);
            if !both.is_empty() && !both.iter().any(is_compared) {
                pairs.push((NotCompared { a: a.clone(), b: b.clone() }, both));
            }
        }
    }
    pairs
}

pub(super) fn list(wording: &Wording<'_>) -> Vec<NotCompared> {
    pairs(wording).into_iter().map(|(pair, _)| pair).collect()
}

/// `PostgreSQL 16 and SQLite were not compared: 40 comparisons are too many for 5 blocks; 10 blocks, or
/// --compare all, compare them.`
pub(super) fn sentence(wording: &Wording<'_>) -> Option<Sentence> {
    let plan = wording.plan;
    let pairs = pairs(wording);
    let first = plan.engines.first()?.label();
    let first = wording.names.get(&first);
    let named = pairs.iter().map(|(pair, _)| {
        format!("{} and {}", wording.names.get(&pair.a), wording.names.get(&pair.b))
    });
    let named: Vec<String> = named.collect();
    let subject = match pairs.len() {
        0 => return None,
        1..=PAIRS_MAX => named.join(", "),
        many => format!("{} without {first}", counted(many, "pair")),
    };
    let why = match plan.compare {
        Some(Compare::First) => format!("the plan compares with {first} alone"),
        Some(Compare::All) => "they share no block".to_owned(),
        None => format!(
            "{} are too many for {}; 10 blocks, or --compare all, compare them",
            counted(wording.verdicts.other_pairs().verdicts, "comparison"),
            counted(plan.first_blocks(), "block")
        ),
    };
    let assertion = |(pair, at): &(NotCompared, Vec<Levels>)| Assertion::NotCompared {
        pair: EnginePair { a: pair.a.clone(), b: pair.b.clone(), request: None },
        at: at.clone(),
    };
    let said = Sentence::plain(format!("{subject} were not compared"));
    let said = pairs.iter().map(assertion).fold(said, Sentence::also);
    Some(said.then(format!(": {why}.")))
}
