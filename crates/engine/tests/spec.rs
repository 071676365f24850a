//! Engine names: what a user writes is what is meant, and what is printed reads back.
#![expect(clippy::unwrap_used, reason = "tests")]

use engine::{DatabaseUrl, EngineSource, EngineSpec, ExactVersion, PostgresUrl};
use proptest::prelude::*;

fn spec(text: &str) -> EngineSpec {
    text.parse().unwrap()
}

fn refusal(text: &str) -> String {
    text.parse::<EngineSpec>().unwrap_err().to_string()
}

#[test]
fn every_form_of_a_name_is_understood() {
    assert_eq!(spec("sqlite").source, EngineSource::Sqlite);
    assert_eq!(spec("sqlite:shop.db").source, EngineSource::SqliteFile("shop.db".into()));
    assert_eq!(
        spec("sqlite:///srv/shop.db").source,
        EngineSource::SqliteFile("/srv/shop.db".into())
    );
    assert_eq!(spec("postgres").source, EngineSource::Postgres("newest".parse().unwrap()));
    assert_eq!(spec("postgres:18").source, EngineSource::Postgres("18".parse().unwrap()));
    assert_eq!(spec("postgres:/opt/pg").source, EngineSource::PostgresFolder("/opt/pg".into()));
    assert_eq!(spec("postgres:./18").source, EngineSource::PostgresFolder("./18".into()));
    assert_eq!(spec("mariadb").source, EngineSource::Mariadb);
    let release = EngineSource::MariadbRelease("10.11".parse().unwrap());
    assert_eq!(spec("mariadb:10.11").source, release);
    assert_eq!(spec("mariadb:/opt/m").source, EngineSource::MariadbFolder("/opt/m".into()));
    assert_eq!(spec("mysql://h/d").source, EngineSource::MysqlUrl("mysql://h/d".into()));
    assert_eq!(spec("dir").source, EngineSource::Dir);
    assert_eq!(spec("dir:blobs").source, EngineSource::DirFolder("blobs".into()));
    assert_eq!(spec("tree").source, EngineSource::Tree);
    assert_eq!(spec("tree:blobs").source, EngineSource::TreeFolder("blobs".into()));
    assert_eq!(spec("sqlite+dir").source, EngineSource::SqliteDir);
    let EngineSource::PostgresUrl(url) = spec("postgres://ann@db.example:5433/shop").source else {
        unreachable!("a URL")
    };
    assert_eq!((url.user(), url.host(), url.port()), (Some("ann"), Some("db.example"), Some(5433)));
}

#[test]
fn settings_are_read_with_and_without_quotes() {
    let engine = spec("postgres:18[work_mem=16MB, search_path='a, b',label='it''s [one]']");
    let settings: Vec<_> = engine.engine_settings().collect();
    assert_eq!(settings, [("work_mem", "16MB"), ("search_path", "a, b")]);
    assert_eq!(engine.label(), "it's [one]");
    assert_eq!(spec("sqlite[access=blob_api]").own("access"), Some("blob_api"));
    assert_eq!(spec("postgres:18").label(), "postgres:18");
}

/// Files have no engine that could know `fsync`; PostgreSQL has, and it is not ours there.
#[test]
fn fsync_is_ours_only_for_files() {
    assert_eq!(spec("dir:blobs[fsync=on]").own("fsync"), Some("on"));
    assert_eq!(spec("sqlite+dir[read=openat,fsync=on]").engine_settings().count(), 0);
    assert_eq!(spec("sqlite[read=plain]").own("read"), None);
    assert_eq!(spec("postgres:18[fsync=off]").own("fsync"), None);
    assert_eq!(spec("postgres:18[fsync=off]").engine_settings().count(), 1);
}

#[test]
fn mistakes_are_named_with_the_way_out() {
    assert!(refusal("postgers:18").contains("did you mean `postgres`"));
    assert!(refusal("oracle").contains("engines are sqlite, "));
    assert!(refusal("postgres:18.").contains("not a release"));
    assert!(refusal("sqlite:").contains("nothing follows the colon"));
    assert!(refusal("sqlite+dir:blobs").contains("takes no path"));
    assert!(refusal("dir[read=plain").contains("not closed"));
    assert!(refusal("sqlite]").contains("there is no `[`"));
    assert!(refusal("postgres:18[work_mem]").contains("`work_mem` has no `=`"));
    assert!(refusal("postgres:18[a=1,a=2]").contains("`a` is given twice"));
    assert!(refusal("postgres:18[work_mem=1MB").contains("not closed"));
    assert!(refusal("sqlite[access=sql").contains("not closed"));
    assert!(refusal("postgres:18[a=b c]").contains("single quotes"));
    assert!(refusal("postgres:18[a='b]").contains("does not end"));
    assert!(refusal("postgres:18[a=1,]").contains("has no `=`"));
    assert!(refusal("oracle://u:secret@h/d").contains("u:***@h/d"));
    assert!(refusal("postgresql://u:secret@h/d[a]").contains("***"));
}

#[test]
fn passwords_are_never_shown_and_a_hidden_one_is_none() {
    for text in ["postgresql://ann:s3cret@h/d", "postgresql://h/d?user=ann&password=s3cret"] {
        let engine = spec(text);
        let shown = format!("{engine} {engine:?} {}", engine.label());
        assert!(!shown.contains("s3cret"), "{shown}");
        assert_eq!(engine.to_string(), "postgresql://ann:***@h/d");
        assert_eq!(engine.expose(), "postgresql://ann:s3cret@h/d");
        let EngineSource::PostgresUrl(url) = spec(&engine.to_string()).source else {
            unreachable!("a URL")
        };
        assert_eq!(url.password(), None);
    }
    let engine = spec("mysql://ann:s3cret@h/d");
    assert_eq!(engine.to_string(), "mysql://ann:***@h/d");
}

#[test]
fn database_urls_are_sqlite_and_postgresql() {
    let parse = |text: &str| text.parse::<DatabaseUrl>();
    assert_eq!(parse("sqlite://shop.db").unwrap(), DatabaseUrl::Sqlite("shop.db".into()));
    assert_eq!(parse("sqlite:///srv/a.db").unwrap(), DatabaseUrl::Sqlite("/srv/a.db".into()));
    assert_eq!(parse("sqlite:shop.db").unwrap(), DatabaseUrl::Sqlite("shop.db".into()));
    assert_eq!(parse("sqlite:/srv/a.db").unwrap(), DatabaseUrl::Sqlite("/srv/a.db".into()));
    assert_eq!(parse("sqlite:///srv/a.db").unwrap().to_string(), "sqlite:///srv/a.db");
    assert!(matches!(parse("postgres://h/d").unwrap(), DatabaseUrl::Postgres(_)));
    for wrong in ["oracle://h/d", "shop.db", "sqlite:", "sqlite://", "mysql://ann:s3cret@h/d"] {
        let error = parse(wrong).unwrap_err().to_string();
        assert!(error.contains("sqlite://relative.db") && !error.contains("s3cret"), "{error}");
    }
}

#[test]
fn unix_sockets_stay_readable_in_urls() {
    let url = PostgresUrl::unix_socket("/run/crossover/1a2b", None, "postgres", "shop");
    assert_eq!(url.to_string(), "postgresql://postgres@/shop?host=/run/crossover/1a2b");
    let same: PostgresUrl = "postgresql://postgres@%2Frun%2Fcrossover%2F1a2b/shop".parse().unwrap();
    assert_eq!(same, url);
    let other = url.with_database("other");
    assert_eq!((other.host(), other.database()), (Some("/run/crossover/1a2b"), Some("other")));
}

#[test]
fn parts_of_a_url_that_cannot_be_are_refused() {
    let refusal = |text: &str| text.parse::<PostgresUrl>().unwrap_err().to_string();
    assert!(refusal("postgresql://h:0/d").contains("port"));
    assert!(refusal("postgresql://h:many/d").contains("`many`"));
    assert!(refusal("postgresql://h/d?colour=red").contains("colour"));
    assert!(refusal("postgresql://h/d?sslmode=verify").contains("verify-full"));
    assert!(refusal("postgresql://h/d?sslmode").contains("no `=`"));
    assert!(refusal("postgresql://h/d?connect_timeout=soon").contains("connect_timeout"));
    assert!("postgresql://[::1]:5433,other/d?sslmode=verify-full".parse::<PostgresUrl>().is_ok());
}

fn source() -> impl Strategy<Value = EngineSource> {
    // Anything may be in a path, brackets and quotes most of all; a leading digit makes a release.
    let path = "[a-z/.][a-z0-9/. ='\\[\\],:é]{0,12}".prop_map(std::path::PathBuf::from);
    let version = (9_u16..20, 0_u16..30).prop_map(|(major, minor)| format!("{major}.{minor}"));
    let mariadb = version.clone();
    let word = "[a-zA-Z0-9@:/?&=% é*.-]{1,8}";
    let url = (word, word, word, proptest::option::of(1_u16..)).prop_map(
        |(user, password, database, port)| {
            let port = port.unwrap_or(5432);
            EngineSource::PostgresUrl(PostgresUrl::tcp("h-1.x", port, &user, &password, &database))
        },
    );
    prop_oneof![
        Just(EngineSource::Sqlite),
        path.clone().prop_map(EngineSource::SqliteFile),
        version.prop_map(|text| EngineSource::Postgres(text.parse().unwrap())),
        path.clone()
            .prop_filter("`newest` is a release", |path| path.as_os_str() != "newest")
            .prop_map(EngineSource::PostgresFolder),
        mariadb.prop_map(|text| EngineSource::MariadbRelease(text.parse().unwrap())),
        path.clone().prop_map(EngineSource::MariadbFolder),
        Just(EngineSource::Dir),
        Just(EngineSource::SqliteDir),
        path.clone().prop_map(EngineSource::DirFolder),
        path.prop_map(EngineSource::TreeFolder),
        url,
    ]
}

/// What properties have failed on.
#[test]
fn texts_that_once_made_a_property_fail() {
    let accepted = ["postgres://:", "postgresql://:", "postgres://:@", "postgres://?user=&dbname="];
    for text in accepted.into_iter().chain(["postgres://?host=", "postgres://h?port=", "mysql://:"])
    {
        if let Ok(engine) = text.parse::<EngineSpec>() {
            assert_eq!(spec(&engine.expose()), engine, "{text}");
        }
    }
    for text in accepted {
        assert!(text.parse::<EngineSpec>().is_ok(), "{text}");
    }
}

#[test]
fn a_relay_keeps_the_name_of_the_host_and_drops_other_ways() {
    let relay = "127.0.0.1:4000".parse().unwrap();
    let relayed = |url: &str, host: Option<&str>| {
        let url: PostgresUrl = url.parse().unwrap();
        url.relayed(relay, host, Some("from a file")).expose()
    };
    assert_eq!(
        relayed("postgresql://ann:pw@db.example:5433/shop?sslmode=verify-full", Some("db.example")),
        "postgresql://ann:pw@db.example:4000/shop?sslmode=verify-full&hostaddr=127.0.0.1"
    );
    assert_eq!(
        relayed("postgresql://ann@/shop?host=/run/x&port=5433&application_name=a", None),
        "postgresql://ann:from%20a%20file@127.0.0.1:4000/shop?application_name=a"
    );
    assert_eq!(
        relayed("postgresql:///shop?hostaddr=10.0.0.7&port=5433", None),
        "postgresql://:from%20a%20file@127.0.0.1:4000/shop"
    );
}

proptest! {
    #![proptest_config(testing::cases(256))]

    #[test]
    fn what_is_printed_reads_back(
        source in source(),
        pairs in proptest::collection::btree_map("[a-z][a-z_.0-9]{0,5}", "[a-z0-9 ,'\\[\\]=é]{0,8}", 0..4),
    ) {
        let mut engine = EngineSpec { source, settings: engine::Settings::default() };
        for (key, value) in &pairs {
            engine.settings.set(key, value).unwrap();
        }
        // With its password: `***` alone as one is what stands for a hidden password.
        prop_assume!(!engine.expose().contains(":***@"));
        prop_assert_eq!(&spec(&engine.expose()), &engine, "{}", engine.expose());
        // Printing is stable, whatever is hidden.
        let shown = engine.to_string();
        let hidden = shown.contains(":***@");
        prop_assert!(hidden || spec(&shown) == engine, "{}", shown);
        let recorded: EngineSpec =
            serde_json::from_str(&serde_json::to_string(&engine).unwrap()).unwrap();
        prop_assert!(hidden || recorded == engine);
    }

    #[test]
    fn no_text_makes_the_parser_fall_over(text in "(sqlite|postgres|dir|mysql)?(:|://)?.{0,30}") {
        if let Ok(engine) = text.parse::<EngineSpec>() {
            prop_assert_eq!(&spec(&engine.expose()), &engine);
        }
    }

    #[test]
    fn releases_read_back(major in 10_u16..99, minor in 0_u16..99, patch in 0_u16..99) {
        for text in [format!("{major}.{minor}"), format!("9.{minor}.{patch}")] {
            let exact: ExactVersion = text.parse().unwrap();
            prop_assert_eq!(exact.to_string(), text);
            prop_assert!(exact.major().matches(&exact));
        }
    }
}
