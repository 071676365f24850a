//! Targets of mutated input: readers of this program, each with the property that must hold for
//! every input.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context as _, ensure};
use dashboard::import::{ImportArticles, ImportTraffic, import_articles, import_traffic};
use dashboard::query::Day;
use dashboard::rollup::CommandWork;
use engine::DatabaseUrl;
use indicatif::ProgressBar;
use tempfile::TempDir;
use testing::dashboard::Server;

use crate::damage::Damage;

pub const REQUESTS: &str = "requests to the server";
const CSV: &str = "CSV files to import";
const JSON: &str = "JSON files to import";
const PLANS: &str = "plans";
const SQLITE: &str = "SQLite files to audit";
const URLS: &str = "URLs and engines";

/// Also the names of the corpora's folders.
pub const NAMES: [&str; 6] = [CSV, JSON, PLANS, SQLITE, URLS, REQUESTS];

pub struct FuzzTarget {
    name: &'static str,
    folder: TempDir,
    runtime: tokio::runtime::Runtime,
    interrupted: Arc<AtomicBool>,
    server: Option<Served>,
}

struct Served {
    server: Server,
    errors: PathBuf,
    panics: u64,
}

impl FuzzTarget {
    pub fn new(name: &'static str, program: &Path) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let runtime = tokio::runtime::Runtime::new()?;
        let mut target = Self { name, folder, runtime, interrupted: Arc::default(), server: None };
        if [CSV, JSON].contains(&name) {
            target.make_dashboard()?;
        }
        if name == REQUESTS {
            target.server = Some(target.serve(program)?);
        }
        Ok(target)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn url(&self) -> DatabaseUrl {
        DatabaseUrl::Sqlite(self.path("dashboard.db"))
    }

    fn make_dashboard(&self) -> anyhow::Result<()> {
        dashboard::init::initialise(&self.url(), self.runtime.handle())?;
        Ok(())
    }

    /// One input: what it did.
    pub fn attempt(&mut self, input: &[u8]) -> anyhow::Result<Damage> {
        if self.name == REQUESTS {
            return self.request(input);
        }
        let attempted = catch_unwind(AssertUnwindSafe(|| match self.name {
            CSV | JSON => self.import(input),
            PLANS => self.plan(input),
            SQLITE => self.audit(input),
            _ => Self::parse(input),
        }));
        match attempted {
            Ok(damage) => damage,
            Err(_) => Ok(Damage { panics: 1, ..Damage::default() }),
        }
    }

    /// A file that is refused leaves the database unchanged.
    fn import(&self, input: &[u8]) -> anyhow::Result<Damage> {
        let file = self.path("input");
        std::fs::write(&file, input)?;
        let before = self.rows()?;
        let progress = ProgressBar::hidden();
        let (runtime, interrupted) = (self.runtime.handle(), &self.interrupted);
        let work = CommandWork { runtime, progress: &progress, interrupted };
        let now = "2026-11-24T12:00:00[UTC]".parse()?;
        let today = Day::of(&now);
        let articles = ImportArticles {
            file: file.clone(),
            mapping: Vec::new(),
            today,
            allow_empty: false,
            dry_run: false,
        };
        let refused = import_articles(&self.url(), &articles, work).is_err();
        let traffic = ImportTraffic {
            files: vec![file],
            mapping: Vec::new(),
            adds_up: Vec::new(),
            site: None,
            now,
            allow_empty: false,
            dry_run: false,
        };
        let both = refused & import_traffic(&self.url(), &traffic, |_| true, work).is_err();
        let after = self.rows()?;
        let lost = if both { before.saturating_sub(after) } else { 0 };
        let doubled = if both { after.saturating_sub(before) } else { 0 };
        Ok(Damage { rows_lost: lost, rows_doubled: doubled, panics: 0 })
    }

    fn rows(&self) -> anyhow::Result<u64> {
        let connection = connect::sqlite::open_read_only(&self.path("dashboard.db"))?;
        let sql = "SELECT (SELECT count(*) FROM articles) + (SELECT count(*) FROM traffic)
                   + (SELECT count(*) FROM unmatched_traffic)";
        let rows: i64 = connection.query_row(sql, [], |row| row.get(0))?;
        Ok(u64::try_from(rows)?)
    }

    #[expect(clippy::unnecessary_wraps, reason = "as the others")]
    fn plan(&self, input: &[u8]) -> anyhow::Result<Damage> {
        let name = self.path("plan.toml").display().to_string();
        let plan = plan::read(&String::from_utf8_lossy(input), &name);
        // A plan that is accepted can be written and read again.
        if let Ok(plan) = plan
            && let Ok(text) = plan.to_toml()
        {
            let _ = plan::read(&text, &name);
        }
        Ok(Damage::default())
    }

    fn audit(&self, input: &[u8]) -> anyhow::Result<Damage> {
        let file = self.path("input.db");
        for ending in ["", "-wal", "-shm", "-journal"] {
            let _ = std::fs::remove_file(connect::sqlite::file::beside(&file, ending));
        }
        std::fs::write(&file, input)?;
        let options = migrate::AuditOptions::default();
        let _ = migrate::audit(&file, &options, &ProgressBar::hidden(), &self.interrupted);
        Ok(Damage::default())
    }

    /// An accepted input is shown in a form that is accepted and shown alike.
    fn parse(input: &[u8]) -> anyhow::Result<Damage> {
        for line in String::from_utf8_lossy(input).lines() {
            if let Ok(url) = line.parse::<DatabaseUrl>() {
                let shown = url.expose();
                let again = shown.parse::<DatabaseUrl>().map(|url| url.expose());
                ensure!(again.is_ok_and(|again| again == shown), "{line:?} becomes {shown:?}");
            }
            if let Ok(engine) = line.parse::<engine::EngineSpec>() {
                let shown = engine.expose();
                let again = shown.parse::<engine::EngineSpec>().map(|engine| engine.expose());
                ensure!(again.is_ok_and(|again| again == shown), "{line:?} becomes {shown:?}");
            }
        }
        Ok(Damage::default())
    }

    fn serve(&self, program: &Path) -> anyhow::Result<Served> {
        self.make_dashboard()?;
        let url = self.url().to_string();
        let words = ["dashboard", "serve", "--listen", "127.0.0.1:0", "--public", "--database"];
        let errors = self.path("errors");
        let mut command = std::process::Command::new("bash");
        // The server's own messages go to a file and to the pipe that its start is read from.
        let script = "exec \"$0\" \"$@\" 2> >(tee \"$ERRORS\" >&2)";
        command.args(["-c", script]).arg(program).args(words).arg(url).env("ERRORS", &errors);
        Ok(Served { server: Server::start(&mut command)?, errors, panics: 0 })
    }

    /// The server answers the next request too, with a status that is not a fault of its own.
    fn request(&mut self, input: &[u8]) -> anyhow::Result<Damage> {
        let served = self.server.as_mut().context("no server")?;
        let reply = served.server.connect()?.send_bytes(input);
        if let Ok(reply) = reply {
            ensure!(reply.status != 500, "500: {}", reply.body);
        }
        let health = served.server.connect()?.send("GET", "/healthz", "", "")?;
        ensure!(health.status == 200, "{}: {}", health.status, health.body);
        let said = std::fs::read_to_string(&served.errors).unwrap_or_default();
        let panics = u64::try_from(said.matches("panicked at").count())?;
        let new = panics - std::mem::replace(&mut served.panics, panics);
        Ok(Damage { panics: new, ..Damage::default() })
    }
}

/// Inputs that are made instead of kept: SQLite files of scripts.
pub fn made(name: &str) -> anyhow::Result<Vec<Vec<u8>>> {
    if name != SQLITE {
        return Ok(Vec::new());
    }
    let folder = tempfile::tempdir()?;
    let mut files = Vec::new();
    for (number, script) in SCRIPTS.iter().enumerate() {
        let path = folder.path().join(number.to_string());
        connect::sqlite::create(&path)?.execute_batch(script)?;
        files.push(std::fs::read(path)?);
    }
    Ok(files)
}

const SCRIPTS: [&str; 4] = [
    "PRAGMA page_size = 512; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c REAL, d BLOB);
     INSERT INTO t VALUES (1, 'a', 1.5, x'00ff'), (2, NULL, 'x', zeroblob(3000));",
    "PRAGMA page_size = 512; PRAGMA foreign_keys = OFF; CREATE TABLE p(id INT NOT NULL PRIMARY KEY, u VARCHAR(3) UNIQUE,
     CHECK (length(u) < 9)) WITHOUT ROWID; CREATE TABLE c(p INT REFERENCES p, d DATE
     DEFAULT CURRENT_DATE); CREATE INDEX i ON c(p, lower(d)) WHERE d > '2000';
     INSERT INTO p VALUES (1, 'abcd'), (2, 'b'); INSERT INTO c VALUES (7, '2021-02-30');",
    "PRAGMA page_size = 512; PRAGMA encoding = 'UTF-16be'; CREATE TABLE \"a b\"(\"x\"\"y\" BOOL,
     z DATETIME, j JSON GENERATED ALWAYS AS (json_array(z)) STORED);
     INSERT INTO \"a b\"(\"x\"\"y\", z) VALUES (1, 1627303906122), ('t', '2021-01-01T00:00:00Z');",
    "PRAGMA page_size = 512; CREATE VIEW v AS SELECT 1; CREATE VIRTUAL TABLE f USING fts5(a);
     INSERT INTO f VALUES ('some text'); CREATE TABLE s(a INT, b ANY) STRICT;
     CREATE TRIGGER g AFTER INSERT ON s BEGIN SELECT 1; END; INSERT INTO s VALUES (1, 'x');",
];
