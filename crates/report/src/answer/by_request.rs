//! Results of each request alone, since an average can hide which query crosses; requests with
//! the same result are put together.

use stats::crossing::{Crossing, Side};

use super::place;
use super::wording::Wording;
use crate::analysis::{Shown, Sweep};

/// The sweeps of one set of levels and pair of engines.
struct Group<'s> {
    first: &'s Sweep,
    outcomes: Vec<RequestOutcome<'s>>,
}

struct RequestOutcome<'s> {
    text: String,
    requests: Vec<&'s str>,
}

/// One sentence for each set of levels and pair of engines.
pub(super) fn sentences(wording: &Wording<'_>, sweeps: &[Sweep]) -> Vec<String> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for sweep in sweeps {
        let Some(request) = &sweep.request else { continue };
        let key = |of: &Sweep| (of.levels.clone(), of.a.clone(), of.b.clone());
        let same = |group: &&mut Group<'_>| key(group.first) == key(sweep);
        match groups.iter_mut().find(same) {
            Some(group) => group.add(wording, sweep, request),
            None => {
                let mut group = Group { first: sweep, outcomes: Vec::new() };
                group.add(wording, sweep, request);
                groups.push(group);
            }
        }
    }
    groups.iter().map(|group| group.sentence(wording)).collect()
}

impl<'s> Group<'s> {
    fn add(&mut self, wording: &Wording<'_>, sweep: &Sweep, request: &'s str) {
        let text = outcome(wording, sweep);
        match self.outcomes.iter_mut().find(|outcome| outcome.text == text) {
            Some(outcome) => outcome.requests.push(request),
            None => self.outcomes.push(RequestOutcome { text, requests: vec![request] }),
        }
    }

    fn sentence(&self, wording: &Wording<'_>) -> String {
        let parts: Vec<String> = self
            .outcomes
            .iter()
            .map(|outcome| format!("{} ({})", outcome.text, outcome.requests.join(", ")))
            .collect();
        let mut subject = place::others(wording.plan, &self.first.levels);
        if wording.plan.engines.len() > 2 {
            let [a, b] = [Side::A, Side::B].map(|side| wording.side(self.first, side));
            subject = format!("{subject}, {a} against {b}");
        }
        match subject.trim_start_matches(", ") {
            "" => format!("{}.", parts.join("; ")),
            subject => format!("{subject}: {}.", parts.join("; ")),
        }
    }
}

/// One request's sweep in a few words, without the sizes of what is open.
fn outcome(wording: &Wording<'_>, sweep: &Sweep) -> String {
    if sweep.crossings.iter().any(|one| matches!(one, Crossing::Bracketed { .. })) {
        return wording.course(sweep);
    }
    let all_equal = sweep.results.iter().all(|result| result.shown() == Shown::Equal);
    if all_equal && !sweep.results.is_empty() && sweep.left_out.is_empty() {
        return format!("equal within {}", wording.plan.equivalent_within);
    }
    let sides: Vec<Option<Side>> = sweep.results.iter().map(|r| r.sign.faster()).collect();
    match sides.iter().flatten().next() {
        None => "undecided".to_owned(),
        Some(side)
            if sweep.left_out.is_empty() && sides.iter().all(|other| *other == Some(*side)) =>
        {
            format!("{} is shown faster throughout", wording.side(sweep, *side))
        }
        Some(side) => {
            format!("{} is shown faster in part, the rest is undecided", wording.side(sweep, *side))
        }
    }
}
