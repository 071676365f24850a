//! Servers under measurement: our program on both engines in both designs, the naive dashboard on
//! both, DuckDB's statements. Every server is a process of its own.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use engine::PostgresUrl;
use indicatif::ProgressBar;
use server::{Locations, PostgresServer, StartOptions};
use testing::benchmark::program;

use crate::http::Client;

const KEY: &str = "for-this-benchmark-alone";
/// Printed in the naive dashboard's source: no secret.
const NAIVE_KEY: &str = "baseline-key";
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Served {
    pub name: &'static str,
    pub address: String,
    pub key: &'static str,
    pub child: Child,
}

impl Drop for Served {
    fn drop(&mut self) {
        // A signal to end, so that gunicorn takes its workers along.
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
    }
}

impl Served {
    pub fn client(&self) -> Client {
        Client::open(&self.address, self.key).unwrap()
    }

    /// The largest memory that the process has had, in megabytes.
    pub fn peak_megabytes(&self) -> f64 {
        peak_megabytes(self.child.id()).unwrap()
    }
}

/// The largest memory that a process has had, in megabytes; none when it has ended.
pub fn peak_megabytes(process: u32) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(peak.trim().trim_end_matches(" kB").parse::<f64>().ok()? * 1_024.0 / 1e6)
}

pub struct Place {
    pub crossover: PathBuf,
    pub naive: Option<PathBuf>,
    pub sqlite: String,
    pub postgres: PostgresServer,
    pub scale: f64,
}

impl Place {
    /// Makes the databases; those in files are kept for the next time.
    pub async fn new(folder: &Path, naive: Option<PathBuf>, scale: f64) -> Self {
        let crossover = program();
        assert!(crossover.exists(), "{}: build it by make release", crossover.display());
        let mut options = StartOptions::new("18").unwrap();
        options.temporary = true;
        let (progress, interrupted) = (ProgressBar::hidden(), AtomicBool::new(false));
        let locations = Locations::detect().unwrap();
        let started = PostgresServer::start(&locations, options, &progress, &interrupted);
        let postgres = started.await.unwrap();
        let file = folder.join(format!("reference-{scale}.db"));
        let sqlite = format!("sqlite://{}", file.display());
        let place = Self { crossover, naive, sqlite, postgres, scale };
        if !file.exists() {
            place.generate(&place.sqlite);
        }
        let url = place.database("dashboard").await;
        place.generate(&url.expose());
        place
    }

    async fn database(&self, name: &str) -> PostgresUrl {
        let client = connect::postgres::connect(&self.postgres.url("postgres")).await.unwrap();
        client.batch_execute(&format!("CREATE DATABASE {name}")).await.unwrap();
        self.postgres.url(name)
    }

    fn generate(&self, database: &str) -> f64 {
        let scale = self.scale.to_string();
        let seconds = self.seconds(&["generate", "--scale", &scale, "--database", database]);
        let engine = database.split(':').next().unwrap_or_default();
        println!("generated in {engine}: {seconds:.1} s");
        seconds
    }

    /// The time of a command of the dashboard.
    fn seconds(&self, arguments: &[&str]) -> f64 {
        let begin = Instant::now();
        run(Command::new(&self.crossover).arg("dashboard").args(arguments));
        begin.elapsed().as_secs_f64()
    }

    /// The reference dataset in SQLite.
    pub fn open(&self) -> rusqlite::Connection {
        connect::sqlite::open_existing(Path::new(self.sqlite.trim_start_matches("sqlite://")))
            .unwrap()
    }

    /// Bytes of the SQLite file that are totals, and all others.
    pub fn room(&self) -> (f64, f64) {
        let connection = self.open();
        let pages = "SELECT sum(pgsize) FILTER (WHERE name = 'totals'),
            sum(pgsize) FILTER (WHERE name <> 'totals') FROM dbstat";
        connection.query_row(pages, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
    }

    /// Seconds to generate the data in a new SQLite file, and to make its totals once more.
    pub fn load_times(&self) -> (f64, f64) {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let database = format!("sqlite://{}", folder.path().join("new.db").display());
        let filled = self.generate(&database);
        (filled, self.seconds(&["rollup", "rebuild", "--database", &database]))
    }

    /// Our own server; how long it took until it answered, in milliseconds.
    pub fn ours(&self, name: &'static str, postgres: bool, design: &str) -> (Served, f64) {
        let address = free_address();
        let database =
            if postgres { self.postgres.url("dashboard").expose() } else { self.sqlite.clone() };
        let begin = Instant::now();
        let child = Command::new(&self.crossover)
            .args(["dashboard", "serve", "--listen", &address, "--design", design])
            .args(["--answer-cache", "off", "--query-limit", "off"])
            .env("CROSSOVER_DATABASE", database)
            .env("CROSSOVER_KEY", KEY)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let served = Served { name, address, key: KEY, child };
        wait(&served);
        (served, begin.elapsed().as_secs_f64() * 1_000.0)
    }

    /// The naive dashboard, its database filled by its own script.
    pub async fn naive(&self, name: &'static str, postgres: bool) -> Option<Served> {
        let naive = self.naive.as_ref()?;
        let python = naive.join("venv/bin/python");
        if !naive.join("data/traffic.csv").exists() {
            run(Command::new(&python).arg("gen.py").current_dir(naive));
        }
        let file = naive.join("data/db.sqlite");
        let url = if postgres {
            let url = self.database("naive").await;
            let (host, port) = (url.host().unwrap_or_default(), url.port().unwrap_or(5432));
            let user = std::env::var("NAIVE_POSTGRES_USER").unwrap_or("postgres".to_owned());
            format!("postgresql+psycopg://{user}@/naive?host={host}&port={port}")
        } else {
            format!("sqlite:///{}", file.display())
        };
        if postgres || !file.exists() {
            let load = Command::new(&python)
                .arg("load.py")
                .current_dir(naive)
                .env("DATABASE_URL", &url)
                .status();
            if !load.is_ok_and(|status| status.success()) {
                println!("{name}: load.py failed: left out");
                return None;
            }
        }
        let address = free_address();
        let child = Command::new(naive.join("venv/bin/gunicorn"))
            .args(["-w", "2", "--threads", "4", "-b", &address, "app:create_app()"])
            .current_dir(naive)
            .env("DATABASE_URL", url)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let served = Served { name, address, key: NAIVE_KEY, child };
        wait(&served);
        Some(served)
    }

    /// DuckDB's nine statements over a year, mean of five passes after one, in milliseconds.
    pub fn duckdb(&self) -> Option<f64> {
        let naive = self.naive.as_ref()?;
        let python = naive.join("venv/bin/python");
        if !naive.join("data/db.duckdb").exists() {
            run(Command::new(&python).arg("load_duckdb.py").current_dir(naive));
        }
        let script = "import time, direct\n\
            from common import ENDPOINTS\n\
            con = direct.connect('duckdb')\n\
            sql = [direct.sql('duckdb', e, 'year') for e in ENDPOINTS]\n\
            def once():\n\
            \x20   t = time.perf_counter()\n\
            \x20   for s in sql: con.execute(s).fetchall()\n\
            \x20   return (time.perf_counter() - t) * 1000 / len(sql)\n\
            once()\n\
            print(sum(once() for _ in range(5)) / 5)";
        let output =
            Command::new(&python).args(["-c", script]).current_dir(naive).output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout).trim().parse().ok();
        if told.is_none() {
            println!("DuckDB: {}", String::from_utf8_lossy(&output.stderr));
        }
        told
    }
}

fn free_address() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

fn wait(served: &Served) {
    let begin = Instant::now();
    while Client::open(&served.address, served.key).is_err() {
        assert!(begin.elapsed() < PATIENCE, "{} does not answer", served.name);
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn run(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
