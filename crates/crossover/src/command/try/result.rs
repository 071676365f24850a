//! The results of a try by statement and engine: as a table, as CSV, as one sentence.

use comfy_table::{CellAlignment, Table, presets};
use report::Document;
use report::analysis::Shown;
use serde::Serialize;
use stats::Estimate;

use super::show::several;

/// One statement on one engine.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub statement: String,
    pub engine: String,
    /// Mean response time with its interval.
    pub response_time_ms_mean: Option<Estimate>,
    /// Response time as a multiple of SQLite's; none for SQLite itself.
    pub ratio: Option<Estimate>,
    pub verdict: Option<Shown>,
}

/// All results of a report.
pub fn rows(document: &Document) -> Vec<Row> {
    let mut rows = Vec::new();
    for treatment in &document.treatments {
        for statement in &treatment.requests_by_name {
            rows.push(Row {
                statement: statement.name.clone(),
                engine: treatment.engine.clone(),
                response_time_ms_mean: statement.estimate,
                ratio: statement.ratio.as_ref().map(|ratio| ratio.estimate),
                verdict: statement.ratio.as_ref().map(|ratio| ratio.verdict),
            });
        }
    }
    rows
}

/// A line per statement, a pair of columns per engine.
pub fn grid(rows: &[Row]) -> Table {
    let mut engines: Vec<&str> = Vec::new();
    let mut statements: Vec<&str> = Vec::new();
    for row in rows {
        for (list, name) in [(&mut engines, &row.engine), (&mut statements, &row.statement)] {
            if !list.contains(&name.as_str()) {
                list.push(name);
            }
        }
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let mut header = vec!["statement".to_owned()];
    for (place, engine) in engines.iter().enumerate() {
        header.push((*engine).to_owned());
        if place > 0 {
            header.extend(["ratio".to_owned(), "interval".to_owned(), "faster".to_owned()]);
        }
    }
    let last = header.len() - 1;
    table.set_header(header);
    for statement in statements {
        let mut cells = vec![statement.to_owned()];
        for (place, engine) in engines.iter().enumerate() {
            let row = rows.iter().find(|row| row.statement == statement && row.engine == *engine);
            cells.push(
                row.and_then(|row| row.response_time_ms_mean)
                    .map_or("-".to_owned(), |estimate| number(estimate.value)),
            );
            if place > 0 {
                let ratio = row.and_then(|row| row.ratio);
                cells.push(ratio.map_or("-".to_owned(), |ratio| number(ratio.value)));
                cells.push(ratio.map_or(String::new(), |ratio| interval(&ratio)));
                cells.push(faster(row, engine));
            }
        }
        table.add_row(cells);
    }
    for place in 1..last {
        if let Some(column) = table.column_mut(place) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn faster(row: Option<&Row>, engine: &str) -> String {
    match row.and_then(|row| row.verdict) {
        Some(Shown::Faster) => engine.to_owned(),
        Some(Shown::Slower) => "sqlite".to_owned(),
        Some(shown) => shown.name().to_owned(),
        None => String::new(),
    }
}

fn interval(estimate: &Estimate) -> String {
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => format!("{} to {}", number(low), number(high)),
        _ => String::new(),
    }
}

fn number(value: f64) -> String {
    match value.abs() {
        large if large >= 100.0 => format!("{value:.0}"),
        middle if middle >= 10.0 => format!("{value:.1}"),
        small if small >= 1.0 => format!("{value:.2}"),
        tiny if tiny >= 0.1 => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}

/// One sentence for each engine that was compared with SQLite.
pub fn verdict(rows: &[Row]) -> String {
    let mut engines: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|row| row.verdict.is_some()) {
        if !engines.contains(&row.engine.as_str()) {
            engines.push(&row.engine);
        }
    }
    let sentence = |engine: &&str| {
        let of: Vec<&Row> = rows.iter().filter(|row| row.engine == *engine).collect();
        let ratios = |shown: Shown| -> Vec<f64> {
            let shown = of.iter().filter(|row| row.verdict == Some(shown));
            shown.filter_map(|row| row.ratio).map(|ratio| ratio.value).collect()
        };
        let (faster, slower) = (ratios(Shown::Faster), ratios(Shown::Slower));
        let equal = ratios(Shown::Equal).len();
        let open = of.len() - faster.len() - slower.len() - equal;
        let most_faster = faster.iter().map(|ratio| 1.0 / ratio).fold(1.0, f64::max);
        let most_slower = slower.iter().copied().fold(1.0, f64::max);
        let mut parts = Vec::new();
        for (name, won, most) in [("SQLite", &slower, most_slower), (engine, &faster, most_faster)]
        {
            if !won.is_empty() {
                let is_shown = if parts.is_empty() { " is shown faster" } else { "" };
                let times = number(most);
                parts.push(format!("{name}{is_shown} in {} (up to {times} times)", won.len()));
            }
        }
        if equal > 0 {
            parts.push(format!("they are equal in {equal}"));
        }
        match open {
            0 => {}
            1 => parts.push("1 has no verdict".to_owned()),
            open => parts.push(format!("{open} have no verdict")),
        }
        let against = match engines.len() {
            1 => "Of".to_owned(),
            _ => format!("Against {engine}, of"),
        };
        let all = several(of.len() as u64, "statement");
        format!("{against} {all} {}.", parts.join(", "))
    };
    match engines.is_empty() {
        true => "Nothing was measured, so there is no verdict.".to_owned(),
        false => engines.iter().map(sentence).collect::<Vec<_>>().join("\n"),
    }
}

/// A line per statement and engine.
pub fn csv(rows: &[Row]) -> String {
    let mut text = String::from(
        "statement,engine,response_time_ms_mean,response_time_ms_low,response_time_ms_high,\
         ratio,ratio_low,ratio_high,verdict\n",
    );
    let quoted = |cell: &str| format!("\"{}\"", cell.replace('"', "\"\""));
    for row in rows {
        let parts = |estimate: Option<Estimate>| -> [String; 3] {
            let text =
                |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
            [
                text(estimate.map(|estimate| estimate.value)),
                text(estimate.and_then(|estimate| estimate.low)),
                text(estimate.and_then(|estimate| estimate.high)),
            ]
        };
        let mut cells = vec![quoted(&row.statement), quoted(&row.engine)];
        cells.extend(parts(row.response_time_ms_mean));
        cells.extend(parts(row.ratio));
        cells.push(row.verdict.map(Shown::name).unwrap_or_default().to_owned());
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(engine: &str, ratio: Option<(f64, Shown)>) -> Row {
        let estimate = |value| Estimate {
            value,
            low: Some(value / 2.0),
            high: None,
            confidence_level: 0.95,
            method: stats::Method::StudentT,
            replicates: 5,
        };
        Row {
            statement: "a, \"b\"".to_owned(),
            engine: engine.to_owned(),
            response_time_ms_mean: Some(estimate(2.0)),
            ratio: ratio.map(|(ratio, _)| estimate(ratio)),
            verdict: ratio.map(|(_, shown)| shown),
        }
    }

    #[test]
    fn the_verdict_counts_wins_and_says_how_far() {
        let faster = || row("postgres:18", Some((0.25, Shown::Faster)));
        let slower = || row("postgres:18", Some((3.0, Shown::Slower)));
        let open = || row("postgres:18", Some((1.1, Shown::Undecided)));
        let sqlite = row("sqlite", None);
        for (rows, expected) in [
            (vec![], "Nothing was measured, so there is no verdict."),
            (vec![sqlite.clone(), open()], "Of 1 statement 1 has no verdict."),
            (vec![faster()], "Of 1 statement postgres:18 is shown faster in 1 (up to 4.00 times)."),
            (
                vec![sqlite, faster(), slower(), slower(), open(), open()],
                "Of 5 statements SQLite is shown faster in 2 (up to 3.00 times), postgres:18 in 1 \
                 (up to 4.00 times), 2 have no verdict.",
            ),
        ] {
            assert_eq!(verdict(&rows), expected);
        }
        let two = [faster(), row("postgres:14", Some((3.0, Shown::Slower)))];
        assert!(verdict(&two).contains("\nAgainst postgres:14, of 1 statement SQLite is shown"));
    }

    #[test]
    fn csv_quotes_names_and_leaves_open_what_is_not_known() {
        let text = csv(&[row("sqlite", None), row("postgres:18", Some((0.5, Shown::Faster)))]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "\"a, \"\"b\"\"\",\"sqlite\",2,1,,,,,");
        assert_eq!(lines[2], "\"a, \"\"b\"\"\",\"postgres:18\",2,1,,0.5,0.25,,faster");
    }
}
