//! Tools under comparison, each a program that is started, watched and timed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use server::{Locations, PostgresServer, StartOptions};
use testing::benchmark::{is_tiny, program};

use crate::data;

/// Interval of reading a program's peak memory; the kernel keeps the peak itself.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// A way to move the naive dashboard's rows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// `crossover migrate --data-only --no-verify`
    Crossover,
    /// `crossover migrate --data-only`
    Verified,
    Pgloader,
    /// `psql \copy` from ready files in one stream, keys and indexes after it
    Psql,
}

impl Way {
    /// Whether it is not ours: if it crashes, the others are measured further.
    pub fn is_peer(self) -> bool {
        match self {
            Self::Crossover | Self::Verified => false,
            Self::Pgloader | Self::Psql => true,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Crossover => "crossover, no proof",
            Self::Verified => "crossover",
            Self::Pgloader => "pgloader",
            Self::Psql => "psql \\copy",
        }
    }

    /// Required speed relative to another tool (issue 7).
    pub fn thresholds(self) -> &'static [(Self, f64)] {
        match self {
            Self::Crossover => &[(Self::Pgloader, 3.0), (Self::Psql, 0.95)],
            Self::Verified => &[(Self::Pgloader, 2.0)],
            Self::Pgloader | Self::Psql => &[],
        }
    }
}

pub struct Measured {
    pub seconds: f64,
    pub peak_bytes: u64,
}

impl Measured {
    pub fn show(&self, rows: u64) -> String {
        let (rate, megabytes) = (rows as f64 / self.seconds, self.peak_bytes / 1_000_000);
        format!("{:8.2} s {rate:12.0} rows/s {megabytes:6} MB", self.seconds)
    }
}

/// The programs and the server.
pub struct Tools {
    crossover: PathBuf,
    pgloader: bool,
    psql: bool,
    folder: PathBuf,
    server: PostgresServer,
}

impl Tools {
    pub async fn find(folder: &Path) -> Self {
        let crossover = program();
        assert!(crossover.exists(), "{}: build it by make release", crossover.display());
        let found = |name: &str| {
            if is_tiny() {
                return false;
            }
            let quiet = Command::new(name).arg("--version").stdout(Stdio::null()).status();
            let there = quiet.is_ok_and(|status| status.success());
            if !there {
                println!("{name} is not there: its column is left out");
            }
            there
        };
        let mut options = StartOptions::new("18").unwrap();
        options.temporary = true;
        let (progress, interrupted) = (ProgressBar::hidden(), AtomicBool::new(false));
        let locations = Locations::detect().unwrap();
        let server = PostgresServer::start(&locations, options, &progress, &interrupted);
        let server = server.await.unwrap();
        let (pgloader, psql) = (found("pgloader"), found("psql"));
        Self { crossover, pgloader, psql, folder: folder.to_owned(), server }
    }

    pub fn ways(&self) -> Vec<Way> {
        let all = [Way::Crossover, Way::Verified, Way::Pgloader, Way::Psql];
        let there = all.into_iter().filter(|way| match way {
            Way::Crossover | Way::Verified => true,
            Way::Pgloader => self.pgloader && self.psql,
            Way::Psql => self.psql,
        });
        there.collect()
    }

    /// Moves the file's rows into fresh tables, up to the last valid constraint and ANALYZE.
    pub fn naive(&self, way: Way, file: &Path, csv: &Path) -> Result<Measured, String> {
        let url = self.fresh_database();
        let keys = if way == Way::Psql { String::new() } else { data::create_keys() };
        self.sql(&url, &format!("{}{keys}", data::create_tables()));
        let mut crossover = Command::new(&self.crossover);
        crossover.arg("migrate").arg(file).arg(&url).arg("--data-only");
        match way {
            Way::Crossover => watched(crossover.arg("--no-verify")),
            Way::Verified => watched(&mut crossover),
            Way::Pgloader => {
                let script = self.folder.join("pgloader.load");
                // pgloader names a socket's folder and port before the database.
                let target = self.server.url("bench");
                let host = target.host().unwrap_or_default();
                let port = target.port().unwrap_or(5432);
                let host = if host.starts_with('/') { format!("unix:{host}") } else { host.into() };
                let text = format!(
                    "LOAD DATABASE FROM sqlite://{} INTO postgresql://postgres@{host}:{port}/bench \
                     WITH data only, reset sequences \
                     EXCLUDING TABLE NAMES LIKE 'sqlite_stat1';",
                    file.canonicalize().unwrap().display()
                );
                std::fs::write(&script, text).unwrap();
                let loaded = watched(Command::new("pgloader").arg(&script))?;
                let analysed = watched(&mut psql(&url, "VACUUM ANALYZE"))?;
                Ok(Measured { seconds: loaded.seconds + analysed.seconds, ..loaded })
            }
            Way::Psql => {
                let mut script = String::new();
                for table in data::TABLES {
                    let path = csv.join(format!("{table}.csv"));
                    script.push_str(&format!(
                        "\\copy {table} from '{}' with (format csv)\n",
                        path.display()
                    ));
                }
                let keys = data::create_keys().replace(';', ";\n");
                script.push_str(&format!("{keys}\nVACUUM ANALYZE;\n"));
                let path = self.folder.join("copy.sql");
                std::fs::write(&path, script).unwrap();
                let mut command = Command::new("psql");
                command.args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-f"]).arg(&path).arg(&url);
                watched(&mut command)
            }
        }
    }

    /// Moves a whole file, its schema made.
    pub fn create(&self, file: &Path) -> Measured {
        let url = self.fresh_database();
        ours(Command::new(&self.crossover).arg("migrate").arg(file).arg(&url))
    }

    /// Makes the reference dataset and audits it.
    pub fn audit(&self, file: &Path, scale: f64) -> Measured {
        let _ = std::fs::remove_file(file);
        let database = format!("sqlite:///{}", file.display().to_string().trim_start_matches('/'));
        let mut generate = Command::new(&self.crossover);
        generate.args(["dashboard", "generate", "--database", &database]);
        ours(generate.arg("--scale").arg(scale.to_string()));
        ours(Command::new(&self.crossover).arg("audit").arg(file))
    }

    fn fresh_database(&self) -> String {
        let postgres = self.server.url("postgres").expose();
        self.sql(&postgres, "DROP DATABASE IF EXISTS bench");
        self.sql(&postgres, "CREATE DATABASE bench");
        // Dirty pages of the round before must not slow this one.
        self.sql(&postgres, "CHECKPOINT");
        self.server.url("bench").expose()
    }

    fn sql(&self, url: &str, script: &str) {
        let client = async {
            let client = connect::postgres::connect(&url.parse().unwrap()).await.unwrap();
            client.batch_execute(script).await.unwrap();
        };
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(client));
    }
}

fn psql(url: &str, sql: &str) -> Command {
    let mut command = Command::new("psql");
    command.args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", sql, url]);
    command
}

/// Runs a program of ours, which must succeed.
fn ours(command: &mut Command) -> Measured {
    watched(command).unwrap_or_else(|why| panic!("{why}"))
}

/// Runs a program to its end; where it fails, what it said.
fn watched(command: &mut Command) -> Result<Measured, String> {
    let clock = Instant::now();
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let status_file = format!("/proc/{}/status", child.id());
    let mut peak_bytes = 0;
    let status = loop {
        let status = std::fs::read_to_string(&status_file).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        peak_bytes = peak_bytes.max(kilobytes.unwrap_or(0) * 1024);
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None => std::thread::sleep(LOOK_INTERVAL),
        }
    };
    let seconds = clock.elapsed().as_secs_f64();
    // 3: done, with findings.
    if !matches!(status.code(), Some(0 | 3)) {
        let mut text = String::new();
        let _ = std::io::Read::read_to_string(&mut child.stderr.take().expect("piped"), &mut text);
        return Err(format!("{command:?} ended with {status}: {text}"));
    }
    Ok(Measured { seconds, peak_bytes })
}
