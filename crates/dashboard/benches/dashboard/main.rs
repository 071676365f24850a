//! `cargo bench -p dashboard --bench dashboard -- [OPTIONS]`: the nine requests of the article over
//! HTTP, our dashboard from totals and from daily facts, beside the naive dashboard and DuckDB's
//! statements, all in one run, in random order in each round. Exits 99 where a threshold is missed, and
//! where one is not judged because something is not there; with --part only where one is missed.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

mod costs;
mod http;
mod servers;
mod thresholds;

use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};

use servers::{Place, Served};
use testing::benchmark::is_tiny;
use thresholds::Thresholds;

const HELP: &str = "\
Options (defaults in brackets):
  --naive FOLDER  the naive dashboard with its venv [$NAIVE_DASHBOARD]
  --rounds N      rounds of all servers, in random order [3]
  --scale S       of the reference dataset [1]
  --quick         --rounds 2 --scale 0.02
  --part          a threshold that cannot be judged (no naive dashboard) is no failure
The program measured is $CROSSOVER, else target/release/crossover.";

const GROUPINGS: [&str; 9] = [
    "articles",
    "days",
    "products",
    "teams",
    "authors",
    "languages",
    "human_languages",
    "countries",
    "article_years",
];
const YEAR: &str = "start=2021-01-01&end=2021-12-31";
const ODD: &str = "start=2020-05-07&end=2022-03-18";

/// Questions that no page of whole years answers, with the limit of the statement (issue 6).
const FILTERS: [(&str, f64); 8] = [
    ("articles?not_country=US", 100.0),
    ("articles?country=DE&translations=grouped", 100.0),
    ("days?country=US&not_country=DE&published_from=2015-01-01", 100.0),
    ("authors?translations=grouped", 100.0),
    ("weeks?published_to=2020-12-31&not_blog=sendgrid", 100.0),
    ("months?count=articles", 100.0),
    ("teams?split=country&blog=twilio", 100.0),
    ("articles?split=country", 400.0),
];

struct Options {
    naive: Option<PathBuf>,
    rounds: usize,
    scale: f64,
    is_part: bool,
}

impl Options {
    fn read() -> Option<Self> {
        let naive = std::env::var_os("NAIVE_DASHBOARD").map(PathBuf::from);
        let mut options = Self { naive, rounds: 3, scale: 1.0, is_part: false };
        if is_tiny() {
            return Some(Self { naive: None, rounds: 1, scale: 0.001, is_part: true });
        }
        let mut arguments = std::env::args().skip(1).filter(|each| each != "--bench");
        while let Some(name) = arguments.next() {
            if name == "--quick" {
                (options.rounds, options.scale) = (2, 0.02);
                continue;
            }
            if name == "--part" {
                options.is_part = true;
                continue;
            }
            let value = arguments.next()?;
            match name.as_str() {
                "--naive" => options.naive = Some(PathBuf::from(value)),
                "--rounds" => options.rounds = value.parse().ok()?,
                "--scale" => options.scale = value.parse().ok()?,
                _ => return None,
            }
        }
        Some(options)
    }
}

/// One server under one load: passes over the nine requests by a number of clients.
struct Cell {
    server: usize,
    period: &'static str,
    clients: usize,
    passes: usize,
    means: Vec<f64>,
}

#[tokio::main]
async fn main() {
    let Some(mut options) = Options::read() else {
        println!("{HELP}");
        std::process::exit(2);
    };
    let absent = match &options.naive {
        None => Some("no naive dashboard (--naive or $NAIVE_DASHBOARD)".to_owned()),
        Some(naive) if naive.join("venv/bin/python").exists() => None,
        Some(naive) => Some(format!("{} has no venv/bin/python", naive.display())),
    };
    if let Some(why) = &absent {
        println!("{why}: ours alone is measured");
        options.naive = None;
    }
    let mut thresholds = Thresholds::default();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dashboard");
    std::fs::create_dir_all(&folder).unwrap();
    let place = Place::new(&folder, options.naive.clone(), options.scale).await;
    readiness(&place, &mut thresholds);
    costs::judge(&place, &mut thresholds);
    let mut all = Vec::new();
    for (name, postgres, design) in [
        ("SQLite, rollup", false, "rollup"),
        ("SQLite, daily", false, "daily"),
        ("PostgreSQL, rollup", true, "rollup"),
        ("PostgreSQL, daily", true, "daily"),
    ] {
        all.push(place.ours(name, postgres, design).0);
    }
    for (name, postgres) in [("naive on SQLite", false), ("naive on PostgreSQL", true)] {
        all.extend(place.naive(name, postgres).await);
    }
    let mut cells = cells(&all);
    let mut duckdb = Vec::new();
    for round in 0..options.rounds {
        let mut order: Vec<usize> = (0..cells.len()).collect();
        order.sort_by_cached_key(|place| RandomState::new().hash_one(place));
        for cell in order {
            let cell = &mut cells[cell];
            cell.means.push(measure(&all[cell.server], cell));
        }
        duckdb.extend(place.duckdb());
        println!("round {} of {}", round + 1, options.rounds);
    }
    let why = absent.unwrap_or("it could not be measured; see above".to_owned());
    report(&all, &cells, &mut thresholds, &why);
    beside_duckdb(&all, &cells, &duckdb, &mut thresholds, &why);
    filters(&all[0], &mut thresholds);
    let code = if is_tiny() { 0 } else { thresholds.exit_code(options.is_part) };
    // Servers end where they go out of scope, which an exit does not wait for.
    drop((all, place));
    std::process::exit(code);
}

/// The slow ones get fewer passes and no second load over the odd period.
fn cells(all: &[Served]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (server, served) in all.iter().enumerate() {
        let is_quick = served.name.ends_with("rollup");
        for (period, clients) in [(YEAR, 1), (YEAR, 4), (ODD, 1), (ODD, 4)] {
            if is_quick || (period, clients) != (ODD, 4) {
                let passes = if is_quick { 20 } else { 1 };
                cells.push(Cell { server, period, clients, passes, means: Vec::new() });
            }
        }
    }
    cells
}

/// Mean time of a request, each client asking the nine in an order of its own.
fn measure(served: &Served, cell: &Cell) -> f64 {
    let one = |client: usize| {
        let mut connection = served.client();
        let mut sum = 0.0;
        // The first pass of a quick server only warms it.
        let warm_up = usize::from(cell.passes > 1);
        for pass in 0..warm_up + cell.passes {
            let mut order = GROUPINGS;
            order.sort_by_cached_key(|name| RandomState::new().hash_one((name, client, pass)));
            for grouping in order {
                let path = format!("/api/query/{grouping}?{}&blog=twilio", cell.period);
                let answer = connection.get(&path);
                sum += if pass >= warm_up { answer.milliseconds } else { 0.0 };
            }
        }
        sum / (cell.passes * GROUPINGS.len()) as f64
    };
    std::thread::scope(|scope| {
        let one = &one;
        let clients: Vec<_> =
            (0..cell.clients).map(|client| scope.spawn(move || one(client))).collect();
        let sums = clients.into_iter().map(|client| client.join().unwrap());
        sums.sum::<f64>() / cell.clients as f64
    })
}

/// The means of a server under a load.
fn means<'c>(
    all: &[Served],
    cells: &'c [Cell],
    server: &str,
    (period, clients): (&str, usize),
) -> Option<&'c [f64]> {
    let is_it = |cell: &&Cell| {
        all[cell.server].name == server && (cell.period, cell.clients) == (period, clients)
    };
    cells.iter().find(is_it).map(|cell| cell.means.as_slice())
}

/// Prints means, and how many times quicker than others ours is.
fn report(all: &[Served], cells: &[Cell], thresholds: &mut Thresholds, why: &str) {
    let name = |period: &str| if period == YEAR { "year" } else { "2020-05-07 to 2022-03-18" };
    for cell in cells {
        let mean = cell.means.iter().sum::<f64>() / cell.means.len() as f64;
        let server = all[cell.server].name;
        println!("{server:20} {:24} {} clients {mean:10.2} ms", name(cell.period), cell.clients);
    }
    for (engine, year, odd) in [("SQLite", 300.0, 100.0), ("PostgreSQL", 60.0, 30.0)] {
        let ours = format!("{engine}, rollup");
        for (period, clients, limit) in [(YEAR, 1, year), (YEAR, 4, year), (ODD, 1, odd)] {
            let find = |server: &str| means(all, cells, server, (period, clients));
            let Some(quick) = find(&ours) else { continue };
            let said = format!("{ours}, {}, {clients} clients", name(period));
            if let Some(daily) = find(&format!("{engine}, daily")) {
                ratio(&format!("{said}: our daily by it"), daily, quick, None);
            }
            let said = format!("{said}: naive by it");
            match find(&format!("naive on {engine}")) {
                Some(naive) => ratio(&said, naive, quick, Some((limit, &mut *thresholds))),
                None => thresholds.leave_out(&said, why),
            }
        }
    }
}

fn beside_duckdb(
    all: &[Served],
    cells: &[Cell],
    duckdb: &[f64],
    thresholds: &mut Thresholds,
    why: &str,
) {
    let said = "DuckDB's statements by SQLite, rollup, over HTTP";
    let quick = means(all, cells, "SQLite, rollup", (YEAR, 1));
    match quick.filter(|ours| ours.len() == duckdb.len()) {
        Some(quick) => {
            let mean = duckdb.iter().sum::<f64>() / duckdb.len() as f64;
            println!("DuckDB, nine statements, year: {mean:.2} ms");
            ratio(said, duckdb, quick, Some((5.0, thresholds)));
        }
        None => thresholds.leave_out(said, why),
    }
}

/// Prints how many times `slow` is `quick`, and whether that is at least the limit.
fn ratio(said: &str, slow: &[f64], quick: &[f64], limit: Option<(f64, &mut Thresholds)>) {
    let Some(comparison) = stats::ratio_comparison(slow, quick, 0.95) else {
        if let Some((_, thresholds)) = limit {
            thresholds.leave_out(said, "too few rounds");
        }
        return;
    };
    let ratio = comparison.ratio;
    let bound = |bound: Option<f64>| bound.map_or("?".to_owned(), |bound| format!("{bound:.1}"));
    let verdict = limit.map_or(String::new(), |(limit, thresholds)| {
        let holds = ratio.low.unwrap_or(ratio.value) >= limit;
        format!("; at least {limit}: {}", thresholds.judge(said, holds))
    });
    println!(
        "{said}: {:.1} times ({} to {}{verdict})",
        ratio.value,
        bound(ratio.low),
        bound(ratio.high)
    );
}

/// Filters, translations and splits over the year; the best of five, whole and by the server's word.
fn filters(served: &Served, thresholds: &mut Thresholds) {
    let mut client = served.client();
    for (question, limit) in FILTERS {
        let path = format!("/api/query/{question}&{YEAR}");
        let answers: Vec<http::QueryAnswer> = (0..5).map(|_| client.get(&path)).collect();
        let least = |of: fn(&http::QueryAnswer) -> f64| {
            answers.iter().map(of).fold(f64::INFINITY, f64::min)
        };
        let (query, whole) =
            (least(|it| it.query_ms.unwrap_or(it.milliseconds)), least(|it| it.milliseconds));
        let bytes = answers[0].bytes;
        let verdict = thresholds.judge(question, query <= limit && whole <= 1_000.0);
        println!(
            "{question}: {query:.1} ms, whole {whole:.1} ms, {bytes} bytes (at most {limit}: {verdict})"
        );
    }
}

/// From the start of the process to the first accepted connection, and memory of a server that
/// four clients ask for years only.
fn readiness(place: &Place, thresholds: &mut Thresholds) {
    let mut times = Vec::new();
    for _ in 0..10 {
        times.push(place.ours("SQLite, rollup", false, "rollup").1);
    }
    times.sort_by(f64::total_cmp);
    let verdict = thresholds.judge("ready on an existing database", times[5] <= 100.0);
    println!(
        "ready on an existing database: {:.0} ms (median of 10; at most 100: {verdict})",
        times[5]
    );
    let (served, _) = place.ours("SQLite, rollup", false, "rollup");
    let cell = Cell { server: 0, period: YEAR, clients: 4, passes: 20, means: Vec::new() };
    measure(&served, &cell);
    let megabytes = served.peak_megabytes();
    let verdict = thresholds.judge("memory of the server", megabytes < 150.0);
    println!("four clients asking for years: {megabytes:.0} MB (under 150: {verdict})");
}
