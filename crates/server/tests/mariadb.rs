//! A private MariaDB, where its programs are installed: started, spoken to, stopped without a
//! trace; its mistakes named.
#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use mysql::prelude::Queryable as _;
use server::{Error, Locations, MariadbOptions, MariadbPrograms, MariadbServer};

fn place() -> (Locations, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(directory.path(), open).unwrap();
    let data = directory.path().to_owned();
    (Locations { data, ..Locations::detect().unwrap() }, directory)
}

#[test]
fn a_private_server_lives_and_leaves_nothing() {
    let programs = match MariadbPrograms::find(None) {
        Ok(programs) => programs,
        Err(error) => return testing::skip(&error.to_string()),
    };
    let (locations, _directory) = place();
    let never = AtomicBool::new(false);
    let settings = [("innodb_buffer_pool_size".to_owned(), "32M".to_owned())];
    let server = MariadbServer::start(&locations, &programs, &settings, &never).unwrap();
    let mut connection = connect::mysql::connect(&server.url(""), Duration::from_secs(10)).unwrap();
    let version = connect::mysql::version(&mut connection).unwrap();
    assert!(version.starts_with("MariaDB "), "{version}");
    let names = ["innodb_buffer_pool_size", "no_such_variable", "tmpdir"];
    let values = connect::mysql::variables(&mut connection, names.into_iter()).unwrap();
    let folder = server.data_directory().parent().unwrap().to_owned();
    // Nobody else's leftovers are there to be removed, and nobody removes ours.
    let own_folder = (names[2].to_owned(), folder.display().to_string());
    assert_eq!(values, [(names[0].to_owned(), (32 << 20).to_string()), own_folder]);
    let rows = "CREATE DATABASE d; CREATE TABLE d.t (n INT); INSERT INTO d.t VALUES (1)";
    rows.split(';').for_each(|sql| connection.query_drop(sql).unwrap());
    connection.query_drop("UPDATE d.t SET n = 1").unwrap();
    assert_eq!(connection.affected_rows(), 1, "an UPDATE counts the rows that it finds");
    drop(connection);
    server.stop().unwrap();
    assert!(!folder.exists());

    let unknown = [("no_such_setting".to_owned(), "1".to_owned())];
    let refusal = MariadbServer::start(&locations, &programs, &unknown, &never).unwrap_err();
    assert!(refusal.to_string().contains("no-such-setting"), "{refusal}");
    assert_eq!(folders(&locations), 0);
}

/// All but the lock that everybody uses.
fn folders(locations: &Locations) -> usize {
    let entries = std::fs::read_dir(locations.data.join("mariadb")).unwrap();
    entries.filter(|entry| entry.as_ref().unwrap().path().is_dir()).count()
}

#[test]
fn data_that_one_server_has_left_is_copied_by_the_next_ones() {
    let programs = match MariadbPrograms::find(None) {
        Ok(programs) => programs,
        Err(error) => return testing::skip(&error.to_string()),
    };
    let (locations, directory) = place();
    let never = AtomicBool::new(false);
    let kept = directory.path().join("kept");
    let connect = |server: &MariadbServer, database: &str| {
        connect::mysql::connect(&server.url(database), Duration::from_secs(10)).unwrap()
    };
    let server = MariadbServer::start(&locations, &programs, &[], &never).unwrap();
    let mut connection = connect(&server, "");
    connection.query_drop("CREATE DATABASE shop").unwrap();
    connection.query_drop("CREATE TABLE shop.t (a INT)").unwrap();
    connection.query_drop("INSERT INTO shop.t VALUES (1)").unwrap();
    drop(connection);
    server.stop_and_keep(&kept).unwrap();

    let options = MariadbOptions { programs, settings: Vec::new(), data: Some(kept), cpus: None };
    for _ in 0..2 {
        let mut server = MariadbServer::start_with(&locations, &options, &never).unwrap();
        let mut connection = connect(&server, "shop");
        let sum: Option<u32> = connection.query_first("SELECT sum(a) FROM t").unwrap();
        assert_eq!(sum, Some(1), "what the first copy was given, the second has not");
        connection.query_drop("INSERT INTO t VALUES (2)").unwrap();
        drop(connection);
        assert!(server.is_running());
        server.stop().unwrap();
    }
    assert_eq!(folders(&locations), 0);
}

/// Not a test: an owner to be killed, which says who its server is.
#[test]
#[ignore = "started by another test"]
fn owner() {
    let locations = Locations::detect().unwrap();
    let programs = MariadbPrograms::find(None).unwrap();
    let never = AtomicBool::new(false);
    let server = MariadbServer::start(&locations, &programs, &[], &never).unwrap();
    println!("server {}", server.pid());
    // Until it is killed: nobody writes to its standard input.
    let _ = std::io::read_to_string(std::io::stdin());
}

#[test]
fn a_server_whose_owner_was_killed_is_stopped_by_the_next_one() {
    if let Err(error) = MariadbPrograms::find(None) {
        return testing::skip(&error.to_string());
    }
    let (locations, _directory) = place();
    let mut owner = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "owner", "--nocapture"])
        .env("CROSSOVER_DATA_DIR", &locations.data)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(owner.stdout.take().unwrap()));
    let pid = lines.find_map(|line| line.unwrap().split("server ").nth(1).map(str::to_owned));
    let pid = pid.unwrap().trim().parse().unwrap();
    owner.kill().unwrap();
    owner.wait().unwrap();
    assert!(support::is_alive(pid), "the server outlives its owner");
    let running = server::running_servers(&locations).unwrap();
    assert_eq!((running[0].pid, running[0].lifetime), (pid, server::Lifetime::Orphan));
    server::stop_server(&locations, &running[0].name).unwrap();
    assert!(!support::is_alive(pid));
    assert_eq!(folders(&locations), 0);
}

#[test]
fn a_release_in_a_folder_is_found_from_wherever_it_was_named() {
    let (locations, directory) = place();
    let bin = directory.path().join("release/bin");
    std::fs::create_dir_all(&bin).unwrap();
    for program in ["mysqld", "mysql_install_db"] {
        // By another process: a file that this one has had open for writing may be busy as long as a
        // child of another test has not yet begun its own program.
        let write = "printf '%s\\n' '#!/bin/sh' \"echo '[ERROR] it is a test' >&2; exit 1\" >$0; chmod 755 $0";
        let written =
            std::process::Command::new("sh").arg("-c").arg(write).arg(bin.join(program)).status();
        assert!(written.unwrap().success());
    }
    // Relative to where the tests run, which is not where servers do.
    let here = std::env::current_dir().unwrap();
    let up = "../".repeat(here.components().count() - 1);
    let relative = Path::new(&up).join(directory.path().strip_prefix("/").unwrap());
    let programs = MariadbPrograms::find(Some(&relative.join("release"))).unwrap();
    let never = AtomicBool::new(false);
    let refusal = MariadbServer::start(&locations, &programs, &[], &never).unwrap_err();
    assert!(refusal.to_string().contains("it is a test"), "{refusal}");
    assert_eq!(folders(&locations), 0);
}

#[test]
fn a_folder_without_a_release_is_named() {
    let refusal = MariadbPrograms::find(Some(Path::new("/nowhere"))).unwrap_err();
    assert!(matches!(refusal, Error::NoMariadb { .. }));
    assert!(refusal.to_string().contains("in /nowhere"), "{refusal}");
}
