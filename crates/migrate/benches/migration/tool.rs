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
    /// `INSERT INTO target SELECT * FROM file` by DuckDB, keys and indexes after it
    DuckDb,
    /// `psql \copy` from ready files in one stream, keys and indexes after it
    Psql,
}

/// Tables into which rows are moved.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Without keys and indexes
    Bare,
    /// With those of the naive dashboard, valid in the end
    Keyed,
}

impl Shape {
    pub fn name(self) -> &'static str {
        match self {
            Self::Bare => "tables without keys and indexes",
            Self::Keyed => "tables with keys, foreign keys and indexes",
        }
    }
}

impl Way {
    /// Whether it is not ours: if it crashes, the others are measured further.
    pub fn is_peer(self) -> bool {
        match self {
            Self::Crossover | Self::Verified => false,
            Self::Pgloader | Self::DuckDb | Self::Psql => true,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Crossover => "crossover, no proof",
            Self::Verified => "crossover",
            Self::Pgloader => "pgloader",
            Self::DuckDb => "DuckDB",
            Self::Psql => "psql \\copy",
        }
    }

    /// The tools that it is compared with, with the speed that is required relative to each.
    pub fn thresholds(self, shape: Shape) -> &'static [(Self, f64)] {
        match (self, shape) {
            (Self::Crossover, _) => {
                &[(Self::Pgloader, 3.0), (Self::DuckDb, 1.0), (Self::Psql, 0.95)]
            }
            (Self::Verified, Shape::Bare) => &[(Self::Pgloader, 2.5), (Self::DuckDb, 1.0)],
            (Self::Verified, Shape::Keyed) => &[(Self::Pgloader, 2.0), (Self::DuckDb, 1.0)],
            (Self::Pgloader | Self::DuckDb | Self::Psql, _) => &[],
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
    /// A Python that has DuckDB.
    duckdb: Option<PathBuf>,
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
        let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/duckdb/bin/python");
        let duckdb = python.exists().then_some(python);
        if duckdb.is_none() && !is_tiny() {
            println!("DuckDB is not there: its column is left out (make target/duckdb)");
        }
        Self { crossover, pgloader, psql, duckdb, folder: folder.to_owned(), server }
    }

    pub fn ways(&self) -> Vec<Way> {
        let all = [Way::Crossover, Way::Verified, Way::Pgloader, Way::DuckDb, Way::Psql];
        let there = all.into_iter().filter(|way| match way {
            Way::Crossover | Way::Verified => true,
            Way::Pgloader => self.pgloader && self.psql,
            Way::DuckDb => self.duckdb.is_some() && self.psql,
            Way::Psql => self.psql,
        });
        there.collect()
    }

    /// Moves the file's rows into fresh tables, up to the last valid constraint and ANALYZE.
    pub fn naive(
        &self,
        way: Way,
        shape: Shape,
        file: &Path,
        csv: &Path,
    ) -> Result<Measured, String> {
        let url = self.fresh_database();
        let keys = if shape == Shape::Keyed { data::create_keys() } else { String::new() };
        let keyed_before = if matches!(way, Way::Psql | Way::DuckDb) { "" } else { &keys };
        self.sql(&url, &format!("{}{keyed_before}", data::create_tables()));
        let mut crossover = Command::new(&self.crossover);
        crossover.arg("migrate").arg(file).arg(&url).arg("--data-only");
        let loaded = match way {
            Way::Crossover => return watched(crossover.arg("--no-verify")),
            Way::Verified => return watched(&mut crossover),
            Way::Pgloader => watched(&mut self.pgloader(file))?,
            Way::DuckDb => watched(&mut self.duckdb(file, &url))?,
            Way::Psql => watched(&mut self.copy(csv, &url))?,
        };
        let keys = if keyed_before.is_empty() { keys.as_str() } else { "" };
        let finished =
            watched(psql(&url).args(["-c", &format!("{keys}SELECT"), "-c", "VACUUM ANALYZE"]))?;
        Ok(Measured { seconds: loaded.seconds + finished.seconds, ..loaded })
    }

    /// Its documented options for speed: keys and indexes dropped and made again, two workers.
    fn pgloader(&self, file: &Path) -> Command {
        let script = self.folder.join("pgloader.load");
        // pgloader names a socket's folder and port before the database.
        let target = self.server.url("bench");
        let host = target.host().unwrap_or_default();
        let port = target.port().unwrap_or(5432);
        let host = if host.starts_with('/') { format!("unix:{host}") } else { host.into() };
        let text = format!(
            "LOAD DATABASE FROM sqlite://{} INTO postgresql://postgres@{host}:{port}/bench \
             WITH data only, drop indexes, reset sequences, workers = 2, concurrency = 1 \
             EXCLUDING TABLE NAMES LIKE 'sqlite_stat1';",
            file.canonicalize().unwrap().display()
        );
        std::fs::write(&script, text).unwrap();
        let mut command = Command::new("pgloader");
        command.arg(&script);
        command
    }

    fn duckdb(&self, file: &Path, url: &str) -> Command {
        let tables = data::TABLES.join(" ");
        let script = format!(
            "import duckdb, glob, sys\n\
             db = duckdb.connect()\n\
             for name in glob.glob(sys.prefix + '/lib/python*/site-packages/*/extensions/*/*.duckdb_extension'):\n    \
                 db.execute(f\"LOAD '{{name}}'\")\n\
             db.execute(\"ATTACH '{}' AS s (TYPE sqlite, READ_ONLY)\")\n\
             db.execute(\"ATTACH '{url}' AS p (TYPE postgres)\")\n\
             for table in '{tables}'.split():\n    \
                 db.execute(f'INSERT INTO p.{{table}} SELECT * FROM s.{{table}}')\n",
            file.display()
        );
        let mut command = Command::new(self.duckdb.as_deref().unwrap_or(Path::new("python3")));
        command.args(["-c", &script]);
        command
    }

    fn copy(&self, csv: &Path, url: &str) -> Command {
        let mut script = String::new();
        for table in data::TABLES {
            let path = csv.join(format!("{table}.csv"));
            script
                .push_str(&format!("\\copy {table} from '{}' with (format csv)\n", path.display()));
        }
        let path = self.folder.join("copy.sql");
        std::fs::write(&path, script).unwrap();
        let mut command = psql(url);
        command.arg("-f").arg(&path);
        command
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

fn psql(url: &str) -> Command {
    let mut command = Command::new("psql");
    command.args(["-X", "-q", "-v", "ON_ERROR_STOP=1", url]);
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
