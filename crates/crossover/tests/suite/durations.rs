//! Announced durations beside the real ends of runs of ten kinds, by the program itself.

use std::io::{BufRead as _, BufReader};
use std::time::{Duration, Instant};

use crate::place::Place;

/// Command lines of ten kinds of runs.
const KINDS: [&str; 10] = [
    "bench sql quick.sql --on sqlite:shop.db --on postgres:18 --replicates 5",
    "bench sql slow.sql --on sqlite:shop.db --on postgres:18 --replicates 3",
    "bench sql queries --on sqlite:shop.db --replicates 6",
    "bench dashboard --on sqlite --on postgres:18 --scale 0.02 --time 1s --no-bisection",
    "bench dashboard --on sqlite --scale 0.05 --time 2s --replicates 3 --no-bisection",
    "bench oltp --on sqlite --on postgres:18 --table-size 20000 --clients 1,4 --time 2s --replicates 3",
    "bench oltp --on postgres:18 --table-size 50000 --clients 1,2,8 --time 1s --replicates 5",
    "bench oltp --on sqlite --workload read_write --table-size 20000 --clients 1 --time 2s --replicates 5",
    "bench blob --on sqlite --on files --sizes 10k,100k --count 300 --replicates 3",
    "bench blob --on sqlite --on postgres:18 --sizes 4k --count 500 --replicates 5",
];

/// A range in seconds, said so long after the start.
struct Announcement {
    said: Duration,
    shortest: f64,
    longest: f64,
}

/// `40 to 63 seconds`, `at most 2.5 minutes` somewhere in a line.
fn announced(line: &str, said: Duration) -> Option<Announcement> {
    let unit = |word: &str| match word.trim_end_matches(['.', ',', ';']) {
        "seconds" => Some(1.0),
        "minutes" => Some(60.0),
        "hours" => Some(3600.0),
        _ => None,
    };
    let words: Vec<&str> = line.split_whitespace().collect();
    words.windows(4).find_map(|four| {
        let [a, to, b, name] = four else { return None };
        let unit = unit(name)?;
        let longest = b.parse::<f64>().ok()? * unit;
        match (*to, *a) {
            ("to", low) => {
                Some(Announcement { said, shortest: low.parse::<f64>().ok()? * unit, longest })
            }
            ("most", "at") => Some(Announcement { said, shortest: 0.0, longest }),
            _ => None,
        }
    })
}

/// The first announcement of a run and those at a quarter, half and three quarters of it, each with
/// whether it held the end.
fn held(place: &Place, words: &str) -> Vec<(bool, f64)> {
    let words: Vec<&str> = words.split_whitespace().chain(["--no-wait-for-quiet"]).collect();
    let begun = Instant::now();
    let mut child = place.command(&words).spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let all: Vec<Announcement> =
        lines.filter_map(|line| announced(&line, begun.elapsed())).collect();
    assert!(child.wait().unwrap().success(), "{words:?}");
    let end = begun.elapsed().as_secs_f64();
    let judged = |one: &Announcement| {
        let left = end - one.said.as_secs_f64();
        ((one.shortest..=one.longest).contains(&left), one.longest / one.shortest)
    };
    let before = all.first().into_iter();
    let on_the_way = [0.25, 0.5, 0.75]
        .into_iter()
        .filter_map(|share| all.iter().skip(1).find(|one| one.said.as_secs_f64() >= end * share));
    before.chain(on_the_way).map(judged).collect()
}

#[test]
#[ignore = "make prove"]
fn proof_that_announced_durations_hold_the_end() {
    let place = Place::new();
    let data = rusqlite::Connection::open(place.path("shop.db")).unwrap();
    data.execute_batch(
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, person INTEGER NOT NULL, amount INTEGER NOT NULL);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)
           INSERT INTO orders SELECT i, i * 7919 % 5000, i * 31 % 977 FROM n;",
    )
    .unwrap();
    drop(data);
    let slow = "SELECT a.amount, count(*), sum(b.amount) FROM orders a JOIN orders b ON b.id = a.person \
                GROUP BY a.amount ORDER BY a.amount;";
    std::fs::create_dir(place.path("queries")).unwrap();
    for (name, text) in [
        ("quick.sql", "SELECT * FROM orders WHERE id = 4711;"),
        ("slow.sql", slow),
        ("queries/slow.sql", slow),
        ("queries/sum.sql", "SELECT sum(amount) FROM orders WHERE person = 17;"),
    ] {
        place.write(name, text);
    }
    // The first run may have a server to fetch.
    let fetched =
        place.run(&["bench", "sql", "quick.sql", "--on", "sqlite:shop.db", "--on", "postgres:18"]);
    assert!(fetched.status.code().is_some_and(|code| code != 1), "{fetched:?}");
    let mut totals = [(0, 0); 2];
    for round in 1..=3 {
        for words in KINDS {
            for (index, (is_held, factor)) in held(&place, words).into_iter().enumerate() {
                let total = &mut totals[usize::from(index > 0)];
                *total = (total.0 + usize::from(is_held), total.1 + 1);
                println!("round {round}: {words}: {index}: held {is_held}, factor {factor:.2}");
            }
        }
    }
    let [before, later] = totals;
    println!("held before the start: {before:?}; on the way: {later:?}");
    assert!(before.0 * 10 >= before.1 * 8 && later.0 * 10 >= later.1 * 8);
}
