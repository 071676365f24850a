//! The answer of a plan with steps: the smallest step that is enough, by how much the engines differ at
//! their best, and what each step brings. It says what the verdicts show and nothing else.

use plan::{counted, with_commas};
use stats::Estimate;

use super::place::listed;
use super::size;
use super::wording::Wording;
use crate::analysis::{
    AgainstEngine, BestComparison, EngineSteps, Enough, Gain, NOT_FELT_MS, Row, RowVerdict, Shown,
    StepAnalysis, StepVerdict, Verdict, digits,
};

/// The conclusion on one engine that the first is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// The first engine's step of this number is the smallest that is enough.
    Enough(usize),
    /// Its last step is shown not to be.
    NotEnough,
    Undecided,
}

/// The answer in sentences.
pub(super) struct StepAnswer {
    pub headline: Vec<String>,
    pub sentences: Vec<String>,
    pub undecided: bool,
    /// No step of any engine keeps to the user's bound.
    pub bound_missed: bool,
}

/// The longest name of a statement in a sentence.
const NAME_MAX: usize = 48;
/// The most names in a list.
const NAMES_MAX: usize = 3;

pub(super) fn answer(wording: &Wording<'_>, steps: &StepAnalysis) -> StepAnswer {
    let teller = Teller { wording, steps };
    let mut headline = Vec::new();
    let mut conclusions = Vec::new();
    match wording.plan.enough {
        Some(_) => {
            let (conclusion, said) = teller.of_bound();
            conclusions.push(conclusion);
            headline.extend(said);
        }
        None => {
            for against in &steps.against {
                let conclusion = step_conclusion(&against.steps);
                conclusions.push(conclusion);
                headline.extend(teller.verdict(against, conclusion));
                headline.extend(teller.unchanged(against, conclusion));
            }
        }
    }
    headline.extend(steps.against.iter().filter_map(|against| teller.at_best(against)));
    StepAnswer {
        headline,
        sentences: teller.gains(),
        undecided: conclusions.is_empty() || conclusions.contains(&Conclusion::Undecided),
        bound_missed: wording.plan.enough.is_some()
            && steps.bounds.iter().all(|bound| bound.enough == Enough::No),
    }
}

/// The smallest step that is enough. Steps are looked at from the last one down, ending at the first
/// that is not: so the chance of a wrong "enough" is that of one test.
pub fn step_conclusion(steps: &[StepVerdict]) -> Conclusion {
    let verdicts: Vec<Enough> = steps.iter().map(|step| step.enough).collect();
    smallest(&verdicts)
}

fn smallest(verdicts: &[Enough]) -> Conclusion {
    let enough = verdicts.iter().rev().take_while(|enough| **enough == Enough::Yes).count();
    match (enough, verdicts.last()) {
        (0, Some(Enough::No)) => Conclusion::NotEnough,
        (0, _) => Conclusion::Undecided,
        _ => Conclusion::Enough(verdicts.len() - enough),
    }
}

struct Teller<'a> {
    wording: &'a Wording<'a>,
    steps: &'a StepAnalysis,
}

impl Teller<'_> {
    fn engine(&self, index: usize) -> &str {
        self.steps.engines.get(index).map_or("", |one| self.wording.names.get(&one.engine))
    }

    /// `SQLite with ANALYZE and 2 indexes`, `SQLite, unchanged`.
    fn engine_at(&self, engine: usize, step: usize) -> String {
        let name = self.engine(engine);
        match self.steps.engines.get(engine).map(|of| with(of, step)).unwrap_or_default() {
            changes if changes.is_empty() => format!("{name}, unchanged"),
            changes => format!("{name} with {changes}"),
        }
    }

    /// `any of the 8 statements`, `the whole log`.
    fn all_rows(&self) -> String {
        match self.steps.deciding_rows().as_slice() {
            [Row::Total] => "the whole log".to_owned(),
            [_] => "the statement".to_owned(),
            rows => format!("any of the {} statements", rows.len()),
        }
    }

    fn margin(&self) -> String {
        let share = self.wording.plan.equivalent_within;
        match self.steps.deciding_rows().as_slice() {
            [Row::Total] => format!("within {share}"),
            _ => format!("within {share} or {NOT_FELT_MS} ms"),
        }
    }

    fn verdict(&self, against: &AgainstEngine, conclusion: Conclusion) -> Vec<String> {
        let other = self.engine(against.other);
        let last = against.steps.last();
        let rows = self.all_rows();
        match conclusion {
            Conclusion::Enough(0) => vec![format!(
                "{other} is not needed: {} is not slower for {rows} ({}).",
                self.engine_at(0, 0),
                self.margin()
            )],
            Conclusion::Enough(step) => {
                let changes = self.steps.engines.first().map(|of| with(of, step));
                vec![format!(
                    "{} is enough with {}: it is then not slower than {other} for {rows} ({}){}.",
                    self.engine(0),
                    changes.unwrap_or_default(),
                    self.margin(),
                    self.same_changes(against.other)
                )]
            }
            Conclusion::NotEnough => {
                let last = last.map_or(&[][..], |last| &last.rows);
                let slower = rows_with(last, Verdict::Slower);
                let open = rows_with(last, Verdict::Open).len();
                let open = match open {
                    0 => String::new(),
                    open => format!("; {} undecided", counted(open, "statement")),
                };
                vec![format!(
                    "{} is not enough: {}{open}.",
                    self.engine_at(0, against.steps.len().saturating_sub(1)),
                    self.slower(against.other, &slower)
                )]
            }
            Conclusion::Undecided => vec![self.undecided(against, last)],
        }
    }

    /// `, measured with the same indexes`: what the other engine had at its steps.
    fn same_changes(&self, other: usize) -> String {
        let Some(of) = self.steps.engines.get(other) else { return String::new() };
        match with(of, of.steps.len().saturating_sub(1)) {
            changes if changes.is_empty() => String::new(),
            changes => format!(", which had {changes} too"),
        }
    }

    fn undecided(&self, against: &AgainstEngine, last: Option<&StepVerdict>) -> String {
        let rows = last.map_or(&[][..], |last| &last.rows);
        let step = self.engine_at(0, against.steps.len().saturating_sub(1));
        let other = self.engine(against.other);
        let not_slower = rows_with(rows, Verdict::NotSlower).len();
        let open: Vec<Row> = rows
            .iter()
            .filter(|row| matches!(row.verdict, Verdict::Open | Verdict::NotMeasured))
            .map(|row| row.row)
            .collect();
        if rows.is_empty() || rows.iter().all(|row| row.verdict == Verdict::NotMeasured) {
            return format!("Undecided: nothing was measured of {step} against {other}.");
        }
        let of_statements = match rows {
            [only] if only.row == Row::Total => "for the whole log".to_owned(),
            _ => format!(
                "it is not slower for {not_slower} of {}, undecided for {} ({})",
                counted(rows.len(), "statement"),
                open.len(),
                self.names(&open)
            ),
        };
        format!("Undecided whether {step} is enough beside {other}: {of_statements}.")
    }

    /// What the unchanged copy is, where a later step decides.
    fn unchanged(&self, against: &AgainstEngine, conclusion: Conclusion) -> Option<String> {
        let first = against.steps.first()?;
        if conclusion == Conclusion::Enough(0) || against.steps.len() < 2 {
            return None;
        }
        let slower = rows_with(&first.rows, Verdict::Slower);
        let name = self.engine_at(0, 0);
        match first.enough {
            Enough::No => {
                Some(format!("{name}, is not enough: {}.", self.slower(against.other, &slower)))
            }
            Enough::Open => Some(format!("Whether {name}, is enough is undecided.")),
            Enough::Yes => None,
        }
    }

    /// `PostgreSQL 18 is faster for 3 (up to 475 times as fast: "x", 0.81 ms against 384 ms)`.
    fn slower(&self, other: usize, slower: &[&RowVerdict]) -> String {
        let largest = slower.iter().filter_map(|row| Some((row.row, row.worst?)));
        let largest = largest.max_by(|(_, (_, a)), (_, (_, b))| a.value.total_cmp(&b.value));
        let name = self.engine(other);
        let Some((row, (step, ratio))) = largest else {
            return format!("{name} is shown faster");
        };
        let theirs = self.steps.engines.get(other).and_then(|of| of.steps.get(step)?.row(row));
        let times = theirs.map(|theirs| {
            let theirs = theirs.estimate.value;
            let [theirs, ours] = [theirs, theirs * ratio.value].map(size::time);
            format!(", {theirs} against {ours}")
        });
        let times = times.unwrap_or_default();
        let factor = digits(ratio.value);
        match (row, slower.len()) {
            (Row::Total, _) => {
                format!("{name} is {factor} times as fast for the whole log{times}")
            }
            (_, 1) => {
                format!("{name} is {factor} times as fast for {}{times}", self.name(row))
            }
            (_, many) => format!(
                "{name} is faster for {many} statements (up to {factor} times as fast: {}{times})",
                self.name(row)
            ),
        }
    }

    /// Both at their best, and that one was searched less hard.
    fn at_best(&self, against: &AgainstEngine) -> Option<String> {
        let other = self.steps.engines.get(against.other)?;
        let first = self.steps.engines.first()?;
        let statements: Vec<&BestComparison> =
            against.best.iter().filter(|one| one.row != Row::Total).collect();
        let name = self.engine(0);
        let parts = |shown, faster: bool| {
            let of = statements.iter().filter(|one| one.compared.shown() == shown);
            let of: Vec<(Row, f64)> =
                of.map(|one| (one.row, times(one.compared.ratio, faster))).collect();
            self.most(&of)
        };
        let mut said: Vec<String> = Vec::new();
        if let Some(total) = against.best.iter().find(|one| one.row == Row::Total) {
            said.push(self.total_at_best(total, first, other));
        }
        said.extend(parts(Shown::Faster, true).map(|of| format!("{name} is faster for {of}")));
        said.extend(
            parts(Shown::Slower, false)
                .map(|of| format!("{} is faster for {of}", self.engine(against.other))),
        );
        let count = |shown| statements.iter().filter(|one| one.compared.shown() == shown).count();
        let equal = match count(Shown::Equal) {
            0 => None,
            count => Some(format!("{count} equal within {}", self.wording.plan.equivalent_within)),
        };
        said.extend(equal);
        said.extend(match count(Shown::Undecided) {
            0 => None,
            count => Some(format!("{count} undecided")),
        });
        if said.is_empty() {
            return None;
        }
        let not_felt = statements
            .iter()
            .filter(|one| {
                !one.is_felt && matches!(one.compared.shown(), Shown::Faster | Shown::Slower)
            })
            .count();
        let not_felt = match (not_felt, self.steps.deciding_rows().first()) {
            (0, _) => String::new(),
            (count, Some(Row::Total)) => {
                format!(" {count} of these differences are below 5% of the log's total.")
            }
            (count, _) => {
                format!(
                    " {count} of these differences are below {NOT_FELT_MS} ms: nobody feels them."
                )
            }
        };
        Some(format!(
            "Each at its best ({}; {}): {}.{not_felt}",
            self.engine_at(0, first.best),
            self.engine_at(against.other, other.best),
            said.join("; ")
        ))
    }

    fn total_at_best(
        &self,
        total: &BestComparison,
        first: &EngineSteps,
        other: &EngineSteps,
    ) -> String {
        let value = |of: &EngineSteps| {
            of.at_best().and_then(|step| step.total.as_ref()).map(|total| total.estimate.value)
        };
        let (Some(mine), Some(theirs)) = (value(first), value(other)) else {
            return "the log's total is not known".to_owned();
        };
        let executions: u64 = self.steps.executions.iter().flatten().sum();
        format!(
            "the log's {} statements take {} and {} ({})",
            with_commas(executions),
            size::time(mine),
            size::time(theirs),
            match total.compared.shown() {
                Shown::Faster => format!("{} faster", self.wording.names.get(&first.engine)),
                Shown::Slower => format!("{} faster", self.wording.names.get(&other.engine)),
                Shown::Equal => format!("equal within {}", self.wording.plan.equivalent_within),
                Shown::Undecided => "undecided".to_owned(),
            }
        )
    }

    /// A sentence for each step of each engine that brought or cost something.
    fn gains(&self) -> Vec<String> {
        let mut said = Vec::new();
        for (engine, of) in self.steps.engines.iter().enumerate() {
            for step in 1..of.steps.len() {
                said.extend(self.gain(engine, step));
            }
        }
        said
    }

    fn gain(&self, engine: usize, step: usize) -> Option<String> {
        let of_step =
            |gain: &&Gain| gain.engine == engine && gain.step == step && gain.row != Row::Total;
        let gains: Vec<&Gain> = self.steps.gains.iter().filter(of_step).collect();
        let parts = |shown, faster: bool| {
            let of = gains.iter().filter(|gain| gain.compared.shown() == shown);
            let of: Vec<(Row, f64)> =
                of.map(|gain| (gain.row, times(gain.compared.ratio, faster))).collect();
            (self.most_of(&of, if faster { "fast" } else { "slow" }), of.len())
        };
        let (faster, _) = parts(Shown::Faster, true);
        let (slower, _) = parts(Shown::Slower, false);
        let count = |shown| gains.iter().filter(|gain| gain.compared.shown() == shown).count();
        let mut said: Vec<String> = Vec::new();
        said.extend(faster.map(|of| format!("faster for {of}")));
        said.extend(slower.map(|of| format!("slower for {of}")));
        let within = self.wording.plan.equivalent_within;
        said.extend(match count(Shown::Equal) {
            0 => None,
            all if all == gains.len() => Some(format!("without effect (equal within {within})")),
            count => Some(format!("without effect on {count} (equal within {within})")),
        });
        said.extend(match count(Shown::Undecided) {
            0 => None,
            count => Some(format!("undecided for {count}")),
        });
        let name = &self.steps.engines.get(engine)?.steps.get(step)?.step;
        (!said.is_empty()).then(|| format!("{}, {name}: {}.", self.engine(engine), said.join(", ")))
    }

    /// Against the user's own bound.
    fn of_bound(&self) -> (Conclusion, Vec<String>) {
        let Some(bound) = self.wording.plan.enough else {
            return (Conclusion::Undecided, Vec::new());
        };
        let statements = match self.steps.statements.len() {
            1 => "the statement".to_owned(),
            many => format!("all {many} statements"),
        };
        let of_engine = |engine: usize| -> Vec<Enough> {
            let own = self.steps.bounds.iter().filter(|one| one.engine == engine);
            own.map(|one| one.enough).collect()
        };
        let mut said = Vec::new();
        let mut overall = Conclusion::Undecided;
        for engine in 0..self.steps.engines.len() {
            let verdicts = of_engine(engine);
            let conclusion = smallest(&verdicts);
            if engine == 0 {
                overall = conclusion;
            }
            said.push(match conclusion {
                Conclusion::Enough(step) => {
                    format!("{} keeps to {bound} for {statements}.", self.engine_at(engine, step))
                }
                Conclusion::NotEnough => {
                    let last = self.engine_at(engine, verdicts.len().saturating_sub(1));
                    format!("{last} misses {bound}: {}.", self.missing(engine))
                }
                Conclusion::Undecided => {
                    let last = self.engine_at(engine, verdicts.len().saturating_sub(1));
                    format!(
                        "Whether {last} keeps to {bound} is undecided: {}.",
                        self.missing(engine)
                    )
                }
            });
            if matches!(conclusion, Conclusion::Enough(_)) {
                break;
            }
        }
        (overall, said)
    }

    /// The statements that the last step of an engine is not shown to keep within the bound.
    fn missing(&self, engine: usize) -> String {
        let last = self.steps.bounds.iter().rfind(|one| one.engine == engine);
        let rows = last.map_or(&[][..], |last| &last.rows);
        let missing: Vec<String> = rows
            .iter()
            .enumerate()
            .filter(|(_, (_, kept))| *kept != Some(true))
            .map(|(index, (value, _))| {
                let name = self.name(Row::Statement(index));
                match value {
                    Some(value) => format!("{name} {}", size::time(value.value)),
                    None => format!("{name} has too few executions in a trial"),
                }
            })
            .collect();
        shortened(&missing)
    }

    /// `3 (up to 12 times as fast: "x")`.
    fn most(&self, of: &[(Row, f64)]) -> Option<String> {
        self.most_of(of, "fast")
    }

    fn most_of(&self, of: &[(Row, f64)], word: &str) -> Option<String> {
        let (row, factor) = of.iter().max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let up_to = if of.len() == 1 { "" } else { "up to " };
        let (count, factor, name) = (of.len(), digits(*factor), self.name(*row));
        Some(format!("{count} ({up_to}{factor} times as {word}: {name})"))
    }

    fn name(&self, row: Row) -> String {
        self.steps.statement(row).map_or_else(|| "the log".to_owned(), quoted)
    }

    fn names(&self, rows: &[Row]) -> String {
        shortened(&rows.iter().map(|row| self.name(*row)).collect::<Vec<_>>())
    }
}

/// The changes up to a step: `ANALYZE and 2 indexes`; empty where nothing is changed.
fn with(engine: &EngineSteps, step: usize) -> String {
    let changes = engine.steps.iter().skip(1).take(step);
    listed(&changes.map(|step| step.step.clone()).collect::<Vec<_>>())
}

fn rows_with(rows: &[RowVerdict], verdict: Verdict) -> Vec<&RowVerdict> {
    rows.iter().filter(|row| row.verdict == verdict).collect()
}

/// How many times as fast, or as slow, a ratio of times below 1, or above, is.
fn times(ratio: Estimate, faster: bool) -> f64 {
    if faster { 1.0 / ratio.value } else { ratio.value }
}

fn shortened(names: &[String]) -> String {
    let shown = names.iter().take(NAMES_MAX).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMES_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The name in quotation marks, cut where it is long.
pub(crate) fn quoted(name: &str) -> String {
    match name.chars().count() > NAME_MAX {
        true => format!("\"{}...\"", name.chars().take(NAME_MAX).collect::<String>().trim_end()),
        false => format!("\"{name}\""),
    }
}
