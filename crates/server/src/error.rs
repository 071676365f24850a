//! Every way in which fetching, starting or stopping a server can fail, each with the way out.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Errors of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A name that is not a managed PostgreSQL.
    #[error(
        "`{engine}` is not a server that Crossover starts: name postgres, postgres:VERSION or \
         postgres:PATH"
    )]
    NotManaged { engine: String },
    /// An engine name or release that cannot be read.
    #[error(transparent)]
    Name(#[from] engine::Error),
    #[error(transparent)]
    Connect(#[from] connect::Error),
    /// Neither a cache, a network nor an installed server has the release.
    #[error(
        "{wanted} is not in the cache ({}) and cannot be fetched ({reason}){there}; \
         connect to a network, name an installed one ({by_path}), or copy the cache folder \
         from a machine that has it",
        cache.display()
    )]
    Offline {
        /// The release asked for, as in `PostgreSQL 18`.
        wanted: String,
        /// Where fetched releases are kept.
        cache: PathBuf,
        /// Why the network did not answer.
        reason: String,
        /// The way to name a folder, as in `postgres:PATH`.
        by_path: &'static str,
        /// Releases that did not match, as `; in the cache: 16.10; installed: 15.13`, or nothing.
        there: String,
    },
    /// The release does not exist among the archives.
    #[error("there is no archive of {wanted} for this machine{hint}")]
    NoSuchRelease {
        /// The release asked for, as in `PostgreSQL 18`.
        wanted: String,
        /// The way out, with its own punctuation.
        hint: String,
    },
    /// The download is not the file that was published.
    #[error(
        "the archive of {release} does not match its checksum: nothing was kept; try \
         again, and if it stays so look at what stands between this machine and the network"
    )]
    Checksum {
        /// As in `PostgreSQL 18.1`.
        release: String,
    },
    /// A release in the cache whose programs do not run.
    #[error(
        "PostgreSQL {version} in the cache is damaged ({reason}): remove it, and it is fetched \
         again (rm -r {})", folder.display()
    )]
    DamagedRelease { version: String, folder: PathBuf, reason: String },
    /// A folder that holds no server.
    #[error(
        "{} is not a folder with PostgreSQL's programs (postgres and initdb, there or in bin/); \
         a release is written with digits and dots, as in postgres:18", path.display()
    )]
    NoBinaries { path: PathBuf },
    #[error(
        "there is no MariaDB server {}: install one (Debian: apt-get install mariadb-server), or \
         name a folder with a release (mariadb:PATH)", place(.folder)
    )]
    NoMariadb {
        /// The folder named, if any.
        folder: Option<PathBuf>,
    },
    /// A release whose libraries the machine lacks.
    #[error(
        "{program} needs libraries that this machine lacks: {}; install them (Debian: apt-get \
         install {})", libraries.join(", "), packages.join(" ")
    )]
    MissingLibraries {
        program: String,
        /// As in `libaio.so.1`.
        libraries: Vec<String>,
        /// Debian's packages with them.
        packages: Vec<String>,
    },
    /// No pool can be started.
    #[error(
        "there is no pgbouncer on PATH, in /usr/sbin or in /usr/local/sbin: install it (Debian: \
         apt-get install pgbouncer), or leave pool out of the engine's brackets"
    )]
    NoPgbouncer,
    /// A pgbouncer that loses prepared statements where connections are shared.
    #[error(
        "{} is PgBouncer {version}, and prepared statements over shared connections need 1.21 or \
         newer: install a newer one, or write pool=session:{size}", program.display()
    )]
    OldPgbouncer { program: PathBuf, version: String, size: u16 },
    /// MariaDB ended before it took connections.
    #[error("MariaDB did not start: {reason}")]
    MariadbNotStarted { reason: String },
    /// A program of a server did not run.
    #[error("{program} failed: {reason}")]
    Program { program: String, reason: String },
    /// Running as root on a machine without an account for servers.
    #[error(
        "PostgreSQL does not run as root, and this machine has neither an account `postgres` nor \
         `nobody`: create one (useradd --system postgres) or run Crossover as an ordinary user"
    )]
    NoAccount,
    /// The servers' account cannot get at a folder.
    #[error(
        "the account `{account}` that runs servers cannot reach {}: {} is closed to it; choose \
         another place by {variable}, or chmod o+x that folder", path.display(), closed.display()
    )]
    OutOfReach {
        account: String,
        /// The path that it has to reach.
        path: PathBuf,
        /// The folder on the way that is closed.
        closed: PathBuf,
        /// The environment variable that names another place.
        variable: &'static str,
    },
    /// A socket path that the operating system would not take.
    #[error(
        "the socket path {} has {length} bytes, 107 are possible: set XDG_RUNTIME_DIR to a shorter \
         folder", path.display()
    )]
    SocketPathTooLong {
        path: PathBuf,
        /// Its length in bytes.
        length: usize,
    },
    /// A folder for sockets that another user could have prepared.
    #[error(
        "{} belongs to another account or may be written by others: remove it, or set \
         XDG_RUNTIME_DIR to a folder of your own", path.display()
    )]
    UnsafeFolder { path: PathBuf },
    /// Another program runs a server on the same data directory.
    #[error(
        "another Crossover{owner} has PostgreSQL on {}: wait until it ends, or keep data apart with \
         CROSSOVER_DATA_DIR", directory.display()
    )]
    InUse {
        directory: PathBuf,
        /// ` (process NUMBER)`, or nothing if it is only about to start.
        owner: String,
    },
    /// `server start` did so earlier.
    #[error(
        "PostgreSQL {version} is already running on this data: {url} (crossover server stop ends it)"
    )]
    AlreadyRunning {
        /// The folder of its data directory.
        folder: PathBuf,
        version: String,
        /// Its address, without a password.
        url: String,
    },
    /// A setting that this release does not have.
    #[error("PostgreSQL {version} has no setting `{name}`{suggestion}")]
    UnknownSetting {
        name: String,
        version: String,
        /// ` (did you mean ...?)` or another way out, or nothing.
        suggestion: String,
    },
    /// A value that the setting does not take.
    #[error("PostgreSQL {version} does not take `{name}={value}`: {reason}")]
    BadSetting { name: String, value: String, version: String, reason: String },
    /// A setting that Crossover itself decides.
    #[error("setting `{name}` is Crossover's to decide: {reason}")]
    ReservedSetting {
        name: String,
        /// Why, and what to do instead.
        reason: &'static str,
    },
    /// TCP asked of a release whose passwords are weak.
    #[error(
        "PostgreSQL {version} has no scram passwords, so Crossover does not open it to TCP: use \
         its socket, or release 10 or newer"
    )]
    NoScram { version: String },
    /// CPUs that this process may not use.
    #[error("CPU {cpu} is not among those this program may use ({allowed})")]
    NoSuchCpu { cpu: usize, allowed: String },
    /// CPU affinity on a system that has none.
    #[error("servers can be bound to CPUs on Linux only: leave the CPUs out")]
    NoAffinity,
    /// The server ended before it took connections.
    #[error("PostgreSQL {version} did not start: {reason}{log}")]
    NotStarted {
        version: String,
        reason: String,
        /// ` (its log: PATH)`, or nothing if the log went with its temporary folder.
        log: String,
    },
    /// A killed server that PostgreSQL believes alive.
    #[error(
        "process {pid}, the PostgreSQL that ran on this data, was killed, but its parent (process \
         {parent}) takes no notice, so that PostgreSQL believes it alive: end process {parent}, or \
         in a container start it with an init (docker run --init)"
    )]
    Unnoticed { pid: u32, parent: u32 },
    /// A server that does not end.
    #[error("PostgreSQL (process {pid}) does not stop: end it by hand (kill -QUIT {pid})")]
    NotStopped { pid: u32 },
    /// No server of that name runs.
    #[error("no managed server `{name}` is running; see crossover server status")]
    NotRunning { name: String },
    /// No data directory of that name is kept.
    #[error("no data directory `{name}` is kept; see crossover server list")]
    NoSuchData { name: String },
    /// No home directory to keep things in.
    #[error(
        "no place to keep files: HOME is not set; set it, or CROSSOVER_CACHE_DIR and \
         CROSSOVER_DATA_DIR"
    )]
    NoHome,
    /// The operating system refused something.
    #[error("cannot {action} {}: {reason}{}", path.display(), elsewhere(path, reason))]
    Io {
        /// The action that was tried, as in `create`.
        action: &'static str,
        path: PathBuf,
        /// The reason. Not called `source`: it is in the message already.
        reason: std::io::Error,
    },
    /// The server reported an error.
    #[error("PostgreSQL: {0}")]
    Postgres(String),
    #[error("interrupted")]
    Interrupted,
}

fn place(folder: &Option<PathBuf>) -> String {
    folder.as_ref().map_or("on this machine".to_owned(), |path| format!("in {}", path.display()))
}

/// The folders of this account by the variable that names another one, once they are looked for.
pub(crate) static PLACES: OnceLock<[(&str, PathBuf); 2]> = OnceLock::new();

/// The way out where such a folder cannot take more: the variable that names another one; otherwise
/// nothing.
pub fn elsewhere(path: &Path, reason: &std::io::Error) -> String {
    use std::io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    let refused = [PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull];
    let mut places = PLACES.get().into_iter().flatten();
    let place = places.find(|(_, place)| path.starts_with(place) || place.starts_with(path));
    match place {
        Some((variable, _)) if refused.contains(&reason.kind()) => {
            format!("; {variable} names another folder")
        }
        _ => String::new(),
    }
}

impl Error {
    /// A mistake in the command line, a plan, a URL or a setting: exit code 2.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Connect(error) => error.is_usage(),
            _ => matches!(
                self,
                Self::Name(_)
                    | Self::NotManaged { .. }
                    | Self::NoSuchRelease { .. }
                    | Self::NoBinaries { .. }
                    | Self::NoMariadb { .. }
                    | Self::MissingLibraries { .. }
                    | Self::NoPgbouncer
                    | Self::OldPgbouncer { .. }
                    | Self::UnknownSetting { .. }
                    | Self::BadSetting { .. }
                    | Self::ReservedSetting { .. }
                    | Self::NoScram { .. }
                    | Self::NoSuchCpu { .. }
            ),
        }
    }

    /// For `map_err` on input and output: what was tried, and where.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |reason| Self::Io { action, path, reason }
    }
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        // The client's own `Display` of what the server reports is only "db error".
        Self::Postgres(error.as_db_error().map_or_else(
            || match std::error::Error::source(&error) {
                Some(source) => format!("{error}: {source}"),
                None => error.to_string(),
            },
            |reported| match reported.detail() {
                Some(detail) => format!("{} ({detail})", reported.message()),
                None => reported.message().to_owned(),
            },
        ))
    }
}
