//! A move that does not come to its end: killed, interrupted, without its server or disk; and a
//! source that is written meanwhile.

use std::process::{Child, Output};

use rustix::process::{Pid, Signal, kill_process};
use tokio_postgres::Client;

use super::moved::TwoEngines;
use super::small::PASSWORD;
use crate::killed::kill_the_server;
use crate::place::error;

/// A move to PostgreSQL that has written all rows and waits with its indexes until `holder` lets go.
fn held(two: &TwoEngines, holder: &Client) -> Child {
    two.execute(holder, "BEGIN; CREATE TABLE articles_slug ()");
    let mut child = two.place().command(&two.there()).spawn().unwrap();
    let looker = two.client();
    while two.texts(&looker, WAITING).is_empty() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it waited");
        std::thread::yield_now();
    }
    child
}

const WAITING: &str = "SELECT query FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'CREATE INDEX%'";

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

fn end(child: Child) -> (Option<i32>, String) {
    let output: Output = child.wait_with_output().unwrap();
    (output.status.code(), error(&output))
}

#[test]
fn a_move_to_postgresql_is_whole_or_leaves_nothing() {
    let two = TwoEngines::new();
    let holder = two.client();
    let nothing = || assert_eq!(two.tables(), Vec::<String>::new());

    let child = held(&two, &holder);
    nothing();
    let said = two.place().refused(1, &two.there());
    assert!(said.contains("another process is filling this database"), "{said}");
    send(&child, Signal::KILL);
    assert_eq!(end(child).0, None);
    two.execute(&holder, "ROLLBACK");
    // The server notices that its client is gone when the statement ends.
    let others = "SELECT pid::text FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX%'";
    while !two.texts(&holder, others).is_empty() {
        std::thread::yield_now();
    }
    nothing();

    let child = held(&two, &holder);
    send(&child, Signal::INT);
    let (code, said) = end(child);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("interrupted; nothing was written"), "{said}");
    two.execute(&holder, "ROLLBACK");
    nothing();

    let child = held(&two, &holder);
    kill_the_server(two.place());
    let (code, said) = end(child);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.lines().last().unwrap().contains("was not moved to"), "{said}");
    two.place().expect(0, &["server", "start", "postgres:18"]);
    nothing();
    two.place().expect(0, &two.there());
    assert_eq!(two.tables().len(), 17);
}

/// Changes a row while the indexes are made, as only the administrator of the target could.
const SPOILER: &str = "
    CREATE FUNCTION spoil() RETURNS event_trigger LANGUAGE plpgsql AS $$
    BEGIN
        UPDATE teams SET name = name || '!' WHERE id = 1;
    END $$;
    CREATE EVENT TRIGGER spoiler ON ddl_command_end WHEN TAG IN ('CREATE INDEX')
        EXECUTE FUNCTION spoil();";

#[test]
fn a_row_that_differs_is_found_before_the_commit() {
    let two = TwoEngines::new();
    let administrator = two.client();
    two.execute(&administrator, SPOILER);
    let said = two.place().refused(1, &two.there());
    assert!(said.contains("table teams differs: the source has 12 rows with"), "{said}");
    assert_eq!(two.tables(), Vec::<String>::new());
    two.execute(&administrator, "DROP EVENT TRIGGER spoiler");
    two.place().expect(0, &two.there());
}

#[test]
fn what_is_written_to_the_source_meanwhile_is_told() {
    let two = TwoEngines::new();
    let place = two.place();
    place.write("password", &format!("{PASSWORD}\n"));
    // As a server has its file: readers do not keep a writer waiting.
    let file = rusqlite::Connection::open(place.path("dashboard.db")).unwrap();
    file.execute_batch("PRAGMA journal_mode = WAL").unwrap();
    let holder = two.client();
    let child = held(&two, &holder);
    let url = &two.dashboard.url;
    two.on(url, &["account", "add", "ann", "--password-file", "password"]);
    file.execute_batch("UPDATE traffic SET pageviews = pageviews + 1 WHERE day = 18400").unwrap();
    two.execute(&holder, "ROLLBACK");
    let (code, said) = end(child);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("(accounts, articles or traffic)"), "{said}");
    assert!(!two.on(&two.postgres, &["account", "list"]).contains("ann"));
    let again = [&two.there()[..], &["--force"]].concat();
    place.expect(0, &again);
    assert!(two.on(&two.postgres, &["account", "list"]).contains("ann"));
}

#[test]
fn a_move_to_sqlite_is_whole_or_leaves_nothing() {
    let two = TwoEngines::new();
    let place = two.place();
    two.on(&two.postgres, &["generate", "--scale=0.1"]);
    let words = ["dashboard", "move", "sqlite://new.db", "--database", &two.postgres];
    let (part, target) = (place.path("new.db.part"), place.path("new.db"));
    for signal in [Signal::INT, Signal::KILL] {
        let mut child = place.command(&words).spawn().unwrap();
        while !part.metadata().is_ok_and(|data| data.len() > 1_000_000) {
            assert!(child.try_wait().unwrap().is_none(), "it ended too early");
            std::thread::yield_now();
        }
        send(&child, signal);
        let (code, said) = end(child);
        assert_eq!(code, (signal == Signal::INT).then_some(1), "{said}");
        assert!(!target.exists());
        // What the killed one left is the next one's to remove.
        assert_eq!(part.exists(), signal == Signal::KILL);
    }
    place.expect(0, &words);
    assert!(target.exists() && !part.exists());
}

#[test]
fn limits_of_short_work_and_hidden_rows_do_not_cut_a_move() {
    let two = TwoEngines::new();
    // Seconds of reading, and then of comparing.
    two.on(&two.postgres, &["generate", "--scale=0.1"]);
    let administrator = two.client();
    two.execute(
        &administrator,
        "ALTER DATABASE crossover SET idle_in_transaction_session_timeout = '1s';
         ALTER DATABASE crossover SET statement_timeout = '1s';
         CREATE ROLE reader LOGIN;
         GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;
         ALTER TABLE teams ENABLE ROW LEVEL SECURITY",
    );
    two.on(&two.postgres, &["move", "sqlite://all.db"]);
    two.execute(&administrator, "ALTER DATABASE crossover RESET ALL");
    let reader = two.postgres.replace("postgres@", "reader@");
    let words = ["dashboard", "move", "sqlite://some.db", "--database", &reader];
    let said = two.place().refused(1, &words);
    assert!(said.contains("row-level security policy for table \"teams\""), "{said}");
    assert!(!two.place().path("some.db").exists());
}

/// On a disk of 1 MB, mounted where only this process sees it.
#[test]
fn a_full_disk_leaves_no_file_of_a_move() {
    let two = TwoEngines::new();
    two.on(&two.postgres, &["generate", "--scale=0.02"]);
    // The account without rights that mounts may not use the socket.
    two.place().expect(0, &["server", "stop", "--all"]);
    let source = two.place().expect(0, &["server", "start", "postgres:18", "--tcp"]);
    let program = [
        ("CROSSOVER", env!("CARGO_BIN_EXE_crossover").as_ref()),
        ("SOURCE", source.trim().as_ref()),
    ];
    let script = "mkdir disk && mount -t tmpfs -o size=1m tmpfs disk && \
                  \"$CROSSOVER\" dashboard move sqlite://disk/x.db --database \"$SOURCE\"; \
                  code=$?; ls -A disk; exit $code";
    let Some(output) = testing::run_with_own_mounts(script, two.place().folder.path(), &program)
    else {
        return;
    };
    let said = error(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("the disk is full") && said.contains("free some space"), "{said}");
    assert_eq!(output.stdout, b"", "no file is left");
}
