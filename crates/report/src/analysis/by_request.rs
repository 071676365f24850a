//! Results of each request alone, since an average can hide which query crosses; requests with
//! the same result are put together.

use stats::crossing::{Crossing, Side};

use super::words::{crossing, name, others};
use super::{Shown, Sweep};
use plan::Plan;

/// The sweeps of one set of levels and pair of engines.
struct Group<'s> {
    first: &'s Sweep,
    outcomes: Vec<Outcome<'s>>,
}

struct Outcome<'s> {
    text: String,
    requests: Vec<&'s str>,
}

/// One sentence for each set of levels and pair of engines.
pub(super) fn sentences(plan: &Plan, sweeps: &[Sweep]) -> Vec<String> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for sweep in sweeps {
        let Some(request) = &sweep.request else { continue };
        let same =
            |group: &&mut Group<'_>| group.first.levels == sweep.levels && group.first.a == sweep.a;
        match groups.iter_mut().find(same) {
            Some(group) => group.add(plan, sweep, request),
            None => {
                let mut group = Group { first: sweep, outcomes: Vec::new() };
                group.add(plan, sweep, request);
                groups.push(group);
            }
        }
    }
    groups.iter().map(|group| group.sentence(plan)).collect()
}

impl<'s> Group<'s> {
    fn add(&mut self, plan: &Plan, sweep: &Sweep, request: &'s str) {
        let text = outcome(plan, sweep);
        match self.outcomes.iter_mut().find(|outcome| outcome.text == text) {
            Some(outcome) => outcome.requests.push(request),
            None => self.outcomes.push(Outcome { text, requests: vec![request] }),
        }
    }

    fn sentence(&self, plan: &Plan) -> String {
        let parts: Vec<String> = self
            .outcomes
            .iter()
            .map(|outcome| format!("{} ({})", outcome.text, outcome.requests.join(", ")))
            .collect();
        let mut subject = others(plan, &self.first.levels);
        if plan.engines.len() > 2 {
            subject = format!("{subject}, {} against {}", self.first.a, self.first.b);
        }
        match subject.trim_start_matches(", ") {
            "" => format!("{}.", parts.join("; ")),
            subject => format!("{subject}: {}.", parts.join("; ")),
        }
    }
}

/// One request's sweep in a few words, without how many blocks more would settle it.
fn outcome(plan: &Plan, sweep: &Sweep) -> String {
    let bracketed = sweep.crossings.iter().find(|c| matches!(c, Crossing::Bracketed { .. }));
    if let Some(found) = bracketed {
        return crossing(plan, sweep, found);
    }
    let all_equal = sweep.results.iter().all(|result| result.shown() == Shown::Equal);
    if all_equal && !sweep.results.is_empty() && sweep.left_out.is_empty() {
        return format!("equal within {}", plan.equivalent_within);
    }
    let sides: Vec<Option<Side>> = sweep.results.iter().map(|r| r.sign.faster()).collect();
    match sides.iter().flatten().next() {
        None => "no verdict".to_owned(),
        Some(side)
            if sweep.left_out.is_empty() && sides.iter().all(|other| *other == Some(*side)) =>
        {
            format!("{} is faster throughout", name(sweep, *side))
        }
        Some(side) => format!("{} is faster in part, the rest has no verdict", name(sweep, *side)),
    }
}
