//! `crossover dashboard import` as a user types it: what is printed, mistakes with their exit
//! codes, an import that is killed or interrupted in the middle (whole days, right totals), and
//! totals that are lost.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::{Child, Output};

use rusqlite::Connection;

use super::dashboard;
use crate::place::{Place, error, text};

/// A place with dashboards in files, and files to import.
struct Imports(Place);

impl Imports {
    fn new() -> Self {
        Self(Place::new())
    }

    fn run(&self, words: &[&str]) -> Output {
        dashboard(&self.0, words).output().unwrap()
    }

    fn succeed(&self, words: &[&str]) -> String {
        self.0.expect(0, &[&["dashboard"], words].concat())
    }

    fn write(&self, name: &str, content: &str) {
        self.0.write(name, content);
    }

    fn open(&self, name: &str) -> Connection {
        connect::sqlite::open_read_only(&self.0.path(name)).unwrap()
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
        dashboard(&self.0, &words).spawn().unwrap()
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
    let imports = Imports::new();
    let expected = imports.export("0.01");
    let mut import = imports.start();
    imports.wait_for(3);
    import.kill().unwrap();
    import.wait().unwrap();
    let days = imports.check(&expected);
    assert!((3..expected.len()).contains(&days), "{days}");
    let said =
        imports.succeed(&["import", "traffic", "traffic.csv", "--database", "sqlite://own.db"]);
    assert!(said.starts_with("65,000 rows read, 817 days imported"), "{said}");
    assert_eq!(imports.check(&expected), expected.len());
}

#[test]
fn interrupted_it_ends_between_days_and_says_how_far_it_came() {
    let imports = Imports::new();
    let expected = imports.export("0.01");
    let import = imports.start();
    imports.wait_for(3);
    let pid = rustix::process::Pid::from_child(&import);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = import.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = error(&output);
    let days = imports.check(&expected);
    assert!(said.contains(&format!("interrupted: {days} of 817 days were imported")), "{said}");
}

#[test]
fn mistakes_set_exit_codes_and_unmatched_traffic_is_listed() {
    let imports = Imports::new();
    imports.succeed(&["init"]);
    imports.write("a.csv", "Address,title,published\nhttps://example.com/a,A,2021-01-01\n");
    let refused = imports.run(&["import", "articles", "a.csv"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(error(&refused).contains("no column url; it has Address, title, published"));
    let refused = imports.run(&["import", "articles", "a.csv", "--map", "uri=Address"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(error(&refused).contains("--map uri=Address: there is no column uri"));
    let added = imports.succeed(&["import", "articles", "a.csv", "--map", "url=Address"]);
    assert_eq!(added, "1 added, 0 changed, 0 unchanged\n");
    let header = "date,url,country,pageviews,sessions,engagement_seconds\n";
    let rows = "2021-01-01,https://example.com/a,DE,1,1,1\n2021-01-01,/b,DE,5,1,1\n\
                2021-01-02,https://example.com/c,DE,7,1,1\n";
    imports.write("t.csv", &format!("{header}{rows}"));
    let said = imports.succeed(&["import", "traffic", "t.csv"]);
    assert_eq!(said, "3 rows read, 2 days imported from 2021-01-01 to 2021-01-02, 1 page view\n");
    let refused = imports.run(&["import", "traffic", "crossover-data/dashboard.db"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(error(&refused).contains("it is the database itself"));
    let list = ["import", "unmatched", "--output-format", "csv"];
    assert_eq!(
        imports.succeed(&list),
        "url,pageviews,sessions,first_day,last_day\n\
         example.com/c,7,1,2021-01-02,2021-01-02\nexample.com/b,5,1,2021-01-01,2021-01-01\n"
    );
}

#[test]
fn replaced_days_are_said_and_a_halved_one_needs_a_yes() {
    let imports = Imports::new();
    imports.succeed(&["init"]);
    imports.write("a.csv", "url,title,published\nhttps://example.com/a,A,2021-01-01\n");
    imports.succeed(&["import", "articles", "a.csv"]);
    let header = "date,url,country,pageviews,sessions,engagement_seconds\n";
    let day = |views: u32| format!("{header}2021-01-01,https://example.com/a,DE,{views},1,1\n");
    imports.write("t.csv", &day(1_200));
    let first = imports.run(&["import", "traffic", "t.csv"]);
    assert!(!error(&first).contains("replaces"), "{}", error(&first));
    imports.write("t.csv", &day(800));
    let second = imports.run(&["import", "traffic", "t.csv"]);
    let said = "replaces 2021-01-01 of example.com: 1,200 page views before, 800 now";
    assert!(error(&second).contains(said), "{}", error(&second));
    imports.write("t.csv", &day(80));
    let refused = imports.run(&["import", "traffic", "t.csv"]);
    assert_eq!(refused.status.code(), Some(1));
    let said = error(&refused);
    assert!(said.contains("would fall from 800 page views to 80"), "{said}");
    assert!(said.contains("nothing was imported") && said.contains("add --yes"), "{said}");
    let agreed = imports.run(&["import", "traffic", "t.csv", "--yes", "--output-format", "json"]);
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
    let imports = Imports::new();
    let database = ["--database", "sqlite://whole.db"];
    imports.succeed(&["generate", "--scale", "0.01", database[0], database[1]]);
    let whole = connect::sqlite::open_existing(&imports.0.path("whole.db")).unwrap();
    let lost = "DELETE FROM totals WHERE (kind, grain, day) = \
                (SELECT kind, grain, day FROM totals LIMIT 1)";
    assert_eq!(whole.execute(lost, []).unwrap(), 1);
    let verify = ["rollup", "verify", database[0], database[1]];
    let found = imports.run(&verify);
    assert_eq!(found.status.code(), Some(3), "{}", error(&found));
    assert!(text(&found.stdout).contains(" differs: "), "{}", text(&found.stdout));
    assert!(error(&found).contains("crossover dashboard rollup rebuild"));
    imports.succeed(&["rollup", "rebuild", database[0], database[1]]);
    assert!(!imports.succeed(&verify).contains("differs"));
}
