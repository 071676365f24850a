//! The pairs without the first engine, a family of verdicts of their own.

use plan::Level;
use stats::{Estimate, Method};

use super::course::{AtLevel, cells, range, titles};
use crate::analysis::{Family, speed, speed_title};
use crate::answer::PairVerdict;
use crate::document::Document;
use crate::grid::{Form, drawn, heading};
use crate::table::{level_label, shown, varied_in_words};

/// Title and table; nothing where no other pair is compared.
pub(super) fn section(document: &Document, form: Form) -> Vec<String> {
    let others = document.summary.verdicts.iter().filter(|one| one.family == Family::OtherPairs);
    let others: Vec<&PairVerdict> = others.collect();
    if others.is_empty() {
        return Vec::new();
    }
    let title = heading("Other pairs, whose verdicts are corrected by themselves", form);
    vec![title, table(document, &others, form)]
}

fn table(document: &Document, others: &[&PairVerdict], form: Form) -> String {
    let is_swept = others.iter().any(|one| one.level.is_some());
    let place = |one: &PairVerdict| varied_in_words(document, &one.levels);
    let has_place = others.iter().any(|one| !place(one).is_empty());
    let mut header: Vec<String> = has_place.then(|| "Where".to_owned()).into_iter().collect();
    header.extend(["Engine".to_owned(), "Against".to_owned()]);
    if is_swept {
        header.extend(titles(false));
    }
    header.push(speed_title(document.response.lower_is_better, "the other"));
    let words = header.len() - 1;
    let same = |one: &&PairVerdict, next: &&PairVerdict| {
        (&one.levels, &one.a, &one.b) == (&next.levels, &next.a, &next.b)
    };
    let row = |sweep: &[&PairVerdict]| {
        let first = sweep.first()?;
        let mut row: Vec<String> = has_place.then(|| place(first)).into_iter().collect();
        row.extend([first.a.clone(), first.b.clone()]);
        let results: Vec<AtLevel> = sweep.iter().map(|one| at_level(document, one)).collect();
        if is_swept {
            row.extend(cells(&results, &[], false));
            row.push(range(&results));
        } else {
            row.extend(results.first().map(|one| shown(&one.speed, one.verdict)));
        }
        Some(row)
    };
    drawn(header, others.chunk_by(same).filter_map(row).collect(), words, form)
}

fn at_level(document: &Document, one: &PairVerdict) -> AtLevel {
    let axis = document.factors.iter().find(|factor| !one.levels.contains_key(&factor.name));
    let level = axis
        .zip(one.level)
        .map(|(axis, level)| level_label(document, &axis.name, &Level::Number(level)));
    let ratio = Estimate {
        value: one.ratio,
        low: one.low,
        high: one.high,
        confidence_level: 0.95,
        method: Method::StudentTLogRatio,
        replicates: document.run.blocks,
    };
    AtLevel {
        level: level.unwrap_or_default(),
        speed: speed(document.response.lower_is_better, ratio),
        verdict: one.verdict,
    }
}
