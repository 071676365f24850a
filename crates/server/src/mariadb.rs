//! A private MariaDB: an own data directory, an own Unix socket, nothing on the network, run by an
//! unprivileged account, removed when it stops. Of the distribution's server, of a release that is
//! fetched, or of one that is unpacked in a folder.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::EngineSource;
use indicatif::ProgressBar;

use crate::account::Account;
use crate::folder::{OwnerLock, remove_folder};
use crate::locations::{check_socket_path, random_name, write_whole};
use crate::{Error, Locations, affinity};

mod archive;
mod folders;
mod libraries;

pub use archive::fetched_mariadb_releases;
use folders::{copy_folder, folder_of_all, note_of_socket, stop_process, take_folder};
pub(crate) use folders::{running_servers, stop_orphan, stop_orphans};
use libraries::{check_libraries, folder_of_libraries};

/// How long one attempt to connect may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A server that has not taken connections by then is given up.
const START_AT_MOST: Duration = Duration::from_secs(60);
/// Where distributions put the programs.
const FOLDERS: [&str; 4] = ["/usr/sbin", "/usr/bin", "/usr/libexec", "/usr/local/bin"];
/// Where an unpacked release has them.
const INSIDE: [&str; 5] = ["bin", "sbin", "libexec", "scripts", ""];

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
    pub fn find(folder: Option<&Path>) -> Result<Self, Error> {
        // Programs run in another folder than ours.
        let absolute =
            |folder: &Path| std::path::absolute(folder).map_err(Error::io("find", folder));
        let base = folder.map(absolute).transpose()?;
        let places: Vec<PathBuf> = match &base {
            Some(base) => INSIDE.iter().map(|inside| base.join(inside)).collect(),
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
            base,
        })
    }

    /// The programs of an engine as named in a plan or on the command line; a release is fetched
    /// if it is not there yet.
    ///
    /// # Errors
    /// Programs that are not there and cannot be had.
    pub async fn of_engine(
        source: &EngineSource,
        locations: &Locations,
        progress: &ProgressBar,
        interrupted: &AtomicBool,
    ) -> Result<Self, Error> {
        match source {
            EngineSource::MariadbRelease(wanted) => {
                archive::resolve(locations, wanted, progress, interrupted).await
            }
            EngineSource::MariadbFolder(folder) => Self::find(Some(folder)),
            _ => Self::find(None),
        }
    }

    /// Runs `program` as that account, with temporary tables in this folder: a server that starts
    /// removes what it takes for its own leftovers, in /tmp also those of every other server.
    fn command(&self, program: &Path, folder: &Path, account: &Account) -> Command {
        let mut command = Command::new(program);
        account.prepare(&mut command);
        command.env("TMPDIR", folder);
        if let Some(libraries) = self.base.as_deref().and_then(folder_of_libraries) {
            command.env("LD_LIBRARY_PATH", libraries);
        }
        command
    }
}

/// Options of [`MariadbServer::start_with`].
#[derive(Debug, Clone)]
pub struct MariadbOptions {
    pub programs: MariadbPrograms,
    /// Given at start, in MariaDB's own units.
    pub settings: Vec<(String, String)>,
    /// A data directory that another server has left ([`MariadbServer::stop_and_keep`]); it is
    /// copied. None: a new one.
    pub data: Option<PathBuf>,
    /// The CPUs the server may use; all if absent. Linux only.
    pub cpus: Option<Vec<usize>>,
}

/// A MariaDB server that this program started. Dropping it stops it too.
#[derive(Debug)]
pub struct MariadbServer {
    folder: PathBuf,
    socket_folder: PathBuf,
    child: Child,
    /// Locked as long as this program is in charge.
    _lock: OwnerLock,
}

impl MariadbServer {
    /// Makes a data directory and starts a server on it with these settings.
    ///
    /// # Errors
    /// The obstacle; then nothing is left running.
    pub fn start(
        locations: &Locations,
        programs: &MariadbPrograms,
        settings: &[(String, String)],
        interrupted: &AtomicBool,
    ) -> Result<Self, Error> {
        let (programs, settings) = (programs.clone(), settings.to_vec());
        let options = MariadbOptions { programs, settings, data: None, cpus: None };
        Self::start_with(locations, &options, interrupted)
    }

    /// Stops what killed programs left running, makes or copies a data directory and starts a
    /// server on it.
    ///
    /// # Errors
    /// The obstacle; then nothing is left running.
    pub fn start_with(
        locations: &Locations,
        options: &MariadbOptions,
        interrupted: &AtomicBool,
    ) -> Result<Self, Error> {
        let account = Account::detect()?;
        options.cpus.as_deref().map_or(Ok(()), affinity::check)?;
        account.check_reach(&folder_of_all(locations), "CROSSOVER_DATA_DIR")?;
        if let Some(base) = &options.programs.base {
            account.check_reach(base, "mariadb:PATH")?;
        }
        let (folder, lock) = take_folder(locations)?;
        let started = account.give(&folder).and_then(|()| {
            match &options.data {
                None => install(&options.programs, &folder, &account)?,
                Some(kept) => copy_folder(kept, &data_in(&folder), &account)?,
            }
            let socket_folder = locations.create_runtime_folder(&random_name()?)?;
            // Written before the process exists, so that one killed right now is still found.
            let begun = write_whole(&note_of_socket(&folder), &text_of(&socket_folder), 0o600)
                .and_then(|()| account.give(&socket_folder))
                .and_then(|()| spawn(options, &folder, &socket_folder, &account));
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
                let mut server = Self { folder, socket_folder, child, _lock: lock };
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
        url_of(&self.socket_folder, database)
    }

    /// The process number of the server.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    #[must_use]
    pub fn data_directory(&self) -> PathBuf {
        data_in(&self.folder)
    }

    fn wait_until_ready(&mut self, interrupted: &AtomicBool) -> Result<(), Error> {
        let begun = Instant::now();
        loop {
            if interrupted.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let ended = !matches!(self.child.try_wait(), Ok(None));
            match connect::mysql::connect(&self.url(""), CONNECT_TIMEOUT) {
                Ok(_) => return Ok(()),
                Err(error) if begun.elapsed() > START_AT_MOST => return Err(error.into()),
                Err(_) if ended => {
                    return Err(Error::MariadbNotStarted { reason: last_log_lines(&self.folder) });
                }
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    /// Stops the server and removes its data.
    pub fn stop(mut self) -> Result<(), Error> {
        self.end()
    }

    /// Stops the server in order and moves its data directory to `kept`, on the same file system,
    /// in place of what was there.
    pub fn stop_and_keep(mut self, kept: &Path) -> Result<(), Error> {
        self.end_process()?;
        remove_folder(kept)?;
        let data = data_in(&self.folder);
        std::fs::rename(&data, kept).map_err(Error::io("move", &data))?;
        self.end()
    }

    /// Whether the server's process is still there.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// The last lines of the server's log.
    #[must_use]
    pub fn last_log_lines(&self) -> String {
        last_log_lines(&self.folder)
    }

    fn end(&mut self) -> Result<(), Error> {
        if !self.folder.exists() {
            return Ok(());
        }
        self.end_process()?;
        remove_folder(&self.socket_folder)?;
        remove_folder(&self.folder)
    }

    fn end_process(&mut self) -> Result<(), Error> {
        let child = &mut self.child;
        stop_process(child.id(), || !matches!(child.try_wait(), Ok(None)))
    }
}

impl Drop for MariadbServer {
    fn drop(&mut self) {
        // Nobody is left to hear of a failure.
        let _ = self.end();
    }
}

fn text_of(path: &Path) -> String {
    path.display().to_string()
}

fn socket_in(folder: &Path) -> PathBuf {
    folder.join("mariadb.sock")
}

fn url_of(socket_folder: &Path, database: &str) -> String {
    let socket = socket_in(socket_folder);
    format!("mariadb://root@localhost/{database}?socket={}", socket.display())
}

fn data_in(folder: &Path) -> PathBuf {
    folder.join("data")
}

/// Makes the data directory. Its account `root` has no password: the socket's folder, mode 0700,
/// lets in no other user.
fn install(programs: &MariadbPrograms, folder: &Path, account: &Account) -> Result<(), Error> {
    check_libraries(&programs.server, programs.command(Path::new("ldd"), folder, account))?;
    let mut command = programs.command(&programs.install, folder, account);
    command.arg("--no-defaults").arg(format!("--datadir={}", data_in(folder).display()));
    if let Some(base) = &programs.base {
        command.arg(format!("--basedir={}", base.display()));
    }
    // Forced, releases before 10.4 do without a machine that knows its own name.
    command.args(["--skip-name-resolve", "--force"]).stdin(Stdio::null());
    // Since 10.4 root would else be let in by the name of the operating system's account.
    let normal = "--auth-root-authentication-method=normal";
    let run = |command: &mut Command| command.output().map_err(Error::io("run", &programs.install));
    let output = run(command.arg(normal))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let mut errors = text.lines().filter(|line| line.contains("ERROR"));
    let last = errors.find(|line| !line.ends_with("Aborting"));
    let last = last.or_else(|| text.lines().rfind(|line| !line.trim().is_empty()));
    // Old releases say on standard output what is wrong, and then where to read more.
    let told = String::from_utf8_lossy(&output.stdout);
    let last = last.or_else(|| told.lines().find(|line| !line.trim().is_empty()));
    let last = last.unwrap_or("it said nothing");
    let program = programs.install.display().to_string();
    Err(Error::Program { program, reason: last.to_owned() })
}

fn spawn(
    options: &MariadbOptions,
    folder: &Path,
    socket_folder: &Path,
    account: &Account,
) -> Result<Child, Error> {
    let MariadbOptions { programs, settings, cpus, .. } = options;
    let socket = socket_in(socket_folder);
    check_socket_path(&socket)?;
    let log_path = folder.join("server.log");
    let log = File::create(&log_path).map_err(Error::io("create", &log_path))?;
    let mut command = programs.command(&programs.server, folder, account);
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
    let started = match cpus {
        Some(cpus) => affinity::spawn_bound(command, cpus),
        None => command.spawn(),
    };
    started.map_err(Error::io("run", &programs.server))
}

/// The line of the log that says why the server ended.
fn last_log_lines(folder: &Path) -> String {
    let text = std::fs::read(folder.join("server.log")).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let said = text.lines().find_map(|line| line.split_once("[ERROR] ").map(|(_, said)| said));
    said.or_else(|| text.lines().last()).unwrap_or("it said nothing").to_owned()
}
