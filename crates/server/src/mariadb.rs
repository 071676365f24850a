//! A private MariaDB: an own data directory, an own Unix socket, nothing on the network, run by an
//! unprivileged account, removed when it stops. Of the distribution's server, or of a release that
//! is unpacked in a folder.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::account::Account;
use crate::cluster::remove_folder;
use crate::locations::{check_socket_path, create_folder, random_name};
use crate::{Error, Locations};

/// How long one attempt to connect may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A server that has not taken connections by then is given up.
const START_AT_MOST: Duration = Duration::from_secs(60);
/// A server that has not ended by then is killed.
const STOP_AT_MOST: Duration = Duration::from_secs(60);

/// Where distributions put the programs.
const FOLDERS: [&str; 4] = ["/usr/sbin", "/usr/bin", "/usr/libexec", "/usr/local/bin"];

/// The programs of one release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MariadbPrograms {
    server: PathBuf,
    install: PathBuf,
    /// The folder of an unpacked release, which the programs have to be told.
    base: Option<PathBuf>,
}

impl MariadbPrograms {
    /// The distribution's programs, or those of a release in `folder`.
    ///
    /// # Errors
    /// [`Error::NoMariadb`].
    pub fn find(folder: Option<&Path>) -> Result<Self, Error> {
        let places: Vec<PathBuf> = match folder {
            Some(folder) => {
                ["bin", "sbin", "scripts", ""].iter().map(|inside| folder.join(inside)).collect()
            }
            None => FOLDERS.iter().map(PathBuf::from).collect(),
        };
        let find = |names: [&str; 2]| {
            let paths = names.iter().flat_map(|name| places.iter().map(move |p| p.join(name)));
            paths.into_iter().find(|path| path.is_file())
        };
        let missing = || Error::NoMariadb { folder: folder.map(Path::to_owned) };
        Ok(Self {
            server: find(["mariadbd", "mysqld"]).ok_or_else(missing)?,
            install: find(["mariadb-install-db", "mysql_install_db"]).ok_or_else(missing)?,
            base: folder.map(Path::to_owned),
        })
    }
}

/// A running MariaDB of ours. Dropping it stops it too.
#[derive(Debug)]
pub struct MariadbServer {
    folder: PathBuf,
    socket_folder: PathBuf,
    child: Child,
}

impl MariadbServer {
    /// Makes a data directory and starts a server on it with these settings.
    ///
    /// # Errors
    /// Whatever stands in the way; then nothing is left running.
    pub fn start(
        locations: &Locations,
        programs: &MariadbPrograms,
        settings: &[(String, String)],
        interrupted: &AtomicBool,
    ) -> Result<Self, Error> {
        let account = Account::detect()?;
        let all = locations.data.join("mariadb");
        account.check_reach(&all, "CROSSOVER_DATA_DIR")?;
        create_folder(&all)?;
        let folder = all.join(format!("temporary-{}", random_name()?));
        create_folder(&folder)?;
        let started = account.give(&folder).and_then(|()| {
            install(programs, &folder, &account)?;
            let socket_folder = locations.create_runtime_folder()?;
            let begun = account
                .give(&socket_folder)
                .and_then(|()| spawn(programs, &folder, &socket_folder, settings, &account));
            match begun {
                Ok(child) => Ok((child, socket_folder)),
                Err(error) => {
                    remove_folder(&socket_folder)?;
                    Err(error)
                }
            }
        });
        match started {
            Ok((child, socket_folder)) => {
                // From here on `Drop` stops what was started, whatever goes wrong.
                let mut server = Self { folder, socket_folder, child };
                server.wait_until_ready(interrupted)?;
                Ok(server)
            }
            Err(error) => {
                remove_folder(&folder)?;
                Err(error)
            }
        }
    }

    /// The address of `database` on the Unix socket; an empty name for none.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        let socket = socket_in(&self.socket_folder);
        format!("mariadb://root@localhost/{database}?socket={}", socket.display())
    }

    /// The process number of the server.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The folder that holds the data directory and the log.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn wait_until_ready(&mut self, interrupted: &AtomicBool) -> Result<(), Error> {
        let begun = Instant::now();
        loop {
            if interrupted.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let ended = !matches!(self.child.try_wait(), Ok(None));
            match engine::mysql::connect(&self.url(""), CONNECT_TIMEOUT) {
                Ok(_) => return Ok(()),
                Err(error) if begun.elapsed() > START_AT_MOST => return Err(error.into()),
                Err(_) if ended => {
                    return Err(Error::MariadbNotStarted { reason: last_words(&self.folder) });
                }
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    /// Stops the server and removes its data.
    ///
    /// # Errors
    /// [`Error::NotStopped`], [`Error::Io`].
    pub fn stop(mut self) -> Result<(), Error> {
        self.end()
    }

    fn end(&mut self) -> Result<(), Error> {
        if !self.folder.exists() {
            return Ok(());
        }
        let pid = self.child.id();
        let process = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let begun = Instant::now();
        let mut signal = Signal::TERM;
        while matches!(self.child.try_wait(), Ok(None)) {
            if let Some(process) = process
                .filter(|_| signal == Signal::KILL || begun.elapsed() < Duration::from_secs(1))
            {
                // It may have ended in this very moment.
                let _ = kill_process(process, signal);
            }
            if begun.elapsed() > STOP_AT_MOST * 2 {
                return Err(Error::NotStopped { pid });
            }
            if begun.elapsed() > STOP_AT_MOST {
                signal = Signal::KILL;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        remove_folder(&self.socket_folder)?;
        remove_folder(&self.folder)
    }
}

impl Drop for MariadbServer {
    fn drop(&mut self) {
        // Nobody is left to hear of a failure.
        let _ = self.end();
    }
}

fn socket_in(folder: &Path) -> PathBuf {
    folder.join("mariadb.sock")
}

fn data_in(folder: &Path) -> PathBuf {
    folder.join("data")
}

/// Makes the data directory. Its account `root` has no password: the socket's folder, mode 0700,
/// lets in nobody but us.
fn install(programs: &MariadbPrograms, folder: &Path, account: &Account) -> Result<(), Error> {
    let mut command = Command::new(&programs.install);
    account.prepare(&mut command);
    command.arg("--no-defaults").arg(format!("--datadir={}", data_in(folder).display()));
    if let Some(base) = &programs.base {
        command.arg(format!("--basedir={}", base.display()));
    }
    command.arg("--skip-name-resolve").stdin(Stdio::null());
    // Since 10.4 root would else be let in by the name of the operating system's account.
    let normal = "--auth-root-authentication-method=normal";
    let run = |command: &mut Command| command.output().map_err(Error::io("run", &programs.install));
    let output = run(command.arg(normal))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
    let program = programs.install.display().to_string();
    Err(Error::Program { program, reason: last.to_owned() })
}

fn spawn(
    programs: &MariadbPrograms,
    folder: &Path,
    socket_folder: &Path,
    settings: &[(String, String)],
    account: &Account,
) -> Result<Child, Error> {
    let socket = socket_in(socket_folder);
    check_socket_path(&socket)?;
    let log_path = folder.join("server.log");
    let log = File::create(&log_path).map_err(Error::io("create", &log_path))?;
    let mut command = Command::new(&programs.server);
    account.prepare(&mut command);
    command
        .arg("--no-defaults")
        .arg(format!("--datadir={}", data_in(folder).display()))
        .arg(format!("--socket={}", socket.display()))
        .arg(format!("--pid-file={}", folder.join("server.pid").display()))
        .args(["--skip-networking", "--skip-name-resolve", "--skip-log-bin"]);
    if let Some(base) = &programs.base {
        command.arg(format!("--basedir={}", base.display()));
    }
    for (name, value) in settings {
        command.arg(format!("--{}={value}", name.replace('_', "-")));
    }
    let errors = log.try_clone().map_err(Error::io("open", &log_path))?;
    command.stdin(Stdio::null()).stdout(log).stderr(errors);
    command.spawn().map_err(Error::io("run", &programs.server))
}

/// The line of the log that says why the server ended.
fn last_words(folder: &Path) -> String {
    let text = std::fs::read(folder.join("server.log")).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let said = text.lines().find_map(|line| line.split_once("[ERROR] ").map(|(_, said)| said));
    said.or_else(|| text.lines().last()).unwrap_or("it said nothing").to_owned()
}
