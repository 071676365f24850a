//! Migrations that SIGINT or SIGTERM reaches while they wait: they end, say what is left, and leave
//! the target as it was or ready for the next run.

use std::io::{BufRead as _, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener};
use std::os::unix::net::UnixStream;
use std::process::{Child, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::killed::{Stops, many_rows};
use super::{Shop, sql};

const LOOK_INTERVAL: Duration = Duration::from_millis(20);
const BOTH: [Signal; 2] = [Signal::INT, Signal::TERM];

/// `crossover` with `arguments`, running.
fn begin(place: &Shop, arguments: &[&str]) -> Child {
    place.command(arguments).spawn().unwrap()
}

/// Sends `signal` and returns what the program said; it must have ended by itself.
fn end(child: Child, signal: Signal) -> String {
    let process = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(process, signal).unwrap();
    let Output { status, stderr, .. } = child.wait_with_output().unwrap();
    let said = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains("interrupted"), "{said}");
    said
}

#[test]
fn a_port_that_answers_nothing_holds_no_command_after_a_signal() {
    let place = Shop::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let url = format!("postgresql://ann@{address}/shop?connect_timeout=0");
    let commands: [&[&str]; 5] = [
        &["migrate", place.source(), &url],
        &["migrate", place.source(), &url, "--data-only", "--create-database"],
        &["migrate", &url, "--abandon"],
        &["verify", place.source(), &url],
        &["audit", place.source(), "--target", &url],
    ];
    for command in commands {
        for signal in BOTH {
            let child = begin(&place, command);
            let _silent = listener.accept().unwrap();
            end(child, signal);
        }
    }
    let impatient = url.replace("connect_timeout=0", "connect_timeout=1");
    let error = place.refused(1, &["migrate", place.source(), &impatient]);
    assert!(error.contains("no answer within 1 s: check host, port"), "{error}");
}

/// Interrupts `command` when it waits for a lock that `statement` takes.
fn interrupt(stops: &Stops, place: &Shop, statement: &str, command: &[&str], signal: Signal) {
    stops.execute(&format!("BEGIN; {statement}"));
    let mut child = begin(place, command);
    stops.wait_for("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)", &mut child);
    end(child, signal);
    stops.execute("ROLLBACK");
}

#[test]
fn a_signal_ends_the_wait_for_a_lock() {
    let place = Shop::new();
    many_rows(&place);
    let url = place.expect(0, &["server", "start", "postgres:18"]);
    let url = url.trim();
    let stops = Stops::new(url);
    stops.execute(
        "CREATE TABLE kind(id int PRIMARY KEY, name text); \
         CREATE TABLE item(id int PRIMARY KEY, kind_id int REFERENCES kind, body text)",
    );
    let data_only = ["migrate", place.source(), url, "--data-only"];
    let rejecting = [&data_only[..], &["--on-error", "reject"]].concat();
    let elsewhere = ["migrate", place.source(), url, "--schema", "other"];
    // The class of Crossover's advisory locks.
    let claim = format!("SELECT pg_advisory_xact_lock({}, 1)", i32::from_be_bytes(*b"Cros"));
    let (account, rest) = url.split_once("@/").unwrap();
    let (_, server) = rest.split_once('?').unwrap();
    let another = format!("{account}@/another?{server}");
    let creating = ["migrate", place.source(), &another, "--create-database"];
    let waits: [(&str, &[&str]); 6] = [
        ("LOCK TABLE pg_database IN SHARE MODE", &creating),
        (&claim, &data_only),
        ("LOCK TABLE item IN ROW EXCLUSIVE MODE", &data_only),
        ("LOCK TABLE item IN ROW EXCLUSIVE MODE", &rejecting),
        ("CREATE SCHEMA crossover_migration", &elsewhere),
        ("LOCK TABLE item IN ACCESS EXCLUSIVE MODE", &["verify", place.source(), url]),
    ];
    for (statement, command) in waits {
        for signal in BOTH {
            interrupt(&stops, &place, statement, command, signal);
        }
    }
    place.expect(0, &data_only);
    place.expect(0, &["verify", place.source(), url]);
}

/// The other session keeps its lock: only the signal ends the wait.
#[test]
fn a_wait_that_was_named_ends_with_a_signal_on_the_server_too() {
    let place = Shop::new();
    many_rows(&place);
    let url = place.expect(0, &["server", "start", "postgres:18"]);
    let url = url.trim();
    let stops = Stops::new(url);
    stops.execute(
        "CREATE TABLE kind(id int PRIMARY KEY, name text); \
         CREATE TABLE item(id int PRIMARY KEY, kind_id int REFERENCES kind, body text)",
    );
    stops.execute("BEGIN; LOCK TABLE item IN ROW EXCLUSIVE MODE");
    for signal in BOTH {
        let mut child = begin(&place, &["migrate", place.source(), url, "--data-only"]);
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let named = "waiting for a lock on item held by server process ";
        let said = lines.by_ref().map(Result::unwrap).find(|line| line.contains(named));
        assert!(said.unwrap().contains("idle in transaction"));
        kill_process(Pid::from_child(&child), signal).unwrap();
        let rest: Vec<String> = lines.map(Result::unwrap).collect();
        assert_eq!(child.wait().unwrap().code(), Some(1), "{rest:?}");
        assert!(rest.concat().contains("interrupted; the target is unchanged"), "{rest:?}");
        assert!(stops.holds("SELECT NOT EXISTS (SELECT FROM pg_locks WHERE NOT granted)"));
        let others = "SELECT NOT EXISTS (SELECT FROM pg_stat_activity \
                      WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() \
                      AND state <> 'idle')";
        assert!(stops.holds(others));
    }
    stops.execute("ROLLBACK");
    place.expect(0, &["migrate", place.source(), url, "--data-only"]);
}

#[test]
fn a_signal_among_the_rows_leaves_what_can_go_on() {
    let place = Shop::new();
    many_rows(&place);
    let url = place.expect(0, &["server", "start", "postgres:18"]);
    let url = url.trim();
    let stops = Stops::new(url);
    let created = ["migrate", place.source(), url, "--part-bytes", "50000", "--schema", "made"];
    for signal in BOTH {
        let child = stops.stop_at(3, || begin(&place, &[&created[..], &["--resume"]].concat()));
        let said = end(child, signal);
        stops.release();
        assert!(said.contains("--resume continues"), "{said}");
        assert!(!said.contains("the target is unchanged"), "{said}");
    }
    place.expect(0, &[&created[..], &["--resume"]].concat());

    stops.execute(
        "CREATE TABLE kind(id int PRIMARY KEY, name text); \
         CREATE TABLE item(id int PRIMARY KEY, kind_id int REFERENCES kind, body text)",
    );
    let existing = ["migrate", place.source(), url, "--part-bytes", "50000", "--data-only"];
    for signal in BOTH {
        let child = stops.stop_at(3, || begin(&place, &existing));
        let said = end(child, signal);
        stops.release();
        assert!(said.contains("the target is unchanged"), "{said}");
        assert!(stops.holds("SELECT NOT EXISTS (SELECT FROM item)"));
        let keys = "SELECT count(*) = 3 FROM pg_constraint WHERE contype IN ('p', 'f') \
                    AND connamespace = 'public'::regnamespace";
        assert!(stops.holds(keys), "{said}");
    }
    place.expect(0, &existing);
    // In one transaction.
    stops.execute(
        "CREATE TRIGGER stop BEFORE INSERT ON item FOR EACH ROW WHEN (NEW.id > 50000) \
             EXECUTE FUNCTION stops.hold()",
    );
    sql(&place.source, "DELETE FROM item WHERE id <= 10");
    for signal in BOTH {
        let replacing = [&existing[..], &["--replace"]].concat();
        let child = stops.stop_at(1_000_000, || begin(&place, &replacing));
        let said = end(child, signal);
        stops.release();
        assert!(said.contains("the target is unchanged"), "{said}");
        assert!(stops.holds("SELECT count(*) = 100000 FROM item"));
    }
}

/// A way to the server through which nothing passes once it is mute.
struct Way {
    address: String,
    is_mute: Arc<AtomicBool>,
}

impl Way {
    fn to(socket: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (is_mute, socket) = (Arc::new(AtomicBool::new(false)), socket.to_owned());
        std::thread::spawn({
            let is_mute = is_mute.clone();
            move || {
                let mut silent = Vec::new();
                for client in listener.incoming().map(Result::unwrap) {
                    if is_mute.load(Ordering::Relaxed) {
                        silent.push(client);
                        continue;
                    }
                    let server = UnixStream::connect(&socket).unwrap();
                    // Each reader looks now and then whether it is mute.
                    client.set_read_timeout(Some(LOOK_INTERVAL)).unwrap();
                    server.set_read_timeout(Some(LOOK_INTERVAL)).unwrap();
                    let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                    let mute = is_mute.clone();
                    std::thread::spawn(move || pass(from, to, &mute));
                    let mute = is_mute.clone();
                    std::thread::spawn(move || {
                        pass(server, client.try_clone().unwrap(), &mute);
                        let _ = client.shutdown(Shutdown::Both);
                    });
                }
            }
        });
        Self { address, is_mute }
    }
}

/// Passes bytes on until one side ends; keeps them, and both sides open, while it is mute.
fn pass(mut from: impl Read, mut to: impl Write, is_mute: &AtomicBool) {
    let mut buffer = [0; 8192];
    loop {
        if is_mute.load(Ordering::Relaxed) {
            std::thread::park();
        }
        match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) if to.write_all(&buffer[..count]).is_err() => return,
            Err(error) if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return;
            }
            _ => {}
        }
    }
}

#[test]
fn a_server_that_falls_mute_holds_no_migration_after_a_signal() {
    let place = Shop::new();
    many_rows(&place);
    let url = place.expect(0, &["server", "start", "postgres:18"]);
    let url = url.trim();
    let stops = Stops::new(url);
    stops.execute(
        "CREATE TABLE kind(id int PRIMARY KEY, name text); \
         CREATE TABLE item(id int PRIMARY KEY, kind_id int REFERENCES kind, body text)",
    );
    let (rest, directory) = url.split_once("?host=").unwrap();
    let (user, database) = rest.split_once("@/").unwrap();
    for more in [&["--schema", "made"][..], &["--data-only"]] {
        let way = Way::to(&format!("{directory}/.s.PGSQL.5432"));
        let through = format!("{user}@{}/{database}?sslmode=disable", way.address);
        let move_it = ["migrate", place.source(), &through, "--part-bytes", "50000"];
        let child = stops.stop_at(3, || begin(&place, &[&move_it[..], more].concat()));
        way.is_mute.store(true, Ordering::Relaxed);
        let said = end(child, Signal::TERM);
        assert!(said.contains("--abandon puts the target back"), "{said}");
        stops.release();
        stops.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
             WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
        );
        place.expect(0, &["migrate", url, "--abandon"]);
        assert!(stops.holds("SELECT NOT EXISTS (SELECT FROM item)"));
    }
    place.expect(0, &["migrate", place.source(), url, "--data-only"]);
}
