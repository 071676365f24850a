//! Clients of SQLite as processes, by the program itself: the same work and the same answers as by
//! threads, a client that is killed, a user who stops.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::place::{Place, error, text};

const DATA: &str = "
    CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, price REAL, stock INTEGER NOT NULL);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
      INSERT INTO items SELECT i, 'item ' || i, i / 7.0, 10 FROM n;";

const READING: &str = r#"
[[statement]]
name = "one"
text = "SELECT * FROM items WHERE id = :id"
parameters = { id = { range = [1, 2000] } }

[[statement]]
name = "all"
text = "SELECT count(*), sum(stock) FROM items WHERE price < :most"
parameters = { most = { list = [10, 100, 200] } }
"#;

const TRANSFER: &str = r#"
[[statement]]
name = "transfer"
text = """
UPDATE items SET stock = stock - 1 WHERE id = :a;
UPDATE items SET stock = stock + 1 WHERE id = :b"""
transaction = true
parameters = { a = { range = [1, 10] }, b = { range = [11, 20] } }

[invariant]
text = "SELECT count(*), sum(stock) FROM items"
"#;

fn place(trial: &str, statements: &str) -> Place {
    let place = Place::new();
    let data = rusqlite::Connection::open(place.path("shop.db")).unwrap();
    data.execute_batch(DATA).unwrap();
    let plan = format!(
        "title = \"own\"\nworkload = \"sql\"\nengines = [\"sqlite\"]\ndata = \"shop.db\"\n\
         replicates = 1\nseed = 7\ntrial = {{ {trial} }}\n\
         factors = {{ clients = [1, 3], clients_as = [\"processes\", \"threads\"] }}\n{statements}"
    );
    place.write("plan.toml", &plan);
    place
}

/// By clients and their form: how often each statement was executed, where the trial counts.
fn executions(place: &Place) -> BTreeMap<(u64, String), Vec<u64>> {
    let of = |trial: &Value| {
        assert_eq!((&trial["status"], &trial["failures"]), (&"ok".into(), &0.into()), "{trial}");
        let clients = trial["levels"]["clients"].as_f64().unwrap();
        let form = trial["levels"]["clients_as"].as_str().unwrap().to_owned();
        let requests = trial["by_request"].as_array().unwrap().iter();
        ((clients as u64, form), requests.map(|one| one["requests"].as_u64().unwrap()).collect())
    };
    place.trials().iter().map(of).collect()
}

#[test]
fn processes_do_the_work_that_threads_do() {
    for statements in [READING, TRANSFER] {
        let place = place(r#"mode = "passes", passes = 5"#, statements);
        let output = place.run(&["bench", "plan.toml"]);
        assert_eq!(output.status.code(), Some(0), "{}", error(&output));
        let each = if statements == READING { vec![5, 5] } else { vec![5] };
        let thrice: Vec<u64> = each.iter().map(|count| count * 3).collect();
        let expected = [
            ((1, "processes".to_owned()), each),
            ((3, "processes".to_owned()), thrice.clone()),
            ((3, "threads".to_owned()), thrice),
        ];
        assert_eq!(executions(&place), expected.into());
        let said = text(&output.stdout);
        assert!(!said.contains("clients were threads of one process"), "{said}");
    }
}

#[test]
fn the_flag_says_the_form_and_both_are_measured_without_it() {
    let place = Place::new();
    let small = ["--table-size=1000", "--time=1s", "--warm-up=1s", "--on=sqlite", "--print-plan"];
    let plan = |more: &[&str]| {
        let words = [&["bench", "oltp", "--workload=point_select"], &small[..], more].concat();
        place.expect(0, &words).split_whitespace().collect::<String>()
    };
    let both = "clients_as=[\"processes\",\"threads\"]";
    assert!(plan(&["--clients=1,4"]).contains(both));
    assert!(!plan(&["--clients=1"]).contains("clients_as"));
    let threads = plan(&["--clients=1,4", "--clients-as=threads"]);
    assert!(threads.contains("clients_as=[\"threads\"]"), "{threads}");
    let words = ["bench", "oltp", "--on=sqlite", "--clients=2", "--clients-as=fibers"];
    let said = place.refused(2, &words);
    assert!(said.contains("clients are processes or threads, not `fibers`"), "{said}");
}

#[test]
fn transactions_of_processes_keep_every_row() {
    let place = Place::new();
    let words = [
        "bench",
        "oltp",
        "--on=sqlite",
        "--workload=point_select,read_write",
        "--table-size=1000",
        "--time=1s",
        "--warm-up=1s",
        "--replicates=1",
        "--checkpoints=any",
        "--clients=2",
        "--clients-as=processes",
    ];
    let output = place.run(&words);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    let trials = place.trials();
    assert_eq!(trials.len(), 2);
    for trial in &trials {
        let seconds = trial["answers_by_second"].as_array().unwrap();
        assert!(trial["status"] == "ok" && !seconds.is_empty(), "{trial}");
        assert!(trial["requests"].as_u64().unwrap() > 2, "{trial}");
    }
}

/// Client processes of `bench`, which is their parent.
fn clients_of(bench: &Child) -> Vec<Pid> {
    let all = fs::read_dir("/proc").unwrap().flatten();
    let numbers = all.filter_map(|one| one.file_name().to_str()?.parse::<i32>().ok());
    let is_client = |number: &i32| {
        let of = |name: &str| fs::read_to_string(format!("/proc/{number}/{name}")).ok();
        let is_child = of("status").is_some_and(|status| {
            status.lines().any(|line| line == format!("PPid:\t{}", bench.id()))
        });
        is_child && of("cmdline").is_some_and(|words| words.ends_with("\0client\0"))
    };
    numbers.filter(is_client).filter_map(Pid::from_raw).collect()
}

fn wait_for_clients(bench: &mut Child) -> Vec<Pid> {
    loop {
        let clients = clients_of(bench);
        if !clients.is_empty() {
            return clients;
        }
        assert!(bench.try_wait().unwrap().is_none(), "it ended without a client process");
        std::thread::yield_now();
    }
}

/// A statement that lasts, so that a client can be met at its work.
const LASTING: &str = r#"
[[statement]]
name = "lasting"
text = """
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000)
SELECT count(*) FROM n"""
"#;

/// Processor time in ticks.
fn ticks(client: Pid) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", client.as_raw_nonzero()));
    let stat = stat.unwrap_or_default();
    let after_name = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    after_name.split(' ').nth(11).and_then(|ticks| ticks.parse().ok()).unwrap_or(0)
}

/// The first client is prepared before the first trial. Afterwards it works in trials alone.
#[test]
fn a_killed_client_voids_its_trial_alone() {
    let place = place(r#"mode = "steady", time = "3s""#, LASTING);
    let plan = fs::read_to_string(place.path("plan.toml")).unwrap();
    let forms = "clients = [1, 3], clients_as = [\"processes\", \"threads\"]";
    let processes = "clients = [2, 3, 4], clients_as = [\"processes\"]";
    place.write("plan.toml", &plan.replace(forms, processes));
    let mut bench = place.command(&["bench", "plan.toml"]).spawn().unwrap();
    place.wait_for_trials(&mut bench, 1);
    let first = clients_of(&bench).into_iter().min_by_key(|client| client.as_raw_nonzero());
    let first = first.unwrap();
    let before = ticks(first);
    while ticks(first) <= before + 5 {
        assert!(bench.try_wait().unwrap().is_none(), "the client was not met at its work");
        std::thread::yield_now();
    }
    kill_process(first, Signal::KILL).unwrap();
    let output = bench.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    let trials = place.trials();
    let void: Vec<&str> =
        trials.iter().filter_map(|trial| trial["status"]["void"].as_str()).collect();
    assert!(matches!(&void[..], [why] if why.contains("was killed by signal 9")), "{void:?}");
    assert_eq!(trials.len(), 3);
}

#[test]
fn a_run_that_is_stopped_leaves_no_client() {
    for signal in [Signal::INT, Signal::KILL] {
        let place = place(r#"mode = "steady", time = "60s""#, LASTING);
        let mut bench = place.command(&["bench", "plan.toml"]).spawn().unwrap();
        let clients = wait_for_clients(&mut bench);
        kill_process(Pid::from_child(&bench), signal).unwrap();
        let output = bench.wait_with_output().unwrap();
        match signal {
            Signal::KILL => assert_eq!(output.status.signal(), Some(9)),
            _ => assert_eq!(output.status.code(), Some(1), "{}", error(&output)),
        }
        let is_running = |client: &Pid| {
            let path = format!("/proc/{}/stat", client.as_raw_nonzero());
            fs::read_to_string(path).is_ok_and(|stat| !stat.contains(") Z "))
        };
        while clients.iter().any(is_running) {
            std::thread::yield_now();
        }
    }
}
