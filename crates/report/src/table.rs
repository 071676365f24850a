//! The tables of a report, for a terminal or as Markdown.

use notation::digits;
use stats::Estimate;

use crate::Document;
use crate::analysis::{Shown, number, speed, speed_title};
use crate::document::{EffectPart, FactorPart, InteractionPart, RatioPart, TreatmentPart};
use crate::grid::{Form, drawn, fitted};
use plan::Level;
use plan::Levels;

/// Every treatment of a run; engines stand under each other for each set of levels.
pub(super) fn treatments(document: &Document, form: Form) -> String {
    let mut header: Vec<String> =
        document.factors.iter().map(|factor| factor.label.clone()).collect();
    header.push("Engine".to_owned());
    let response = &document.response;
    header.push(match response.lower_is_better {
        true => "Geom. mean, ms".to_owned(),
        false => response.label.to_owned(),
    });
    if document.engines.len() > 1 {
        let first = document.engines.first().map(|engine| engine.name.as_str());
        header.push(speed_title(response.lower_is_better, first.unwrap_or_default()));
    }
    let times: &[&str] = match response.lower_is_better {
        true if document.run.of_the_article => &["Best of three, ms"],
        true => &[],
        false => &["Mean, ms", "p99, ms"],
    };
    let unit = document.run.unit_of_work;
    let units = format!("{}s", notation::capitalised(unit));
    let rate = response.lower_is_better.then(|| format!("{units}/s"));
    let counted = [format!("CPU s/{unit}"), "Cores".to_owned(), units];
    let times = times.iter().map(|title| (*title).to_owned());
    let last: Vec<String> = times.chain(rate).chain(counted).collect();
    header.extend_from_slice(&last);
    // A treatment that was measured at another level of a factor without effect on it stands there alone,
    // unless it is compared here.
    let is_shown = |one: &TreatmentPart| one.measured_at == one.levels || one.ratio.is_some();
    let shown = document.treatments.iter().enumerate().filter(|(_, one)| is_shown(one));
    let mut order: Vec<(usize, &TreatmentPart)> = shown.collect();
    order.sort_by_cached_key(|(index, treatment)| {
        let place = |factor: &FactorPart| {
            let level = treatment.levels.get(&factor.name);
            factor.levels.iter().position(|own| Some(&own.value) == level)
        };
        (document.factors.iter().map(place).collect::<Vec<_>>(), *index)
    });
    let rows = order.into_iter().map(|(_, treatment)| row(document, treatment));
    fitted(header, rows.collect(), document.factors.len() + 1, &last, form)
}

/// Effects of each factor, variation by variation.
pub(super) fn effects(document: &Document, form: Form) -> String {
    let header =
        ["Factor", "From", "To", "Where", "What", "Multiplied by"].map(str::to_owned).to_vec();
    let row = |effect: &EffectPart| {
        let label = document.factors.iter().find(|factor| factor.name == effect.factor);
        let level = |level: &Level| level_label(document, &effect.factor, level);
        let what = match &effect.against {
            None => effect.engine.clone(),
            Some(other) => format!("{} by {other}", effect.engine),
        };
        vec![
            label.map_or_else(|| effect.factor.clone(), |factor| factor.label.clone()),
            level(&effect.from),
            level(&effect.to),
            levels_in_words(document, &effect.levels),
            what,
            shown(&effect.estimate, effect.verdict),
        ]
    };
    drawn(header, document.effects.iter().map(row).collect(), 5, form)
}

/// The effect of one factor at either level of another.
pub(super) fn interactions(document: &Document, form: Form) -> String {
    let header = ["Engine", "Where", "Effect of", "First", "Second", "Second by first"];
    let row = |one: &InteractionPart| {
        let level = |level: &Level| level_label(document, &one.factor, level);
        let effect = |effect: &Estimate, at: &Level| {
            format!("{} at {}", number(effect), level_label(document, &one.other, at))
        };
        let ([first, second], [at_first, at_second]) = (&one.effects, &one.at);
        vec![
            one.engine.clone(),
            levels_in_words(document, &one.levels),
            format!("{} instead of {}", level(&one.to), level(&one.from)),
            effect(first, at_first),
            effect(second, at_second),
            match one.verdict {
                Shown::Equal => format!("{} no interaction", number(&one.estimate)),
                Shown::Undecided => number(&one.estimate),
                Shown::Faster | Shown::Slower => format!("{} interaction", number(&one.estimate)),
            },
        ]
    };
    let rows = document.interactions.iter().map(row).collect();
    drawn(header.map(str::to_owned).to_vec(), rows, 3, form)
}

/// The treatments of several runs, a column for each run.
pub(super) fn side_by_side(documents: &[Document], form: Form) -> String {
    let mut places: Vec<(String, String)> = Vec::new();
    for document in documents {
        for treatment in &document.treatments {
            let place = key(document, treatment);
            if !places.contains(&place) {
                places.push(place);
            }
        }
    }
    let mut header = vec!["Where".to_owned(), "Engine".to_owned()];
    header.extend(documents.iter().map(|document| {
        let unit = document.response.unit.unwrap_or(document.response.label);
        format!("{}, {}", document.run.id, unit.to_lowercase())
    }));
    let rows = places.into_iter().map(|place| {
        let mut row = vec![place.0.clone(), place.1.clone()];
        row.extend(documents.iter().map(|document| {
            let found = document.treatments.iter().find(|one| key(document, one) == place);
            found.and_then(|one| one.estimate).map(|e| number(&e)).unwrap_or_default()
        }));
        row
    });
    drawn(header, rows.collect(), 2, form)
}

/// Levels in words and engine: what the same treatment of another run has too.
fn key(document: &Document, treatment: &TreatmentPart) -> (String, String) {
    (levels_in_words(document, &treatment.levels), treatment.engine.clone())
}

/// `sqlite, 4 clients, year`.
pub(super) fn place(document: &Document, treatment: &TreatmentPart) -> String {
    let levels = varied_in_words(document, &treatment.measured_at);
    if levels.is_empty() {
        return treatment.engine.clone();
    }
    format!("{}, {levels}", treatment.engine)
}

/// The levels in words; a factor that is varied alone is named only where it is not at its first.
pub(super) fn varied_in_words(document: &Document, levels: &Levels) -> String {
    let is_base = |name: &str, level: &Level| {
        let factor = document.factors.iter().find(|factor| factor.alone && factor.name == name);
        factor.and_then(|factor| factor.levels.first()).is_some_and(|first| first.value == *level)
    };
    let varied = levels.iter().filter(|(name, level)| !is_base(name, level));
    let words: Vec<String> =
        varied.map(|(name, level)| level_label(document, name, level)).collect();
    words.join(", ")
}

pub(super) fn levels_in_words(document: &Document, levels: &Levels) -> String {
    let words: Vec<String> =
        levels.iter().map(|(name, level)| level_label(document, name, level)).collect();
    words.join(", ")
}

pub(super) fn level_label(document: &Document, factor: &str, level: &Level) -> String {
    let factor = document.factors.iter().find(|candidate| candidate.name == factor);
    let part = factor.and_then(|f| f.levels.iter().find(|part| part.value == *level));
    part.map_or_else(|| level.to_string(), |part| part.label.clone())
}

fn row(document: &Document, treatment: &TreatmentPart) -> Vec<String> {
    let level = |name: &String| treatment.levels.get(name).map(|l| level_label(document, name, l));
    let mut cells: Vec<String> =
        document.factors.iter().map(|factor| level(&factor.name).unwrap_or_default()).collect();
    cells.push(treatment.engine.clone());
    let value = treatment.estimate.map_or_else(|| "void".to_owned(), |estimate| number(&estimate));
    let arithmetic = treatment.arithmetic_mean;
    let arithmetic = arithmetic.map(|mean| format!("; arithmetic {}", digits(mean)));
    cells.push(value + &arithmetic.unwrap_or_default());
    if document.engines.len() > 1 {
        cells.push(treatment.ratio.as_ref().map(|one| ratio(document, one)).unwrap_or_default());
    }
    if document.response.lower_is_better {
        let best = treatment.best_of_three.map(digits).unwrap_or_default();
        cells.extend(document.run.of_the_article.then_some(best));
        cells.push(treatment.requests_per_second.map(digits).unwrap_or_default());
    } else {
        let p99 = treatment.percentiles.iter().find(|percentile| percentile.p == 0.99);
        cells.push(treatment.response_time_ms_mean.map(|e| digits(e.value)).unwrap_or_default());
        cells.push(p99.map(|percentile| digits(percentile.value_ms)).unwrap_or_default());
    }
    cells.push(treatment.cpu_seconds_per_request.map(digits).unwrap_or_default());
    cells.push(treatment.cores_used.map(|cores| format!("{cores:.2}")).unwrap_or_default());
    cells.push(match treatment.failures {
        0 => treatment.requests.to_string(),
        failures => format!("{} ({failures} failed)", treatment.requests),
    });
    cells
}

fn ratio(document: &Document, ratio: &RatioPart) -> String {
    shown(&speed(document.response.lower_is_better, ratio.estimate), ratio.verdict)
}

pub(super) fn shown(estimate: &Estimate, verdict: Shown) -> String {
    match verdict {
        Shown::Undecided => number(estimate),
        shown => format!("{} {}", number(estimate), shown.name()),
    }
}
