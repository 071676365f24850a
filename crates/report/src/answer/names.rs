//! Engines as people call them: `PostgreSQL 18` for `postgres:18`.

use std::collections::BTreeMap;

use engine::{EngineSource, EngineSpec};
use plan::Plan;
use record::EngineRecord;

/// The name of each engine, by its label.
pub(super) struct EngineNames(BTreeMap<String, String>);

impl EngineNames {
    /// Two engines of one name keep their labels.
    pub(super) fn of(plan: &Plan, records: &BTreeMap<String, EngineRecord>) -> Self {
        let named = |engine: &EngineSpec| {
            let label = engine.label();
            let version = records.get(&label).map(|record| record.version.as_str());
            let name = name(engine, version.unwrap_or_default());
            (label, name)
        };
        let all: Vec<(String, String)> = plan.engines.iter().map(named).collect();
        let is_unique = |name: &str| all.iter().filter(|(_, other)| other == name).count() == 1;
        let distinct = all.iter().map(|(label, name)| {
            let name = if is_unique(name) { name } else { label };
            (label.clone(), name.clone())
        });
        Self(distinct.collect())
    }

    /// The label itself where the plan has no such engine.
    pub(super) fn get<'s>(&'s self, label: &'s str) -> &'s str {
        self.0.get(label).map_or(label, String::as_str)
    }

    pub(super) fn into_map(self) -> BTreeMap<String, String> {
        self.0
    }

    /// `text` with the engine's own name in brackets where a name is first used, unless both are
    /// alike.
    pub(super) fn explained(&self, text: &[String]) -> Vec<String> {
        let mut lines = text.to_vec();
        for (label, name) in &self.0 {
            let alike = |text: &str| {
                let mut text = text.to_lowercase().replace("postgresql", "postgres");
                text.retain(|letter| !" :[]()".contains(letter));
                text
            };
            if alike(name) == alike(label) {
                continue;
            }
            let first = lines.iter_mut().find_map(|line| {
                let end = line.find(name.as_str())? + name.len();
                Some((line, end))
            });
            if let Some((line, end)) = first {
                line.insert_str(end, &format!(" ({label})"));
            }
        }
        lines
    }
}

fn name(engine: &EngineSpec, version: &str) -> String {
    if let Some(label) = engine.own("label") {
        return label.to_owned();
    }
    let branch = |parts: usize| {
        let mut words = version.split_whitespace();
        let product = words.next()?;
        let release: Vec<&str> = words.next()?.split('.').take(parts).collect();
        Some(format!("{product} {}", release.join(".")))
    };
    let kind = engine.source.kind().properties();
    let product = match &engine.source {
        _ if kind.is_application => return engine.label(),
        EngineSource::Postgres(release) if !release.is_newest() => {
            format!("{} {release}", kind.product)
        }
        _ if kind.branch_parts == 0 => kind.product.to_owned(),
        _ => branch(kind.branch_parts).unwrap_or_else(|| kind.product.to_owned()),
    };
    let settings: Vec<String> =
        engine.settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
    if settings.is_empty() { product } else { format!("{product} ({})", settings.join(", ")) }
}

/// A sentence that names engines by their labels, with their names in place of them.
#[must_use]
pub fn in_words(names: &BTreeMap<String, String>, sentence: &str) -> String {
    let replaced = names.iter().fold(sentence.to_owned(), |text, (label, name)| {
        let mut parts = Vec::new();
        let mut rest = text.as_str();
        while let Some(place) = rest.find(label.as_str()) {
            let (before, after) = (&rest[..place], &rest[place + label.len()..]);
            let is_whole = !is_inside_word(before.chars().rev()) && !is_inside_word(after.chars());
            parts.extend([before, if is_whole { name } else { label }]);
            rest = after;
        }
        parts.push(rest);
        parts.concat()
    });
    capital(&replaced)
}

/// Whether a word, a label or a path goes on with these letters.
fn is_inside_word(mut letters: impl Iterator<Item = char>) -> bool {
    let in_name = |letter: char| letter.is_alphanumeric() || "_-/[".contains(letter);
    match letters.next() {
        Some('.' | ':') => letters.next().is_some_and(in_name),
        letter => letter.is_some_and(in_name),
    }
}

/// `PostgreSQL 18's time`, `the time of a folder of files`.
pub(super) fn of(name: &str, what: &str) -> String {
    if is_word(name) { format!("{name}'s {what}") } else { format!("the {what} of {name}") }
}

/// `PostgreSQL 18's`, `that of a folder of files`.
pub(super) fn possessive(name: &str) -> String {
    if is_word(name) { format!("{name}'s") } else { format!("that of {name}") }
}

fn is_word(name: &str) -> bool {
    name.chars().next().is_some_and(char::is_uppercase)
        && name.chars().last().is_some_and(char::is_alphanumeric)
}

/// Words at the start of a sentence; labels such as `sqlite[x=1]` stay unchanged.
const CAPITALISED: [&str; 15] = [
    "a ",
    "all ",
    "at ",
    "choosing ",
    "clients as ",
    "each ",
    "every ",
    "from ",
    "it ",
    "no ",
    "nothing ",
    "other pairs",
    "the ",
    "undecided",
    "up to ",
];

/// The text with a capital at its start.
pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if CAPITALISED.iter().any(|word| text.starts_with(word)) => {
            first.to_uppercase().collect::<String>() + letters.as_str()
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_in_a_sentence_become_names_and_other_words_stay() {
        let names =
            [("postgres:18", "PostgreSQL 18"), ("sqlite", "SQLite"), ("dir", "a folder of files")];
        let names = names.map(|(label, name)| (label.to_owned(), name.to_owned())).into();
        let told = |text| in_words(&names, text);
        assert_eq!(
            told("postgres:18 used up to 1.9 cores, sqlite up to 1.00: more than sqlite."),
            "PostgreSQL 18 used up to 1.9 cores, SQLite up to 1.00: more than SQLite."
        );
        assert_eq!(told("sqlite: it took sqlite3 long"), "SQLite: it took sqlite3 long");
        assert_eq!(told("dir was slow"), "A folder of files was slow");
        let others = "The file /srv/sqlite/dir-1 of sqlite.cache, sqlite[x=1] and sqlite_stat1.";
        assert_eq!(told(others), others);
    }
}
