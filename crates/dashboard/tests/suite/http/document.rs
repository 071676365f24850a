//! `/api/openapi.json` against what the server really does.

use std::collections::BTreeSet;

use axum::http::StatusCode;
use boon::{Compiler, Schemas};
use dashboard::query::{Grouping, Query};
use serde_json::Value;

use super::{application, get, get_with};
use crate::database::sqlite;
use crate::rows::{Rows, UUIDS};

#[tokio::test]
async fn the_document_has_exactly_the_parameters_that_are_read() {
    let application = application(&sqlite(&Rows::nasty())).await;
    let document = get_with(&application, "/api/openapi.json", None).await.json();
    let parameters = document["paths"]["/api/query/{grouping}"]["get"]["parameters"].as_array();
    let described: BTreeSet<&str> = parameters
        .unwrap()
        .iter()
        .filter(|parameter| parameter["in"] == "query")
        .map(|parameter| parameter["name"].as_str().unwrap())
        .collect();
    for name in &described {
        // An impossible value is told from an unknown name.
        let pairs = [((*name).to_owned(), "\0".to_owned())];
        let refusal = Query::parse(Grouping::Teams, &pairs).unwrap_err().to_string();
        assert!(!refusal.contains("there is no parameter"), "{name}: {refusal}");
    }
    let fields = ["blog", "author", "team", "product", "language", "human_language", "country"];
    for field in fields.into_iter().chain(["article"]) {
        assert!(described.contains(field) && described.contains(&*format!("not_{field}")));
    }
    for name in ["start", "end", "translations", "split", "compare", "count", "sort", "limit"] {
        assert!(described.contains(name), "{name}");
    }
    assert_eq!(described.len(), 33, "{described:?}");
}

#[tokio::test]
async fn real_answers_are_as_it_says() {
    let application = application(&sqlite(&Rows::nasty())).await;
    let document = get_with(&application, "/api/openapi.json", None).await.json();
    let all = "start=1960-01-01&end=2030-12-31";
    let mut paths = vec![
        ("/api/dataset".to_owned(), "/api/dataset", "200"),
        ("/api/dataset?states=1".to_owned(), "/api/dataset", "200"),
        ("/api/dataset?states=2".to_owned(), "/api/dataset", "400"),
        ("/api/dataset?state=1".to_owned(), "/api/dataset", "400"),
        ("/api/articles?team=Core".to_owned(), "/api/articles", "400"),
        ("/api/values/author?limit=3".to_owned(), "/api/values/{dimension}", "200"),
        ("/api/values/nothing".to_owned(), "/api/values/{dimension}", "404"),
        ("/api/articles".to_owned(), "/api/articles", "200"),
        ("/api/articles/nothing".to_owned(), "/api/articles/{uuid}", "404"),
        ("/api/session".to_owned(), "/api/session", "200"),
        ("/healthz".to_owned(), "/healthz", "200"),
        ("/api/query/teams".to_owned(), "/api/query/{grouping}", "400"),
        ("/api/query/nothing".to_owned(), "/api/query/{grouping}", "404"),
    ];
    for uuid in UUIDS {
        paths.push((format!("/api/articles/{uuid}"), "/api/articles/{uuid}", "200"));
    }
    for grouping in Grouping::ALL.iter().map(|one| one.name()) {
        for more in [
            "",
            "&count=articles&compare=year",
            "&compare=previous&limit=1",
            "&compare=previous_weekdays&states=1&not_day=2021-01-05&not_day=2021-01-07",
        ] {
            let path = format!("/api/query/{grouping}?{all}{more}");
            paths.push((path, "/api/query/{grouping}", "200"));
        }
    }
    let path = format!("/api/query/teams?{all}&split=country&count=articles");
    paths.push((path, "/api/query/{grouping}", "200"));
    for (path, route, status) in paths {
        let reply = get(&application, &path).await;
        assert_eq!(reply.status.as_str(), status, "{path}");
        let content_type = reply.header("content-type").to_owned();
        let response = &document["paths"][route]["get"]["responses"][status];
        let schema = &response["content"][&content_type]["schema"];
        assert!(schema.is_object(), "{path}: no schema for {status} {content_type}");
        validate(&document, schema, &reply.json(), &path);
    }
}

/// A schema of the document, with the shapes that it refers to, against a value.
fn validate(document: &Value, schema: &Value, value: &Value, path: &str) {
    let mut whole = schema.clone();
    whole["components"] = document["components"].clone();
    let mut compiler = Compiler::new();
    compiler.add_resource("document.json", whole).unwrap();
    let mut schemas = Schemas::new();
    let compiled = compiler.compile("document.json", &mut schemas).unwrap();
    if let Err(error) = schemas.validate(value, compiled) {
        panic!("{path}: {error}\n{value}");
    }
}

#[tokio::test]
async fn routes_are_closed_as_the_document_says() {
    let application = application(&sqlite(&Rows::nasty())).await;
    let document = get_with(&application, "/api/openapi.json", None).await.json();
    for (route, item) in document["paths"].as_object().unwrap() {
        // People sign in and out over HTTP; data is changed from the command line only.
        let changes = item.as_object().unwrap().keys().any(|method| method != "get");
        assert_eq!(changes, ["/api/session", "/api/account"].contains(&route.as_str()), "{route}");
        let Some(operation) = item.get("get") else { continue };
        let path = route.replace("{grouping}", "teams").replace("{dimension}", "team");
        let reply = get_with(&application, &path.replace("{uuid}", "x"), None).await;
        let is_closed = operation["responses"].get("401").is_some();
        assert_eq!(reply.status == StatusCode::UNAUTHORIZED, is_closed, "{route}");
        assert_ne!(reply.status, StatusCode::NOT_FOUND, "{route}");
    }
    let page = get_with(&application, "/api", None).await;
    assert!(page.header("content-type").starts_with("text/html"));
    assert!(page.body.contains("GET /api/query/{grouping}"), "{}", page.body);
}
