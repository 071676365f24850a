//! A private MariaDB, where its programs are installed: started, spoken to, stopped without a
//! trace; its mistakes named.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use server::{Error, Locations, MariadbPrograms, MariadbServer};

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
        Err(error) => return eprintln!("skipped: {error}"),
    };
    let (locations, _directory) = place();
    let never = AtomicBool::new(false);
    let settings = [("innodb_buffer_pool_size".to_owned(), "32M".to_owned())];
    let server = MariadbServer::start(&locations, &programs, &settings, &never).unwrap();
    let mut connection = engine::mysql::connect(&server.url(""), Duration::from_secs(10)).unwrap();
    let version = engine::mysql::version(&mut connection).unwrap();
    assert!(version.starts_with("MariaDB "), "{version}");
    let names = ["innodb_buffer_pool_size", "no_such_variable"];
    let values = engine::mysql::variables(&mut connection, names.into_iter()).unwrap();
    assert_eq!(values, [(names[0].to_owned(), (32 << 20).to_string())]);
    let folder = server.folder().to_owned();
    drop(connection);
    server.stop().unwrap();
    assert!(!folder.exists());

    let unknown = [("no_such_setting".to_owned(), "1".to_owned())];
    let refusal = MariadbServer::start(&locations, &programs, &unknown, &never).unwrap_err();
    assert!(refusal.to_string().contains("no-such-setting"), "{refusal}");
    assert_eq!(std::fs::read_dir(locations.data.join("mariadb")).unwrap().count(), 0);
}

#[test]
fn a_folder_without_a_release_is_named() {
    let refusal = MariadbPrograms::find(Some(Path::new("/nowhere"))).unwrap_err();
    assert!(matches!(refusal, Error::NoMariadb { .. }));
    assert!(refusal.to_string().contains("in /nowhere"), "{refusal}");
}
