//! What the tests of servers share: a place of their own for data beside the shared cache, and
//! other processes: the same test binary run as another account, or as an owner to be killed.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::AtomicBool;

use indicatif::ProgressBar;
use server::{Error, Locations, PostgresServer, Release, StartOptions};

/// A data directory that goes away with the test; releases come from the shared cache.
pub struct Place {
    pub locations: Locations,
    _directory: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        // As root the servers' account has to pass through.
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(directory.path(), open).unwrap();
        let data = directory.path().to_owned();
        let locations = Locations { data, ..Locations::detect().unwrap() };
        Self { locations, _directory: directory }
    }

    /// The names of the data directories.
    pub fn folders(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.locations.data.join("postgres")) else {
            return Vec::new();
        };
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| !name.starts_with('.')).collect()
    }
}

pub async fn start(place: &Place, options: StartOptions) -> Result<PostgresServer, Error> {
    start_in(&place.locations, options).await
}

pub async fn start_in(
    locations: &Locations,
    options: StartOptions,
) -> Result<PostgresServer, Error> {
    let progress = ProgressBar::hidden();
    PostgresServer::start(locations, options, &progress, &AtomicBool::new(false)).await
}

/// Makes sure that a release is in the shared cache.
pub fn cached_release(version: &str) -> Release {
    let options = StartOptions::new(version).unwrap();
    let (place, progress, interrupted) =
        (Place::new(), ProgressBar::hidden(), AtomicBool::new(false));
    let check = PostgresServer::check(&place.locations, &options, &progress, &interrupted);
    tokio::runtime::Runtime::new().unwrap().block_on(check).unwrap()
}

pub async fn text(client: &tokio_postgres::Client, sql: &str) -> String {
    client.query_one(sql, &[]).await.unwrap().get(0)
}

/// Whether a process is there and not merely waiting to be collected by its parent.
pub fn is_alive(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    status.is_ok_and(|status| !status.rsplit(") ").next().unwrap().starts_with('Z'))
}

/// `Cpus_allowed_list` of a process; none of one that has ended.
pub fn allowed_cpus(pid: u32) -> Option<String> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    Some(line.unwrap().trim().to_owned())
}

pub fn children(pid: u32) -> Vec<u32> {
    let path = format!("/proc/{pid}/task/{pid}/children");
    let text = std::fs::read_to_string(path).unwrap();
    text.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

/// Runs one test of this binary as `nobody`, with a home of its own and the cache as it is.
pub fn as_other_account(test: &str) -> Output {
    let home = tempfile::tempdir().unwrap();
    let nobody = Some(65534);
    std::os::unix::fs::chown(home.path(), nobody, nobody).unwrap();
    Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env("HOME", home.path())
        .env("TMPDIR", home.path())
        .env("CROSSOVER_CACHE_DIR", Locations::detect().unwrap().cache)
        .env("CROSSOVER_DATA_DIR", home.path().join("data"))
        .env_remove("XDG_RUNTIME_DIR")
        .current_dir("/")
        .output()
        .unwrap()
}

/// The ignored test `role` of this binary as another process with another data directory.
pub fn other_process(role: &str, data: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", role, "--nocapture"]).env("CROSSOVER_DATA_DIR", data);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}
