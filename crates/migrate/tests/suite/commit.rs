//! Failures of the commit itself: refused or unanswered, it loses no row.

use std::sync::atomic::AtomicBool;

use engine::PostgresUrl;
use indicatif::ProgressBar;
use migrate::{Error, MigrateOptions};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream};

use crate::support::{File, Target, data_only};

/// Forwards all traffic between a client and the server up to a commit, whose answer never arrives.
async fn hand_on(mut client: TcpStream, mut server: UnixStream) {
    let (mut request, mut answer) = (vec![0; 65_536], vec![0; 65_536]);
    loop {
        tokio::select! {
            read = client.read(&mut request) => {
                let Ok(bytes @ 1..) = read else { return };
                server.write_all(&request[..bytes]).await.unwrap();
                if request[..bytes].windows(7).any(|each| each == b"COMMIT\0") {
                    // Its answer, which others may precede, means that it is done.
                    loop {
                        let bytes = server.read(&mut answer).await.unwrap();
                        assert!(bytes > 0);
                        if answer[..bytes].windows(7).any(|each| each == b"COMMIT\0") {
                            return;
                        }
                    }
                }
            }
            read = server.read(&mut answer) => {
                let Ok(bytes @ 1..) = read else { return };
                client.write_all(&answer[..bytes]).await.unwrap();
            }
        }
    }
}

/// The target by a way on which the connection is lost while committing.
pub async fn by_a_bad_way(target: &Target) -> PostgresUrl {
    let url = &target.url;
    let socket = format!("{}/.s.PGSQL.{}", url.host().unwrap(), url.port().unwrap_or(5432));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let server = UnixStream::connect(&socket).await.unwrap();
            tokio::spawn(hand_on(client, server));
        }
    });
    let (user, database) = (url.user().unwrap(), url.database().unwrap());
    format!("postgresql://{user}@127.0.0.1:{port}/{database}?sslmode=disable").parse().unwrap()
}

/// One row that fits and one that does not, over a row that is replaced: all in one transaction.
async fn one_of_two(target: &Target) -> (File, MigrateOptions) {
    let file = File::new("CREATE TABLE t(a INT); INSERT INTO t VALUES (1), ('x')");
    target.run("CREATE TABLE t(a int); INSERT INTO t VALUES (7)").await;
    let reject_file = Some(file.path.with_file_name("rejects.jsonl"));
    (file, MigrateOptions { replace: true, reject_file, ..data_only() })
}

#[tokio::test]
async fn an_unanswered_commit_keeps_and_names_the_reject_file() {
    let target = Target::new().await;
    let (file, options) = one_of_two(&target).await;
    let url = by_a_bad_way(&target).await;
    let (progress, interrupted) = (ProgressBar::hidden(), AtomicBool::new(false));
    let error = migrate::migrate(&file.path, &url, &options, &progress, &interrupted).await;
    let error = error.unwrap_err();
    assert!(matches!(error, Error::CommitUnknown { .. }), "{error}");
    let rejects = options.reject_file.unwrap();
    let named = format!("the refused rows are in {}", rejects.display());
    assert!(error.to_string().contains(&named), "{error}");
    // The commit was done: one row is in the target, the other in the file.
    assert_eq!(target.texts("SELECT a::text FROM t").await, ["1"]);
    assert_eq!(std::fs::read_to_string(rejects).unwrap().lines().count(), 1);
}

#[tokio::test]
async fn a_refused_commit_leaves_no_rows_and_no_reject_file() {
    let target = Target::new().await;
    let (file, options) = one_of_two(&target).await;
    target
        .run(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
                 'BEGIN RAISE EXCEPTION ''not today''; END'; \
             CREATE CONSTRAINT TRIGGER late AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED \
                 FOR EACH ROW EXECUTE PROCEDURE refuse()",
        )
        .await;
    let error = target.migrate(&file, &options).await.unwrap_err().to_string();
    assert!(error.contains("not today"), "{error}");
    assert_eq!(target.texts("SELECT a::text FROM t").await, ["7"]);
    let left = std::fs::read_dir(file.path.parent().unwrap()).unwrap().count();
    assert_eq!(left, 1, "only the source");
}
