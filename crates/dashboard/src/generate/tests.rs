//! Promises of the reference dataset, on datasets small enough for every test run.

use std::collections::HashSet;
use std::path::Path;

use rusqlite::Connection;
use tempfile::TempDir;

use super::article::GeneratedArticle;
use super::articles::LONG_SLUGS;
use super::title::LONG_SLUG_CHARACTERS;
use super::vocabulary::COUNTRIES;
use super::*;
use crate::database::SqlValue;

fn tiny() -> DatasetOptions {
    DatasetOptions::scaled(0.002)
}

fn dataset(articles: u32) -> (DatasetOptions, GeneratedDataset) {
    let generate = DatasetOptions { articles, ..DatasetOptions::default() };
    let dataset = GeneratedDataset::new(&generate);
    (generate, dataset)
}

fn facts(generate: &DatasetOptions, dataset: &GeneratedDataset) -> Vec<Fact> {
    let mut all = Vec::new();
    TrafficModel::new(generate, &dataset.articles).each_day(|mut facts| {
        all.append(&mut facts);
        ControlFlow::Continue(())
    });
    all
}

/// Generates into a new SQLite file of this name.
fn write(folder: &TempDir, name: &str, generate: &DatasetOptions) -> Result<Summary, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let target = DatabaseUrl::Sqlite(folder.path().join(name));
    let interrupted = Arc::new(AtomicBool::new(false));
    super::generate(&target, generate, runtime.handle(), &ProgressBar::hidden(), &interrupted)
}

fn open(folder: &TempDir, name: &str) -> Connection {
    connect::sqlite::open_read_only(&folder.path().join(name)).unwrap()
}

fn number(connection: &Connection, sql: &str) -> i64 {
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// The contract with every machine and every later version: a change here is a new dataset, and
/// every figure measured on the old one is no longer comparable.
#[test]
fn the_digest_never_changes() {
    let (reference, dataset) = (tiny(), GeneratedDataset::new(&tiny()));
    let (sender, mut receiver) = mpsc::channel::<Vec<Fact>>(1);
    let rows = std::thread::spawn(move || {
        let mut rows = 0;
        while let Some(facts) = receiver.blocking_recv() {
            rows += facts.len();
        }
        rows
    });
    let digest = make_facts(&dataset, &TrafficModel::new(&reference, &dataset.articles), sender);
    assert_eq!(rows.join().unwrap(), 13_000);
    assert_eq!(digest, "2805bdd74f8b081bd1f0f95ee3828e9df4b5c56927da57a1401ad35abb7b27aa");
}

#[test]
fn another_seed_gives_other_rows() {
    let other = DatasetOptions { seed: 2, ..tiny() };
    let (ours, theirs) = (GeneratedDataset::new(&tiny()), GeneratedDataset::new(&other));
    assert_ne!(facts(&tiny(), &ours), facts(&other, &theirs));
    assert_ne!(ours.digest().finish(), theirs.digest().finish());
}

#[test]
fn shares_of_articles_are_exact() {
    let (_, dataset) = dataset(8_000);
    let count =
        |is: &dyn Fn(&GeneratedArticle) -> bool| dataset.articles.iter().filter(|a| is(a)).count();
    assert_eq!(count(&|article| article.blog == 0), 6_400);
    assert_eq!(count(&|article| article.human_language == 0), 6_240);
    assert_eq!(count(&|article| article.original.is_some()), 960);
    assert_eq!(count(&|article| article.slug.len() > LONG_SLUG_CHARACTERS), LONG_SLUGS);
    let sizes = [
        schema::Table::Authors,
        schema::Table::Teams,
        schema::Table::Products,
        schema::Table::Languages,
        schema::Table::HumanLanguages,
        schema::Table::Countries,
    ]
    .map(|table| dataset.rows(table).count());
    assert_eq!(sizes, [400, 12, 30, 14, 6, 60]);
}

#[test]
fn a_translation_follows_its_original_on_the_same_blog() {
    let (_, dataset) = dataset(2_000);
    let translations: Vec<_> =
        dataset.articles.iter().filter_map(|a| Some((a, &dataset.articles[a.original?]))).collect();
    assert_eq!(translations.len(), 240);
    for (translation, original) in translations {
        assert!(original.original.is_none() && original.human_language == 0);
        assert!(translation.human_language > 0);
        assert!(translation.published > original.published);
        assert_eq!(translation.blog, original.blog);
        assert_eq!(translation.subject.product, original.subject.product);
    }
}

#[test]
fn slugs_uuids_and_names_are_unique_and_fit_their_columns() {
    let (_, dataset) = dataset(8_000);
    for table in small_tables() {
        let definition = schema::TABLES.iter().find(|found| found.name == table).unwrap();
        for (place, column) in definition.columns.iter().enumerate() {
            let schema::ColumnType::Varchar(length) = column.column_type else { continue };
            let texts: Vec<String> = dataset
                .rows(table)
                .map(|mut row| match row.swap_remove(place) {
                    SqlValue::Text(text) => text.into_owned(),
                    other => panic!("{other:?}"),
                })
                .collect();
            assert!(texts.iter().all(|text| text.chars().count() <= length as usize));
            let distinct = texts.iter().collect::<HashSet<_>>().len();
            let is_key = column.unique || column.name == schema::Column::Slug;
            assert!(!is_key || distinct == texts.len(), "{:?}.{:?}", table, column.name);
        }
    }
    let not_ascii = dataset.articles.iter().filter(|article| !article.title.is_ascii()).count();
    assert!(not_ascii > 800, "{not_ascii}");
}

#[test]
fn facts_are_ordered_complete_and_never_before_publication() {
    let (reference, dataset) = (tiny(), GeneratedDataset::new(&tiny()));
    let facts = facts(&reference, &dataset);
    assert_eq!(facts.len() as u64, reference.rows);
    let keys: Vec<_> = facts.iter().map(|f| (f.day, f.article_id, f.country_id)).collect();
    assert!(keys.is_sorted_by(|a, b| a < b));
    assert_eq!(keys[0].0, reference.start.number());
    assert_eq!(keys[keys.len() - 1].0, reference.end.number());
    for fact in facts {
        let article = &dataset.articles[fact.article_id as usize - 1];
        assert!(fact.day >= article.published);
        assert!((1..=COUNTRIES.len()).contains(&(fact.country_id as usize)));
        assert!(fact.sessions >= 1 && fact.sessions <= fact.pageviews);
        assert!((1..=480 * fact.sessions).contains(&fact.engagement_seconds));
    }
}

#[test]
fn popularity_follows_zipf() {
    let generate = DatasetOptions { articles: 1_000, rows: 800_000, ..DatasetOptions::default() };
    let dataset = GeneratedDataset::new(&generate);
    let mut by_rank = vec![0; 1_000];
    let mut by_country = vec![0; COUNTRIES.len()];
    for fact in facts(&generate, &dataset) {
        let article = &dataset.articles[fact.article_id as usize - 1];
        by_country[fact.country_id as usize - 1] += i64::from(fact.pageviews);
        // The older ones, whose age weighs on all alike.
        if article.published < generate.start.number() - 1_000 {
            by_rank[article.rank] += i64::from(fact.pageviews);
        }
    }
    assert!(by_country[..20].is_sorted_by(|a, b| a > b), "{by_country:?}");
    let expected = |rank: f64, exponent: f64| rank.powf(-exponent);
    for country in [1, 9, 29] {
        let ratio = by_country[country] as f64 / by_country[0] as f64;
        let expected = expected(country as f64 + 1.0, 1.1);
        assert!((ratio / expected - 1.0).abs() < 0.05, "country {country}: {ratio}, {expected}");
    }
    let ranked: Vec<_> =
        by_rank.iter().enumerate().filter(|(_, pageviews)| **pageviews > 0).collect();
    let (first, top) = ranked[0];
    for &(rank, pageviews) in ranked.iter().step_by(60) {
        let ratio = *pageviews as f64 / *top as f64;
        let expected = expected((rank + 1) as f64 / (first + 1) as f64, 0.9);
        assert!((ratio / expected - 1.0).abs() < 0.2, "rank {rank}: {ratio}, {expected}");
    }
}

#[test]
fn as_many_rows_as_can_exist_are_made_and_not_one_more() {
    let mut generate = DatasetOptions {
        articles: 3,
        start: Day::constant(2021, 1, 1),
        end: Day::constant(2021, 1, 10),
        ..DatasetOptions::default()
    };
    let most = traffic::most_rows(&generate, &GeneratedDataset::new(&generate).articles);
    generate.rows = most;
    let facts = facts(&generate, &GeneratedDataset::new(&generate));
    assert_eq!(facts.len() as u64, most);
    let folder = tempfile::tempdir().unwrap();
    generate.rows = most + 1;
    let refused = write(&folder, "dashboard.db", &generate).unwrap_err().to_string();
    assert!(refused.contains(&format!("have at most {most}")), "{refused}");
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[test]
fn a_file_is_whole_clean_and_holds_the_rows_of_its_digest() {
    let folder = tempfile::tempdir().unwrap();
    let summary = write(&folder, "dashboard.db", &tiny()).unwrap();
    assert_eq!(names(folder.path()), ["dashboard.db"]);
    let connection = open(&folder, "dashboard.db");
    schema::check_sqlite(&connection).unwrap();
    assert_eq!(read_digest(&connection), summary.digest);
    assert_eq!(summary.rows, 13_000);
    assert_eq!(number(&connection, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
    assert_eq!(number(&connection, "SELECT count(*) FROM pragma_integrity_check"), 1);
    assert!(number(&connection, "SELECT count(*) FROM sqlite_stat1") > 0);
    let mode: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "delete");
}

/// The digest of what a database holds, by the definition of `digest.rs`.
fn read_digest(connection: &Connection) -> String {
    let mut digest = Digest::new();
    for table in small_tables().chain([schema::Table::Traffic]) {
        digest.table(table);
        let columns = schema::column_names(table).join(", ");
        let order = if table == schema::Table::Traffic { "1, 2, 3" } else { "1" };
        let sql = format!("SELECT {columns} FROM {} ORDER BY {order}", table.name());
        let mut statement = connection.prepare(&sql).unwrap();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            if table == schema::Table::Traffic {
                let value = |place| row.get(place).unwrap();
                digest.facts(&[Fact {
                    day: value(0),
                    article_id: value(1),
                    country_id: value(2),
                    pageviews: value(3),
                    sessions: value(4),
                    engagement_seconds: value(5),
                }]);
                continue;
            }
            let cells: Vec<_> = (0..schema::column_names(table).len())
                .map(|place| match row.get(place).unwrap() {
                    rusqlite::types::Value::Null => SqlValue::Null,
                    rusqlite::types::Value::Integer(value) => SqlValue::Integer(value),
                    rusqlite::types::Value::Text(text) => SqlValue::Text(text.into()),
                    other => panic!("{other:?}"),
                })
                .collect();
            digest.row(&cells);
        }
    }
    digest.finish()
}

#[test]
fn as_found_has_the_same_rows_under_two_wrong_declarations() {
    let folder = tempfile::tempdir().unwrap();
    let own = write(&folder, "own.db", &tiny()).unwrap();
    let as_found = DatasetOptions { as_found: true, ..tiny() };
    let found = write(&folder, "found.db", &as_found).unwrap();
    assert_eq!(found.digest, own.digest);
    let connection = open(&folder, "found.db");
    assert_eq!(read_digest(&connection), own.digest);
    assert!(schema::check_sqlite(&connection).is_err());
    let declared = |column| {
        let sql = "SELECT lower(type) FROM pragma_table_info('articles') WHERE name = ?1";
        connection.query_row(sql, [column], |row| row.get::<_, String>(0)).unwrap()
    };
    assert_eq!([declared("uuid"), declared("slug")], ["integer", "varchar(256)"]);
    let long = "SELECT count(*) FROM articles WHERE length(slug) > 256";
    assert_eq!(number(&connection, long), 4);
    assert_eq!(number(&connection, &format!("{long} AND length(slug) <= 512")), 4);
    let texts = "SELECT count(*) FROM articles WHERE typeof(uuid) = 'text' AND length(uuid) = 36";
    assert_eq!(number(&connection, texts), 16);
    let unique = "SELECT count(*) FROM pragma_index_list('articles') WHERE \"unique\" = 1";
    assert_eq!(number(&connection, unique), 1);
}

#[test]
fn an_interruption_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let target = DatabaseUrl::Sqlite(folder.path().join("data/dashboard.db"));
    let interrupted = Arc::new(AtomicBool::new(true));
    let progress = ProgressBar::hidden();
    let outcome = generate(&target, &tiny(), runtime.handle(), &progress, &interrupted);
    assert!(matches!(outcome, Err(Error::Interrupted)), "{outcome:?}");
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[test]
fn an_empty_dashboard_is_filled_without_force() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let target = DatabaseUrl::Sqlite(folder.path().join("x.db"));
    crate::init::initialise(&target, runtime.handle()).unwrap();
    write(&folder, "x.db", &tiny()).unwrap();
    assert_eq!(number(&open(&folder, "x.db"), "SELECT count(*) FROM traffic"), 13_000);
    assert!(write(&folder, "x.db", &tiny()).is_err());
}

#[test]
fn wrong_wishes_are_refused_with_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let refused =
        |generate: &DatasetOptions| write(&folder, "x.db", generate).unwrap_err().to_string();
    assert!(refused(&DatasetOptions { articles: 0, ..tiny() }).contains("1 to 10000000"));
    let backwards = DatasetOptions { end: Day::constant(2020, 3, 31), ..tiny() };
    assert_eq!(
        refused(&backwards),
        "the end 2020-03-31 is before the start 2020-04-01; exchange them"
    );
    write(&folder, "x.db", &tiny()).unwrap();
    assert!(refused(&tiny()).contains("--force"));
    write(&folder, "x.db", &DatasetOptions { replace: true, seed: 3, ..tiny() }).unwrap();
    let connection = Connection::open(folder.path().join("x.db")).unwrap();
    connection.execute_batch("CREATE TABLE invoices (id)").unwrap();
    drop(connection);
    let replace = DatasetOptions { replace: true, ..tiny() };
    assert!(refused(&replace).contains("also has a table invoices"));
}
