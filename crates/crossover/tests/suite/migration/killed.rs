//! Migrations killed at chosen steps: the next run goes on with the same result.

use std::process::{Child, Stdio};

use super::{Shop, sql};

/// Rows enough to be killed among.
pub(crate) fn many_rows(place: &Shop) {
    sql(
        &place.source,
        "DROP TABLE articles; \
         CREATE TABLE kind(id INTEGER PRIMARY KEY, name TEXT UNIQUE); \
         CREATE TABLE item(id INTEGER PRIMARY KEY, kind_id INT NOT NULL REFERENCES kind, \
             body TEXT); \
         CREATE INDEX item_kind ON item(kind_id); \
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) \
         INSERT INTO kind SELECT i, 'kind ' || i FROM n; \
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) \
         INSERT INTO item SELECT i, 1 + i % 50, hex(i) FROM n",
    );
}

/// Makes a migration wait when it marks a chosen step or a later one as done, as long as the lock
/// 4711 is held: another worker must not pass the steps at which it is killed next.
const STOPS: &str = "
    CREATE SCHEMA stops;
    CREATE TABLE stops.stop(number int NOT NULL);
    INSERT INTO stops.stop VALUES (1000000);
    CREATE FUNCTION stops.wait() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF NEW.done AND NEW.number >= (SELECT number FROM stops.stop) THEN
            PERFORM pg_advisory_xact_lock_shared(4711);
        END IF;
        RETURN NEW;
    END $$;
    CREATE FUNCTION stops.hold() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock_shared(4711);
        RETURN NEW;
    END $$;
    CREATE FUNCTION stops.watch() RETURNS event_trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands()
                    WHERE object_identity = 'crossover_migration.crossover_step') THEN
            CREATE TRIGGER stop BEFORE UPDATE ON crossover_migration.crossover_step
                FOR EACH ROW EXECUTE FUNCTION stops.wait();
        END IF;
    END $$;
    CREATE EVENT TRIGGER watch ON ddl_command_end WHEN TAG IN ('CREATE TABLE')
        EXECUTE FUNCTION stops.watch();";

/// A connection to the server that says where migrations stop.
pub(crate) struct Stops {
    runtime: tokio::runtime::Runtime,
    client: tokio_postgres::Client,
}

impl Stops {
    pub(crate) fn new(url: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let client = runtime.block_on(connect::postgres::connect(&url.parse().unwrap())).unwrap();
        runtime.block_on(client.batch_execute(STOPS)).unwrap();
        Self { runtime, client }
    }

    pub(crate) fn execute(&self, sql: &str) {
        self.runtime.block_on(self.client.batch_execute(sql)).unwrap();
    }

    /// The answer to a query with one truth value.
    pub(crate) fn holds(&self, sql: &str) -> bool {
        self.runtime.block_on(self.client.query_one(sql, &[])).unwrap().get(0)
    }

    /// Waits until a query holds, while `child` runs.
    pub(crate) fn wait_for(&self, sql: &str, child: &mut Child) {
        while !self.holds(sql) {
            assert!(child.try_wait().unwrap().is_none(), "it ended too early");
            std::thread::yield_now();
        }
    }

    /// A migration that `begin` starts, waiting as it is about to mark `step` (or in
    /// `stops.hold`).
    pub(crate) fn stop_at(&self, step: i32, begin: impl FnOnce() -> Child) -> Child {
        self.execute(&format!(
            "SELECT pg_advisory_lock(4711); UPDATE stops.stop SET number = {step}"
        ));
        let mut child = begin();
        let waits = "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory'
                     AND NOT granted AND objid = 4711)";
        self.wait_for(waits, &mut child);
        child
    }

    /// Lets migrations go on.
    pub(crate) fn release(&self) {
        self.execute("UPDATE stops.stop SET number = 1000000; SELECT pg_advisory_unlock(4711)");
    }

    /// `crossover migrate` with `arguments`, killed without warning as it is about to mark a step.
    pub(crate) fn kill_at(&self, step: i32, place: &Shop, arguments: &[&str]) {
        let mut child = self.stop_at(step, || {
            place.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        });
        child.kill().unwrap();
        child.wait().unwrap();
        self.release();
    }
}

#[test]
fn killed_at_any_step_it_goes_on_with_the_same_result() {
    let place = Shop::new();
    many_rows(&place);
    let url = place.expect(0, &["server", "start", "postgres:18"]);
    let url = url.trim();
    let stops = Stops::new(url);
    let move_it = ["migrate", place.source(), url, "--resume", "--part-bytes", "50000"];
    // The first one, in the middle of the rows, and twice.
    for (number, kills) in [&[1][..], &[7], &[3, 12]].iter().enumerate() {
        let schema = format!("round_{number}");
        let of_round = [&move_it[..], &["--schema", &schema]].concat();
        for steps in *kills {
            stops.kill_at(*steps, &place, &of_round);
        }
        let there = ["verify", place.source(), url, "--schema", &schema];
        assert_ne!(place.run(&there).status.code(), Some(0), "it was not killed in the middle");
        place.expect(0, &of_round);
        place.expect(0, &there);
    }
}
