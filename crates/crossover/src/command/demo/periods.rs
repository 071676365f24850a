//! The table of the demo's first experiment.

use notation::digits;
use serde_json::Value;

/// A line for each period: both engines' times, and their ratio.
pub(super) fn table(document: &Value) -> String {
    let treatments = document["treatments"].as_array().map(Vec::as_slice).unwrap_or_default();
    let engines: Vec<&str> = document["engines"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|engine| engine["name"].as_str())
        .collect();
    let mut lines = vec![format!("   {:>8}{}   ratio (95%)", "", columns(&engines))];
    let periods = document["factors"].as_array().into_iter().flatten();
    let periods = periods.filter(|factor| factor["name"] == "days");
    for level in periods.flat_map(|factor| factor["levels"].as_array().into_iter().flatten()) {
        let at = |engine: &str| {
            treatments
                .iter()
                .find(|one| one["engine"] == engine && one["levels"]["days"] == level["value"])
        };
        let value = |engine: &&str| {
            let value = at(engine).and_then(|one| one["estimate"]["value"].as_f64());
            value.map(|value| format!("{} ms", digits(value))).unwrap_or_default()
        };
        let values: Vec<String> = engines.iter().map(value).collect();
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        let ratio = engines.last().and_then(|engine| at(engine)).map(|one| &one["ratio"]);
        let ratio = ratio.map(ratio_in_words).unwrap_or_default();
        let label = level["label"].as_str().unwrap_or_default();
        lines.push(format!("   {label:>8}{}   {ratio}", columns(&values)));
    }
    lines.join("\n") + "\n"
}

fn columns(cells: &[&str]) -> String {
    cells.iter().map(|cell| format!("{cell:>14}")).collect()
}

fn ratio_in_words(ratio: &Value) -> String {
    let [value, low, high] = ["value", "low", "high"].map(|key| ratio["estimate"][key].as_f64());
    let (Some(low), Some(high)) = (low, high) else {
        return value.map(digits).unwrap_or_default();
    };
    let verdict = match ratio["verdict"].as_str().unwrap_or_default() {
        // The verdicts are corrected for the number of comparisons, the interval is not.
        "undecided" if low > 1.0 => "points to slower, not shown",
        "undecided" if high < 1.0 => "points to faster, not shown",
        verdict => verdict,
    };
    let value = value.map(digits).unwrap_or_default();
    format!("{value} ({} to {}) {verdict}", digits(low), digits(high))
}
