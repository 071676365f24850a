//! The postmaster process: started directly (pg_ctl adds nothing), recognised again by its data
//! directory, stopped in PostgreSQL's own ways: fast, immediate, and as the last resort killed.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::account::Account;
use crate::folder::data_in;
use crate::{Error, Release, affinity, process};

/// Options of a postmaster's start.
pub(crate) struct Start<'a> {
    pub(crate) release: &'a Release,
    pub(crate) data: &'a Path,
    pub(crate) log: File,
    pub(crate) access_rules: &'a Path,
    pub(crate) socket_folder: &'a Path,
    pub(crate) tcp_port: Option<u16>,
    pub(crate) settings: &'a [(String, String)],
    pub(crate) cpus: Option<&'a [usize]>,
}

/// Starts a postmaster as `account`.
pub(crate) fn spawn(start: Start<'_>, account: &Account) -> Result<Child, Error> {
    let program = start.release.binaries.join("postgres");
    let mut command = Command::new(&program);
    account.prepare(&mut command);
    command.arg("-D").arg(start.data);
    let mut set = |name: &str, value: &str| {
        command.arg("-c").arg(format!("{name}={value}"));
    };
    set("unix_socket_directories", &start.socket_folder.display().to_string());
    set("hba_file", &start.access_rules.display().to_string());
    match start.tcp_port {
        Some(port) => {
            set("listen_addresses", "127.0.0.1");
            set("port", &port.to_string());
        }
        None => set("listen_addresses", ""),
    }
    for (name, value) in start.settings {
        set(name, value);
    }
    let errors = start.log.try_clone().map_err(Error::io("open", &program))?;
    command.stdin(Stdio::null()).stdout(start.log).stderr(errors);
    let started = match start.cpus {
        Some(cpus) => affinity::spawn_bound(command, cpus),
        None => command.spawn(),
    };
    started.map_err(Error::io("run", &program))
}

/// The postmaster that runs on the data directory in `folder`, if one does: named by its own
/// `postmaster.pid` and recognised by its command line, since process numbers are used again.
pub(crate) fn find(folder: &Path) -> Option<u32> {
    let data = data_in(folder);
    let text = std::fs::read_to_string(data.join("postmaster.pid")).ok()?;
    let pid: u32 = text.lines().next()?.trim().parse().ok()?;
    process::has_argument(pid, data.as_os_str().as_encoded_bytes()).then_some(pid)
}

/// Whether the postmaster `pid` of `folder` is gone: it removes the file that names it a moment
/// before its process ends.
pub(crate) fn has_ended(pid: u32, folder: &Path) -> bool {
    match cfg!(target_os = "linux") {
        true => process::has_ended(pid, data_in(folder).as_os_str().as_encoded_bytes()),
        // Elsewhere a process that has ended takes signals until its parent has waited for it.
        false => find(folder).is_none(),
    }
}

/// Of a postmaster of `folder` that was killed and that its parent has not waited for: its process
/// and its parent's. PostgreSQL believes it alive and refuses to start.
pub(crate) fn unnoticed(folder: &Path) -> Option<(u32, u32)> {
    let text = std::fs::read_to_string(data_in(folder).join("postmaster.pid")).ok()?;
    let pid: u32 = text.lines().next()?.trim().parse().ok()?;
    Some((pid, process::parent_of_zombie(pid)?))
}

/// Whether child processes of a killed postmaster of `folder` are still attached to its shared memory:
/// until they end, PostgreSQL refuses to start. Known on Linux.
pub(crate) fn has_children(folder: &Path) -> bool {
    let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
    let noted = read(&data_in(folder).join("postmaster.pid"));
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let Some(key_and_id) = noted.lines().nth(6).map(words) else { return false };
    // Columns: key, ID, permissions, size, creator, last process, processes attached.
    let segments = read(Path::new("/proc/sysvipc/shm"));
    segments.lines().map(words).any(|segment| {
        segment.get(..2) == Some(&key_and_id) && segment.get(6).is_some_and(|it| it != "0")
    })
}

fn pid_of(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

/// PostgreSQL's ways to stop, gentlest first, with the time each is given: fast (sessions end,
/// data is written out), immediate (recovery at the next start), killed.
const WAYS: [(Signal, Duration); 3] = [
    (Signal::INT, Duration::from_secs(60)),
    (Signal::QUIT, Duration::from_secs(10)),
    (Signal::KILL, Duration::from_secs(5)),
];

/// Stops process `pid`; `has_ended` says when it is gone.
pub(crate) fn stop(pid: u32, mut has_ended: impl FnMut() -> bool) -> Result<(), Error> {
    let Some(process) = pid_of(pid) else { return Ok(()) };
    for (signal, grace) in WAYS {
        if has_ended() {
            return Ok(());
        }
        // It may have ended in this very moment; the loop below finds out.
        let _ = kill_process(process, signal);
        let deadline = Instant::now() + grace;
        while Instant::now() < deadline {
            if has_ended() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    Err(Error::NotStopped { pid })
}

/// The last lines in a server's log that say why it ended.
pub(crate) fn last_log_lines(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let message = |line: &str| {
        let words = ["FATAL:  ", "PANIC:  ", "ERROR:  "];
        let said = words.iter().find_map(|word| line.split_once(word).map(|(_, rest)| rest));
        // Answers to clients (it is starting up, shutting down) are not why it ended.
        said.filter(|said| !said.starts_with("the database system is ")).map(str::to_owned)
    };
    let fatal = text.lines().rev().find_map(message);
    fatal
        .or_else(|| text.lines().rfind(|line| !line.trim().is_empty()).map(str::to_owned))
        .unwrap_or_else(|| "it said nothing".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_killed_postmaster_is_a_zombie_until_it_is_reaped() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id();
        std::fs::create_dir(data_in(folder.path())).unwrap();
        let file = data_in(folder.path()).join("postmaster.pid");
        std::fs::write(file, format!("{pid}\n/data\n")).unwrap();
        assert_eq!(unnoticed(folder.path()), None);
        child.kill().unwrap();
        let deadline = Instant::now() + Duration::from_secs(10);
        while unnoticed(folder.path()).is_none() && Instant::now() < deadline {
            std::thread::yield_now();
        }
        assert_eq!(unnoticed(folder.path()), Some((pid, std::process::id())));
        child.wait().unwrap();
        assert_eq!(unnoticed(folder.path()), None);
    }

    #[test]
    fn the_last_words_are_the_reason_and_not_answers_to_clients() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("server.log");
        let text = "LOG:  database system was not properly shut down\n\
                    FATAL:  could not write to file \"pg_wal/xlogtemp.1\": No space left on device\n\
                    FATAL:  the database system is starting up\n\
                    LOG:  startup process (PID 7) exited with exit code 1\n";
        std::fs::write(&log, text).unwrap();
        assert!(last_log_lines(&log).ends_with("No space left on device"));
    }
}
