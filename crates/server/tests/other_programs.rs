//! Servers among several programs: an owner that is killed, servers that outlive theirs, two that
//! fetch at once, one without a network.
#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command};

use connect::postgres::connect;
use server::{
    Error, Lifetime, Locations, Origin, StartOptions, fetched_releases, installed_releases,
    running_servers, stop_server,
};
use support::{Place, is_alive, other_process, start, start_in, text};

/// A line of `owner`'s standard output that says where its server is.
fn wait_for_pid(owner: &mut Child) -> u32 {
    let lines = BufReader::new(owner.stdout.take().unwrap()).lines();
    let mut lines = lines.map(Result::unwrap);
    let pid = lines.find_map(|line| line.split_once("postmaster ").map(|(_, pid)| pid.to_owned()));
    pid.unwrap().parse().unwrap()
}

fn wait_until_gone(pid: u32) {
    // An orphan's end is noticed by the init process a moment later than by us.
    while is_alive(pid) {
        std::thread::yield_now();
    }
}

/// Not a test: the program that is killed. Says where its server is, then waits.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "started by the test of killed owners"]
async fn owner() {
    let options = StartOptions { data_digest: "abc".into(), ..StartOptions::new("18").unwrap() };
    let server = start_in(&Locations::detect().unwrap(), options).await.unwrap();
    if std::env::var_os("MARK_READY").is_some() {
        let client = connect(&server.url("crossover")).await.unwrap();
        client.batch_execute("CREATE TABLE filled (n integer)").await.unwrap();
        server.mark_data_ready("").unwrap();
    }
    println!("postmaster {}", server.pid());
    let mut until_killed = Vec::new();
    std::io::stdin().read_to_end(&mut until_killed).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_of_a_killed_program_is_stopped_at_the_next_start() {
    let place = Place::new();
    let options = StartOptions { data_digest: "abc".into(), ..StartOptions::new("18").unwrap() };
    let filled = "SELECT coalesce(to_regclass('filled')::text, 'none')";
    for (mark, expected) in [(None, "none"), (Some("yes"), "filled")] {
        let mut command = other_process("owner", &place.locations.data);
        let mut owner = command.envs(mark.map(|mark| ("MARK_READY", mark))).spawn().unwrap();
        let pid = wait_for_pid(&mut owner);
        // While its owner lives, nobody else touches it.
        let meanwhile = start(&place, options.clone()).await;
        assert!(matches!(meanwhile, Err(Error::InUse { .. })), "{meanwhile:?}");
        owner.kill().unwrap();
        owner.wait().unwrap();
        assert!(is_alive(pid));
        let orphan = running_servers(&place.locations).unwrap()[0].clone();
        assert_eq!(orphan.lifetime, Lifetime::Orphan);
        let orphan: engine::PostgresUrl = orphan.url.parse().unwrap();
        let orphan_folder = orphan.host().unwrap().to_owned();

        let server = start(&place, options.clone()).await.unwrap();
        wait_until_gone(pid);
        assert!(!std::path::Path::new(&orphan_folder).exists());
        let client = connect(&server.url("crossover")).await.unwrap();
        assert_eq!(text(&client, filled).await, expected);
        assert_eq!(server.data_is_ready(), expected == "filled");
        server.stop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_persistent_server_outlives_its_value_until_server_stop() {
    let place = Place::new();
    let options = StartOptions { persistent: true, ..StartOptions::new("18").unwrap() };
    let server = start(&place, options.clone()).await.unwrap();
    let (pid, url) = (server.pid(), server.url("crossover"));
    drop(server);
    let client = connect(&url).await.unwrap();
    client.batch_execute("CREATE TABLE mine (n integer)").await.unwrap();

    // A start beside it sweeps, and leaves it alone.
    start(&place, StartOptions::new("18").unwrap().temporary())
        .await
        .unwrap()
        .stop()
        .await
        .unwrap();
    let again = start(&place, options.clone()).await;
    assert!(matches!(again, Err(Error::AlreadyRunning { .. })), "{again:?}");
    let running = running_servers(&place.locations).unwrap();
    assert_eq!((running.len(), running[0].pid), (1, pid));
    assert_eq!(running[0].lifetime, Lifetime::UntilStopped);
    assert_eq!(running[0].url, url.to_string());

    stop_server(&place.locations, &running[0].name).unwrap();
    assert!(!is_alive(pid));
    assert!(running_servers(&place.locations).unwrap().is_empty());
    let stopped = stop_server(&place.locations, &running[0].name);
    assert!(matches!(stopped, Err(Error::NotRunning { .. })), "{stopped:?}");

    // What people put there is kept.
    let server = start(&place, StartOptions { persistent: false, ..options }).await.unwrap();
    let client = connect(&server.url("crossover")).await.unwrap();
    assert_eq!(text(&client, "SELECT to_regclass('mine')::text").await, "mine");
    server.stop().await.unwrap();
}

/// Until its parent takes notice, and its children have ended, PostgreSQL believes a killed server alive.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_starts_again_once_it_is_reaped() {
    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

    let place = Place::new();
    let options = StartOptions { persistent: true, ..StartOptions::new("18").unwrap() };
    let server = start(&place, options.clone()).await.unwrap();
    let pid = Pid::from_raw(i32::try_from(server.pid()).unwrap()).unwrap();
    drop(server);
    let children =
        std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", pid.as_raw_pid()));
    let child = children.unwrap().split_whitespace().next().unwrap().parse().unwrap();
    let child = Pid::from_raw(child).unwrap();
    kill_process(child, Signal::STOP).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    // A signal arrives before the process ends: until then it does run.
    let ended = WaitIdOptions::EXITED;
    waitid(WaitId::Pid(pid), ended | WaitIdOptions::NOWAIT).unwrap();
    let notice = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_secs(1));
        waitid(WaitId::Pid(pid), ended).unwrap();
        std::thread::sleep(std::time::Duration::from_secs(1));
        kill_process(child, Signal::CONT).unwrap();
    });
    let again = start(&place, options).await;
    notice.join().unwrap();
    drop(again.unwrap());
    let running = running_servers(&place.locations).unwrap();
    stop_server(&place.locations, &running[0].name).unwrap();
}

/// Locations with a cache of its own, empty.
fn empty_cache(place: &Place) -> Locations {
    Locations { cache: place.locations.data.join("cache"), ..place.locations.clone() }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_programs_may_fetch_the_same_release_at_once() {
    let place = Place::new();
    let locations = empty_cache(&place);
    let options = || StartOptions::new("16.10").unwrap().temporary();
    let (left, right) =
        tokio::join!(start_in(&locations, options()), start_in(&locations, options()));
    if let (Err(Error::Offline { reason, .. }), _) | (_, Err(Error::Offline { reason, .. })) =
        (&left, &right)
    {
        return testing::skip(&format!("there is no network to fetch from ({reason})"));
    }
    let (left, right) = (left.unwrap(), right.unwrap());
    assert_eq!((left.exact_version(), right.exact_version()), ("16.10", "16.10"));
    assert_eq!(left.release().origin, Origin::Fetched);
    left.stop().await.unwrap();
    right.stop().await.unwrap();
    assert_eq!(fetched_releases(&locations).len(), 1);
    let left_over = std::fs::read_dir(locations.cache.join("postgres")).unwrap();
    let left_over = left_over.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let left_over: Vec<String> = left_over.filter(|name| !name.ends_with(".lock")).collect();
    assert_eq!(left_over, ["16.10"]);
}

/// Not a test: a program without a network and with an empty cache, whose arguments come by the
/// environment. Says what it got.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "started by the test without a network"]
async fn without_network() {
    let wanted = std::env::var("WANTED").unwrap();
    let options = StartOptions::new(&wanted).unwrap().temporary();
    match start_in(&Locations::detect().unwrap(), options).await {
        Ok(server) => {
            let release = server.release();
            println!("got {} by {}", release.version, release.notice.as_deref().unwrap_or("cache"));
        }
        Err(error) => println!("refused: {error}"),
    }
}

fn offline(command: &mut Command) -> String {
    // A proxy that is not there: port 9 is "discard", which nobody runs.
    let nowhere = "http://127.0.0.1:9";
    let output = command.env("HTTPS_PROXY", nowhere).env("NO_PROXY", "").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn offline_the_cache_then_an_installed_release_then_an_error() {
    let place = Place::new();
    support::cached_release("18");
    let mut cached = other_process("without_network", &place.locations.data);
    let shown = offline(cached.env("WANTED", "18"));
    assert!(shown.contains("got 18.") && shown.contains("by cache"), "{shown}");

    let cache = empty_cache(&place).cache;
    let empty = place.locations.data.join("no-certificates");
    std::fs::write(&empty, "").unwrap();
    let mut bare = other_process("without_network", &place.locations.data);
    bare.env("WANTED", "11.1").env("CROSSOVER_CACHE_DIR", &cache);
    bare.env("SSL_CERT_FILE", &empty).env_remove("SSL_CERT_DIR");
    let shown = offline(&mut bare);
    assert!(shown.contains("no CA certificates; install them"), "{shown}");

    let mut absent = other_process("without_network", &place.locations.data);
    let shown = offline(absent.env("WANTED", "11.1").env("CROSSOVER_CACHE_DIR", &cache));
    assert!(shown.contains("refused: PostgreSQL 11.1 is not in the cache"), "{shown}");
    assert!(!shown.contains("http"), "{shown}");

    let Some(newest) = installed_releases().pop() else {
        return testing::skip("no PostgreSQL is installed");
    };
    let mut installed = other_process("without_network", &place.locations.data);
    let shown = offline(installed.env("WANTED", "newest").env("CROSSOVER_CACHE_DIR", &cache));
    let expected = format!("got {} by the newest PostgreSQL cannot be fetched", newest.version);
    assert!(shown.contains(&expected), "{shown}");
}
