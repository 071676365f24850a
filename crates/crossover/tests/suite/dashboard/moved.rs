//! `crossover dashboard move` in both directions: the same answers, sessions, keys and tables, and
//! a dashboard that is used on.

use engine::PostgresUrl;
use lab::article::GROUPINGS;
use testing::dashboard::{DashboardClient, Server};
use tokio::runtime::Runtime;
use tokio_postgres::Client;

use super::small::{PASSWORD, SmallDashboard};
use crate::place::{Place, error};

/// A small dashboard in a file, and an empty database of a PostgreSQL server.
pub struct TwoEngines {
    pub dashboard: SmallDashboard,
    pub postgres: String,
    pub runtime: Runtime,
}

impl TwoEngines {
    pub fn new() -> Self {
        let dashboard = SmallDashboard::new();
        let url = dashboard.place.expect(0, &["server", "start", "postgres:18"]);
        Self { dashboard, postgres: url.trim().to_owned(), runtime: Runtime::new().unwrap() }
    }

    pub fn place(&self) -> &Place {
        &self.dashboard.place
    }

    pub fn client(&self) -> Client {
        let url: PostgresUrl = self.postgres.parse().unwrap();
        self.runtime.block_on(connect::postgres::connect(&url)).unwrap()
    }

    pub fn execute(&self, client: &Client, sql: &str) {
        self.runtime.block_on(client.batch_execute(sql)).unwrap();
    }

    /// The texts in the first column of the rows that a query answers.
    pub fn texts(&self, client: &Client, sql: &str) -> Vec<String> {
        let rows = self.runtime.block_on(client.query(sql, &[])).unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// A move from the file to PostgreSQL.
    pub fn there(&self) -> [&str; 5] {
        ["dashboard", "move", &self.postgres, "--database", &self.dashboard.url]
    }

    /// The names of all tables in PostgreSQL.
    pub fn tables(&self) -> Vec<String> {
        let sql = "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' ORDER BY 1";
        self.texts(&self.client(), sql)
    }

    /// `dashboard WORDS --database URL`.
    pub fn on(&self, url: &str, words: &[&str]) -> String {
        self.place().expect(0, &[&["dashboard"], words, &["--database", url]].concat())
    }
}

/// Everything that a dashboard may hold; the API key.
fn fill(two: &TwoEngines) -> String {
    let (place, url) = (two.place(), &two.dashboard.url);
    place.write("password", &format!("{PASSWORD}\n"));
    two.on(url, &["account", "add", "ann", "--password-file", "password"]);
    let key = two.on(url, &["key", "add", "laptop", "--expires", "30d"]).trim().to_owned();
    two.on(url, &["key", "add", "old"]);
    two.on(url, &["key", "revoke", "old"]);
    let header = "date,url,country,pageviews,sessions,engagement_seconds";
    let rows = "2022-06-27,https://example.com/Zürich,CH,3,2,1\n\
                2022-06-27,https://example.com/a,DE,5,4,3";
    place.write("unmatched.csv", &format!("{header}\n{rows}\n"));
    two.on(url, &["import", "traffic", "unmatched.csv"]);
    key
}

fn serve(two: &TwoEngines, url: &str) -> Server {
    let words = ["dashboard", "serve", "--listen", "127.0.0.1:0", "--database", url];
    Server::start(&mut two.place().command(&words)).unwrap()
}

/// A client that calls every server by one name, as behind a proxy: cookies belong to it.
fn connect(server: &Server) -> DashboardClient {
    let mut client = server.connect().unwrap();
    client.host = "dashboard.example".to_owned();
    client
}

/// The bodies of the nine requests, and of one by the colleague's session instead of the key.
fn answers(server: &Server, key: &str, cookie: &str) -> Vec<String> {
    let mut client = connect(server);
    let mut ask = |path: &str, header: &str| {
        let reply = client.send("GET", path, header, "").unwrap();
        assert_eq!(reply.status, 200, "{path}: {}", reply.body);
        reply.body
    };
    let key = format!("Authorization: Bearer {key}\r\n");
    let path = |grouping| format!("/api/query/{grouping}?start=2021-01-01&end=2022-06-27");
    let mut bodies: Vec<_> = GROUPINGS.iter().map(|it| ask(&path(it), &key)).collect();
    bodies.push(ask("/api/query/teams?start=2020-04-01&end=2022-06-27", cookie));
    bodies
}

#[test]
fn answers_sessions_and_keys_are_the_same_there_and_back() {
    let two = TwoEngines::new();
    let key = fill(&two);
    let server = serve(&two, &two.dashboard.url);
    let account = serde_json::json!({"name": "ann", "password": PASSWORD});
    let signed_in = connect(&server).post("/api/session", &account).unwrap();
    let cookie = format!("Cookie: {}\r\n", signed_in.cookie.unwrap());
    let before = answers(&server, &key, &cookie);

    // The server goes on reading the file.
    let proof = two.place().expect(0, &[&two.there()[..], &["--output-format=json"]].concat());
    let proof: serde_json::Value = serde_json::from_str(&proof).unwrap();
    assert_eq!(proof["changed"], serde_json::json!([]));
    let of = |table: &str| {
        let tables = proof["tables"].as_array().unwrap();
        tables.iter().find(|it| it["table"] == table).unwrap()["rows"].as_u64().unwrap()
    };
    assert_eq!((of("traffic"), of("unmatched_traffic"), of("sessions")), (13_000, 2, 1));
    assert_eq!((of("api_keys"), of("key_expiries"), of("accounts")), (2, 1, 1));
    drop(server);
    let server = serve(&two, &two.postgres);
    assert_eq!(answers(&server, &key, &cookie), before);
    drop(server);

    let back = "sqlite://back.db";
    let said = two.on(&two.postgres, &["move", back]);
    let first = said.lines().next().unwrap();
    assert!(first.starts_with("moved to sqlite://back.db: 16 articles, 13,000 rows"), "{said}");
    assert!(first.contains("every row was compared"), "{said}");
    let line = said.lines().find(|line| line.trim_start().starts_with("traffic ")).unwrap();
    assert!(line.contains("13,000"), "{said}");
    let server = serve(&two, back);
    assert_eq!(answers(&server, &key, &cookie), before);
    assert!(two.on(back, &["rollup", "verify"]).contains("totals were compared"));
}

/// A table that is in the schema and not in the definition would be missing.
#[test]
fn every_table_with_its_keys_and_indexes_is_there_after_a_move() {
    let two = TwoEngines::new();
    fill(&two);
    let sqlite = || rusqlite::Connection::open(two.place().path("dashboard.db")).unwrap();
    let proof = two.place().expect(0, &[&two.there()[..], &["--output-format=json"]].concat());
    let proof: serde_json::Value = serde_json::from_str(&proof).unwrap();
    let listed = proof["tables"].as_array().unwrap().iter();
    let mut moved: Vec<_> = listed.map(|it| it["table"].as_str().unwrap().to_owned()).collect();
    moved.sort();
    assert_eq!(moved, two.tables());
    let in_the_file = |kind: &str| -> Vec<String> {
        let sql = "SELECT name FROM sqlite_schema WHERE type = ?1 AND name NOT LIKE 'sqlite_%' \
                   ORDER BY name";
        let file = sqlite();
        let mut names = file.prepare(sql).unwrap();
        let names = names.query_map([kind], |row| row.get(0)).unwrap();
        names.map(Result::unwrap).collect()
    };
    assert_eq!(moved, in_the_file("table"));

    // As `generate` makes the schema, so does a move, in either engine.
    let sql = "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
               UNION ALL SELECT conrelid::regclass || ': ' || pg_get_constraintdef(oid)
                           FROM pg_constraint WHERE contype IN ('f', 'p', 'u')
               UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
               UNION ALL SELECT format('%s.%s %s %s', attrelid::regclass, attname,
                                format_type(atttypid, atttypmod), attstorage)
                           FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
                          WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
               ORDER BY 1";
    let schema = || two.texts(&two.client(), sql);
    let after_move = schema();
    two.on(&two.postgres, &["generate", "--scale=0.001", "--force"]);
    assert_eq!(after_move, schema());

    let file_schema = |kinds: [&str; 3]| kinds.map(in_the_file);
    let kinds = ["table", "index", "trigger"];
    let before = file_schema(kinds);
    let file = two.place().path("dashboard.db");
    std::fs::remove_file(&file).unwrap();
    let back = two.dashboard.url.clone();
    two.on(&two.postgres, &["move", &back]);
    assert_eq!(file_schema(kinds), before);
    let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600, "it holds hashes of passwords and keys");
}

#[test]
fn a_moved_dashboard_takes_articles_traffic_accounts_and_keys() {
    let two = TwoEngines::new();
    fill(&two);
    let place = two.place();
    place.write(
        "articles.csv",
        "url,title,published\nhttps://example.com/a,A new article,2022-06-01\n",
    );
    let header = "date,url,country,pageviews,sessions,engagement_seconds";
    place.write("day.csv", &format!("{header}\n2022-06-28,https://example.com/a,DE,7,6,5\n"));
    two.on(&two.dashboard.url, &["move", &two.postgres]);
    two.on(&two.postgres, &["move", "sqlite://back.db"]);
    for url in [two.postgres.as_str(), "sqlite://back.db"] {
        two.on(url, &["import", "articles", "articles.csv"]);
        two.on(url, &["import", "traffic", "day.csv"]);
        two.on(url, &["account", "add", "bob", "--password-file", "password"]);
        two.on(url, &["key", "add", "phone"]);
        let totals = two.on(url, &["rollup", "verify"]);
        assert!(!totals.contains("differs"), "{totals}");
        assert!(two.on(url, &["account", "list"]).contains("bob"));
    }
    // The kept traffic of the article's URL has found its article.
    let sql = "SELECT (articles.id || ': ' || sum(pageviews))::text FROM articles
               JOIN traffic ON article_id = articles.id WHERE url = 'https://example.com/a'
               GROUP BY articles.id";
    assert_eq!(two.texts(&two.client(), sql), ["17: 12"]);
}

#[test]
fn a_target_that_holds_something_is_refused_naming_it() {
    let two = TwoEngines::new();
    let (place, url) = (two.place(), two.dashboard.url.as_str());
    let refused = |code, words: &[&str], reason: &str| {
        let said = place.refused(code, &[&["dashboard", "move"], words].concat());
        assert!(said.contains(reason) && said.lines().count() == 1, "{said}");
    };
    let there = [two.postgres.as_str(), "--database", url];
    two.execute(&two.client(), "CREATE TABLE articles (name text)");
    refused(1, &there, "the database already has a table \"articles\"");
    two.execute(&two.client(), "DROP TABLE articles");
    // Empty tables, as `init` makes them, are no dashboard yet.
    two.on(&two.postgres, &["init"]);
    two.on(url, &["move", &two.postgres]);
    refused(1, &there, "table blogs of the database has rows");
    two.on(&two.postgres, &["key", "add", "only there"]);
    two.on(url, &["move", &two.postgres, "--force"]);
    assert!(!two.on(&two.postgres, &["key", "list"]).contains("only there"));

    let back = [url, "--database", &two.postgres];
    refused(1, &back, "dashboard.db exists already");
    refused(2, &["sqlite://b.db", "--database", url], "crossover dashboard backup b.db");
    refused(2, &[&two.postgres, "--database", &two.postgres], "pg_dump");
    refused(1, &[&two.postgres, "--database", "sqlite://none.db"], "none.db");
    refused(2, &["mysql://h/d", "--database", url], "mysql");
    place.write("empty.db", "");
    refused(1, &["sqlite://empty.db", "--database", &two.postgres], "empty.db exists already");
}

/// SQLite keeps what the schema does not allow; PostgreSQL would not.
#[test]
fn values_that_do_not_fit_are_named_and_nothing_is_moved() {
    let two = TwoEngines::new();
    let change = |sql: &str| {
        let file = rusqlite::Connection::open(two.place().path("dashboard.db")).unwrap();
        file.execute_batch(&format!("PRAGMA foreign_keys = OFF; {sql}")).unwrap();
    };
    let cases = [
        (
            "UPDATE articles SET slug = printf('%.*c', 513, 'x') WHERE id = 3",
            "UPDATE articles SET slug = 's' WHERE id = 3",
            "articles.slug is 513 characters long, and only 512 fit, in the row with id 3",
        ),
        (
            "UPDATE articles SET published = 'soon' WHERE id = 4",
            "UPDATE articles SET published = 18300 WHERE id = 4",
            "articles.published is a text, in the row with id 4",
        ),
        (
            "UPDATE traffic SET pageviews = 3000000000 WHERE (day, article_id) = \
             (SELECT day, article_id FROM traffic ORDER BY 1, 2 LIMIT 1)",
            "UPDATE traffic SET pageviews = 3 WHERE pageviews > 2147483647",
            "traffic.pageviews is 3000000000, which 32 bits cannot hold, in the row with day ",
        ),
        (
            "UPDATE teams SET name = 'a' || char(0) WHERE id = 2",
            "UPDATE teams SET name = 'a' WHERE id = 2",
            "teams.name holds the character U+0000",
        ),
        (
            "UPDATE articles SET team_id = 99 WHERE id = 5",
            "UPDATE articles SET team_id = 1 WHERE id = 5",
            "Key (team_id)=(99) is not present in table \"teams\"",
        ),
    ];
    for (damage, mend, named) in cases {
        change(damage);
        let output = two.place().run(&two.there());
        let said = error(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(named), "{said}");
        assert_eq!(two.tables(), Vec::<String>::new());
        change(mend);
    }
    two.place().expect(0, &two.there());
}
