//! `crossover audit`, `migrate` and `verify` as a user types them: what they print and their exit
//! codes (0 done, 1 failed, 2 usage, 3 findings).

mod application;
mod killed;
mod mapping;
mod signalled;

use std::ops::Deref;
use std::process::{Output, Stdio};

use self::killed::{Stops, many_rows};
use crate::place::{Place, error, text};

/// A place with a database as the article found its own.
struct Shop {
    place: Place,
    source: String,
}

impl Shop {
    fn new() -> Self {
        let place = Place::new();
        let source = place.path("shop.db").display().to_string();
        sql(
            &source,
            "CREATE TABLE articles(id INTEGER PRIMARY KEY, uuid INTEGER NOT NULL, \
                     slug VARCHAR(256)); \
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) \
                 INSERT INTO articles SELECT i, printf('%08d-0000-4000-8000-000000000000', i), \
                     substr(hex(zeroblob(200)), 1, 2 * i + i / 90 * 100) FROM n",
        );
        Self { place, source }
    }

    fn source(&self) -> &str {
        &self.source
    }

    /// With variables of the environment.
    fn run_where(&self, variables: &[(&str, &str)], words: &[&str]) -> Output {
        self.command(words).envs(variables.iter().copied()).output().unwrap()
    }

    /// A recipe in a folder below: names in it are relative to its own folder.
    fn recipe(&self) -> String {
        std::fs::create_dir(self.path("recipes")).unwrap();
        self.path("recipes/shop.toml").display().to_string()
    }
}

impl Deref for Shop {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.place
    }
}

const REMEDIES: [&str; 4] = ["--map", "articles.uuid=uuid", "--map", "articles.slug=varchar(512)"];

#[test]
fn the_audit_exits_3_and_speaks_to_people_and_programs() {
    let place = Shop::new();
    let text = place.expect(3, &["audit", place.source()]);
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
    let text = place.expect(3, &["audit", place.source(), "--columns"]);
    assert!(text.contains(declared), "{text}");
    let variable = [("CROSSOVER_COLUMNS", "true")];
    let by_variable = place.run_where(&variable, &["audit", place.source()]);
    assert_eq!(by_variable.status.code(), Some(3), "{}", error(&by_variable));
    assert_eq!(by_variable.stdout, text.as_bytes());
    let json = place.expect(3, &["audit", place.source(), "--output-format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["findings"][0]["severity"], "blocker");
    assert_eq!(report["tables"][0]["columns"][1]["texts"], 100);
    let csv = place.expect(3, &["audit", place.source(), "--output-format", "csv"]);
    assert!(csv.contains("articles,uuid,INTEGER,integer,0,0,100,0,0,"), "{csv}");

    let with_remedies = [&["audit", place.source()], &REMEDIES[..]].concat();
    place.expect(0, &with_remedies);
    let sql = place.expect(0, &[&with_remedies[..], &["--emit-schema"]].concat());
    assert!(sql.contains("\"slug\" varchar(512) -- declared VARCHAR(256)"), "{sql}");
}

#[test]
fn wrong_usage_exits_2_and_wrong_input_1_each_in_one_line() {
    let place = Shop::new();
    let said = place.refused(2, &["audit", place.source(), "--map", "articles.slug=varchr"]);
    assert!(said.contains("unknown type `varchr`"), "{said}");
    place.write("other.txt", "not a database, but long enough to be read as one");
    let said = place.refused(1, &["audit", "other.txt"]);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("is not a SQLite database"), "{said}");
}

#[test]
fn a_file_is_moved_proved_and_its_rejects_repaired() {
    let place = Shop::new();
    let url = place.expect(0, &["server", "start", "postgres:18"]);
    let url = url.trim();
    let said = place.refused(1, &["migrate", place.source(), url]);
    assert!(said.contains("2 blockers found before anything was changed"), "{said}");

    let move_it = [&["migrate", place.source(), url], &REMEDIES[..]].concat();
    let text = place.expect(0, &move_it);
    assert!(text.contains("moved: 100 rows in 1 table into"), "{text}");
    let text = place.expect(0, &["verify", place.source(), url]);
    assert!(text.contains("equal: 100 rows in 1 table, every column"), "{text}");

    sql(&place.source, "UPDATE articles SET slug = 'other' WHERE id = 17");
    let text = place.expect(3, &["verify", place.source(), url]);
    assert!(text.contains("articles: id 17: slug is"), "{text}");

    let rejecting = ["--replace", "--on-error", "reject", "--map", "articles.uuid=uuid"];
    let text = place.expect(3, &[&["migrate", place.source(), url], &rejecting[..]].concat());
    assert!(text.contains("11 rejected rows are in"), "{text}");
    let rejects = place.path("shop.db.rejects.jsonl");
    let whole = std::fs::read_to_string(&rejects).unwrap();
    let zeros = "0".repeat(200);
    std::fs::write(&rejects, whole.replace(&zeros, "")).unwrap();
    place.expect(0, &["migrate", "--rejects", rejects.to_str().unwrap(), url]);
    sql(
        &place.source,
        &format!(
            "UPDATE articles SET slug = replace(slug, '{zeros}', '') \
                                 WHERE length(slug) > 256"
        ),
    );
    place.expect(0, &["verify", place.source(), url]);
}

#[test]
fn the_time_shown_is_that_of_the_whole_command() {
    let place = Shop::new();
    let url = place.expect(0, &["server", "start", "postgres:18"]);
    let json = ["--output-format", "json"];
    let move_it = [&["migrate", place.source(), url.trim()], &REMEDIES[..], &json].concat();
    let json = place.expect(0, &move_it);
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let mut seconds = report["seconds"].as_object().unwrap().clone();
    let elapsed = seconds.remove("elapsed").unwrap().as_f64().unwrap();
    // Start, connection and claim are in no phase.
    let phases: f64 = seconds.values().map(|phase| phase.as_f64().unwrap()).sum();
    assert!(elapsed > phases, "{report}");
}

/// The most memory that a command ever held, in bytes; it has to end well.
fn peak_memory(place: &Shop, arguments: &[&str]) -> u64 {
    let mut command = place.command(arguments);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::inherit()).spawn().unwrap();
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
    let place = Shop::new();
    sql(
        &place.source,
        "DROP TABLE articles; CREATE TABLE t(id INTEGER PRIMARY KEY, v BLOB); \
         INSERT INTO t VALUES (1, x'00'), (2, zeroblob(200000000))",
    );
    let url = place.expect(0, &["server", "start", "postgres:18"]);
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
    let place = Shop::new();
    let url = place.expect(0, &["server", "start", "postgres:18"]);
    let made = url.trim().replacen("/crossover?", "/made?", 1);
    assert_ne!(made, url.trim());
    let target = [made.as_str(), "--create-database", "--dry-run"];
    let try_it = [&["migrate", place.source()], &target[..], &REMEDIES[..]].concat();
    let output = place.run(&try_it);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    let printed = text(&output.stdout);
    assert!(printed.contains("tried and undone: 100 rows"), "{printed}");
    assert!(error(&output).contains("dropped the database of"), "{}", error(&output));
    let said = place.refused(1, &["verify", place.source(), &made]);
    assert!(said.contains("does not exist"), "{said}");
    // So is one whose migration is refused.
    let refused = place.refused(1, &["migrate", place.source(), &made, "--create-database"]);
    assert!(refused.contains("dropped the database of"), "{refused}");
    let said = place.refused(1, &["verify", place.source(), &made]);
    assert!(said.contains("does not exist"), "{said}");
}

#[test]
fn a_file_says_everything_and_the_server_may_restart_between() {
    let place = Shop::new();
    many_rows(&place);
    let url = place.expect(0, &["server", "start", "postgres:18"]);
    let recipe = place.recipe();
    let write = |more: &str| {
        let text = format!(
            "source = \"../shop.db\"\ntarget = \"{}\"\npart_bytes = 50000\n{more}\n\
             [map]\n\"item.body\" = \"varchar(20)\"\n",
            url.trim()
        );
        std::fs::write(&recipe, text).unwrap();
    };
    write("colour = 1");
    let said = place.refused(2, &["migrate", &recipe]);
    assert!(said.contains("unknown field `colour`"), "{said}");
    write("");
    place.expect(0, &["migrate", &recipe, "--dry-run"]);
    Stops::new(url.trim()).kill_at(4, &place, &["migrate", &recipe]);
    place.expect(0, &["server", "stop", "--all"]);
    // Its socket may be another one now: the command line has the last word.
    let url = place.expect(0, &["server", "start", "postgres:18"]);
    place.expect(0, &["migrate", &recipe, url.trim(), "--resume"]);
    place.expect(0, &["verify", place.source(), url.trim()]);

    // What is typed comes before what the environment says.
    let elsewhere = [("CROSSOVER_TARGET", "postgresql://nobody@127.0.0.1:9/elsewhere")];
    let output = place.run_where(&elsewhere, &["migrate", "--abandon", url.trim()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(error(&output).contains("no unfinished migration is in"), "{}", error(&output));
    let text = format!("LOAD DATABASE FROM shop.db INTO {} WITH data only, moonlight;", url.trim());
    place.write("shop.load", &text);
    let said = place.refused(2, &["migrate", "shop.load"]);
    assert!(said.contains("`WITH moonlight` is not understood"), "{said}");
}

#[test]
fn what_does_not_arrive_is_a_finding_in_all_three_commands() {
    let place = Shop::new();
    sql(
        &place.source,
        "DROP TABLE articles; CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT); \
         INSERT INTO note VALUES (1, 'a'); \
         CREATE TRIGGER keep AFTER DELETE ON note BEGIN SELECT 700; END; \
         CREATE VIRTUAL TABLE search USING fts5(body); INSERT INTO search VALUES ('b'), ('c')",
    );
    let url = place.expect(0, &["server", "start", "postgres:18"]);
    let (source, url) = (place.source(), url.trim());
    let commands: [&[&str]; 3] =
        [&["audit", source], &["migrate", source, url, "--replace"], &["verify", source, url]];
    for command in commands {
        let text = place.expect(3, &[command, &["--accept-losses"]].concat());
        let line = "not carried over: 2 rows of search, 1 trigger, 1 virtual table";
        assert!(text.contains(line), "{text}");
        let text = place.expect(3, &[command, &["--exclude", "search"]].concat());
        assert!(text.contains("not carried over: 1 trigger\n"), "{text}");
        assert!(!text.contains("700"), "{text}");
        let whole = [command, &["--exclude", "search", "-v"]].concat();
        assert_eq!(place.expect(3, &whole).contains("700"), command[0] != "verify");
        place.expect(0, &[command, &["--exclude", "search", "--accept-losses"]].concat());
        let accepted = [("CROSSOVER_ACCEPT_LOSSES", "true"), ("CROSSOVER_EXCLUDE", "search")];
        let output = place.run_where(&accepted, command);
        assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    }
    let recipe = place.recipe();
    let text = "source = \"../shop.db\"\nreplace = true\nexclude = [\"search\"]\n";
    std::fs::write(&recipe, text).unwrap();
    let by_file = ["migrate", &recipe, url, "--output-format", "json"];
    let json = place.expect(3, &by_file);
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let expected = serde_json::json!({"rows": {}, "rules": {"trigger": 1}});
    assert_eq!(report["not_carried_over"], expected);
    std::fs::write(&recipe, format!("{text}accept_losses = true\n")).unwrap();
    place.expect(0, &by_file);
    sql(&place.source, "CREATE INDEX note_body ON note(body)");
    let skipping = "accept_losses = true\nskip_index = [\"note_*\"]\n";
    std::fs::write(&recipe, format!("{text}{skipping}")).unwrap();
    let json = place.expect(0, &by_file);
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["not_carried_over"]["rules"]["index"], 1);
    let said = place.refused(2, &["audit", source, "--skip-index", "none"]);
    assert!(said.contains("no index of the source is called none; it has note_body"), "{said}");
}

fn sql(source: &str, script: &str) {
    rusqlite::Connection::open(source).unwrap().execute_batch(script).unwrap();
}
