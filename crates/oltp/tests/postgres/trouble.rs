//! Servers that take no more clients, stop or do not answer, a user who has enough, and tables that
//! are not ours.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use oltp::{Driver, Error, Failure, OltpLoadOptions, Sink, Transaction, Until};
use plan::oltp::{Mix, TableOptions};

use super::support::{
    NEVER, Place, Postgres, ends_though_rows_are_held, fill, passes, run, sum, tables, try_run,
};

#[test]
fn more_clients_than_the_server_takes_are_named_and_none_stays() {
    let place = Place::new();
    let postgres = place.postgres(&[("max_connections", "10")]);
    let tables = tables(Mix::PointSelect, 10);
    fill(&postgres.target(), &tables);
    let mut observer = postgres.session("postgres");
    for driver in [Driver::Threads, Driver::EventLoops] {
        let options = OltpLoadOptions { driver, ..passes(Mix::PointSelect, 40, 1) };
        let refusal = try_run(&postgres.target(), &tables, &options).unwrap_err();
        assert!(matches!(refusal, Error::Connect { clients: 40, .. }), "{refusal}");
        assert!(refusal.to_string().contains("max_connections"), "{refusal}");
        Postgres::wait_until_alone(&mut observer);
    }
}

/// Says so when it has seen a transaction.
struct Tells(mpsc::Sender<()>);

impl Sink for Tells {
    type Kept = ();

    fn observe(&mut self, _transaction: &Transaction) {
        let _ = self.0.send(());
    }

    fn end(self) {}
}

#[test]
fn a_server_that_stops_in_mid_load_ends_it_and_says_why() {
    for (driver, clients) in [(Driver::Threads, 3), (Driver::EventLoops, 20)] {
        let place = Place::new();
        let mut postgres = place.postgres(&[("deadlock_timeout", "10ms")]);
        let (target, tables) = (postgres.target(), tables(Mix::ReadWrite, 1_000));
        fill(&target, &tables);
        let until = Until::Time(Duration::from_secs(3_600));
        let options = OltpLoadOptions { driver, until, ..passes(Mix::ReadWrite, clients, 1) };
        let (sender, seen) = mpsc::channel();
        let load = std::thread::scope(|scope| {
            let begin = || Tells(sender.clone());
            let load = scope.spawn(move || oltp::run(&target, &tables, &options, &begin, &NEVER));
            for _ in 0..100 {
                seen.recv().unwrap();
            }
            postgres.stop();
            load.join().unwrap().unwrap()
        });
        assert!(load.clients.iter().all(|client| client.ended_by == Some(Failure::Lost)));
        let (failure, text) = load.first_failure.unwrap();
        assert_eq!(failure, Failure::Lost);
        assert!(text.contains("terminating connection"), "{text}");
    }
}

#[test]
fn an_answer_that_does_not_come_ends_its_client() {
    let place = Place::new();
    let postgres = place.postgres(&[]);
    let tables = tables(Mix::UpdateIndex, 1);
    fill(&postgres.target(), &tables);
    let mut holder = postgres.session("crossover");
    holder.query("BEGIN; UPDATE sbtest1 SET c = 'held'", |_| {}).unwrap();
    for driver in [Driver::Threads, Driver::EventLoops] {
        let timeout = Duration::from_secs(5);
        let options = OltpLoadOptions { driver, timeout, ..passes(Mix::UpdateIndex, 2, 1) };
        let load = run(&postgres.target(), &tables, &options);
        assert!(load.clients.iter().all(|one| one.ended_by == Some(Failure::TimedOut)));
        assert_eq!(sum(&load, |client| client.transactions), 0);
    }
}

#[test]
fn what_waits_when_the_time_is_over_is_cancelled_and_counted() {
    let place = Place::new();
    let postgres = place.postgres(&[]);
    let (target, tables) = (postgres.target(), tables(Mix::WriteOnly, 1));
    fill(&target, &tables);
    let mut holder = postgres.session("crossover");
    holder.query("BEGIN; UPDATE sbtest1 SET c = 'held'", |_| {}).unwrap();
    for (driver, mix) in [(Driver::Threads, Mix::UpdateIndex), (Driver::EventLoops, Mix::WriteOnly)]
    {
        let options = OltpLoadOptions { driver, ..passes(mix, 3, 1) };
        ends_though_rows_are_held(&target, &tables, options);
    }
    holder.query("ROLLBACK", |_| {}).unwrap();
    oltp::invariants(&target, &tables, &[], 0, &NEVER).unwrap();
}

#[test]
fn the_user_can_stop_it() {
    let place = Place::new();
    let postgres = place.postgres(&[]);
    let tables = tables(Mix::PointSelect, 100);
    fill(&postgres.target(), &tables);
    for clients in [2, 20] {
        let until = Until::Time(Duration::from_secs(3_600));
        let options = OltpLoadOptions { until, ..passes(Mix::PointSelect, clients, 1) };
        let interrupted = AtomicBool::new(false);
        let (sender, seen) = mpsc::channel();
        std::thread::scope(|scope| {
            let begin = || Tells(sender.clone());
            let (target, tables, interrupted) = (postgres.target(), &tables, &interrupted);
            let load = scope
                .spawn(move || oltp::run(&target, tables, &options, &begin, interrupted).map(drop));
            seen.recv().unwrap();
            interrupted.store(true, Ordering::Relaxed);
            assert!(matches!(load.join().unwrap(), Err(Error::Interrupted)));
        });
    }
}

#[test]
fn a_table_that_is_not_ours_is_refused_and_left() {
    let place = Place::new();
    let postgres = place.postgres(&[]);
    let (target, tables) = (postgres.target(), tables(Mix::ReadOnly, 10));
    let missing = try_run(&target, &tables, &passes(Mix::ReadOnly, 1, 1)).unwrap_err();
    assert!(matches!(missing, Error::NotFilled { .. }), "{missing}");
    postgres.rows("CREATE TABLE sbtest1 (mine int); INSERT INTO sbtest1 VALUES (42)");
    let refusal = oltp::fill(&target, &tables, &|_, _| {}, &NEVER).unwrap_err();
    assert!(matches!(refusal, Error::ForeignTable { .. }) && refusal.is_usage(), "{refusal}");
    let refusal = try_run(&target, &tables, &passes(Mix::ReadOnly, 1, 1)).unwrap_err();
    assert!(matches!(refusal, Error::ForeignTable { .. }), "{refusal}");
    assert_eq!(postgres.rows("SELECT mine FROM sbtest1"), ["42"]);

    // Marked tables, one of which somebody has replaced by his own of the same columns, as
    // sysbench makes it. Fewer tables would replace them all.
    postgres.rows("DROP TABLE sbtest1");
    fill(&target, &TableOptions { tables: 2, ..tables });
    let own = "CREATE TABLE sbtest2 (id serial, k int, c char(120), pad char(60))";
    postgres.rows(&format!("DROP TABLE sbtest2; {own}; INSERT INTO sbtest2 VALUES (42)"));
    for refusal in [
        oltp::fill(&target, &tables, &|_, _| {}, &NEVER).unwrap_err(),
        oltp::remove(&target).unwrap_err(),
    ] {
        assert!(matches!(refusal, Error::ForeignTable { .. }), "{refusal}");
        assert!(refusal.to_string().contains("sbtest2"), "{refusal}");
    }
    assert_eq!(postgres.rows("SELECT id FROM sbtest2"), ["42"]);
    assert_eq!(oltp::find(&target, tables.schema).unwrap(), None);
}
