//! The totals of the `rollup` design beside right answers (`golden.rs` has those): they are
//! proved against the facts, wrong ones are found, and totals of other data never answer.

use dashboard::answer::AnswerDesign;
use dashboard::query::{Grouping, Query};
use dashboard::rollup::{self, TotalsVerification};
use dashboard::store::{DashboardStore, Options};
use engine::DatabaseUrl;

use crate::database::{TestDatabase, both, work};
use crate::import::{traffic, unmatched_urls};
use crate::rows::Rows;

pub async fn verify(database: &TestDatabase) -> Result<TotalsVerification, rollup::Error> {
    let (url, runtime) = (database.url.clone(), tokio::runtime::Handle::current());
    tokio::task::spawn_blocking(move || rollup::verify(&url, work(&runtime))).await.unwrap()
}

async fn open(
    database: &TestDatabase,
    design: Option<AnswerDesign>,
) -> Result<DashboardStore, String> {
    let options = Options { design, ..Options::default() };
    DashboardStore::open(&database.url, &options).await.map_err(|error| error.to_string())
}

/// The body, and what it says that it was made of.
async fn answer(store: &DashboardStore) -> Result<(String, AnswerDesign), String> {
    let pairs = [("start", "2020-01-01"), ("end", "2021-12-31")];
    let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let answer = store.answer(Query::parse(Grouping::Blogs, &pairs).unwrap()).await;
    let told =
        |it: dashboard::answer::QueryAnswer| (String::from_utf8(it.body).unwrap(), it.design);
    answer.map(told).map_err(|error| error.to_string())
}

/// Rows that came by hand are not in the totals: the design is refused, or left alone by default.
#[tokio::test(flavor = "multi_thread")]
async fn totals_of_other_data_are_refused_with_the_way_out() {
    for database in both(&Rows::nasty()).await {
        let error = open(&database, Some(AnswerDesign::Rollup)).await.unwrap_err();
        assert!(error.contains("another program") && error.contains("rollup rebuild"), "{error}");
        assert_eq!(open(&database, None).await.unwrap().design(), AnswerDesign::Daily);
        database.execute("DROP TABLE totals").await;
        let error = open(&database, Some(AnswerDesign::Rollup)).await.unwrap_err();
        assert!(error.contains("no totals") && error.contains("rollup rebuild"), "{error}");
        assert_eq!(open(&database, None).await.unwrap().design(), AnswerDesign::Daily);
        assert!(matches!(verify(&database).await, Err(rollup::Error::Missing)));
    }
}

/// While a store is open, too: of every kind of change by a stranger.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_by_hand_is_in_the_next_answer() {
    for database in both(&Rows::nasty()).await {
        drop(database.rollup_store().await);
        let by_default = open(&database, None).await.unwrap();
        assert_eq!(by_default.design(), AnswerDesign::Rollup);
        let daily = database.store().await;
        for change in [
            "UPDATE traffic SET pageviews = pageviews + 1 WHERE article_id = 7",
            "DELETE FROM traffic WHERE day = 18620",
            "INSERT INTO traffic VALUES (18700, 3, 1, 9, 9, 9)",
            "UPDATE articles SET blog_id = 2 WHERE id = 8",
            "UPDATE blogs SET name = 'other' WHERE id = 1",
        ] {
            let strict = open(&database, Some(AnswerDesign::Rollup)).await.unwrap();
            let (before, design) = answer(&by_default).await.unwrap();
            assert_eq!(design, AnswerDesign::Rollup);
            database.execute(change).await;
            let after = answer(&by_default).await.unwrap();
            assert_ne!(before, after.0, "{change}");
            assert_eq!(after, answer(&daily).await.unwrap(), "{change}");
            assert_eq!(by_default.design(), AnswerDesign::Daily);
            assert!(answer(&strict).await.unwrap_err().contains("rollup rebuild"), "{change}");
            assert_ne!(verify(&database).await.unwrap().differences, [], "{change}");
            drop(database.rollup_store().await);
            let again = answer(&by_default).await.unwrap();
            assert_eq!(again, (after.0, AnswerDesign::Rollup), "{change}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_total_is_proved_and_a_wrong_one_is_found() {
    for database in both(&Rows::nasty()).await {
        drop(database.rollup_store().await);
        let proof = verify(&database).await.unwrap();
        assert!(proof.totals > 3_000, "{proof:?}");
        assert_eq!(proof.differences, []);
        for (change, page) in [
            (
                "DELETE FROM totals WHERE kind = 2 AND grain = 0 AND day = 18310",
                "Day of 2020-02-18",
            ),
            ("UPDATE totals SET day = day + 400 WHERE kind = 1 AND grain = 2", "Article, Year"),
            (
                "UPDATE totals SET content = (SELECT content FROM totals WHERE kind = 0 \
                 AND grain = 1 AND day = 18293) WHERE kind = 0 AND grain = 1 AND day = 18322",
                "BlogCountry, Month of 2020-03-01",
            ),
            (
                "UPDATE totals SET content = substr(content, 1, 0) WHERE kind = 2 AND grain = 1",
                "ArticleCountry, Month",
            ),
        ] {
            database.execute(change).await;
            let found = verify(&database).await.unwrap().differences;
            assert!(!found.is_empty(), "{change}");
            assert!(found.iter().all(|difference| difference.page.contains(page)), "{found:?}");
            drop(database.rollup_store().await);
            assert_eq!(verify(&database).await.unwrap().differences, []);
        }
    }
}

/// An empty dashboard has empty totals, and answers.
#[tokio::test(flavor = "multi_thread")]
async fn no_facts_give_no_totals() {
    for database in both(&Rows::none()).await {
        let store = database.rollup_store().await;
        store.check().await.unwrap();
        assert!(answer(&store).await.unwrap().0.contains("\"row_count\":0"));
        assert_eq!(verify(&database).await.unwrap(), TotalsVerification::default());
    }
}

/// Its numbers begin again: the names of before must not answer for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_restored_database_gets_a_new_dictionary() {
    for database in both(&Rows::nasty()).await {
        let store = database.rollup_store().await;
        let (before, _) = answer(&store).await.unwrap();
        assert!(before.contains("\"twilio\""), "{before}");
        let restore = "CREATE TABLE kept AS SELECT * FROM schema_version;
            UPDATE blogs SET name = 'restored' WHERE name = 'twilio';
            DROP TABLE schema_version;
            CREATE TABLE schema_version AS SELECT * FROM kept;
            DROP TABLE kept";
        database.execute(restore).await;
        let after = answer(&store).await.unwrap();
        assert_eq!(after, (before.replace("twilio", "restored"), AnswerDesign::Rollup));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn verification_and_lists_do_not_wait_for_a_writer() {
    let half = "BEGIN; UPDATE traffic SET pageviews = pageviews + 1; DELETE FROM totals";
    for database in both(&Rows::nasty()).await {
        drop(database.rollup_store().await);
        let undisturbed = async || {
            assert_eq!(verify(&database).await.unwrap().differences, []);
            assert_eq!(unmatched_urls(&database).await, []);
        };
        match &database.url {
            DatabaseUrl::Sqlite(path) => {
                let writer = connect::sqlite::open_existing(path).unwrap();
                writer.execute_batch(half).unwrap();
                undisturbed().await;
            }
            DatabaseUrl::Postgres(url) => {
                let writer = connect::postgres::connect(url).await.unwrap();
                writer.batch_execute(half).await.unwrap();
                undisturbed().await;
            }
        }
    }
}

/// Day after day is replaced; the proof sees one state of them all.
#[tokio::test(flavor = "multi_thread")]
async fn a_proof_beside_imports_finds_nothing_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let files = [3, 4].map(|pageviews| {
        let row = |day| format!("2020-02-{day},https://example.com/1,DE,{pageviews},1,1\n");
        let rows: String = (10..30).map(row).collect();
        let path = folder.path().join(format!("{pageviews}.csv"));
        let header = "date,url,country,pageviews,sessions,engagement_seconds\n";
        std::fs::write(&path, format!("{header}{rows}")).unwrap();
        path
    });
    for database in both(&Rows::nasty()).await {
        drop(database.rollup_store().await);
        let imports = async {
            for file in files.iter().cycle().take(6) {
                traffic(&database, file).await.unwrap();
            }
        };
        let proofs = async {
            for _ in 0..6 {
                assert_eq!(verify(&database).await.unwrap().differences, []);
            }
        };
        tokio::join!(imports, proofs);
    }
}
