//! Real child processes: ready, watched, and gone with everything that they started.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use host::process::{ApplicationOptions, ChildApplication, ProcessError, run_to_end};
use load::http::Target;

use testing::loopback::{After, Loopback, with_length};

static GOING_ON: AtomicBool = AtomicBool::new(false);
const LONG: Duration = Duration::from_secs(600);

fn shell(script: &str, log_directory: &Path) -> ApplicationOptions {
    ApplicationOptions {
        name: "application".to_owned(),
        command: vec!["sh".to_owned(), "-c".to_owned(), script.to_owned()],
        environment: vec![("GREETING".to_owned(), "good day".to_owned())],
        directory: None,
        log_directory: log_directory.to_owned(),
        cpus: None,
        account: None,
    }
}

/// Whether a process runs; one that has ended and is not waited for does not.
fn runs(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit_once(") ").unwrap().1.starts_with(['Z', 'X']))
}

/// Waits for what must come, and fails only where it never does.
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < LONG, "never: {what}");
        thread::yield_now();
    }
}

#[test]
fn a_first_line_reports_ready_and_environment_is_passed() {
    let logs = tempfile::tempdir().unwrap();
    let application = ChildApplication::start(&shell(
        "echo \"$GREETING\"; cat >&2; exec tail -f /dev/null",
        logs.path(),
    ))
    .unwrap();
    assert_eq!(application.wait_for_line(LONG, &GOING_ON).unwrap(), "good day");
    application.check().unwrap();
    let pid = application.pid();
    assert!(runs(pid));
    application.stop(LONG);
    assert!(!runs(pid));
    let log = fs::read_to_string(logs.path().join("application.stdout.log")).unwrap();
    assert_eq!(log, "good day\n");
}

#[test]
fn it_is_ready_when_it_answers_well() {
    let logs = tempfile::tempdir().unwrap();
    let server = Loopback::serve(|request, stream| {
        let status = if request.number < 3 { 503 } else { 200 };
        stream.write_all(&with_length(status, "")).unwrap();
        After::Keep
    });
    let target = Target::parse(&server.url()).unwrap();
    let application =
        ChildApplication::start(&shell("exec tail -f /dev/null", logs.path())).unwrap();
    application.wait_until_answering(&target, ("/healthz", 400), LONG, &|_| {}, &GOING_ON).unwrap();
    assert_eq!(server.requests(), 4);
}

#[test]
fn one_that_never_gets_ready_is_described_and_ended() {
    let logs = tempfile::tempdir().unwrap();
    let server = Loopback::serve(|_, stream| {
        stream.write_all(&with_length(503, "")).unwrap();
        After::Keep
    });
    let target = Target::parse(&server.url()).unwrap();
    let script = "echo still loading >&2; echo up; exec tail -f /dev/null";
    let application = ChildApplication::start(&shell(script, logs.path())).unwrap();
    application.wait_for_line(LONG, &GOING_ON).unwrap();
    let pid = application.pid();
    let error = application
        .wait_until_answering(&target, ("/healthz", 400), Duration::ZERO, &|_| {}, &GOING_ON)
        .unwrap_err();
    drop(application);
    let text = error.to_string();
    assert!(matches!(error, ProcessError::NotReady { .. }));
    for part in ["application was not ready", "/healthz is answered with 503", "still loading"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(!runs(pid));
}

#[test]
fn one_that_dies_is_noticed_with_the_end_of_its_log() {
    let logs = tempfile::tempdir().unwrap();
    let script = "echo 'no such table: traffic' >&2; exit 7";
    let application = ChildApplication::start(&shell(script, logs.path())).unwrap();
    let text = application.wait_for_line(LONG, &GOING_ON).unwrap_err().to_string();
    assert!(text.contains("exit code 7") && text.contains("no such table: traffic"), "{text}");
    assert!(text.contains("application.stderr.log"), "{text}");
    assert!(matches!(application.check(), Err(ProcessError::Ended { .. })));
    // A second life continues the log, and shows only its own part of it.
    let again = ChildApplication::start(&shell("kill -KILL $$", logs.path())).unwrap();
    let text = again.wait_for_line(LONG, &GOING_ON).unwrap_err().to_string();
    assert!(text.contains("signal 9") && text.contains("it wrote nothing"), "{text}");
}

/// Connections that are lost are known at once, the end of their process a moment later.
#[test]
fn one_that_was_killed_a_moment_ago_is_known_to_have_ended() {
    let logs = tempfile::tempdir().unwrap();
    let refusing =
        Target::listening(&format!("127.0.0.1:{}", server::free_port(None).unwrap())).unwrap();
    for _ in 0..20 {
        let application = ChildApplication::start(&shell("exec tail -f /dev/null", logs.path()));
        let application = application.unwrap();
        let pid = i32::try_from(application.pid()).ok().and_then(rustix::process::Pid::from_raw);
        rustix::process::kill_process(pid.unwrap(), rustix::process::Signal::KILL).unwrap();
        let ended = application.check_at(&refusing, &GOING_ON).unwrap_err();
        assert!(matches!(ended, ProcessError::Ended { .. }), "{ended}");
    }
}

#[test]
fn a_program_that_does_not_exist_is_named() {
    let logs = tempfile::tempdir().unwrap();
    let mut options = shell("", logs.path());
    options.command = vec!["/no/such/program".to_owned()];
    let Err(error) = ChildApplication::start(&options) else { panic!("started") };
    assert!(error.to_string().contains("/no/such/program"), "{error}");
    options.command.clear();
    assert!(matches!(ChildApplication::start(&options), Err(ProcessError::EmptyCommand { .. })));
    options = shell("", Path::new("/no/such/directory"));
    assert!(matches!(ChildApplication::start(&options), Err(ProcessError::Log { .. })));
    options = ApplicationOptions { cpus: Some(vec![1023]), ..shell("", logs.path()) };
    assert!(matches!(ChildApplication::start(&options), Err(ProcessError::Cpus { .. })));
}

/// A shell that starts a shell that ignores SIGTERM; its second line is the latter's number.
const STUBBORN: &str =
    "sh -c 'trap \"\" TERM; echo $$; while :; do read line < /dev/zero; done' & wait";

#[test]
fn grandchildren_that_ignore_the_first_signal_are_gone_too() {
    let logs = tempfile::tempdir().unwrap();
    let application = ChildApplication::start(&shell(STUBBORN, logs.path())).unwrap();
    let grandchild: u32 = application.wait_for_line(LONG, &GOING_ON).unwrap().parse().unwrap();
    assert!(runs(grandchild) && grandchild != application.pid());
    application.stop(Duration::ZERO);
    eventually("the grandchild ends", || !runs(grandchild));
}

#[test]
fn the_grace_period_lets_a_group_end_in_order() {
    let logs = tempfile::tempdir().unwrap();
    // The first process ends at once; its child takes its time, which it is given.
    let script = "sh -c 'trap \"echo closed; exit\" TERM; echo ready; while :; do :; done' & wait";
    let application = ChildApplication::start(&shell(script, logs.path())).unwrap();
    application.wait_for_line(LONG, &GOING_ON).unwrap();
    application.stop(LONG);
    let log = fs::read_to_string(logs.path().join("application.stdout.log")).unwrap();
    assert_eq!(log, "ready\nclosed\n");
}

#[test]
fn an_interruption_ends_the_waiting_and_the_application() {
    let logs = tempfile::tempdir().unwrap();
    let interrupted = AtomicBool::new(true);
    let application =
        ChildApplication::start(&shell("exec tail -f /dev/null", logs.path())).unwrap();
    let pid = application.pid();
    let waited = application.wait_for_line(LONG, &interrupted);
    assert!(matches!(waited, Err(ProcessError::Interrupted)));
    drop(application);
    assert!(!runs(pid));
    let endless = run_to_end(&shell("exec tail -f /dev/null", logs.path()), &interrupted);
    assert!(matches!(endless, Err(ProcessError::Interrupted)));
}

#[test]
fn a_preparing_command_succeeds_or_tells_why_not() {
    let logs = tempfile::tempdir().unwrap();
    run_to_end(&shell("exit 0", logs.path()), &GOING_ON).unwrap();
    let error = run_to_end(&shell("echo disk full; exit 1", logs.path()), &GOING_ON).unwrap_err();
    assert!(error.to_string().contains("disk full"), "{error}");
}

/// Not a test by itself: what the next test kills.
#[test]
#[ignore = "started by an_application_does_not_survive_a_killed_laboratory"]
fn a_laboratory_that_will_be_killed() {
    let Ok(logs) = std::env::var("LOGS_OF_THE_KILLED") else { return };
    let application =
        ChildApplication::start(&shell("echo $$; exec tail -f /dev/null", Path::new(&logs)))
            .unwrap();
    application.wait_for_line(LONG, &GOING_ON).unwrap();
    fs::write(Path::new(&logs).join("ready"), application.pid().to_string()).unwrap();
    loop {
        thread::park();
    }
}

#[test]
fn an_application_does_not_survive_a_killed_laboratory() {
    let logs = tempfile::tempdir().unwrap();
    let mut laboratory = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "a_laboratory_that_will_be_killed"])
        .env("LOGS_OF_THE_KILLED", logs.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut pid = None;
    eventually("the application starts", || {
        pid = fs::read_to_string(logs.path().join("ready")).ok().and_then(|pid| pid.parse().ok());
        pid.is_some()
    });
    let pid = pid.unwrap();
    assert!(runs(pid));
    laboratory.kill().unwrap();
    laboratory.wait().unwrap();
    eventually("the application ends", || !runs(pid));
}
