//! `/healthz`

use axum::http::StatusCode;
use dashboard::schema;
use engine::DatabaseUrl;

use super::get_with;
use crate::database::{both, own_server};
use crate::rows::Rows;

#[tokio::test(flavor = "multi_thread")]
async fn health_is_public_and_ok_while_the_database_answers() {
    for database in both(&Rows::none()).await {
        let reply = get_with(&super::application(&database).await, "/healthz", None).await;
        assert_eq!(reply.status, StatusCode::OK);
        let body: serde_json::Value = serde_json::from_str(&reply.body).unwrap();
        assert_eq!((&body["status"], &body["design"]), (&"ok".into(), &"daily".into()));
        if !database.is_postgres() {
            assert_eq!(body["settings"]["journal_mode"], "wal");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_database_is_a_503_with_retry_after() {
    let server = own_server().await;
    let url = server.url("crossover");
    schema::create_postgres(&mut connect::postgres::connect(&url).await.unwrap()).await.unwrap();
    let application = super::over(&DatabaseUrl::Postgres(url)).await;
    assert_eq!(get_with(&application, "/healthz", None).await.status, StatusCode::OK);
    server.stop().await.unwrap();
    let reply = get_with(&application, "/healthz", None).await;
    assert_eq!(reply.status, StatusCode::SERVICE_UNAVAILABLE);
    insta::assert_snapshot!(reply.body);
    let path = "/api/query/teams?start=2021-01-01&end=2021-01-31";
    let reply = super::get(&application, path).await;
    assert_eq!(reply.status, StatusCode::SERVICE_UNAVAILABLE);
    insta::assert_snapshot!(reply.body);
}
