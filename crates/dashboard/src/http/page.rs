//! `GET /`: the page and its assets, built by `make web` and embedded into the program. Without
//! them the server still answers every query, and says here how to get the page.

use axum::http::{StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Response};
use rust_embed::RustEmbed;

use super::Problem;
use crate::query::quoted;

#[derive(RustEmbed)]
#[folder = "../../web/dist/dashboard"]
#[allow_missing = true]
struct Files;

const INDEX: &str = "index.html";

/// Shown where the program was built without its pages.
const WITHOUT_PAGES: &str = "<!doctype html><html lang=en><meta charset=utf-8>\
    <title>Crossover dashboard</title><h1>The dashboard is running</h1>\
    <p>This program was built without its pages: run <code>make web</code> and build it again.\
    <p>Questions are answered at <code>/api/query/&hellip;</code>, the server's state at \
    <a href=/healthz>/healthz</a>.";

pub(super) async fn get(uri: Uri) -> Response {
    let name = match uri.path().trim_start_matches('/') {
        "" => INDEX,
        name => name,
    };
    match Files::get(name) {
        Some(file) => {
            let headers = [
                (header::CONTENT_TYPE, content_type(name)),
                (header::CACHE_CONTROL, cache_control(name)),
                (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            ];
            (headers, file.data).into_response()
        }
        None if name == INDEX => Html(WITHOUT_PAGES).into_response(),
        None => {
            let detail = format!("there is nothing at {}", quoted(uri.path()));
            Problem::new(StatusCode::NOT_FOUND, detail).into_response()
        }
    }
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("json" | "map") => "application/json",
        _ => "application/octet-stream",
    }
}

/// Assets carry a hash of their content in their names, the page that names them does not.
fn cache_control(name: &str) -> &'static str {
    if name.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" }
}
