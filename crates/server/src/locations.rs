//! Locations of files: fetched releases, data directories, sockets. As root under /var, so that the
//! servers' account can reach them; as a user in the XDG directories.

use std::fs::{DirBuilder, File, Permissions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::Error;
use crate::error::PLACES;

/// The three places where Crossover keeps what belongs to servers, and whether it fetches more.
#[derive(Debug, Clone)]
pub struct Locations {
    /// Fetched releases: `/var/cache/crossover`, or `$XDG_CACHE_HOME/crossover`.
    pub cache: PathBuf,
    /// Data directories and records of servers: `/var/lib/crossover`, or
    /// `$XDG_DATA_HOME/crossover`.
    pub data: PathBuf,
    /// Sockets, whose paths must be short: `/run/crossover`, or `$XDG_RUNTIME_DIR/crossover`,
    /// otherwise a folder in `/tmp`.
    pub runtime: PathBuf,
    /// Nothing is fetched: what is cached or installed has to do.
    pub offline: bool,
}

/// The longest path of a socket on Linux: `sun_path` has 108 bytes with the closing zero.
const SOCKET_PATH_BYTES: usize = 107;

/// The length that a server's socket adds to the runtime directory: a name of eight digits and
/// PostgreSQL's.
const SOCKET_NAME: &str = "/12345678/.s.PGSQL.5432";

impl Locations {
    /// The places for this account, with `CROSSOVER_CACHE_DIR` and `CROSSOVER_DATA_DIR` heeded.
    pub fn detect() -> Result<Self, Error> {
        let variable = |name: &str| {
            std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
        };
        let root = rustix::process::geteuid().is_root();
        let place = |own: &str, for_root: &str, xdg: &str, in_home: &str| {
            let found = match variable(own) {
                Some(path) => path,
                None if root => for_root.into(),
                None => match variable(xdg) {
                    Some(path) => path.join("crossover"),
                    None => variable("HOME").ok_or(Error::NoHome)?.join(in_home).join("crossover"),
                },
            };
            std::path::absolute(&found).map_err(Error::io("find", &found))
        };
        let found = Self {
            cache: place(
                "CROSSOVER_CACHE_DIR",
                "/var/cache/crossover",
                "XDG_CACHE_HOME",
                ".cache",
            )?,
            data: place(
                "CROSSOVER_DATA_DIR",
                "/var/lib/crossover",
                "XDG_DATA_HOME",
                ".local/share",
            )?,
            runtime: runtime(root, variable("XDG_RUNTIME_DIR")),
            offline: false,
        };
        PLACES.get_or_init(|| {
            [
                ("CROSSOVER_CACHE_DIR", found.cache.clone()),
                ("CROSSOVER_DATA_DIR", found.data.clone()),
            ]
        });
        Ok(found)
    }

    /// The folder of all data directories.
    pub(crate) fn clusters(&self) -> PathBuf {
        self.data.join("postgres")
    }

    /// The folder of all fetched releases of PostgreSQL.
    pub(crate) fn releases(&self) -> PathBuf {
        self.cache.join("postgres")
    }

    /// The folder of all fetched releases of MariaDB.
    pub(crate) fn mariadb_releases(&self) -> PathBuf {
        self.cache.join("mariadb")
    }

    /// A new folder in the runtime directory, mode 0700, in place of one that is there.
    pub(crate) fn create_runtime_folder(&self, name: &str) -> Result<PathBuf, Error> {
        // Others must be able to pass through where the servers' account is another one.
        let mode = if rustix::process::geteuid().is_root() { 0o711 } else { 0o700 };
        match DirBuilder::new().mode(mode).create(&self.runtime) {
            Ok(()) => set_mode(&self.runtime, mode)?,
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Error::io("create", &self.runtime)(error)),
        }
        let found = self.runtime.symlink_metadata().map_err(Error::io("read", &self.runtime))?;
        let ours = found.uid() == rustix::process::geteuid().as_raw();
        if !found.is_dir() || !ours || found.mode() & 0o022 != 0 {
            return Err(Error::UnsafeFolder { path: self.runtime.clone() });
        }
        let folder = self.runtime.join(name);
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io("remove", &folder)(error));
            }
            _ => {}
        }
        DirBuilder::new().mode(0o700).create(&folder).map_err(Error::io("create", &folder))?;
        Ok(folder)
    }
}

fn runtime(root: bool, xdg: Option<PathBuf>) -> PathBuf {
    let preferred = if root { Some(PathBuf::from("/run")) } else { xdg };
    let fits = |path: &Path| path.as_os_str().len() + SOCKET_NAME.len() <= SOCKET_PATH_BYTES;
    let writable = |path: &Path| rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
    match preferred {
        Some(parent) if writable(&parent) && fits(&parent.join("crossover")) => {
            parent.join("crossover")
        }
        _ => format!("/tmp/crossover-{}", rustix::process::geteuid().as_raw()).into(),
    }
}

/// Refuses a socket path that the operating system would cut off.
pub(crate) fn check_socket_path(path: &Path) -> Result<(), Error> {
    let length = path.as_os_str().len();
    if length > SOCKET_PATH_BYTES {
        return Err(Error::SocketPathTooLong { path: path.to_owned(), length });
    }
    Ok(())
}

pub(crate) fn random_name() -> Result<String, Error> {
    Ok(hex::encode(random_bytes::<4>()?))
}

/// Bytes from the operating system's generator.
pub(crate) fn random_bytes<const LENGTH: usize>() -> Result<[u8; LENGTH], Error> {
    let mut bytes = [0; LENGTH];
    getrandom::fill(&mut bytes).map_err(|error| {
        Error::io("read", Path::new("/dev/urandom"))(std::io::Error::other(error))
    })?;
    Ok(bytes)
}

/// Creates `path` and its missing parents, all with mode 0755 whatever the umask is: the servers'
/// account has to pass through.
pub(crate) fn create_folder(path: &Path) -> Result<(), Error> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        create_folder(parent)?;
    }
    match std::fs::create_dir(path) {
        Ok(()) => set_mode(path, 0o755),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(Error::io("create", path)(error)),
    }
}

pub(crate) fn set_mode(path: &Path, mode: u32) -> Result<(), Error> {
    std::fs::set_permissions(path, Permissions::from_mode(mode))
        .map_err(Error::io("set the rights of", path))
}

/// Opens a file that is only ever locked. No other user may open it, so none can hold its lock.
pub(crate) fn open_lock(path: &Path) -> Result<File, Error> {
    let mut options = File::options();
    options.write(true).create(true).truncate(false).mode(0o600);
    options.open(path).map_err(Error::io("open", path))
}

/// Writes a small file, whole or not at all; the umask takes no rights away that the servers' account
/// needs.
pub(crate) fn write_whole(path: &Path, text: &str, mode: u32) -> Result<(), Error> {
    whole_file::write_with_mode(path, text.as_bytes(), mode).map_err(Error::io("write", path))
}
