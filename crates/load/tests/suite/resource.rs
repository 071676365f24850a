//! Resources of real process trees, against what the shell itself counts of its children.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use load::resource::{MachineCounters, ResourceError, ServerSide, pin_this_thread};
use plan::available_cpus;

/// A shell that does what each line says, and answers with `done`.
struct Shell {
    child: Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Shell {
    fn start() -> Self {
        let mut child = Command::new("sh")
            .args(["-c", "while read command; do eval \"$command\"; echo done; done"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { child, answers }
    }

    fn run(&mut self, command: &str) -> String {
        writeln!(self.child.stdin.as_mut().unwrap(), "{command}").unwrap();
        let mut said = String::new();
        while !said.ends_with("done\n") {
            assert!(self.answers.read_line(&mut said).unwrap() > 0, "the shell ended");
        }
        said
    }

    /// User and system seconds of the shell and of the children it has waited for, by `times`.
    fn times(&mut self) -> f64 {
        let said = self.run("times");
        let second = |text: &str| {
            let (minutes, seconds) = text.trim_end_matches('s').split_once('m').unwrap();
            minutes.parse::<f64>().unwrap() * 60.0 + seconds.parse::<f64>().unwrap()
        };
        said.split_whitespace().filter(|word| word.ends_with('s')).map(second).sum()
    }

    fn server_side(&self) -> ServerSide {
        ServerSide { roots: vec![self.child.id()] }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const BURN: &str = "i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done";

#[test]
fn time_of_children_that_have_come_and_gone_is_counted_once() {
    let mut shell = Shell::start();
    let server = shell.server_side();
    let counted_before = shell.times();
    let before = server.snapshot().unwrap();
    // The shell itself, a child, and a child's child.
    shell.run(BURN);
    shell.run(&format!("( {BURN} )"));
    shell.run(&format!("( ( {BURN} ); true )"));
    let used = server.snapshot().unwrap().since(&before);
    let counted = shell.times() - counted_before;
    // The kernel keeps both accounts of the same work, so that they agree does not depend on how
    // long it took; a process counted twice would add a quarter and more.
    let ratio = used.cpu_seconds() / counted;
    assert!((0.85..1.15).contains(&ratio), "{used:?} against {counted}");
    assert!(used.cpu_seconds_user > 0.1, "{used:?}");
    assert_eq!(used.processes, 1);
}

#[test]
fn live_descendants_are_in_the_tree_and_idle_ones_use_nothing() {
    let mut shell = Shell::start();
    let server = shell.server_side();
    shell.run("tail -f /dev/null & background=$!");
    let before = server.snapshot().unwrap();
    // It waits for its child, and not only for the next line.
    shell.run("sleep 0.1");
    let used = server.snapshot().unwrap().since(&before);
    assert_eq!(used.processes, 2);
    assert!(!testing::prove() || used.cpu_seconds() <= 0.05, "{used:?}");
    assert!(used.voluntary_context_switches >= 1, "the shell waited: {used:?}");
    assert!(used.resident_bytes_peak > 100_000, "{used:?}");
    shell.run("kill $background");
}

#[test]
fn bytes_written_by_a_child_that_has_ended_are_counted() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = directory.path().join("written");
    let mut shell = Shell::start();
    let server = shell.server_side();
    let before = server.snapshot().unwrap();
    shell.run(&format!("head -c 3000000 /dev/zero > '{}'", file.display()));
    let used = server.snapshot().unwrap().since(&before);
    assert!(used.written_bytes.unwrap() >= 3_000_000, "{used:?}");
}

#[test]
fn a_root_that_has_ended_is_named() {
    let mut shell = Shell::start();
    let server = shell.server_side();
    server.snapshot().unwrap();
    shell.child.kill().unwrap();
    shell.child.wait().unwrap();
    let error = server.snapshot().unwrap_err();
    assert!(matches!(error, ResourceError::NoSuchProcess(pid) if pid == shell.child.id()));
}

#[test]
fn the_machine_is_read_and_compared_with_itself() {
    let counters = MachineCounters::read().unwrap();
    assert!(counters.steal_seconds.is_some() && counters.idle_seconds.is_some());
    let later = MachineCounters::read().unwrap().since(&counters);
    assert!(later.idle_seconds.unwrap() >= 0.0);
    assert_eq!(counters.since(&counters).idle_seconds, Some(0.0));
}

#[test]
fn a_thread_is_bound_to_processors_that_exist() {
    let all = available_cpus();
    let last = *all.last().unwrap();
    std::thread::spawn(move || {
        pin_this_thread(&[last]).unwrap();
        assert_eq!(available_cpus(), [last]);
        assert!(matches!(pin_this_thread(&[]), Err(ResourceError::Affinity { .. })));
    })
    .join()
    .unwrap();
    let error = pin_this_thread(&[1023]).unwrap_err().to_string();
    assert!(error.contains("[1023]") && error.contains(&format!("{all:?}")), "{error}");
}
