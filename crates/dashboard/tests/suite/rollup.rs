//! The totals of the `rollup` design beside right answers (`golden.rs` has those): they are
//! proved against the facts, a wrong one is found, and without them the design is refused.

use dashboard::rollup::{self, Verification};
use dashboard::statement::Design;
use dashboard::store::{Options, Store};
use engine::DatabaseUrl;

use crate::database::{TestDatabase, both, work};
use crate::rows::Rows;

async fn verify(database: &TestDatabase) -> Result<Verification, rollup::Error> {
    let (url, runtime) = (database.url.clone(), tokio::runtime::Handle::current());
    tokio::task::spawn_blocking(move || rollup::verify(&url, work(&runtime))).await.unwrap()
}

async fn execute(database: &TestDatabase, sql: &str) {
    match &database.url {
        DatabaseUrl::Sqlite(path) => {
            engine::sqlite::open_existing(path).unwrap().execute_batch(sql).unwrap();
        }
        DatabaseUrl::Postgres(url) => {
            engine::postgres::connect(url).await.unwrap().batch_execute(sql).await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_totals_the_design_is_refused_with_the_way_out() {
    for database in both(&Rows::nasty()).await {
        let options = Options { design: Design::Rollup, ..Options::default() };
        let error = Store::open(&database.url, &options).await.unwrap_err().to_string();
        assert!(error.contains("dashboard rollup rebuild"), "{error}");
        assert!(matches!(verify(&database).await, Err(rollup::Error::Missing)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_total_is_proved_and_a_wrong_one_is_found() {
    for database in both(&Rows::nasty()).await {
        drop(database.rollup_store().await);
        // Totals do not follow facts that change later, so they are taken only when asked for.
        let by_default = Store::open(&database.url, &Options::default()).await.unwrap();
        assert_eq!(by_default.design(), Design::Daily);
        let proof = verify(&database).await.unwrap();
        assert!(proof.totals > 3_000, "{proof:?}");
        assert_eq!(proof.differences, []);
        for (table, change) in [
            ("article_days", "SET sessions = sessions + 1 WHERE day = 18310"),
            ("article_months", "SET pageviews = 0 WHERE article_id = 3 AND pageviews > 0"),
            ("article_years", "SET day = day + 1"),
            ("country_quarters", "SET engagement_seconds = -1 WHERE country_id = 2"),
            ("dimension_totals", "SET sessions = sessions + 1 WHERE grain = 3 AND dimension = 6"),
        ] {
            execute(&database, &format!("UPDATE {table} {change}")).await;
            let found = verify(&database).await.unwrap().differences;
            assert!(found.iter().any(|difference| difference.table == table), "{table} {found:?}");
            assert!(found.iter().all(|difference| difference.table == table), "{table} {found:?}");
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
        assert_eq!(verify(&database).await.unwrap(), Verification::default());
    }
}
