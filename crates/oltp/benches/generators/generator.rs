//! The load generators that are compared, each run as a child process, so that all of them are
//! charged for everything they do, connecting included.

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use oltp::{Latencies, OltpLoadOptions, OltpTarget, Until};
use plan::oltp::{Distribution, Mix, TableOptions};

use testing::benchmark::before;

use crate::processes::{Cpu, ended_children, family, memory_peak};
use crate::server::Server;

#[derive(Clone, Copy, PartialEq)]
pub enum Generator {
    Ours,
    /// Ours, built at an earlier commit.
    Before,
    Sysbench,
    Pgbench,
}

/// What is offered. pgbench cannot draw as sysbench draws by default, so point selects are uniform.
#[derive(Clone, Copy, PartialEq)]
pub enum Work {
    ReadOnly,
    PointSelect,
}

#[derive(Clone, Debug)]
pub struct Measured {
    transactions: u64,
    seconds: f64,
    cpu: Cpu,
    server_cpu: Cpu,
    pub memory_bytes: u64,
    /// Transactions of the slowest client by those of the mean one; ours alone tells.
    pub slowest_by_mean: Option<f64>,
}

impl Measured {
    pub fn per_second(&self) -> f64 {
        self.transactions as f64 / self.seconds
    }

    pub fn cpu_ms(&self) -> f64 {
        self.cpu.total() * 1e3 / self.transactions as f64
    }

    pub fn user_cpu_ms(&self) -> f64 {
        self.cpu.user * 1e3 / self.transactions as f64
    }

    pub fn server_cpu_ms(&self) -> f64 {
        self.server_cpu.total() * 1e3 / self.transactions as f64
    }
}

impl Work {
    fn mix(self) -> Mix {
        match self {
            Self::ReadOnly => Mix::ReadOnly,
            Self::PointSelect => Mix::PointSelect,
        }
    }

    fn distribution(self) -> Distribution {
        match self {
            Self::ReadOnly => Distribution::Special,
            Self::PointSelect => Distribution::Uniform,
        }
    }
}

impl Generator {
    pub const OTHERS: [Self; 2] = [Self::Sysbench, Self::Pgbench];

    pub fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Before => "before",
            Self::Sysbench => "sysbench",
            Self::Pgbench => "pgbench",
        }
    }

    /// Whether it is installed; a line where it is not.
    pub fn is_there(&self) -> bool {
        let there = Command::new(self.name()).arg("--version").output();
        if there.is_ok_and(|output| output.status.success()) {
            return true;
        }
        let package = if *self == Self::Pgbench { "postgresql-contrib" } else { "sysbench" };
        println!("{} is missing, and not compared with: apt-get install {package}", self.name());
        false
    }

    /// Offers load for so many seconds.
    pub fn run(self, server: &Server, work: Work, clients: u16, seconds: u64) -> Measured {
        let mut command = self.command(server, work, clients, seconds);
        let (before, server_before) = (ended_children(), family(server.pid));
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a generator");
        let mut memory_bytes = 0;
        while child.try_wait().unwrap().is_none() {
            memory_bytes = memory_peak(child.id()).unwrap_or(0).max(memory_bytes);
            std::thread::sleep(Duration::from_millis(200));
        }
        let cpu = ended_children().since(before);
        let server_cpu = family(server.pid).since(server_before);
        let (mut text, mut errors) = (String::new(), String::new());
        child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        let told = match self {
            Self::Ours | Self::Before => told_by_us(&text),
            Self::Sysbench => told_by_sysbench(&text),
            Self::Pgbench => told_by_pgbench(&text),
        };
        let (transactions, seconds, slowest_by_mean) =
            told.unwrap_or_else(|| panic!("{} said:\n{text}\n{errors}", self.name()));
        Measured { transactions, seconds, cpu, server_cpu, memory_bytes, slowest_by_mean }
    }

    fn command(self, server: &Server, work: Work, clients: u16, seconds: u64) -> Command {
        let (clients, seconds) = (clients.to_string(), seconds.to_string());
        match self {
            Self::Ours | Self::Before => {
                let before = before().filter(|_| self == Self::Before);
                let mut command =
                    Command::new(before.unwrap_or_else(|| std::env::current_exe().unwrap()));
                let rows = server.rows.to_string();
                let mix = work.mix().name();
                command.args(["load", &server.url, mix, &clients, &seconds, &rows]);
                command
            }
            Self::Sysbench => {
                let mut command = Command::new("sysbench");
                let script = format!("oltp_{}", work.mix());
                command.args([script.as_str(), "--db-driver=pgsql", "--pgsql-db=crossover"]);
                command.arg(format!("--pgsql-host={}", server.socket_folder));
                command.arg(format!("--pgsql-port={}", server.port));
                command.arg(format!("--pgsql-user={}", server.user));
                command.args(["--tables=1", "--rand-seed=1", "--percentile=0"]);
                command.arg(format!("--table-size={}", server.rows));
                command.arg(format!("--rand-type={}", work.distribution()));
                command.arg(format!("--threads={clients}"));
                command.arg(format!("--time={seconds}")).arg("run");
                command
            }
            Self::Pgbench => {
                let script = std::env::temp_dir().join("crossover-generators-point-select.sql");
                let rows = server.rows;
                let text =
                    format!("\\set id random(1, {rows})\nSELECT c FROM sbtest1 WHERE id=:id;\n");
                std::fs::write(&script, text).unwrap();
                let mut command = Command::new("pgbench");
                command.args(["-n", "-M", "prepared", "-c", &clients, "-j", &clients]);
                command.args(["-T", &seconds, "--random-seed=1", "-f"]).arg(script);
                command.arg(&server.url);
                command
            }
        }
    }
}

type Told = Option<(u64, f64, Option<f64>)>;

/// `transactions seconds slowest_by_mean`
fn told_by_us(text: &str) -> Told {
    let mut words = text.split_whitespace();
    let transactions = words.next()?.parse().ok()?;
    let seconds = words.next()?.parse().ok()?;
    Some((transactions, seconds, words.next()?.parse().ok()))
}

/// `transactions:  12345  (1234.5 per sec.)`
fn told_by_sysbench(text: &str) -> Told {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("transactions:"))?;
    let (count, rest) = line.trim().split_once(' ')?;
    let per_second: f64 = rest.trim().strip_prefix('(')?.split(' ').next()?.parse().ok()?;
    let count: u64 = count.parse().ok()?;
    Some((count, count as f64 / per_second, None))
}

/// `number of transactions actually processed: 12345` and `tps = 1234.5 (without ...`
fn told_by_pgbench(text: &str) -> Told {
    let after = |words: &str| text.lines().find_map(|line| line.strip_prefix(words));
    let count: u64 = after("number of transactions actually processed: ")?.parse().ok()?;
    let per_second: f64 = after("tps = ")?.split(' ').next()?.parse().ok()?;
    Some((count, count as f64 / per_second, None))
}

/// The other side of [`Generator::Ours`].
pub fn load(arguments: &[String]) {
    let [url, mix, clients, seconds, rows] = arguments else {
        panic!("load URL MIX CLIENTS SECONDS ROWS")
    };
    let mix: Mix = mix.parse().unwrap();
    let work = if mix == Mix::ReadOnly { Work::ReadOnly } else { Work::PointSelect };
    let target =
        OltpTarget::Postgres { url: url.parse().unwrap(), session: Vec::new(), behind_pool: None };
    let tables = TableOptions { table_size: rows.parse().unwrap(), ..TableOptions::default() };
    let time = Duration::from_secs(seconds.parse().unwrap());
    let options = OltpLoadOptions {
        distribution: work.distribution(),
        until: Until::Time(time),
        warmup: Duration::ZERO,
        ..OltpLoadOptions::new(mix, clients.parse().unwrap(), time)
    };
    let never = AtomicBool::new(false);
    let load = oltp::run(&target, &tables, &options, &Latencies::new, &never).unwrap();
    assert_eq!(load.first_failure, None);
    let transactions: u64 = load.clients.iter().map(|client| client.transactions).sum();
    let slowest = load.clients.iter().map(|client| client.transactions).min().unwrap_or(0);
    let mean = transactions as f64 / load.clients.len() as f64;
    println!("{transactions} {} {}", load.wall_time.as_secs_f64(), slowest as f64 / mean);
}
