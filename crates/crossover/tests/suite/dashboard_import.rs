//! `crossover dashboard import` as a user types it: what is printed, mistakes with their exit
//! codes, an import that is killed or interrupted in the middle (whole days, right totals), and
//! totals that are lost.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::{Child, Command, Output, Stdio};

use rusqlite::Connection;
use tempfile::TempDir;

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_crossover"));
        command
            .args(["dashboard"].iter().chain(words))
            .current_dir(self.0.path())
            .env_remove("DATABASE_URL")
            .env_remove("CROSSOVER_DATABASE")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    fn succeed(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    fn write(&self, name: &str, content: &str) {
        std::fs::write(self.0.path().join(name), content).unwrap();
    }

    fn open(&self, name: &str) -> Connection {
        connect::sqlite::open_read_only(&self.0.path().join(name)).unwrap()
    }

    /// A dashboard's articles and traffic as files, and its rows by day.
    fn export(&self, scale: &str) -> BTreeMap<i64, (i64, i64)> {
        self.succeed(&["generate", "--database", "sqlite://whole.db", "--scale", scale]);
        let whole = self.open("whole.db");
        let mut articles = "url,title,published,uuid\n".to_owned();
        let sql = "SELECT url, title, date(published * 86400, 'unixepoch'), uuid FROM articles";
        rows(&whole, sql, |row| {
            let [url, title, published, uuid] =
                [0, 1, 2, 3].map(|at| row.get::<_, String>(at).unwrap());
            let title = title.replace('"', "\"\"");
            writeln!(articles, "{url},\"{title}\",{published},{uuid}").unwrap();
        });
        self.write("articles.csv", &articles);
        let mut traffic = "date,url,country,pageviews,sessions,engagement_seconds\n".to_owned();
        let sql = "SELECT date(day * 86400, 'unixepoch'), url, code, pageviews, sessions, \
                   engagement_seconds FROM traffic JOIN articles ON articles.id = article_id \
                   JOIN countries ON countries.id = country_id ORDER BY day";
        rows(&whole, sql, |row| {
            let [date, url, code] = [0, 1, 2].map(|at| row.get::<_, String>(at).unwrap());
            let [views, sessions, seconds] = [3, 4, 5].map(|at| row.get::<_, i64>(at).unwrap());
            writeln!(traffic, "{date},{url},{code},{views},{sessions},{seconds}").unwrap();
        });
        self.write("traffic.csv", &traffic);
        self.succeed(&["init", "--database", "sqlite://own.db"]);
        let added =
            self.succeed(&["import", "articles", "articles.csv", "--database", "sqlite://own.db"]);
        assert!(added.ends_with(" added, 0 changed, 0 unchanged\n"), "{added}");
        by_day(&whole)
    }

    fn start(&self) -> Child {
        let words = ["import", "traffic", "traffic.csv", "--database", "sqlite://own.db"];
        self.command(&words).spawn().unwrap()
    }

    /// Until so many days are there.
    fn wait_for(&self, days: usize) {
        while by_day(&self.open("own.db")).len() < days {
            std::thread::yield_now();
        }
    }

    /// Those that are there are whole, the first ones, and their totals right.
    fn check(&self, expected: &BTreeMap<i64, (i64, i64)>) -> usize {
        let found = by_day(&self.open("own.db"));
        for ((day, found), (expected_day, expected)) in found.iter().zip(expected) {
            assert_eq!((day, found), (expected_day, expected));
        }
        self.succeed(&["rollup", "verify", "--database", "sqlite://own.db"]);
        found.len()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn rows(connection: &Connection, sql: &str, mut each: impl FnMut(&rusqlite::Row<'_>)) {
    let mut prepared = connection.prepare(sql).unwrap();
    let mut rows = prepared.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        each(row);
    }
}

/// Number of rows and page views of each day.
fn by_day(connection: &Connection) -> BTreeMap<i64, (i64, i64)> {
    let mut days = BTreeMap::new();
    let sql = "SELECT day, count(*), sum(pageviews) FROM traffic GROUP BY day";
    rows(connection, sql, |row| {
        days.insert(row.get(0).unwrap(), (row.get(1).unwrap(), row.get(2).unwrap()));
    });
    days
}

#[test]
fn a_killed_import_leaves_whole_days_and_can_be_restarted() {
    let place = Place::new();
    let expected = place.export("0.01");
    let mut import = place.start();
    place.wait_for(3);
    import.kill().unwrap();
    import.wait().unwrap();
    let days = place.check(&expected);
    assert!((3..expected.len()).contains(&days), "{days}");
    let said =
        place.succeed(&["import", "traffic", "traffic.csv", "--database", "sqlite://own.db"]);
    assert!(said.starts_with("65,000 rows read, 817 days imported"), "{said}");
    assert_eq!(place.check(&expected), expected.len());
}

#[test]
fn interrupted_it_ends_between_days_and_says_how_far_it_came() {
    let place = Place::new();
    let expected = place.export("0.01");
    let import = place.start();
    place.wait_for(3);
    let pid = rustix::process::Pid::from_child(&import);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = import.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    let days = place.check(&expected);
    assert!(said.contains(&format!("interrupted: {days} of 817 days were imported")), "{said}");
}

#[test]
fn mistakes_set_exit_codes_and_unmatched_traffic_is_listed() {
    let place = Place::new();
    place.succeed(&["init"]);
    place.write("a.csv", "Address,title,published\nhttps://example.com/a,A,2021-01-01\n");
    let refused = place.run(&["import", "articles", "a.csv"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("no column url; it has Address, title, published"));
    let refused = place.run(&["import", "articles", "a.csv", "--map", "uri=Address"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("--map uri=Address: there is no column uri"));
    let added = place.succeed(&["import", "articles", "a.csv", "--map", "url=Address"]);
    assert_eq!(added, "1 added, 0 changed, 0 unchanged\n");
    let header = "date,url,country,pageviews,sessions,engagement_seconds\n";
    let rows = "2021-01-01,https://example.com/a,DE,1,1,1\n2021-01-01,/b,DE,5,1,1\n\
                2021-01-02,https://example.com/c,DE,7,1,1\n";
    place.write("t.csv", &format!("{header}{rows}"));
    let said = place.succeed(&["import", "traffic", "t.csv"]);
    assert_eq!(said, "3 rows read, 2 days imported from 2021-01-01 to 2021-01-02, 1 page view\n");
    let refused = place.run(&["import", "traffic", "crossover-data/dashboard.db"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("it is the database itself"));
    let list = ["import", "unmatched", "--output-format", "csv"];
    assert_eq!(
        place.succeed(&list),
        "url,pageviews,sessions,first_day,last_day\n\
         example.com/c,7,1,2021-01-02,2021-01-02\nexample.com/b,5,1,2021-01-01,2021-01-01\n"
    );
}

#[test]
fn replaced_days_are_said_and_a_halved_one_needs_a_yes() {
    let place = Place::new();
    place.succeed(&["init"]);
    place.write("a.csv", "url,title,published\nhttps://example.com/a,A,2021-01-01\n");
    place.succeed(&["import", "articles", "a.csv"]);
    let header = "date,url,country,pageviews,sessions,engagement_seconds\n";
    let day = |views: u32| format!("{header}2021-01-01,https://example.com/a,DE,{views},1,1\n");
    place.write("t.csv", &day(1_200));
    let first = place.run(&["import", "traffic", "t.csv"]);
    assert!(!text(&first.stderr).contains("replaces"), "{}", text(&first.stderr));
    place.write("t.csv", &day(800));
    let second = place.run(&["import", "traffic", "t.csv"]);
    let said = "replaces 2021-01-01 of example.com: 1,200 page views before, 800 now";
    assert!(text(&second.stderr).contains(said), "{}", text(&second.stderr));
    place.write("t.csv", &day(80));
    let refused = place.run(&["import", "traffic", "t.csv"]);
    assert_eq!(refused.status.code(), Some(1));
    let said = text(&refused.stderr);
    assert!(said.contains("would fall from 800 page views to 80"), "{said}");
    assert!(said.contains("nothing was imported") && said.contains("add --yes"), "{said}");
    let agreed = place.run(&["import", "traffic", "t.csv", "--yes", "--output-format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&text(&agreed.stdout)).unwrap();
    assert_eq!(
        json["replaced"],
        serde_json::json!([{"blog": "example.com", "day": "2021-01-01",
            "pageviews_before": 800, "pageviews_after": 80,
            "matched_pageviews_before": 800, "matched_pageviews_after": 80}])
    );
}

#[test]
fn a_lost_total_is_found_and_rebuilt_by_the_named_command() {
    let place = Place::new();
    let database = ["--database", "sqlite://whole.db"];
    place.succeed(&["generate", "--scale", "0.01", database[0], database[1]]);
    let whole = connect::sqlite::open_existing(&place.0.path().join("whole.db")).unwrap();
    let lost = "DELETE FROM totals WHERE (kind, grain, day) = \
                (SELECT kind, grain, day FROM totals LIMIT 1)";
    assert_eq!(whole.execute(lost, []).unwrap(), 1);
    let verify = ["rollup", "verify", database[0], database[1]];
    let found = place.run(&verify);
    assert_eq!(found.status.code(), Some(3), "{}", text(&found.stderr));
    assert!(text(&found.stdout).contains(" differs: "), "{}", text(&found.stdout));
    assert!(text(&found.stderr).contains("crossover dashboard rollup rebuild"));
    place.succeed(&["rollup", "rebuild", database[0], database[1]]);
    assert!(!place.succeed(&verify).contains("differs"));
}
