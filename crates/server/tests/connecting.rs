//! Crate engine's connections against real servers: every refusal is one line with the way out,
//! TLS means what libpq says it means, sessions take settings and read them back.
#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use connect::Error;
use connect::postgres::thin::{
    BoundParameter, ThinConnection, ThinRow, WaitLimits, write_execution,
};
use connect::postgres::{apply_session_settings, connect, settings_readback};
use engine::PostgresUrl;
use server::{PostgresServer, StartOptions};
use support::{Place, start, text};

async fn refusal(url: &PostgresUrl) -> String {
    let message = connect(url).await.unwrap_err().to_string();
    assert!(!message.contains('\n'), "{message}");
    // The measuring client says the same in the same words, where its words are not the system's.
    let thin = thin(url).err().unwrap().to_string();
    assert_eq!(message.split(':').next(), thin.split(':').next());
    message
}

/// Connects as measuring clients do.
fn thin(url: &PostgresUrl) -> Result<ThinConnection<'static>, Error> {
    static NEVER: AtomicBool = AtomicBool::new(false);
    let limits = WaitLimits { timeout: Duration::from_secs(60), interrupted: &NEVER };
    tokio::task::block_in_place(|| ThinConnection::connect(url, &[], limits))
}

/// Whether the session of a measuring client is encrypted, as the server sees it.
fn encrypted_thin(url: &PostgresUrl) -> Result<String, Error> {
    let mut connection = thin(url)?;
    let sql = "SELECT ssl::text, repeat('x', 100000) FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let mut told = String::new();
    let row = |row: ThinRow<'_>| {
        let values: Vec<&[u8]> = row.values().flatten().collect();
        // Longer than a record of TLS and than the buffer.
        assert_eq!(values[1].len(), 100_000);
        told = String::from_utf8(values[0].to_vec()).unwrap();
    };
    connection.query(sql, row).unwrap();
    Ok(told)
}

/// An answer of 300,000 characters by a session that never waits: longer than its buffer, and than
/// what arrives at once.
fn answered_by_channel(url: &PostgresUrl) {
    use rustix::event::{PollFd, PollFlags, poll};
    let mut connection = thin(url).unwrap();
    let statement = connection.prepare("SELECT 1 / ($1 - 1), repeat('x', $1)", &[23]).unwrap();
    let mut channel = connection.into_channel().unwrap();
    let mut buffer = Vec::new();
    // Dividing by zero is refused, and the session goes on.
    for (number, expected) in [(300_000, 1), (1, 0), (300_000, 1)] {
        let mut out = bytes::BytesMut::new();
        write_execution(&statement, [BoundParameter::Int4(number)].into_iter(), &mut out).unwrap();
        channel.send(&out, Duration::from_secs(60)).unwrap();
        let answer = loop {
            poll(&mut [PollFd::new(&channel, PollFlags::IN)], None).unwrap();
            if let Some(answer) = channel.receive(&mut buffer).unwrap() {
                break answer;
            }
        };
        assert_eq!((answer.rows, answer.refusal.is_some()), (expected, expected == 0));
    }
}

fn with_parameters(url: &PostgresUrl, parameters: &str) -> PostgresUrl {
    format!("{}?{parameters}", url.expose()).parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_name_the_server_and_the_way_out() {
    let place = Place::new();
    let options = StartOptions { tcp: true, ..StartOptions::new("18").unwrap().temporary() };
    let server = start(&place, options).await.unwrap();
    let url = server.tcp_url("crossover").unwrap();

    let message = refusal(&url.with_database("none")).await;
    assert!(message.contains("\"none\" does not exist"), "{message}");
    assert!(message.contains("CREATE DATABASE"), "{message}");
    let nameless = PostgresUrl::tcp("127.0.0.1", url.port().unwrap(), "ann", "secret", "crossover");
    let message = refusal(&nameless).await;
    assert!(message.contains("check the user and password"), "{message}");
    assert!(!message.contains("secret"), "{message}");
    let without_password: PostgresUrl =
        format!("postgresql://postgres@127.0.0.1:{}/crossover", url.port().unwrap())
            .parse()
            .unwrap();
    let message = refusal(&without_password).await;
    assert!(message.contains("PGPASSWORD"), "{message}");
    server.stop().await.unwrap();

    let message = refusal(&url).await;
    assert!(message.contains("connection refused"), "{message}");
    assert!(message.contains(&format!("127.0.0.1:{}", url.port().unwrap())), "{message}");
    let gone = PostgresUrl::unix_socket("/nonexistent", None, "postgres", "crossover");
    let message = refusal(&gone).await;
    assert!(message.contains("/nonexistent/.s.PGSQL.5432: there is no such socket"), "{message}");
    let unknown: PostgresUrl = "postgresql://ann@no-such-host.invalid/d".parse().unwrap();
    let message = refusal(&unknown).await;
    assert!(message.contains("no-such-host.invalid:5432"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_takes_what_a_session_may_set() {
    let place = Place::new();
    let server = start(&place, StartOptions::new("18").unwrap().temporary()).await.unwrap();
    let client = connect(&server.url("crossover")).await.unwrap();
    let taken = apply_session_settings(&client, [("work_mem", "16384"), ("jit", "off")]).await;
    let expected = [("work_mem", "16MB"), ("jit", "off")].map(|(n, v)| (n.into(), v.into()));
    assert_eq!(taken.unwrap(), expected);
    assert_eq!(settings_readback(&client, ["work_mem"]).await.unwrap(), expected[..1]);

    let refused = apply_session_settings(&client, [("work_men", "1")]).await.unwrap_err();
    assert!(refused.to_string().contains("did you mean `work_mem`"), "{refused}");
    let refused = apply_session_settings(&client, [("shared_buffers", "1GB")]).await.unwrap_err();
    assert!(matches!(refused, Error::NotASessionSetting { .. }), "{refused}");
    let refused = apply_session_settings(&client, [("work_mem", "much")]).await.unwrap_err();
    assert!(refused.to_string().contains("work_mem"), "{refused}");
    server.stop().await.unwrap();
}

/// Gives the server a certificate for `localhost` and waits until new sessions are offered TLS.
async fn switch_tls_on(server: &PostgresServer) {
    let data = server.data_directory();
    let owner = data.metadata().unwrap();
    let certificate = include_bytes!("certificate/server.pem").as_slice();
    let key = include_bytes!("certificate/server.key").as_slice();
    for (content, name) in [(certificate, "server.crt"), (key, "server.key")] {
        let target = data.join(name);
        std::fs::write(&target, content).unwrap();
        std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o600)).unwrap();
        chown(&target, Some(owner.uid()), Some(owner.gid())).unwrap();
    }
    let client = connect(&server.url("crossover")).await.unwrap();
    client.batch_execute("ALTER SYSTEM SET ssl = on").await.unwrap();
    client.batch_execute("SELECT pg_reload_conf()").await.unwrap();
    while text(&connect(&server.url("crossover")).await.unwrap(), "SHOW ssl").await != "on" {}
}

fn certificate(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/certificate");
    folder.join(name).display().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn sslmode_means_what_libpq_says() {
    let place = Place::new();
    let options = StartOptions { tcp: true, ..StartOptions::new("18").unwrap().temporary() };
    let server = start(&place, options).await.unwrap();
    switch_tls_on(&server).await;
    let by_address = server.tcp_url("crossover").unwrap();
    let password = by_address.password().unwrap();
    let port = by_address.port().unwrap();
    let by_name = PostgresUrl::tcp("localhost", port, "postgres", password, "crossover");

    let encrypted = async |url: &PostgresUrl, parameters: &str| {
        let client = connect(&with_parameters(url, parameters)).await?;
        let sql = "SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
        Ok::<_, Error>(text(&client, sql).await)
    };
    let root = format!("sslrootcert={}", certificate("authority.pem"));
    let other = format!("sslrootcert={}", certificate("other.pem"));
    for (url, parameters, expected) in [
        (&by_address, "sslmode=disable".to_owned(), "false"),
        (&by_address, "sslmode=prefer".to_owned(), "true"),
        (&by_address, "sslmode=require".to_owned(), "true"),
        (&by_address, format!("sslmode=verify-ca&{root}"), "true"),
        (&by_name, format!("sslmode=verify-full&{root}"), "true"),
    ] {
        assert_eq!(encrypted(url, &parameters).await.unwrap(), expected, "{parameters}");
        assert_eq!(encrypted_thin(&with_parameters(url, &parameters)).unwrap(), expected);
        answered_by_channel(&with_parameters(url, &parameters));
    }
    for (url, parameters) in [
        (&by_address, format!("sslmode=verify-full&{root}")),
        (&by_address, format!("sslmode=verify-ca&{other}")),
        (&by_address, format!("sslmode=require&{other}")),
        (&by_address, "sslmode=verify-ca&sslrootcert=/nonexistent.pem".to_owned()),
    ] {
        let refused = encrypted(url, &parameters).await;
        assert!(refused.is_err(), "{parameters}: {refused:?}");
        assert!(thin(&with_parameters(url, &parameters)).is_err(), "{parameters}");
    }
    server.stop().await.unwrap();
}
