//! Loads on a real MariaDB, where one is installed.
#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use std::time::Duration;

use mysql::prelude::Queryable as _;
use oltp::{Failure, OltpLoadOptions, OltpTarget};
use plan::oltp::{CharacterSet, Collation, Distribution, Mix, TableOptions};
use server::MariadbServer;
use support::{NEVER, Place, fill, passes, run, sum, tables, try_run};

fn connect(server: &MariadbServer, database: &str) -> mysql::Conn {
    connect::mysql::connect(&server.url(database), Duration::from_secs(10)).unwrap()
}

fn target(server: &MariadbServer) -> OltpTarget {
    connect(server, "").query_drop("CREATE DATABASE IF NOT EXISTS oltp").unwrap();
    OltpTarget::Mysql { url: server.url("oltp"), session: Vec::new() }
}

#[test]
fn every_mix_does_what_it_says_and_leaves_the_tables_whole() {
    let place = Place::new();
    let Some(server) = place.mariadb() else { return };
    support::every_mix(&target(&server));
    server.stop().unwrap();
}

#[test]
fn deadlocks_are_tried_again_and_too_many_clients_are_named() {
    let place = Place::new();
    let Some(server) = place.mariadb() else { return };
    let (target, tables) = (target(&server), tables(Mix::WriteOnly, 4));
    fill(&target, &tables);
    let distribution = Distribution::Uniform;
    let options = OltpLoadOptions { distribution, ..passes(Mix::WriteOnly, 6, 60) };
    let load = run(&target, &tables, &options);
    assert_eq!(load.first_failure, None);
    assert_eq!(sum(&load, |client| client.transactions), 6 * 60);
    assert!(sum(&load, |client| client.retries.deadlocks) > 0);
    oltp::invariants(&target, &tables, &[Mix::WriteOnly], 0, &NEVER).unwrap();

    connect(&server, "").query_drop("SET GLOBAL max_connections = 10").unwrap();
    let refusal = try_run(&target, &tables, &passes(Mix::WriteOnly, 40, 1)).unwrap_err();
    assert!(refusal.to_string().contains("max_connections"), "{refusal}");
    server.stop().unwrap();
}

#[test]
fn what_waits_when_the_time_is_over_is_cancelled_and_counted() {
    let place = Place::new();
    let Some(server) = place.mariadb() else { return };
    let (target, tables) = (target(&server), tables(Mix::WriteOnly, 1));
    fill(&target, &tables);
    let mut holder = connect(&server, "oltp");
    holder.query_drop("BEGIN").unwrap();
    holder.query_drop("UPDATE sbtest1 SET c = 'held'").unwrap();
    for mix in [Mix::UpdateIndex, Mix::WriteOnly] {
        support::ends_though_rows_are_held(&target, &tables, passes(mix, 3, 1));
    }
    holder.query_drop("ROLLBACK").unwrap();
    oltp::invariants(&target, &tables, &[], 0, &NEVER).unwrap();
    server.stop().unwrap();
}

#[test]
fn hungarian_text_is_stored_and_sent_in_either_encoding() {
    let place = Place::new();
    let Some(server) = place.mariadb() else { return };
    let target = target(&server);
    for character_set in [CharacterSet::Utf8, CharacterSet::Latin2] {
        for collation in [Collation::Bytes, Collation::Language] {
            let tables = TableOptions { character_set, collation, ..tables(Mix::Encoding, 300) };
            fill(&target, &tables);
            for client in [CharacterSet::Utf8, CharacterSet::Latin2] {
                let options =
                    OltpLoadOptions { character_set: client, ..passes(Mix::Encoding, 2, 20) };
                assert_eq!(run(&target, &tables, &options).first_failure, None);
            }
            oltp::invariants(&target, &tables, &[Mix::Encoding], 0, &NEVER).unwrap();
            let lines = connect(&server, "oltp").query("SELECT line FROM sbtext");
            let lines: Vec<String> = lines.unwrap();
            let known = |letter: char| letter.is_ascii_lowercase() || " áéíóöőúüű".contains(letter);
            assert!(lines.iter().all(|line| line.chars().all(known)));
        }
    }
    server.stop().unwrap();
}

#[test]
fn a_server_that_goes_ends_its_clients() {
    let place = Place::new();
    let Some(server) = place.mariadb() else { return };
    let (target, tables) = (target(&server), tables(Mix::PointSelect, 100));
    fill(&target, &tables);
    let (sender, seen) = std::sync::mpsc::channel();
    let load = std::thread::scope(|scope| {
        let begin = || Tells(sender.clone());
        let options = OltpLoadOptions { warmup: Duration::ZERO, ..hours(Mix::PointSelect, 3) };
        let load = scope.spawn(move || oltp::run(&target, &tables, &options, &begin, &NEVER));
        seen.recv().unwrap();
        server.stop().unwrap();
        load.join().unwrap().unwrap()
    });
    assert!(load.clients.iter().all(|client| client.ended_by == Some(Failure::Lost)));
}

fn hours(mix: Mix, clients: u16) -> OltpLoadOptions {
    OltpLoadOptions::new(mix, clients, Duration::from_secs(3_600))
}

struct Tells(std::sync::mpsc::Sender<()>);

impl oltp::Sink for Tells {
    type Kept = ();

    fn observe(&mut self, _transaction: &oltp::Transaction) {
        let _ = self.0.send(());
    }

    fn end(self) {}
}
