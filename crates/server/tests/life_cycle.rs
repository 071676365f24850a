//! The life of a managed server on real releases: as root and as an ordinary user, killed owners,
//! two programs at once, mistakes in settings. Nothing may be left behind.
#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use connect::postgres::connect;
use server::{Error, PostgresServer, StartOptions, running_servers};
use support::{Place, as_other_account, is_alive, start, text};

#[tokio::test(flavor = "multi_thread")]
async fn a_server_starts_answers_and_leaves_nothing_behind() {
    let place = Place::new();
    let mut options = StartOptions::new("18").unwrap().temporary();
    options.settings = vec![("work_mem".into(), "16MB".into()), ("jit".into(), "off".into())];
    let server = start(&place, options).await.unwrap();
    let pid = server.pid();
    assert!(server.exact_version().starts_with("18."), "{}", server.exact_version());
    let expected = [("work_mem", "16MB"), ("jit", "off")].map(|(n, v)| (n.into(), v.into()));
    assert_eq!(server.settings_read_back(), expected);
    assert!(server.tcp_url("crossover").is_none());

    let client = connect(&server.url("crossover")).await.unwrap();
    assert_eq!(text(&client, "SHOW server_encoding").await, "UTF8");
    assert_eq!(text(&client, "SHOW data_checksums").await, "on");
    assert_eq!(text(&client, "SHOW listen_addresses").await, "");
    let collation = "SELECT datcollate::text FROM pg_database WHERE datname = 'crossover'";
    assert_eq!(text(&client, collation).await, "C");
    let socket_folder = server.url("crossover").host().unwrap().to_owned();
    drop(client);

    server.stop().await.unwrap();
    assert!(!is_alive(pid));
    assert!(!std::path::Path::new(&socket_folder).exists());
    assert_eq!(place.folders(), Vec::<String>::new());
    assert!(running_servers(&place.locations).unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_a_server_stops_it() {
    let place = Place::new();
    let server = start(&place, StartOptions::new("18").unwrap().temporary()).await.unwrap();
    let pid = server.pid();
    drop(server);
    assert!(!is_alive(pid));
    assert_eq!(place.folders(), Vec::<String>::new());
}

/// The oldest release that is supported has other options, no scram and other messages.
#[tokio::test(flavor = "multi_thread")]
async fn the_oldest_release_works_too() {
    let place = Place::new();
    let mut options = StartOptions::new("9.6").unwrap().temporary();
    options.settings = vec![("work_mem".into(), "16MB".into())];
    let server = start(&place, options.clone()).await.unwrap();
    assert!(server.exact_version().starts_with("9.6."), "{}", server.exact_version());
    let client = connect(&server.url("crossover")).await.unwrap();
    assert_eq!(text(&client, "SHOW data_checksums").await, "on");
    drop(client);
    server.stop().await.unwrap();

    let tcp = StartOptions { tcp: true, ..options.clone() };
    assert!(matches!(start(&place, tcp).await, Err(Error::NoScram { .. })));
    options.settings = vec![("work_men".into(), "16MB".into())];
    let error = start(&place, options).await.unwrap_err().to_string();
    assert!(error.contains("work_men") && error.contains("work_mem"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_refused_before_anything_starts() {
    let place = Place::new();
    let refused = async |name: &str, value: &str| {
        let mut options = StartOptions::new("18").unwrap().temporary();
        options.settings = vec![(name.into(), value.into())];
        let error = start(&place, options).await.unwrap_err();
        assert_eq!(place.folders(), Vec::<String>::new(), "{error}");
        error
    };
    let error = refused("shared_bufers", "1GB").await;
    assert!(matches!(error, Error::UnknownSetting { .. }));
    assert!(error.to_string().contains("did you mean `shared_buffers`"), "{error}");
    let error = refused("work_mem", "a lot").await;
    assert!(matches!(error, Error::BadSetting { .. }), "{error}");
    assert!(error.to_string().contains("a lot"), "{error}");
    assert!(matches!(refused("port", "5433").await, Error::ReservedSetting { .. }));
    let error = refused("pg_stat_statements.max", "1000").await.to_string();
    assert!(error.contains("shared_preload_libraries=pg_stat_statements"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_extensions_settings_apply_and_unknown_ones_are_refused() {
    let place = Place::new();
    let with = |name: &str| {
        let mut options = StartOptions::new("18").unwrap().temporary();
        let library = ("shared_preload_libraries".into(), "pg_stat_statements".into());
        options.settings = vec![library, (name.into(), "1000".into())];
        options
    };
    let server = start(&place, with("pg_stat_statements.max")).await.unwrap();
    assert_eq!(server.settings_read_back()[1].1, "1000");
    server.stop().await.unwrap();
    // Only the library itself knows its settings, so this one shows after the start.
    let error = start(&place, with("pg_stat_statements.maxx")).await.unwrap_err();
    assert!(error.to_string().contains("did you mean `pg_stat_statements.max`"), "{error}");
    assert_eq!(place.folders(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn data_is_kept_once_marked_and_thrown_away_before() {
    let place = Place::new();
    let options = StartOptions { data_digest: "abc".into(), ..StartOptions::new("18").unwrap() };
    let server = start(&place, options.clone()).await.unwrap();
    assert!(!server.data_is_ready());
    let client = connect(&server.url("crossover")).await.unwrap();
    client.batch_execute("CREATE TABLE half_filled (n integer)").await.unwrap();
    server.stop().await.unwrap();

    let server = start(&place, options.clone()).await.unwrap();
    assert!(!server.data_is_ready());
    let client = connect(&server.url("crossover")).await.unwrap();
    let sql = "SELECT coalesce(to_regclass('half_filled')::text, 'none')";
    assert_eq!(text(&client, sql).await, "none");
    client.batch_execute("CREATE TABLE filled (n integer)").await.unwrap();
    server.mark_data_ready("").unwrap();
    server.stop().await.unwrap();

    // Other settings, the same data.
    let settings = vec![("work_mem".into(), "16MB".into())];
    let server = start(&place, StartOptions { settings, ..options.clone() }).await.unwrap();
    assert!(server.data_is_ready());
    let client = connect(&server.url("crossover")).await.unwrap();
    assert_eq!(text(&client, "SELECT to_regclass('filled')::text").await, "filled");

    // One program at a time; another digest is another directory.
    let second = start(&place, options.clone()).await;
    assert!(matches!(second, Err(Error::InUse { .. })), "{second:?}");
    let other = StartOptions { data_digest: "def".into(), ..options };
    start(&place, other).await.unwrap().stop().await.unwrap();
    server.stop().await.unwrap();
    assert_eq!(place.folders().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn tcp_needs_the_random_password() {
    let place = Place::new();
    let options = StartOptions { tcp: true, ..StartOptions::new("18").unwrap().temporary() };
    let server = start(&place, options).await.unwrap();
    let url = server.tcp_url("crossover").unwrap();
    let client = connect(&url).await.unwrap();
    assert_eq!(text(&client, "SELECT host(inet_server_addr())").await, "127.0.0.1");
    let method = "SELECT left(rolpassword, 13) FROM pg_authid WHERE rolname = 'postgres'";
    assert_eq!(text(&client, method).await, "SCRAM-SHA-256");
    assert!(!url.to_string().contains(url.password().unwrap()), "{url}");

    let wrong = url.expose().replace(url.password().unwrap(), "wrong").parse().unwrap();
    let error = connect(&wrong).await.unwrap_err().to_string();
    assert!(error.contains("password"), "{error}");
    // The socket works beside it.
    connect(&server.url("crossover")).await.unwrap();
    server.stop().await.unwrap();
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn every_process_of_a_server_is_bound_to_its_cpus() {
    let place = Place::new();
    let allowed = support::allowed_cpus(std::process::id()).unwrap();
    let last = allowed.rsplit([',', '-']).next().unwrap().parse().unwrap();
    let temporary = || StartOptions::new("18").unwrap().temporary();
    let options = StartOptions { cpus: Some(vec![last]), ..temporary() };
    let server = start(&place, options).await.unwrap();
    let children = support::children(server.pid());
    // Sessions and workers come and go.
    let bound: Vec<String> = children.into_iter().filter_map(support::allowed_cpus).collect();
    assert!(bound.len() > 3 && bound.iter().all(|cpus| *cpus == last.to_string()), "{bound:?}");
    assert_eq!(support::allowed_cpus(server.pid()), Some(last.to_string()));
    // Our own threads keep theirs.
    assert_eq!(support::allowed_cpus(std::process::id()), Some(allowed));
    server.stop().await.unwrap();

    let absent = start(&place, StartOptions { cpus: Some(vec![100_000]), ..temporary() }).await;
    assert!(matches!(absent, Err(Error::NoSuchCpu { cpu: 100_000, .. })), "{absent:?}");
}

/// The life cycle above once more as an account that is not root. Where the tests run as an
/// ordinary user already, the others have shown it.
#[test]
fn an_ordinary_user_can_do_the_same() {
    if !rustix::process::geteuid().is_root() {
        return testing::skip("the other tests ran as an ordinary user");
    }
    // What is cached is enough for a user who may not write there.
    drop(support::cached_release("18"));
    for test in
        ["a_server_starts_answers_and_leaves_nothing_behind", "tcp_needs_the_random_password"]
    {
        let output = as_other_account(test);
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && shown.contains("1 passed"), "{shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_start_leaves_nothing() {
    let place = Place::new();
    let options = StartOptions::new("18").unwrap().temporary();
    let interrupted = std::sync::atomic::AtomicBool::new(true);
    let progress = indicatif::ProgressBar::hidden();
    let started = PostgresServer::start(&place.locations, options, &progress, &interrupted).await;
    assert!(matches!(started, Err(Error::Interrupted)), "{started:?}");
    assert_eq!(place.folders(), Vec::<String>::new());
}
