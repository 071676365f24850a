//! `crossover audit`, `migrate` and `verify` as a user types them: what they print and their exit
//! codes (0 done, 1 failed, 2 usage, 3 findings).

mod killed;
mod signalled;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use assert_cmd::Command;

use self::killed::{Stops, many_rows};

/// A folder with a database as the article found its own, and a server of its own.
struct Place {
    directory: tempfile::TempDir,
    source: PathBuf,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        // As root the servers' account has to pass through.
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(directory.path(), open).unwrap();
        let source = directory.path().join("shop.db");
        let connection = rusqlite::Connection::open(&source).unwrap();
        connection
            .execute_batch(
                "CREATE TABLE articles(id INTEGER PRIMARY KEY, uuid INTEGER NOT NULL, \
                     slug VARCHAR(256)); \
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) \
                 INSERT INTO articles SELECT i, printf('%08d-0000-4000-8000-000000000000', i), \
                     substr(hex(zeroblob(200)), 1, 2 * i + i / 90 * 100) FROM n",
            )
            .unwrap();
        Self { directory, source }
    }

    fn run(&self, arguments: &[&str], code: i32) -> (String, String) {
        self.run_where(&[], arguments, code)
    }

    /// With variables of the environment.
    fn run_where(
        &self,
        variables: &[(&str, &str)],
        arguments: &[&str],
        code: i32,
    ) -> (String, String) {
        let mut command = Command::cargo_bin("crossover").unwrap();
        command.args(arguments).env("CROSSOVER_DATA_DIR", self.directory.path());
        command.envs(variables.iter().copied());
        let output = command.assert().code(code).get_output().clone();
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    }

    fn source(&self) -> &str {
        self.source.to_str().unwrap()
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // A failed test must not leave a server running.
        let mut stop = Command::cargo_bin("crossover").unwrap();
        stop.args(["server", "stop", "--all"]).env("CROSSOVER_DATA_DIR", self.directory.path());
        let _ = stop.output();
    }
}

const REMEDIES: [&str; 4] = ["--map", "articles.uuid=uuid", "--map", "articles.slug=varchar(512)"];

#[test]
fn the_audit_exits_3_and_speaks_to_people_and_programs() {
    let place = Place::new();
    let (text, _) = place.run(&["audit", place.source()], 3);
    let answer = format!(
        "PostgreSQL would refuse {}: 2 blockers in 1 table (100 of 100 rows).\n",
        place.source()
    );
    assert!(text.starts_with(&answer), "{text}");
    let slug = "\n  articles.slug: 11 values longer than varchar(256) (longest 300 characters), \
                e.g. rowid 90 ";
    assert!(text.contains(slug), "{text}");
    assert!(text.contains("\n  articles.uuid: 100 text values (UUIDs) in a column declared"));
    let next = format!("Next: crossover migrate {} URL", place.source());
    assert!(text.lines().last().unwrap().starts_with(&next), "{text}");
    let declared = "VARCHAR(256)";
    assert!(!text.contains(declared), "{text}");
    let (text, _) = place.run(&["audit", place.source(), "--columns"], 3);
    assert!(text.contains(declared), "{text}");
    let by_variable =
        place.run_where(&[("CROSSOVER_COLUMNS", "true")], &["audit", place.source()], 3);
    assert_eq!(by_variable.0, text);
    let (json, _) = place.run(&["audit", place.source(), "--output-format", "json"], 3);
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["findings"][0]["severity"], "blocker");
    assert_eq!(report["tables"][0]["columns"][1]["texts"], 100);
    let (csv, _) = place.run(&["audit", place.source(), "--output-format", "csv"], 3);
    assert!(csv.contains("articles,uuid,INTEGER,integer,0,0,100,0,0,"), "{csv}");

    let with_remedies = [&["audit", place.source()], &REMEDIES[..]].concat();
    place.run(&with_remedies, 0);
    let (sql, _) = place.run(&[&with_remedies[..], &["--emit-schema"]].concat(), 0);
    assert!(sql.contains("\"slug\" varchar(512) -- declared VARCHAR(256)"), "{sql}");
}

#[test]
fn wrong_usage_exits_2_and_wrong_input_1_each_in_one_line() {
    let place = Place::new();
    let (_, error) = place.run(&["audit", place.source(), "--map", "articles.slug=varchr"], 2);
    assert!(error.contains("unknown type `varchr`"), "{error}");
    let other = place.beside("other.txt");
    std::fs::write(&other, "not a database, but long enough to be read as one").unwrap();
    let (_, error) = place.run(&["audit", other.to_str().unwrap()], 1);
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(error.contains("is not a SQLite database"), "{error}");
}

#[test]
fn a_file_is_moved_proved_and_its_rejects_repaired() {
    let place = Place::new();
    let (url, _) = place.run(&["server", "start", "postgres:18"], 0);
    let url = url.trim();
    let (_, error) = place.run(&["migrate", place.source(), url], 1);
    assert!(error.contains("2 blockers found before anything was changed"), "{error}");

    let move_it = [&["migrate", place.source(), url], &REMEDIES[..]].concat();
    let (text, _) = place.run(&move_it, 0);
    assert!(text.contains("moved: 100 rows in 1 table into"), "{text}");
    let (text, _) = place.run(&["verify", place.source(), url], 0);
    assert!(text.contains("equal: 100 rows in 1 table, every column"), "{text}");

    sql(&place.source, "UPDATE articles SET slug = 'other' WHERE id = 17");
    let (text, _) = place.run(&["verify", place.source(), url], 3);
    assert!(text.contains("articles: id 17: slug is"), "{text}");

    let rejecting = ["--replace", "--on-error", "reject", "--map", "articles.uuid=uuid"];
    let (text, _) = place.run(&[&["migrate", place.source(), url], &rejecting[..]].concat(), 3);
    assert!(text.contains("11 rejected rows are in"), "{text}");
    let rejects = place.beside("shop.db.rejects.jsonl");
    let whole = std::fs::read_to_string(&rejects).unwrap();
    let zeros = "0".repeat(200);
    std::fs::write(&rejects, whole.replace(&zeros, "")).unwrap();
    place.run(&["migrate", "--rejects", rejects.to_str().unwrap(), url], 0);
    sql(
        &place.source,
        &format!(
            "UPDATE articles SET slug = replace(slug, '{zeros}', '') \
                                 WHERE length(slug) > 256"
        ),
    );
    place.run(&["verify", place.source(), url], 0);
}

#[test]
fn the_time_shown_is_that_of_the_whole_command() {
    let place = Place::new();
    let (url, _) = place.run(&["server", "start", "postgres:18"], 0);
    let json = ["--output-format", "json"];
    let move_it = [&["migrate", place.source(), url.trim()], &REMEDIES[..], &json].concat();
    let (json, _) = place.run(&move_it, 0);
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let mut seconds = report["seconds"].as_object().unwrap().clone();
    let elapsed = seconds.remove("elapsed").unwrap().as_f64().unwrap();
    // Start, connection and claim are in no phase.
    let phases: f64 = seconds.values().map(|phase| phase.as_f64().unwrap()).sum();
    assert!(elapsed > phases, "{report}");
}

/// The most memory that a command ever held, in bytes; it has to end well.
fn peak_memory(place: &Place, arguments: &[&str]) -> u64 {
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("crossover"))
        .args(arguments)
        .env("CROSSOVER_DATA_DIR", place.directory.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        // The kernel keeps the highest value: whatever look comes last tells it.
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let kilobytes = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = kilobytes.and_then(|line| line.trim().strip_suffix(" kB"));
        peak = kilobytes.and_then(|digits| digits.parse().ok()).unwrap_or(peak);
        std::thread::yield_now();
    }
    assert!(child.wait().unwrap().success(), "{arguments:?}");
    peak * 1024
}

#[test]
fn a_large_value_needs_its_memory_once() {
    let place = Place::new();
    sql(
        &place.source,
        "DROP TABLE articles; CREATE TABLE t(id INTEGER PRIMARY KEY, v BLOB); \
         INSERT INTO t VALUES (1, x'00'), (2, zeroblob(200000000))",
    );
    let (url, _) = place.run(&["server", "start", "postgres:18"], 0);
    for command in [
        &["audit", place.source()][..],
        &["migrate", place.source(), url.trim()],
        &["verify", place.source(), url.trim()],
    ] {
        let peak = peak_memory(&place, command);
        assert!(peak < 300_000_000, "{command:?} held {peak} bytes");
    }
}

#[test]
fn a_database_that_a_dry_run_was_given_is_dropped_again() {
    let place = Place::new();
    let (url, _) = place.run(&["server", "start", "postgres:18"], 0);
    let made = url.trim().replacen("/crossover?", "/made?", 1);
    assert_ne!(made, url.trim());
    let target = [made.as_str(), "--create-database", "--dry-run"];
    let try_it = [&["migrate", place.source()], &target[..], &REMEDIES[..]].concat();
    let (text, told) = place.run(&try_it, 0);
    assert!(text.contains("tried and undone: 100 rows"), "{text}");
    assert!(told.contains("dropped the database of"), "{told}");
    let (_, error) = place.run(&["verify", place.source(), &made], 1);
    assert!(error.contains("does not exist"), "{error}");
}

/// The exit code of a command that may find anything.
fn verify_code(place: &Place, arguments: &[&str]) -> Option<i32> {
    let mut command = Command::cargo_bin("crossover").unwrap();
    let output = command.args(arguments).env("CROSSOVER_DATA_DIR", place.directory.path()).output();
    output.unwrap().status.code()
}

#[test]
fn a_file_says_everything_and_the_server_may_restart_between() {
    let place = Place::new();
    many_rows(&place);
    let (url, _) = place.run(&["server", "start", "postgres:18"], 0);
    let recipe = place.beside("shop.toml");
    let write = |more: &str| {
        let text = format!(
            "source = \"shop.db\"\ntarget = \"{}\"\npart_bytes = 50000\n{more}\n\
             [map]\n\"item.body\" = \"varchar(20)\"\n",
            url.trim()
        );
        std::fs::write(&recipe, text).unwrap();
    };
    let recipe_path = recipe.to_str().unwrap();
    write("colour = 1");
    let (_, error) = place.run(&["migrate", recipe_path], 2);
    assert!(error.contains("unknown field `colour`"), "{error}");
    write("");
    place.run(&["migrate", recipe_path, "--dry-run"], 0);
    Stops::new(url.trim()).kill_at(4, &place, &["migrate", recipe_path]);
    place.run(&["server", "stop", "--all"], 0);
    // Its socket may be another one now: the command line has the last word.
    let (url, _) = place.run(&["server", "start", "postgres:18"], 0);
    place.run(&["migrate", recipe_path, url.trim(), "--resume"], 0);
    place.run(&["verify", place.source(), url.trim()], 0);

    // What is typed comes before what the environment says.
    let elsewhere = [("CROSSOVER_TARGET", "postgresql://nobody@127.0.0.1:9/elsewhere")];
    let (_, error) = place.run_where(&elsewhere, &["migrate", "--abandon", url.trim()], 1);
    assert!(error.contains("no unfinished migration is in"), "{error}");
    let load = place.beside("shop.load");
    let text = format!("LOAD DATABASE FROM shop.db INTO {} WITH data only, moonlight;", url.trim());
    std::fs::write(&load, text).unwrap();
    let (_, error) = place.run(&["migrate", load.to_str().unwrap()], 2);
    assert!(error.contains("`WITH moonlight` is not understood"), "{error}");
}

#[test]
fn what_does_not_arrive_is_a_finding_in_all_three_commands() {
    let place = Place::new();
    sql(
        &place.source,
        "DROP TABLE articles; CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT); \
         INSERT INTO note VALUES (1, 'a'); \
         CREATE TRIGGER keep AFTER DELETE ON note BEGIN SELECT 700; END; \
         CREATE VIRTUAL TABLE search USING fts5(body); INSERT INTO search VALUES ('b'), ('c')",
    );
    let (url, _) = place.run(&["server", "start", "postgres:18"], 0);
    let (source, url) = (place.source(), url.trim());
    let commands: [&[&str]; 3] =
        [&["audit", source], &["migrate", source, url, "--replace"], &["verify", source, url]];
    for command in commands {
        let (text, _) = place.run(&[command, &["--accept-losses"]].concat(), 3);
        let line = "not carried over: 2 rows of search, 1 trigger, 1 virtual table";
        assert!(text.contains(line), "{text}");
        let (text, _) = place.run(&[command, &["--exclude", "search"]].concat(), 3);
        assert!(text.contains("not carried over: 1 trigger\n"), "{text}");
        assert!(!text.contains("700"), "{text}");
        let whole = [command, &["--exclude", "search", "-v"]].concat();
        assert_eq!(place.run(&whole, 3).0.contains("700"), command[0] != "verify");
        place.run(&[command, &["--exclude", "search", "--accept-losses"]].concat(), 0);
        let accepted = [("CROSSOVER_ACCEPT_LOSSES", "true"), ("CROSSOVER_EXCLUDE", "search")];
        place.run_where(&accepted, command, 0);
    }
    let recipe = place.beside("shop.toml");
    let text = "source = \"shop.db\"\nreplace = true\nexclude = [\"search\"]\n";
    std::fs::write(&recipe, text).unwrap();
    let by_file = ["migrate", recipe.to_str().unwrap(), url, "--output-format", "json"];
    let (json, _) = place.run(&by_file, 3);
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let expected = serde_json::json!({"rows": {}, "rules": {"trigger": 1}});
    assert_eq!(report["not_carried_over"], expected);
    std::fs::write(&recipe, format!("{text}accept_losses = true\n")).unwrap();
    place.run(&by_file, 0);
    sql(&place.source, "CREATE INDEX note_body ON note(body)");
    let skipping = "accept_losses = true\nskip_index = [\"note_*\"]\n";
    std::fs::write(&recipe, format!("{text}{skipping}")).unwrap();
    let (json, _) = place.run(&by_file, 0);
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["not_carried_over"]["rules"]["index"], 1);
    let (_, error) = place.run(&["audit", source, "--skip-index", "none"], 2);
    assert!(error.contains("no index of the source is called none; it has note_body"), "{error}");
}

fn sql(path: &Path, script: &str) {
    rusqlite::Connection::open(path).unwrap().execute_batch(script).unwrap();
}
