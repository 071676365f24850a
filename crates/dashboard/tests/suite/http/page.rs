//! `/` and the page's assets; the page itself is tested in web/.

use axum::http::StatusCode;

use super::{application, get_with};
use crate::database::sqlite;
use crate::rows::Rows;

#[tokio::test]
async fn the_page_is_open_and_nothing_outside_it_is_served() {
    let application = application(&sqlite(&Rows::none())).await;
    let reply = get_with(&application, "/", None).await;
    assert_eq!(reply.status, StatusCode::OK);
    assert!(reply.header("content-type").starts_with("text/html"));
    assert!(reply.body.contains("<title>"), "{}", reply.body);
    for path in ["/nothing", "/../Cargo.toml", "/%2e%2e/Cargo.toml", "/assets/", "//etc/passwd"] {
        let reply = get_with(&application, path, None).await;
        assert_eq!(reply.status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(reply.header("content-type"), "application/problem+json", "{path}");
    }
}
