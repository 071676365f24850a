//! Verdict of a try in one or two sentences: the smallest step that is enough, and by how much the
//! others differ. It says what the corrected verdicts show and nothing else.

#[cfg(test)]
mod tests;

use plan::{capitalised, counted};
use report::analysis::Shown;

use crate::result::{StatementResult, number};
use crate::tuned::{LABEL, Tuned};

/// Facts that the sentences are made of.
pub struct VerdictFacts<'a> {
    pub rows: &'a [StatementResult],
    /// The PostgreSQLs, by label.
    pub engines: &'a [&'a str],
    pub tuned: Option<&'a Tuned>,
    /// Statements that were left out.
    pub not_measured: usize,
    /// `5%`: the margin of the plan within which engines are equal.
    pub margin: &'a str,
}

/// Whether a step is at least as fast as PostgreSQL for every statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Enough {
    Yes,
    No,
    Open,
}

/// Verdicts on one engine against another, by statement.
#[derive(Default)]
struct Against<'r> {
    /// Statements with the ratio of the times.
    faster: Vec<(&'r str, f64)>,
    slower: Vec<(&'r str, f64)>,
    equal: Vec<&'r str>,
    open: Vec<&'r str>,
}

impl<'r> Against<'r> {
    fn of(
        rows: impl Iterator<Item = &'r StatementResult>,
        part: impl Fn(&StatementResult) -> (Option<f64>, Option<Shown>),
    ) -> Self {
        let mut all = Self::default();
        for row in rows {
            let name = row.statement.as_str();
            match part(row) {
                (Some(ratio), Some(Shown::Faster)) => all.faster.push((name, ratio)),
                (Some(ratio), Some(Shown::Slower)) => all.slower.push((name, ratio)),
                (_, Some(Shown::Equal)) => all.equal.push(name),
                _ => all.open.push(name),
            }
        }
        all
    }

    fn to_sqlite(rows: &'r [StatementResult], engine: &str) -> Self {
        let rows = rows.iter().filter(|row| row.engine == engine);
        Self::of(rows, |row| (row.ratio.map(|ratio| ratio.value), row.verdict))
    }

    fn to_tuned(rows: &'r [StatementResult], engine: &str) -> Self {
        let rows = rows.iter().filter(|row| row.engine == engine);
        Self::of(rows, |row| (row.ratio_to_tuned.map(|ratio| ratio.value), row.verdict_to_tuned))
    }

    fn count(&self) -> usize {
        self.faster.len() + self.slower.len() + self.equal.len() + self.open.len()
    }

    /// Of the engine that this one is compared with.
    fn other_is_enough(&self) -> Enough {
        match (self.faster.is_empty(), self.open.is_empty()) {
            (false, _) => Enough::No,
            (true, false) => Enough::Open,
            (true, true) => Enough::Yes,
        }
    }

    /// `faster for 6 (up to 12.3 times as fast: "count orders"), equal within 5% for 2`, of the
    /// engine that this one is compared with.
    fn other_in_words(&self, margin: &str) -> String {
        let mut parts = Vec::new();
        if !self.slower.is_empty() {
            parts.push(format!("faster for {}", with_most(&self.slower, |ratio| ratio)));
        }
        if !self.equal.is_empty() {
            parts.push(format!("equal within {margin} for {}", self.equal.len()));
        }
        parts.join(", ")
    }
}

/// `2 (up to 214 times as fast: "orders by day")`.
fn with_most(won: &[(&str, f64)], times: impl Fn(f64) -> f64) -> String {
    let most = won.iter().max_by(|a, b| times(a.1).total_cmp(&times(b.1)));
    let Some((name, ratio)) = most else { return won.len().to_string() };
    let up_to = if won.len() == 1 { "" } else { "up to " };
    format!("{} ({up_to}{} times as fast: {})", won.len(), number(times(*ratio)), quoted(name))
}

/// A longer name of a statement is cut.
const NAME_MAX: usize = 40;

/// The name in quotation marks, cut where it is long.
pub fn quoted(name: &str) -> String {
    match name.chars().count() > NAME_MAX {
        true => format!("\"{}...\"", name.chars().take(NAME_MAX).collect::<String>().trim_end()),
        false => format!("\"{name}\""),
    }
}

/// At most three names.
fn some(names: &[&str]) -> String {
    let mut shown: Vec<String> = names.iter().take(3).map(|name| quoted(name)).collect();
    if names.len() > 3 {
        shown.push(format!("{} more", names.len() - 3));
    }
    shown.join(", ")
}

/// `ANALYZE and 2 indexes`: what changed the plan of a statement that was measured; the settings
/// where nothing did.
fn parts(tuned: &Tuned, rows: &[StatementResult]) -> String {
    let is_measured = |name: &String| rows.iter().any(|row| row.statement == *name);
    let indexes = tuned.indexes.iter().filter(|index| index.used_by.iter().any(is_measured));
    let indexes = indexes.count();
    let mut parts = Vec::new();
    if indexes > 0 || tuned.plans_changed_by_analyze.iter().any(is_measured) {
        parts.push("ANALYZE".to_owned());
    }
    match indexes {
        0 => {}
        1 => parts.push("1 index".to_owned()),
        many => parts.push(format!("{many} indexes")),
    }
    if parts.is_empty() {
        if tuned.journal_becomes_wal {
            parts.push("a write-ahead log".to_owned());
        }
        parts.push("a larger page cache".to_owned());
    }
    parts.join(" and ")
}

/// One paragraph for each engine that was compared with SQLite.
pub fn paragraphs(facts: &VerdictFacts<'_>) -> String {
    let is_measured = |engine: &&str| facts.rows.iter().any(|row| row.engine == *engine);
    let engines: Vec<&str> = facts.engines.iter().copied().filter(is_measured).collect();
    if engines.is_empty() {
        return "Nothing was measured, so there is no verdict.".to_owned();
    }
    let prefix = |engine: &str| match engines.len() {
        1 => String::new(),
        _ => format!("Against {engine}: "),
    };
    let paragraph = |engine: &&str| format!("{}{}", prefix(engine), of_engine(facts, engine));
    let mut text = engines.iter().map(paragraph).collect::<Vec<_>>().join("\n");
    match facts.not_measured {
        0 => {}
        1 => text.push_str(" 1 statement was not measured."),
        many => text.push_str(&format!(" {many} statements were not measured.")),
    }
    text
}

fn of_engine(facts: &VerdictFacts<'_>, engine: &str) -> String {
    let as_is = Against::to_sqlite(facts.rows, engine);
    let tuned = facts.tuned.map(|tuned| (tuned, Against::to_tuned(facts.rows, engine)));
    let measured = if facts.not_measured > 0 { "measured " } else { "" };
    let all = match as_is.count() {
        1 => format!("the 1 {measured}statement"),
        many => format!("all {many} {measured}statements"),
    };
    let margin = facts.margin;
    if as_is.other_is_enough() == Enough::Yes {
        let how = as_is.other_in_words(margin);
        let more = tuned.map_or(String::new(), |(tuned, _)| tuning_besides(facts, tuned));
        return format!(
            "PostgreSQL is not needed: SQLite as it is is at least as fast as {engine} for {all}: \
             {how}.{more}"
        );
    }
    let now = as_it_is(&as_is, engine);
    match &tuned {
        Some((how, against)) if against.other_is_enough() == Enough::Yes => {
            let parts = parts(how, facts.rows);
            let without = match parts.contains("index") {
                true => format!(", which {engine} was measured without,"),
                false => String::new(),
            };
            format!(
                "Tuned SQLite is enough: with {parts}{without} it is at least as fast as {engine} \
                 for {all}: {}. {}{now}",
                against.other_in_words(margin),
                gain(facts)
            )
        }
        Some((_, against)) => {
            format!("{} {now}", not_shown(against, "tuned SQLite", engine, margin))
        }
        None => not_shown(&as_is, "SQLite", engine, margin),
    }
}

/// A second sentence: the untuned file.
fn as_it_is(as_is: &Against<'_>, engine: &str) -> String {
    match as_is.other_is_enough() {
        Enough::No => format!(
            "As it is, SQLite is not enough: {engine} is faster for {}.",
            with_most(&as_is.faster, f64::recip)
        ),
        _ => format!(
            "For SQLite as it is that is undecided: {} without verdict against {engine} ({}).",
            counted(as_is.open.len(), "statement"),
            some(&as_is.open)
        ),
    }
}

/// The last step before PostgreSQL is not shown to be enough.
fn not_shown(against: &Against<'_>, step: &str, engine: &str, margin: &str) -> String {
    let all = counted(against.count(), "statement");
    let mut parts = Vec::new();
    let other = against.other_in_words(margin);
    if !other.is_empty() {
        parts.push(format!("{step} is {other}"));
    }
    if !against.open.is_empty() {
        parts.push(format!("{} undecided ({})", are(against.open.len()), some(&against.open)));
    }
    let rest = parts.join("; ");
    if against.faster.is_empty() {
        return format!("Whether {step} is enough is undecided: of {all} {rest}.");
    }
    let won = with_most(&against.faster, f64::recip);
    let rest = if rest.is_empty() { rest } else { format!("; {rest}") };
    match against.slower.is_empty() && against.open.is_empty() {
        true => format!(
            "{engine} is the smallest step that is enough: of {all} it is faster than {step} for \
             {won}{rest}."
        ),
        false => format!(
            "{step} is not enough throughout: of {all} {engine} is faster for {won}{rest}.",
            step = capitalised(step)
        ),
    }
}

fn are(count: usize) -> String {
    format!("{count} {}", if count == 1 { "is" } else { "are" })
}

/// The tuned copy against the file as it is.
fn gain(facts: &VerdictFacts<'_>) -> String {
    let gain = Against::to_sqlite(facts.rows, LABEL);
    match gain.faster.is_empty() {
        true => String::new(),
        false => {
            let won = with_most(&gain.faster, f64::recip);
            format!("It is faster than the file as it is for {won}. ")
        }
    }
}

/// Where nothing has to change: the gain of tuning, if any is shown.
fn tuning_besides(facts: &VerdictFacts<'_>, tuned: &Tuned) -> String {
    let gain = Against::to_sqlite(facts.rows, LABEL);
    let mut text = String::new();
    if !gain.faster.is_empty() {
        let won = with_most(&gain.faster, f64::recip);
        text.push_str(&format!(
            " Tuning ({}) is faster still for {won}.",
            parts(tuned, facts.rows)
        ));
    }
    if !gain.slower.is_empty() {
        let slower: Vec<&str> = gain.slower.iter().map(|(name, _)| *name).collect();
        let count = slower.len();
        text.push_str(&format!(" Tuning makes {count} slower ({}).", some(&slower)));
    }
    text
}
