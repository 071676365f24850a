//! `crossover demo`: the whole story on this machine. It runs the same commands that a user would
//! type and shows each of them, so that the demo cannot do what the program does not.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use engine::EngineSpec;
use plan::Seconds;
use server::{Locations, PostgresServer, StartOptions};

use crate::shared::{Outcome, OutputFormat, Shared, Usage, scale};

/// The blog's dashboard as its developer found it, what PostgreSQL says to it, the move, the
/// experiment and the report; blobs, where lines do cross; then the dashboard itself, left serving
/// until Ctrl-C.
#[derive(clap::Args)]
pub struct Arguments {
    /// Size of the dataset; 1 is the article's (8,000 articles, 6.5 million rows)
    #[arg(long, value_name = "NUMBER", default_value_t = 0.1, value_parser = scale)]
    #[arg(env = "CROSSOVER_SCALE")]
    scale: f64,
    /// The engine to compare SQLite with: a PostgreSQL that Crossover starts
    #[arg(long = "on", value_name = "ENGINE", default_value = "postgres:18")]
    engine: EngineSpec,
    /// Number of blocks
    #[arg(long, value_name = "N", default_value_t = 5, env = "CROSSOVER_REPLICATES")]
    replicates: usize,
    /// Length of a trial
    #[arg(long, value_name = "TIME", default_value = "1s", env = "CROSSOVER_TIME")]
    time: Seconds,
    /// Starts every random choice of the experiment
    #[arg(long, value_name = "NUMBER", env = "CROSSOVER_SEED")]
    seed: Option<u64>,
    /// Where the demo's files go; those of an earlier demo are replaced
    #[arg(long, value_name = "FOLDER", default_value = "crossover-data/demo")]
    folder: PathBuf,
    /// The folder of all runs
    #[arg(long, value_name = "FOLDER", default_value = "runs", env = "CROSSOVER_RUNS")]
    runs: PathBuf,
    /// Where the dashboard listens at the end
    #[arg(
        long,
        value_name = "HOST:PORT",
        default_value = "127.0.0.1:8080",
        env = "CROSSOVER_LISTEN"
    )]
    listen: String,
    /// End instead of serving the dashboard
    #[arg(long)]
    no_serve: bool,
}

/// Interval between two checks of a child command.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Grace period of a command that a terminal has interrupted, before it gets SIGTERM.
const PATIENCE: Duration = Duration::from_secs(2);

/// Exit code 3: done, with findings.
const FINDINGS: i32 = 3;

/// Tables of the dashboard that are about one database and not about its content.
const OWN_TABLES: &str = "schema_version,api_keys,key_expiries,accounts,sessions";

/// Runs `crossover demo`.
pub fn run(arguments: Arguments, shared: &Shared) -> anyhow::Result<Outcome> {
    if shared.output_format != OutputFormat::Text {
        let text =
            "demo tells a story in text; --output-format goes with the commands that it shows";
        return Err(Usage(text.to_owned()).into());
    }
    let begun = Instant::now();
    let demo = Demo { arguments, shared, program: std::env::current_exe()? };
    std::fs::create_dir_all(&demo.arguments.folder)
        .with_context(|| format!("cannot make {}", demo.arguments.folder.display()))?;
    demo.as_found()?;
    demo.audit()?;
    demo.mend()?;
    demo.migrate()?;
    demo.experiment()?;
    demo.report()?;
    demo.blobs()?;
    shared.print(&format!(
        "\nThe story took {}. For a file of your own: crossover try FILE.db\n",
        seconds(begun.elapsed())
    ))?;
    if !demo.arguments.no_serve {
        demo.serve()?;
    }
    // Whatever the experiment could or could not decide: the story has been told.
    Ok(Outcome::Done)
}

struct Demo<'a> {
    arguments: Arguments,
    shared: &'a Shared,
    program: PathBuf,
}

impl Demo<'_> {
    fn as_found(&self) -> anyhow::Result<()> {
        self.chapter(1, "The database as found")?;
        self.crossover(&[
            "dashboard",
            "generate",
            "--as-found",
            "--force",
            "--scale",
            &self.arguments.scale.to_string(),
            "--database",
            &sqlite_url(&self.file("as-found.db")),
        ])
    }

    fn audit(&self) -> anyhow::Result<()> {
        self.chapter(2, "What PostgreSQL would refuse")?;
        let code = self.exit_code(&["audit", &text(&self.file("as-found.db"))])?;
        ensure!(code == FINDINGS, "the audit should have named two faults and ended with {code}");
        Ok(())
    }

    fn mend(&self) -> anyhow::Result<()> {
        self.chapter(3, "The mended schema")?;
        let (found, mended) = (self.file("as-found.db"), self.file("dashboard.db"));
        self.crossover(&["dashboard", "mend", "--force", &text(&found), &text(&mended)])?;
        // Its triggers are the dashboard's, which makes its own on PostgreSQL.
        self.crossover(&["audit", "--accept-losses", &text(&mended)])
    }

    fn migrate(&self) -> anyhow::Result<()> {
        self.chapter(4, "The move to PostgreSQL, and the proof")?;
        let mut options = StartOptions::for_engine(&self.arguments.engine)?.temporary();
        options.database = "dashboard".to_owned();
        let locations = Locations::detect()?;
        let progress = self.shared.progress("PostgreSQL");
        let start =
            PostgresServer::start(&locations, options, &progress, self.shared.interrupted());
        let server = self.shared.runtime().block_on(start)?;
        progress.finish_and_clear();
        self.shared.print(&format!("PostgreSQL {} is running.\n", server.exact_version()))?;
        let url = server.url("dashboard").expose();
        let moved = self.move_to(&url);
        self.shared.runtime().block_on(server.stop())?;
        moved
    }

    fn move_to(&self, url: &str) -> anyhow::Result<()> {
        let file = text(&self.file("dashboard.db"));
        self.crossover(&["dashboard", "init", "--database", url])?;
        self.crossover(&[
            "migrate",
            &file,
            url,
            "--data-only",
            "--no-verify",
            "--exclude",
            OWN_TABLES,
        ])?;
        self.crossover(&["verify", &file, url, "--exclude", OWN_TABLES])
    }

    fn experiment(&self) -> anyhow::Result<()> {
        self.chapter(5, "The experiment: SQLite or PostgreSQL?")?;
        let Arguments { engine, replicates, time, runs, seed, .. } = &self.arguments;
        let mut words = vec![
            "bench".to_owned(),
            "dashboard".to_owned(),
            "--on=sqlite".to_owned(),
            format!("--on={}", engine.expose()),
            format!("--data={}", text(&self.file("dashboard.db"))),
            format!("--replicates={replicates}"),
            format!("--time={time}"),
            // Narrowing a crossing needs more blocks than a demo has time for.
            "--no-bisection".to_owned(),
            format!("--runs={}", text(runs)),
        ];
        words.extend(seed.map(|seed| format!("--seed={seed}")));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match self.exit_code(&words)? {
            0 | FINDINGS => Ok(()),
            code => bail!("the experiment failed with exit code {code}; see above"),
        }
    }

    fn report(&self) -> anyhow::Result<()> {
        self.chapter(6, "The report")?;
        self.crossover(&["report", "latest", "--runs", &text(&self.arguments.runs)])
    }

    /// Where lines do cross: from some size on, blobs are read faster from files.
    fn blobs(&self) -> anyhow::Result<()> {
        self.chapter(7, "Blobs in the database or in files?")?;
        let Arguments { replicates, runs, seed, .. } = &self.arguments;
        let mut words = vec![
            "bench".to_owned(),
            "blob".to_owned(),
            "size".to_owned(),
            "--on=dir[read=plain]".to_owned(),
            "--on=sqlite[access=blob_api]".to_owned(),
            "--operations=read".to_owned(),
            "--sizes=1k,10k,100k,1M".to_owned(),
            "--count=2k".to_owned(),
            "--total=16M".to_owned(),
            "--passes=10".to_owned(),
            "--no-bisection".to_owned(),
            format!("--replicates={replicates}"),
            format!("--runs={}", text(runs)),
        ];
        words.extend(seed.map(|seed| format!("--seed={seed}")));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match self.exit_code(&words)? {
            0 | FINDINGS => Ok(()),
            code => bail!("the experiment failed with exit code {code}; see above"),
        }
    }

    fn serve(&self) -> anyhow::Result<()> {
        self.chapter(8, "The dashboard")?;
        let database = sqlite_url(&self.file("dashboard.db"));
        self.shared.print("Its key, shown only now:\n")?;
        self.crossover(&["dashboard", "key", "add", "demo", "--database", &database])?;
        let listen = match TcpListener::bind(&self.arguments.listen) {
            Ok(_) => self.arguments.listen.as_str(),
            Err(_) => {
                self.shared
                    .say(&format!("{} is in use; taking a free port", self.arguments.listen));
                "127.0.0.1:0"
            }
        };
        let words = ["dashboard", "serve", "--database", &database, "--listen", listen];
        match self.exit_code(&words) {
            // Ctrl-C is how serving is meant to end.
            _ if self.shared.is_interrupted() => Ok(()),
            Ok(0) => Ok(()),
            Ok(code) => bail!("the dashboard ended with {code}; see above"),
            Err(error) => Err(error),
        }
    }

    fn chapter(&self, number: usize, title: &str) -> anyhow::Result<()> {
        if self.shared.is_interrupted() {
            bail!("interrupted");
        }
        self.shared.print(&format!("\n{number}. {title}\n"))
    }

    /// Runs a `crossover` command that must succeed.
    fn crossover(&self, words: &[&str]) -> anyhow::Result<()> {
        match self.exit_code(words)? {
            0 => Ok(()),
            code => bail!("`crossover {}` ended with {code}; see above", words.join(" ")),
        }
    }

    /// Shows and runs a `crossover` command; its output goes where our own output goes.
    fn exit_code(&self, words: &[&str]) -> anyhow::Result<i32> {
        self.shared.print(&format!("$ crossover {}\n", words.join(" ")))?;
        let mut child = Command::new(&self.program)
            .args(words)
            .stdin(Stdio::null())
            .spawn()
            .context("cannot start this program again")?;
        let status = self.wait(&mut child)?;
        if self.shared.is_interrupted() {
            bail!("interrupted");
        }
        status
            .code()
            .with_context(|| format!("`crossover {}` was killed: {status}", words.join(" ")))
    }

    /// Waits for `child`. A signal that only this process got is passed on; from a terminal the
    /// child has it already and is ending.
    fn wait(&self, child: &mut Child) -> anyhow::Result<ExitStatus> {
        let mut told = false;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            if self.shared.is_interrupted() && !told {
                told = true;
                std::thread::sleep(PATIENCE);
                if child.try_wait()?.is_none() {
                    let pid = rustix::process::Pid::from_child(child);
                    rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
                }
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.arguments.folder.join(name)
    }
}

fn sqlite_url(path: &Path) -> String {
    format!("sqlite://{}", path.display())
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn seconds(time: Duration) -> String {
    match time.as_secs() {
        less if less < 120 => format!("{less} seconds"),
        more => format!("{} min {} s", more / 60, more % 60),
    }
}
