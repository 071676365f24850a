//! The demo's experiment on precomputed totals: one year, from the facts of each day and from totals,
//! on both engines.

use std::path::Path;

use engine::EngineSpec;
use plan::{Compare, Data, Factor, Level, Plan, Seconds, Trial};
use serde_json::Value;

use crate::command::bench::largest_blog;

const ROLLUP: &str = include_str!("../../../../../experiments/rollup.toml");

/// Labels of the four engines: from the facts, then from totals.
const SQLITE: [&str; 2] = ["SQLite", "SQLite with totals"];
const POSTGRES: [&str; 2] = ["PostgreSQL", "PostgreSQL with totals"];

/// Writes the plan, which a user can run again.
pub(super) fn write(
    path: &Path,
    engine: &EngineSpec,
    data: &Path,
    replicates: usize,
    time: Seconds,
) -> anyhow::Result<()> {
    let mut plan = plan::read(ROLLUP, "experiments/rollup.toml")?;
    let sqlite: EngineSpec = "sqlite".parse()?;
    plan.engines = Vec::new();
    for (engine, labels) in [(&sqlite, SQLITE), (engine, POSTGRES)] {
        for (design, label) in ["daily", "rollup"].into_iter().zip(labels) {
            let mut one = engine.clone();
            for (key, value) in [("design", design), ("label", label)] {
                one.settings.set(key, value).map_err(anyhow::Error::msg)?;
            }
            plan.engines.push(one);
        }
    }
    plan.compare = Compare::All;
    plan.data = Data::File(std::path::absolute(data)?);
    plan.replicates = replicates;
    plan.trial = Trial::Steady { time };
    only_a_year(&mut plan);
    let blog = largest_blog(data)?;
    plan.constants.insert("query".to_owned(), format!("&blog={blog}"));
    plan.conditions = format!("answer cache off, no limits; blog {blog}");
    std::fs::write(path, plan.to_toml()?)?;
    Ok(())
}

fn only_a_year(plan: &mut Plan) {
    let year = "2021-01-01&end=2021-12-31".to_owned();
    plan.factors.clear();
    plan.factors.insert("period".to_owned(), Factor::new(vec![Level::Text(year)]));
    plan.factors.insert("clients".to_owned(), Factor::new(vec![Level::Number(1.0)]));
}

/// `Totals answer the same year in 0.02 of the time on SQLite (940 ms becomes 12 ms) and ...`.
pub(super) fn meaning(document: &Value) -> String {
    let said: Vec<String> =
        [SQLITE, POSTGRES].into_iter().filter_map(|pair| of_engine(document, pair)).collect();
    match said.is_empty() {
        true => "Totals: no verdict; see the report.".to_owned(),
        false => format!("Totals answer the same year {}.", said.join(", ")),
    }
}

fn of_engine(document: &Value, [facts, totals]: [&str; 2]) -> Option<String> {
    let time = |engine: &str| {
        let treatments = document["treatments"].as_array()?;
        let one = treatments.iter().find(|one| one["engine"] == engine)?;
        one["estimate"]["value"].as_f64()
    };
    let verdicts = document["summary"]["verdicts"].as_array()?;
    let pair = verdicts.iter().find(|one| one["a"] == totals && one["b"] == facts)?;
    let digits = |value: f64| report::analysis::digits(value);
    let shown = match pair["verdict"].as_str()? {
        "faster" => "",
        "slower" => ", which is slower",
        "equal" => ", which is equal",
        _ => ", undecided",
    };
    let interval = match (pair["low"].as_f64(), pair["high"].as_f64()) {
        (Some(low), Some(high)) => format!("; 95%: {} to {}", digits(low), digits(high)),
        _ => String::new(),
    };
    Some(format!(
        "in {} of the time on {facts} ({} ms instead of {} ms{interval}){shown}",
        digits(pair["ratio"].as_f64()?),
        digits(time(totals)?),
        digits(time(facts)?)
    ))
}
