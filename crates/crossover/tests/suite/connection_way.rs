//! How clients reach a server of Crossover's, by the program itself: by socket and over TCP, with a pool
//! of connections in between, and what is left of it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

use crate::place::{Place, error, text};

const DATA: &str = "
    CREATE TABLE items (id INTEGER PRIMARY KEY, stock INTEGER NOT NULL);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 501)
      INSERT INTO items SELECT i, 10 FROM n;";

/// Every client executes it; it fails where the server sees anything else.
fn plan(engine: &str, factors: &str, statement: &str) -> Place {
    let place = Place::new();
    let data = rusqlite::Connection::open(place.path("shop.db")).unwrap();
    data.execute_batch(DATA).unwrap();
    let plan = format!(
        "title = \"way\"\nworkload = \"sql\"\nengines = [\"{engine}\"]\ndata = \"shop.db\"\n\
         replicates = 1\nseed = 7\ntrial = {{ mode = \"passes\", passes = 20 }}\n\
         factors = {{ {factors} }}\n[[statement]]\nname = \"seen\"\ntext = \"\"\"{statement}\"\"\"\n\
         [[statement]]\nname = \"one\"\ntext = \"SELECT stock FROM items WHERE id = :id\"\n\
         parameters = {{ id = {{ range = [1, 500] }} }}\n"
    );
    place.write("plan.toml", &plan);
    place
}

fn expect_no_failures(place: &Place, trials: usize) -> String {
    let output = place.run(&["bench", "plan.toml"]);
    // Two engines have no verdict after one block.
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", error(&output));
    let found = place.trials();
    assert_eq!(found.len(), trials);
    for trial in &found {
        assert_eq!((&trial["status"], &trial["failures"]), (&"ok".into(), &0.into()), "{trial}");
    }
    text(&output.stdout)
}

/// A process that has not ended.
struct ProcessStat {
    name: String,
    parent: u32,
    /// Hundredths of a second on processors.
    ticks: u64,
}

/// Processes of PgBouncer that `program` has started.
fn pools_of(program: u32) -> Vec<u32> {
    let numbers = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_pool = |stat: ProcessStat| stat.name == "pgbouncer" && stat.parent == program;
    numbers.filter(|pid| stat(*pid).is_some_and(is_pool)).collect()
}

/// More than connections of the program's own could be.
fn has_load(pool: u32) -> bool {
    stat(pool).is_some_and(|stat| stat.ticks > 50)
}

fn stat(pid: u32) -> Option<ProcessStat> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (name, rest) = stat.split_once('(')?.1.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
    let [parent, user, system] = [number(1)?, number(11)?, number(12)?];
    let runs = fields.first()? != &"Z";
    let parent = parent.try_into().ok()?;
    runs.then(|| ProcessStat { name: name.to_owned(), parent, ticks: user + system })
}

fn has_pgbouncer(pool: &str) -> bool {
    let found = server::Pgbouncer::find(pool.parse().unwrap());
    if let Err(error) = &found {
        testing::skip(&error.to_string());
    }
    found.is_ok()
}

#[test]
fn the_server_sees_clients_come_by_socket_and_tcp() {
    let statement = "SELECT 1 / CASE WHEN (inet_server_addr() IS NULL) \
                     = ('{connection_by}' = 'socket') THEN 1 ELSE 0 END AS as_told";
    let factors = "clients = [2], connection_by = [\"socket\", \"tcp\"]";
    let place = plan("postgres:18", factors, statement);
    let said = expect_no_failures(&place, 2);
    assert!(said.contains("2 clients, connected by tcp"), "{said}");
}

#[test]
fn the_conditions_say_how_clients_connect() {
    let place = plan("postgres:18", "clients = [1]", "SELECT 1 AS one");
    let said = expect_no_failures(&place, 1);
    assert!(said.contains("servers of Crossover's by Unix socket"), "{said}");
}

#[test]
fn eight_clients_of_a_pool_share_its_two_connections() {
    if !has_pgbouncer("transaction:2") {
        return;
    }
    let statement = "SELECT 1 / CASE WHEN count(*) BETWEEN 1 AND 2 \
         AND current_setting('TimeZone') = 'UTC' \
         AND current_setting('default_transaction_read_only') = 'on' THEN 1 ELSE 0 END AS fits \
         FROM pg_stat_activity WHERE usename = current_user AND usename = 'crossover_pool'";
    let factors = "clients = [8], connection_by = [\"socket\", \"tcp\"]";
    let place = plan("postgres:18[pool=transaction:2]", factors, statement);
    let said = expect_no_failures(&place, 2);
    assert!(
        said.contains("pools of PgBouncer 1.") && said.contains("pool=transaction:2"),
        "{said}"
    );
}

#[test]
fn sessions_of_a_pool_change_rows_as_sessions_of_the_server() {
    if !has_pgbouncer("session:2") {
        return;
    }
    let statement = "UPDATE items SET stock = stock + 1 WHERE id = 501";
    let engines = "postgres:18\", \"postgres:18[pool=session:2]";
    let place = plan(engines, "clients = [2]", statement);
    expect_no_failures(&place, 2);
}

#[test]
fn a_relay_stands_before_the_pool() {
    if !has_pgbouncer("session:2") {
        return;
    }
    let statement = "SELECT 1 / CASE WHEN inet_server_addr() IS NULL \
                     AND current_user = 'crossover_pool' THEN 1 ELSE 0 END AS pooled";
    let factors = "clients = [2], delay_ms = [20]";
    let place = plan("postgres:18[pool=session:2]", factors, statement);
    let said = expect_no_failures(&place, 1);
    let conditions = "servers of Crossover's by Unix socket, relays by TCP; pools of PgBouncer 1.";
    assert!(said.contains(conditions), "{said}");
}

#[test]
fn transactions_by_a_pool_leave_the_rows_that_they_should() {
    if !has_pgbouncer("transaction:2") {
        return;
    }
    let place = Place::new();
    let words = [
        "bench",
        "oltp",
        "--on=postgres:18[pool=transaction:2]",
        "--workload=read_write,point_select",
        "--table-size=1000",
        "--time=2s",
        "--warm-up=1s",
        "--replicates=1",
        "--checkpoints=any",
        "--clients=8",
        "--connection-by=tcp",
    ];
    let output = place.run(&words);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    let trials = place.trials();
    assert_eq!(trials.len(), 2);
    for trial in &trials {
        assert_eq!((&trial["status"], &trial["failures"]), (&"ok".into(), &0.into()), "{trial}");
    }
    let said = text(&output.stdout);
    assert!(said.contains("by TCP on this machine"), "{said}");
}

#[test]
fn a_pool_that_dies_makes_the_trial_void_and_none_is_left() {
    if !has_pgbouncer("session:2") {
        return;
    }
    let place = Place::new();
    let words = [
        "bench",
        "oltp",
        "--on=postgres:18[pool=session:2]",
        "--workload=point_select",
        "--table-size=1000",
        "--time=5s",
        "--warm-up=1s",
        "--replicates=3",
        "--clients=2",
    ];
    let mut child = place.command(&words).spawn().unwrap();
    let pool = loop {
        assert!(child.try_wait().unwrap().is_none(), "it ended before a trial");
        match pools_of(child.id())[..] {
            [pool] if has_load(pool) => break pool,
            _ => std::thread::yield_now(),
        }
    };
    let pid = |pid: u32| Pid::from_raw(pid.try_into().unwrap()).unwrap();
    kill_process(pid(pool), Signal::KILL).unwrap();
    place.wait_for_trials(&mut child, 2);
    let trials = place.trials();
    let void = trials.iter().find(|trial| trial["status"] != "ok").unwrap();
    let why = void["status"]["void"].to_string();
    assert!(why.contains("2 of 2 clients ended") && why.contains("pool-postgres-18"), "{why}");
    assert!(trials.iter().any(|trial| trial["status"] == "ok"), "a new pool serves the next trial");
    let left = pools_of(child.id());
    kill_process(pid(child.id()), Signal::INT).unwrap();
    child.wait().unwrap();
    assert!(left.into_iter().all(|pid| stat(pid).is_none_or(|stat| stat.name != "pgbouncer")));
}

#[test]
fn an_old_program_cannot_share_prepared_statements() {
    let place = plan("postgres:18[pool=transaction:2]", "clients = [1]", "SELECT 1 AS one");
    let old = place.path("pgbouncer");
    fs::write(&old, "#!/bin/sh\necho PgBouncer 1.18.0\n").unwrap();
    fs::set_permissions(&old, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", place.folder.path().display(), std::env::var("PATH").unwrap());
    let output = place.command(&["bench", "plan.toml"]).env("PATH", path).output().unwrap();
    let said = error(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("PgBouncer 1.18.0") && said.contains("pool=session:2"), "{said}");
    assert!(!Path::new(&place.path("runs")).exists(), "nothing was measured");
}
