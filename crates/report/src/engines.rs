//! Engines of the report: their state at the plan's first levels, and settings that were read back
//! otherwise where they were started at others.

use std::collections::BTreeMap;

use crate::document::{EnginePart, NamedValue, StartPart};
use plan::Plan;
use record::{EngineRecord, Run};

/// Every engine of the plan, in its order.
pub(super) fn engines(
    plan: &Plan,
    run: &Run,
    products: &BTreeMap<String, String>,
) -> Vec<EnginePart> {
    let part = |engine: &engine::EngineSpec| {
        let label = engine.label();
        let product = products.get(&label).cloned().unwrap_or_else(|| label.clone());
        EnginePart { product, ..one(&label, &run.engines) }
    };
    plan.engines.iter().map(part).collect()
}

fn one(label: &str, records: &BTreeMap<String, EngineRecord>) -> EnginePart {
    // A line that repeats an earlier one at the first levels was not started there.
    let any = || records.values().find(|record| record.name == label);
    let record = records.get(label).or_else(any).cloned().unwrap_or_default();
    let starts = records.iter().filter_map(|(name, other)| {
        let levels = name.strip_prefix(label)?.strip_prefix(" (")?.strip_suffix(')')?;
        let differences = differences(&record, other);
        (!differences.is_empty()).then(|| StartPart { levels: levels.to_owned(), differences })
    });
    EnginePart {
        name: label.to_owned(),
        product: String::new(),
        starts: starts.collect(),
        version: record.version,
        settings: named(record.settings),
        durability: record.durability,
        statistics_present: record.statistics_present,
        data_bytes: record.data_bytes,
    }
}

/// Settings of `other` that `base` has with another value or not at all; those of `base` alone have
/// the value `not set`.
fn differences(base: &EngineRecord, other: &EngineRecord) -> Vec<NamedValue> {
    let (before, after) = (facts(base), facts(other));
    let names = after.keys().chain(before.keys().filter(|name| !after.contains_key(*name)));
    names
        .filter(|name| before.get(*name) != after.get(*name))
        .map(|name| NamedValue {
            name: name.clone(),
            value: after.get(name).cloned().unwrap_or_else(|| "not set".to_owned()),
        })
        .collect()
}

fn facts(record: &EngineRecord) -> BTreeMap<String, String> {
    let mut facts: BTreeMap<String, String> = record.settings.iter().cloned().collect();
    facts.insert("version".to_owned(), record.version.clone());
    facts.insert("durability".to_owned(), record.durability.to_string());
    if let Some(present) = record.statistics_present {
        let word = if present { "present" } else { "missing" };
        facts.insert("statistics".to_owned(), word.to_owned());
    }
    facts
}

pub(super) fn named(rows: Vec<(String, String)>) -> Vec<NamedValue> {
    rows.into_iter().map(|(name, value)| NamedValue { name, value }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(version: &str, settings: &[(&str, &str)]) -> EngineRecord {
        let settings =
            settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        EngineRecord {
            version: version.to_owned(),
            settings: settings.collect(),
            ..EngineRecord::default()
        }
    }

    #[test]
    fn a_start_at_other_levels_tells_what_was_read_back_otherwise() {
        let records = BTreeMap::from([
            ("pg".to_owned(), record("PostgreSQL 18.1", &[("work_mem", "4MB"), ("jit", "off")])),
            ("pg (release=13)".to_owned(), record("PostgreSQL 13.2", &[("work_mem", "4MB")])),
            (
                "pg (workers=2)".to_owned(),
                record("PostgreSQL 18.1", &[("work_mem", "4MB"), ("jit", "off")]),
            ),
            ("pg2 (release=13)".to_owned(), record("PostgreSQL 13.2", &[])),
        ]);

        let engine = one("pg", &records);

        let told: Vec<(&str, Vec<(&str, &str)>)> = engine
            .starts
            .iter()
            .map(|start| {
                let differences = start.differences.iter();
                let pairs = differences.map(|it| (it.name.as_str(), it.value.as_str()));
                (start.levels.as_str(), pairs.collect())
            })
            .collect();
        assert_eq!(
            told,
            [("release=13", vec![("version", "PostgreSQL 13.2"), ("jit", "not set")])]
        );
    }
}
