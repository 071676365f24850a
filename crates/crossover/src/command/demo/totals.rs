//! The demo's experiment on precomputed totals: one year, from the facts of each day and from totals,
//! on both engines.

use std::path::Path;

use engine::EngineSpec;
use notation::digits;
use plan::{Compare, Data, Factor, Level, Plan, Seconds, TrialSettings};
use serde_json::Value;

use crate::command::bench::largest_blog;

const ROLLUP: &str = include_str!("../../../../../experiments/rollup.toml");

/// Labels of the four engines: from the facts, then from totals.
const SQLITE: [&str; 2] = ["SQLite", "SQLite with totals"];
const POSTGRES: [&str; 2] = ["PostgreSQL", "PostgreSQL with totals"];

/// Requests of nine that are measured: warming up from the facts takes most of the chapter's time.
pub(super) const REQUESTS: [&str; 4] = ["articles", "days", "products", "countries"];

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
    plan.compare = Some(Compare::All);
    plan.data = Data::File(std::path::absolute(data)?);
    plan.replicates = replicates;
    plan.trial = TrialSettings::Steady { time };
    only_a_year(&mut plan);
    plan.requests.retain(|request| REQUESTS.contains(&request.name.as_str()));
    let blog = largest_blog(data)?;
    plan.constants.insert("query".to_owned(), format!("&blog={blog}"));
    plan.conditions = format!("answer cache off, no limits; blog {blog}");
    std::fs::write(path, plan.to_toml()?)?;
    Ok(())
}

fn only_a_year(plan: &mut Plan) {
    let year = "2021-01-01&end=2021-12-31".to_owned();
    plan.factors.clear();
    let period =
        Factor { labels: vec!["a year".to_owned()], ..Factor::new(vec![Level::Text(year)]) };
    plan.factors.insert("period".to_owned(), period);
    plan.factors.insert("clients".to_owned(), Factor::new(vec![Level::Number(1.0)]));
}

/// `With totals it is 336 times as fast on SQLite (0.268 ms instead of 89.9 ms; 95%: 313 to 357), ...`.
pub(super) fn result(document: &Value) -> String {
    let said = [SQLITE, POSTGRES].into_iter().filter_map(|pair| {
        let gain = Gain::of(document, pair)?;
        let [facts, totals] = pair.map(|engine| time(document, engine).unwrap_or_default());
        let interval =
            gain.interval.map(|(low, high)| format!("; 95%: {} to {}", digits(low), digits(high)));
        Some(format!(
            "{} times as fast on {} ({} ms instead of {} ms{}){}",
            digits(gain.times),
            pair[0],
            digits(totals),
            digits(facts),
            interval.unwrap_or_default(),
            if gain.is_shown { "" } else { ", which is not shown" }
        ))
    });
    let said: Vec<String> = said.collect();
    match said.is_empty() {
        true => "No comparison could be made; see the report.".to_owned(),
        false => format!("With totals it is {}.", said.join(", ")),
    }
}

/// The same in a few words, beside what the choice of engine brings.
pub(super) fn meaning(document: &Value, engines: &Value) -> String {
    let gains: Vec<(&str, Gain)> = [SQLITE, POSTGRES]
        .into_iter()
        .filter_map(|pair| Some((pair[0], Gain::of(document, pair)?)))
        .filter(|(_, gain)| gain.is_shown)
        .collect();
    if gains.is_empty() {
        return "Precomputed totals: nothing is shown.".to_owned();
    }
    let said: Vec<String> = gains
        .iter()
        .map(|(engine, gain)| format!("{} times as fast on {engine}", digits(gain.times)))
        .collect();
    let of_engine = engines["summary"]["verdicts"].as_array().into_iter().flatten();
    let largest = of_engine.flat_map(|one| ["low", "high"].map(|bound| one[bound].as_f64()));
    let largest = largest.flatten().map(|ratio| ratio.ln().abs()).fold(0.0, f64::max);
    // By the ends of both intervals, so that noise alone makes no such claim.
    let is_larger = |gain: &Gain| gain.interval.is_some_and(|(low, _)| low.ln() > largest);
    let beside = match largest > 0.0 && gains.iter().all(|(_, gain)| is_larger(gain)) {
        true => ": more than the choice of engine brings at any period",
        false => "",
    };
    format!("With totals that are computed beforehand a year is {}{beside}.", said.join(", "))
}

/// The speed-up of answers from totals over those from facts.
struct Gain {
    times: f64,
    interval: Option<(f64, f64)>,
    is_shown: bool,
}

impl Gain {
    fn of(document: &Value, [facts, totals]: [&str; 2]) -> Option<Self> {
        let verdicts = document["summary"]["verdicts"].as_array()?;
        let pair = verdicts.iter().find(|one| one["a"] == totals && one["b"] == facts)?;
        let times = |key: &str| pair[key].as_f64().map(|ratio| 1.0 / ratio);
        Some(Self {
            times: times("ratio")?,
            interval: times("high").zip(times("low")),
            is_shown: pair["verdict"] == "faster",
        })
    }
}

/// The mean response time of an engine, ms.
fn time(document: &Value, engine: &str) -> Option<f64> {
    let treatments = document["treatments"].as_array()?;
    treatments.iter().find(|one| one["engine"] == engine)?["estimate"]["value"].as_f64()
}
