//! The load generators that are compared, each run as a child process, so that all of them are
//! charged for everything they do.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use load::http::{Connection, PreparedRequest, Target};
use load::{self, Expected};
use plan::{ConnectionUse, LoadOptions, Mode};

/// Where `cargo install oha --locked --root target/tools` puts it.
const OHA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools/bin/oha");
const TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Clone)]
pub enum Generator {
    Ours,
    /// Ours, built at an earlier commit.
    Before(PathBuf),
    Oha(PathBuf),
    Wrk,
}

#[derive(Clone, Copy)]
pub struct Measured {
    requests: u64,
    seconds: f64,
    cpu_seconds: f64,
}

impl Measured {
    /// Requests per second.
    pub fn per_second(&self) -> f64 {
        self.requests as f64 / self.seconds
    }

    /// CPU time per request, microseconds.
    pub fn cpu_us(&self) -> f64 {
        self.cpu_seconds * 1e6 / self.requests as f64
    }
}

/// Those of the other generators that are there; a line for each that is not.
pub fn others() -> Vec<Generator> {
    let mut others = Vec::new();
    let runs = |program: &Path, argument: &str| {
        Command::new(program).arg(argument).output().is_ok_and(|output| !output.stdout.is_empty())
    };
    let oha = [PathBuf::from(OHA), PathBuf::from("oha")];
    match oha.into_iter().find(|oha| runs(oha, "--version")) {
        Some(oha) => others.push(Generator::Oha(oha)),
        None => println!("oha is missing: cargo install oha --locked --root target/tools"),
    }
    if runs(Path::new("wrk"), "--version") {
        others.push(Generator::Wrk);
    } else {
        println!("wrk is missing: apt-get install wrk");
    }
    others
}

impl Generator {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Before(_) => "before",
            Self::Oha(_) => "oha",
            Self::Wrk => "wrk",
        }
    }

    /// Offers load for so many seconds.
    pub fn run(&self, url: &str, connections: u16, seconds: u64) -> Measured {
        let (count, time) = (connections.to_string(), format!("{seconds}s"));
        let mut command = match self {
            Self::Ours => {
                return Self::Before(std::env::current_exe().unwrap()).run(
                    url,
                    connections,
                    seconds,
                );
            }
            Self::Before(program) => {
                let mut command = Command::new(program);
                command.args(["load", url, &count, &seconds.to_string()]);
                command
            }
            Self::Oha(program) => {
                let mut command = Command::new(program);
                command.args([
                    "--no-tui",
                    "--output-format",
                    "json",
                    "-c",
                    &count,
                    "-z",
                    &time,
                    url,
                ]);
                command
            }
            Self::Wrk => {
                let threads = connections.min(processors()).to_string();
                let mut command = Command::new("wrk");
                command.args(["-t", &threads, "-c", &count, "-d", &time, url]);
                command
            }
        };
        let before = children_cpu_seconds();
        let output = command.output().unwrap();
        let cpu_seconds = children_cpu_seconds() - before;
        let text = String::from_utf8_lossy(&output.stdout);
        let told = match self {
            Self::Ours | Self::Before(_) => told_by_us(&text),
            Self::Oha(_) => told_by_oha(&text),
            Self::Wrk => told_by_wrk(&text),
        };
        let (requests, seconds) = told.unwrap_or_else(|| {
            let errors = String::from_utf8_lossy(&output.stderr);
            panic!("{} said:\n{text}\n{errors}", self.name())
        });
        Measured { requests, seconds, cpu_seconds }
    }
}

fn processors() -> u16 {
    std::thread::available_parallelism().map_or(1, |count| count.get() as u16)
}

fn told_by_us(text: &str) -> Option<(u64, f64)> {
    let (requests, seconds) = text.trim().split_once(' ')?;
    Some((requests.parse().ok()?, seconds.parse().ok()?))
}

fn told_by_oha(text: &str) -> Option<(u64, f64)> {
    let told: serde_json::Value = serde_json::from_str(text).ok()?;
    let requests = told.get("statusCodeDistribution")?.get("200")?.as_u64()?;
    Some((requests, told.get("summary")?.get("total")?.as_f64()?))
}

/// `123456 requests in 2.00s, 30.1MB read`
fn told_by_wrk(text: &str) -> Option<(u64, f64)> {
    let line = text.lines().find(|line| line.contains(" requests in "))?;
    let (requests, rest) = line.trim().split_once(" requests in ")?;
    let seconds = rest.split_once("s,")?.0;
    Some((requests.parse().ok()?, seconds.parse().ok()?))
}

/// CPU time of all children that have ended (fields 16 and 17 of /proc/self/stat).
fn children_cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let ticks = fields.split_whitespace().skip(13).take(2);
    let ticks: u64 = ticks.map(|field| field.parse::<u64>().unwrap()).sum();
    ticks as f64 / rustix::param::clock_ticks_per_second() as f64
}

/// The other side of [`Generator::Ours`]: every answer is checked byte by byte.
pub fn load(arguments: &[String]) {
    let [url, connections, seconds] = arguments else { panic!("load URL CONNECTIONS SECONDS") };
    let going_on = AtomicBool::new(false);
    let target = Target::parse(url).unwrap();
    let request = PreparedRequest::get(&target, "trivial", "/", &[]).unwrap();
    let answer = Connection::open(&target, TIMEOUT, &going_on).unwrap().send(&request).unwrap();
    let time = Duration::from_secs(seconds.parse().unwrap());
    let options = options(connections.parse().unwrap(), time);
    let expected = [Expected::Exact(answer)];
    let sample = load::run(&target, &[request], &[1], &expected, &options, &going_on).unwrap();
    assert_eq!(sample.failures(), 0, "answers that are not the expected one");
    println!("{} {}", sample.observations.len(), sample.wall_time.as_secs_f64());
}

pub fn options(clients: u16, time: Duration) -> LoadOptions {
    LoadOptions {
        clients,
        mode: Mode::Steady { time, minimum_rounds: 0 },
        think_time: Duration::ZERO,
        connection: ConnectionUse::PerClient,
        seed: 1,
        timeout: TIMEOUT,
        left_out: Vec::new(),
        client_cpus: None,
    }
}
