//! The headline of two engines: a crossing comes first, otherwise where each is faster, over every set of
//! levels.

use super::course::{count, crosses, differs};
use super::sentence::{Assertion, Sentence};
use super::wording::{Wording, pair};
use super::{peaks, place};
use crate::analysis::{Analysis, Sweep, axis_noun};
use notation::counted;
use stats::crossing::Side;

/// Different courses that have a sentence; more are counted.
pub(super) const COURSES_MAX: usize = 3;

pub(super) fn sentences(
    wording: &Wording<'_>,
    analysis: &Analysis,
    sweeps: &[&Sweep],
) -> Vec<Sentence> {
    let Some(first) = sweeps.first() else { return vec!["Nothing was compared.".into()] };
    let mut said = match sweeps {
        [only] => one_sweep(wording, analysis, only),
        _ => several_sweeps(wording, analysis, first, sweeps),
    };
    said.retain(|one| !one.is_empty());
    let failures = wording.all_failures();
    let said = said.into_iter().enumerate().map(|(index, one)| {
        let end = if index == 0 { format!("{failures}.") } else { ".".to_owned() };
        one.capital().then(end)
    });
    said.collect()
}

/// The sentences of a run with one sweep.
fn one_sweep(wording: &Wording<'_>, analysis: &Analysis, sweep: &Sweep) -> Vec<Sentence> {
    let peaks = peaks::at(wording, analysis, &sweep.levels);
    let (faster, size) = (wording.faster(sweep), wording.dearest(sweep, None));
    let rest = Sentence::joined(wording.rest(sweep), "; ");
    let full = |size: Option<super::difference::Decided>| {
        size.map(|one| wording.size(sweep, &one, "")).unwrap_or_default()
    };
    match (wording.crossing(sweep), peaks, faster) {
        (Some(crossing), peaks, faster) => {
            let lead = Sentence::joined([Some(crossing), faster].into_iter().flatten(), "; ");
            vec![lead, peaks.unwrap_or_else(|| full(size)), rest]
        }
        (None, Some(peaks), faster) => {
            vec![Sentence::joined([Some(peaks), faster].into_iter().flatten(), "; "), rest]
        }
        (None, None, Some(faster)) => match (size, wording.faster_sides(sweep).len()) {
            (Some(one), 1) => vec![wording.with_size(sweep, &one, faster), rest],
            (size, _) => vec![faster, full(size), rest],
        },
        (None, None, None) => vec![rest],
    }
}

/// Sweeps with the same course, named by their other levels.
struct Course<'s> {
    said: Sentence,
    sweeps: Vec<&'s Sweep>,
}

/// The sentences of a run with a sweep for each set of the other levels.
fn several_sweeps(
    wording: &Wording<'_>,
    analysis: &Analysis,
    first: &Sweep,
    sweeps: &[&Sweep],
) -> Vec<Sentence> {
    let dearest = wording.dearest_of(sweeps, None);
    let size = dearest.as_ref().map(|(sweep, one)| wording.size(sweep, one, &name(wording, sweep)));
    let mut courses: Vec<Course<'_>> = Vec::new();
    for sweep in sweeps {
        let said = in_short(wording, analysis, sweep);
        match courses.iter_mut().find(|course| course.said.text == said.text) {
            Some(course) => {
                course.said.assertions.extend(said.assertions);
                course.sweeps.push(sweep);
            }
            None => courses.push(Course { said, sweeps: vec![sweep] }),
        }
    }
    if courses.len() > COURSES_MAX {
        return vec![counts(wording, first, sweeps), size.unwrap_or_default()];
    }
    let grade = |course: &Course<'_>| match course.sweeps.first() {
        Some(sweep) if crosses(sweep) => 0,
        Some(sweep) if differs(sweep) => 1,
        _ => 2,
    };
    courses.sort_by_key(grade);
    let is_one_sided = courses.len() == 1
        && courses.first().map(grade) == Some(1)
        && wording.faster_sides(first).len() == 1;
    let leading = courses.first().map(grade);
    let all = sweeps.len();
    let tell = |course: Course<'_>| {
        let subject = subject(wording, &course.sweeps, all);
        course.said.after(&format!("{subject}: "))
    };
    let (lead, others): (Vec<Course<'_>>, Vec<Course<'_>>) =
        courses.into_iter().partition(|course| Some(grade(course)) == leading);
    let lead = Sentence::joined(lead.into_iter().map(tell), "; ");
    if let Some((sweep, one)) = dearest.filter(|_| is_one_sided) {
        let size = wording.size_after_name(sweep, &one, &name(wording, sweep));
        return vec![lead.then(": ").then(size)];
    }
    let mut said = vec![lead];
    said.extend(others.into_iter().map(tell));
    said.extend(size);
    said
}

/// The course of one sweep among several, without its sizes.
fn in_short(wording: &Wording<'_>, analysis: &Analysis, sweep: &Sweep) -> Sentence {
    let crossing = wording.crossing(sweep);
    let peaks = peaks::at(wording, analysis, &sweep.levels).filter(|_| crossing.is_none());
    let parts = [crossing, peaks, wording.faster(sweep)].into_iter().flatten();
    Sentence::joined(parts.chain(wording.rest_in_short(sweep)), "; ")
}

/// `1 client`, `base` of factors that vary alone.
fn name(wording: &Wording<'_>, sweep: &Sweep) -> String {
    match place::others(wording.plan, &sweep.levels) {
        others if others.is_empty() => "base".to_owned(),
        others => others,
    }
}

/// `1 client and 4 clients`, or that it is all.
fn subject(wording: &Wording<'_>, sweeps: &[&Sweep], all: usize) -> String {
    let names: Vec<String> = sweeps.iter().map(|sweep| name(wording, sweep)).collect();
    if names.len() < all || all <= COURSES_MAX {
        return place::listed(&names);
    }
    let others = sweeps.first().map(|sweep| sweep.levels.keys().collect::<Vec<_>>());
    match others.as_deref() {
        Some([factor]) => format!("every {}", axis_noun(factor)),
        _ => format!("all {}", counted(all, "set") + " of levels"),
    }
}

/// `PostgreSQL 18 is shown faster in 30 of 48 comparisons, SQLite in 12; 6 are undecided`, and where
/// the lines cross.
fn counts(wording: &Wording<'_>, first: &Sweep, sweeps: &[&Sweep]) -> Sentence {
    let assertion = count(pair(first, Side::B), sweeps);
    let Assertion::Count { pair, a, b, equal, undecided, left_out } = &assertion else {
        return Sentence::default();
    };
    let all = a + b + equal + undecided + left_out;
    let mut faster = [(&pair.a, *a), (&pair.b, *b)];
    faster.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let mut parts = Vec::new();
    if let [(most, many), (other, few)] = faster
        && many > 0
    {
        let name = wording.names.get(most);
        let other = match few {
            0 => String::new(),
            few => format!(", {} in {few}", wording.names.get(other)),
        };
        parts.push(format!(
            "{name} is shown faster in {many} of {}{other}",
            counted(all, "comparison")
        ));
    }
    let are = |count: usize| if count == 1 { "is" } else { "are" };
    for (count, what) in [(*equal, "equal"), (*undecided, "undecided")] {
        if count > 0 {
            parts.push(format!("{count} {} {what}", are(count)));
        }
    }
    if *left_out > 0 {
        parts.push(format!("{left_out} could not be made"));
    }
    let counted = Sentence::stating(parts.join("; "), assertion.clone());
    let crossing: Vec<Sentence> = sweeps
        .iter()
        .filter_map(|sweep| {
            let said = wording.crossing(sweep)?;
            Some(said.after(&format!("{}: ", name(wording, sweep))))
        })
        .collect();
    match crossing.is_empty() {
        true => counted,
        false => Sentence::joined(crossing, "; ").then("; ").then(counted),
    }
}
