//! `crossover demo`: the whole story on this machine. It runs the same commands that a user would
//! type, so that the demo cannot do what the program does not; `-v` shows each with all its output.

mod command;
mod periods;
mod totals;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use engine::EngineSpec;
use plan::Seconds;
use serde_json::Value;
use server::{PostgresServer, StartOptions};

use command::Commands;

use crate::flag::scale;
use crate::shared::{CommandOutcome, OutputFormat, Shared, Usage};

/// The blog's dashboard as its developer found it, what PostgreSQL says to it, the move, SQLite
/// against PostgreSQL, precomputed totals, blobs against files; what the whole means; then the
/// dashboard itself, left serving until Ctrl-C. -v shows every command and all its output.
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
    /// Do not wait, up to a minute before a trial, until other programs leave the machine alone
    #[arg(long, env = "CROSSOVER_NO_WAIT_FOR_QUIET")]
    no_wait_for_quiet: bool,
    /// End instead of serving the dashboard
    #[arg(long)]
    no_serve: bool,
}

/// Exit code 3: done, with findings.
const FINDINGS: i32 = 3;

/// Tables of the dashboard that are about one database and not about its content.
const OWN_TABLES: &str = "schema_version,api_keys,key_expiries,accounts,sessions";

/// Runs `crossover demo`.
pub fn run(arguments: Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    if shared.output_format != OutputFormat::Text {
        let text =
            "demo tells a story in text; --output-format goes with the commands that it shows";
        return Err(Usage(text.to_owned()).into());
    }
    let begun = Instant::now();
    let commands = Commands::new(shared, std::env::current_exe()?);
    let demo = Demo { arguments, shared, commands };
    std::fs::create_dir_all(&demo.arguments.folder)
        .with_context(|| format!("cannot make {}", demo.arguments.folder.display()))?;
    demo.as_found()?;
    demo.audit()?;
    demo.mend()?;
    demo.migrate()?;
    let engines = demo.engines()?;
    let totals = demo.totals(&engines.document)?;
    let blobs = demo.blobs()?;
    demo.meaning(&[engines, totals, blobs], begun.elapsed())?;
    if !demo.arguments.no_serve {
        demo.serve()?;
    }
    // Whatever the experiments could or could not decide: the story has been told.
    Ok(CommandOutcome::Done)
}

struct Demo<'a> {
    arguments: Arguments,
    shared: &'a Shared,
    commands: Commands<'a>,
}

/// An experiment of the story: its report document, and what it means in a sentence.
struct Chapter {
    document: Value,
    meaning: String,
}

impl Demo<'_> {
    fn as_found(&self) -> anyhow::Result<()> {
        self.chapter(1, "The database as found: SQLite, written by an ORM")?;
        let file = sqlite_url(&self.file("as-found.db"));
        let scale = self.arguments.scale.to_string();
        let words = [
            "dashboard",
            "generate",
            "--as-found",
            "--force",
            "--scale",
            &scale,
            "--database",
            &file,
        ];
        let made = self.commands.json(&words)?;
        self.line(&format!(
            "{} articles and {} daily rows of traffic from {} to {}, {}: {}",
            count(&made["articles"]),
            count(&made["rows"]),
            made["start"].as_str().unwrap_or_default(),
            made["end"].as_str().unwrap_or_default(),
            notation::bytes(made["file_bytes"].as_u64().unwrap_or_default()),
            self.file("as-found.db").display()
        ))
    }

    fn audit(&self) -> anyhow::Result<()> {
        self.chapter(2, "What PostgreSQL would refuse of it")?;
        let file = text(&self.file("as-found.db"));
        let audit = self.commands.json_of(&["audit", &file], &[FINDINGS])?;
        let findings = audit["findings"].as_array().into_iter().flatten();
        let blockers: Vec<&Value> = findings.filter(|one| one["severity"] == "blocker").collect();
        ensure!(!blockers.is_empty(), "the audit should have named the faults of {file}");
        for one in blockers {
            let word = |key: &str| one[key].as_str().unwrap_or_default();
            self.line(&format!("{}.{}: {}", word("table"), word("column"), word("message")))?;
        }
        Ok(())
    }

    fn mend(&self) -> anyhow::Result<()> {
        self.chapter(3, "The repaired schema")?;
        let (found, repaired) = (text(&self.file("as-found.db")), text(&self.file("dashboard.db")));
        self.commands.run(&["dashboard", "mend", "--force", &found, &repaired])?;
        // Its triggers are the dashboard's, which makes its own on PostgreSQL.
        self.commands.json(&["audit", "--accept-losses", &repaired])?;
        self.line(&format!("PostgreSQL would take every value of {repaired}, a copy whose two columns have other types."))
    }

    fn migrate(&self) -> anyhow::Result<()> {
        let mut options = StartOptions::for_engine(&self.arguments.engine)?.temporary();
        options.database = "dashboard".to_owned();
        let locations = self.shared.locations()?;
        let progress = self.shared.progress("PostgreSQL");
        let start =
            PostgresServer::start(&locations, options, &progress, self.shared.interrupted());
        let server = self.shared.runtime().block_on(start)?;
        progress.finish_and_clear();
        self.chapter(
            4,
            &format!("The move to PostgreSQL {}, and the proof", server.exact_version()),
        )?;
        let moved = self.move_to(&server.url("dashboard").expose());
        self.shared.runtime().block_on(server.stop())?;
        moved
    }

    fn move_to(&self, url: &str) -> anyhow::Result<()> {
        let file = text(&self.file("dashboard.db"));
        self.commands.run(&["dashboard", "init", "--database", url])?;
        let words = ["migrate", &file, url, "--data-only", "--no-verify", "--exclude", OWN_TABLES];
        let moved = self.commands.json(&words)?;
        let rows = |report: &Value, key: &str| -> u64 {
            let tables = report["tables"].as_array().into_iter().flatten();
            tables.filter_map(|table| table[key].as_u64()).sum()
        };
        let proof = self.commands.json(&["verify", &file, url, "--exclude", OWN_TABLES])?;
        self.line(&format!(
            "{} rows moved in {:.1} s; {} rows read back and compared, value by value: equal.",
            notation::thousands(rows(&moved, "rows")),
            moved["seconds"]["elapsed"].as_f64().unwrap_or_default(),
            notation::thousands(rows(&proof, "target_rows"))
        ))
    }

    fn engines(&self) -> anyhow::Result<Chapter> {
        self.chapter(5, "SQLite or PostgreSQL? The dashboard's requests over four periods")?;
        let Arguments { engine, replicates, time, runs, seed, .. } = &self.arguments;
        let mut words = vec![
            "bench".to_owned(),
            "dashboard".to_owned(),
            "--on=sqlite".to_owned(),
            format!("--on={}", engine.expose()),
            format!("--data={}", text(&self.file("dashboard.db"))),
            "--clients=1".to_owned(),
            format!("--replicates={replicates}"),
            format!("--time={time}"),
            // Narrowing a crossing needs more blocks than a demo has time for.
            "--no-bisection".to_owned(),
            format!("--runs={}", text(runs)),
        ];
        words.extend(seed.map(|seed| format!("--seed={seed}")));
        let document = self.experiment(&words)?;
        self.line(&headline(&document))?;
        self.shared.print(&periods::table(&document))?;
        Ok(Chapter { meaning: course(&document), document })
    }

    /// The year from totals on both engines, beside the largest effect of the engine.
    fn totals(&self, engines: &Value) -> anyhow::Result<Chapter> {
        self.chapter(6, "The same year from totals that are computed beforehand")?;
        self.line(&format!("by the requests {}", totals::REQUESTS.join(", ")))?;
        let plan = self.file("totals.toml");
        let Arguments { engine, replicates, time, runs, seed, .. } = &self.arguments;
        let data = self.file("dashboard.db");
        totals::write(&plan, engine, &data, *replicates, *time)?;
        let mut words = vec!["bench".to_owned(), text(&plan), format!("--runs={}", text(runs))];
        words.extend(seed.map(|seed| format!("--seed={seed}")));
        let document = self.experiment(&words)?;
        self.line(&totals::result(&document))?;
        Ok(Chapter { meaning: totals::meaning(&document, engines), document })
    }

    /// From some size on, blobs are read faster from files.
    fn blobs(&self) -> anyhow::Result<Chapter> {
        self.chapter(7, "Blobs in the database or in files? Reading, over their size")?;
        let Arguments { replicates, runs, seed, .. } = &self.arguments;
        let mut words = vec![
            "bench".to_owned(),
            "blob".to_owned(),
            "size".to_owned(),
            "--on=dir[read=plain,label='a folder of files']".to_owned(),
            "--on=sqlite[access=blob_api,label=SQLite]".to_owned(),
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
        let document = self.experiment(&words)?;
        self.line(&headline(&document))?;
        Ok(Chapter { meaning: format!("Blobs: {}", course(&document)), document })
    }

    /// Carries an experiment out, whatever it could decide; its report document.
    fn experiment(&self, words: &[String]) -> anyhow::Result<Value> {
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        words.extend(self.arguments.no_wait_for_quiet.then_some("--no-wait-for-quiet"));
        self.commands.json_of(&words, &[0, FINDINGS])
    }

    fn meaning(&self, told: &[Chapter], elapsed: Duration) -> anyhow::Result<()> {
        self.shared.print("\nWhat it means, measured on this machine just now\n")?;
        for one in told {
            self.line(&format!("- {}", one.meaning))?;
        }
        self.shared.print("\nThe evidence, a page for each\n")?;
        for one in told {
            let run = one.document["run"]["id"].as_str().unwrap_or_default();
            let page = text(&self.arguments.runs.join(run).join("report.html"));
            // The facts that the story leaves out can make its figures doubtful.
            let warnings = one.document["warnings"].as_array().map_or(0, Vec::len);
            self.line(&match warnings {
                0 => page,
                some => format!("{page} ({})", notation::counted(some, "warning")),
            })?;
        }
        self.shared.print(&format!(
            "\nIt took {}. For a file of your own: crossover try FILE.db\n",
            seconds(elapsed)
        ))
    }

    fn serve(&self) -> anyhow::Result<()> {
        self.chapter(8, "The dashboard")?;
        let database = sqlite_url(&self.file("dashboard.db"));
        let key = ["dashboard", "key", "add", "demo", "--database", &database];
        self.line(&format!("Its key, shown only now: {}", self.commands.run(&key)?.trim()))?;
        let listen = match TcpListener::bind(&self.arguments.listen) {
            Ok(_) => self.arguments.listen.as_str(),
            Err(_) => {
                self.shared
                    .say(&format!("{} is in use; taking a free port", self.arguments.listen));
                "127.0.0.1:0"
            }
        };
        let words = ["dashboard", "serve", "--database", &database, "--listen", listen];
        match self.commands.serve(&words) {
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

    fn line(&self, text: &str) -> anyhow::Result<()> {
        self.shared.print(&format!("   {text}\n"))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.arguments.folder.join(name)
    }
}

fn headline(document: &Value) -> String {
    document["summary"]["headline"].as_str().unwrap_or_default().to_owned()
}

/// The headline without its first sentence, whose size has been told: where each engine is faster.
fn course(document: &Value) -> String {
    let headline = headline(document);
    let lead = document["summary"]["lead"].as_str().unwrap_or_default();
    match headline.strip_prefix(lead).map(str::trim_start) {
        None | Some("") => headline,
        Some(course) => course.to_owned(),
    }
}

fn count(value: &Value) -> String {
    notation::thousands(value.as_u64().unwrap_or_default())
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
