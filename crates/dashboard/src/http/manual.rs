//! `/api`: the OpenAPI document as a page for people, written here from the document itself. It
//! loads nothing and runs nothing.

use std::fmt::Write as _;

use axum::response::Html;
use serde_json::Value;

use super::Problem;

/// The API for reading.
#[utoipa::path(
    get,
    path = "/api",
    tag = "server",
    responses((status = 200, description = "This document as a page", body = String,
        content_type = "text/html")),
)]
pub(super) async fn get() -> Result<Html<String>, Problem> {
    let document = serde_json::to_value(&*super::DOCUMENT).unwrap_or_default();
    Ok(Html(page(&document)))
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;\
    padding:0 1rem;color:#1b1f24;background:#fff}h2{margin-top:3rem}h3{margin-top:2rem;\
    padding-top:1rem;border-top:1px solid #8884}code{font:.9em ui-monospace,monospace}\
    table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;\
    padding:.25rem .75rem .25rem 0;overflow-wrap:anywhere}th{font-weight:600}\
    td:first-child{white-space:nowrap}a{color:#0b62a8}\
    @media(prefers-color-scheme:dark){body{color:#dde3ea;background:#14181d}a{color:#7fb8ec}}\
    @media(max-width:40rem){td:first-child{white-space:normal}}";

fn page(document: &Value) -> String {
    let mut html = String::from("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">");
    html += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">";
    let title = text(&document["info"]["title"]);
    let _ = write!(html, "<title>{title}: API</title><style>{STYLE}</style></head><body><main>");
    let _ = write!(html, "<h1>{title}: API</h1><p>{}</p>", text(&document["info"]["description"]));
    html += "<p>The same for programs: <a href=\"/api/openapi.json\">/api/openapi.json</a> \
        (OpenAPI 3.1).</p><h2>Being let in</h2><table>";
    for (name, scheme) in entries(&document["components"]["securitySchemes"]) {
        let how = match scheme["in"].as_str() {
            Some(place) => format!("{} <code>{}</code>", escaped(place), text(&scheme["name"])),
            None => format!("<code>Authorization: {}</code>", text(&scheme["scheme"])),
        };
        let description = text(&scheme["description"]);
        let _ = write!(html, "<tr><td>{}</td><td>{how}<br>{description}</td></tr>", escaped(name));
    }
    html += "</table>";
    for tag in document["tags"].as_array().into_iter().flatten() {
        let _ = write!(html, "<h2>{}</h2>", text(&tag["description"]));
        for (path, item) in entries(&document["paths"]) {
            for (method, operation) in entries(item) {
                let mut tags = operation["tags"].as_array().into_iter().flatten();
                if tags.any(|found| *found == tag["name"]) {
                    describe(&mut html, path, method, operation);
                }
            }
        }
    }
    html += "<h2>Shapes</h2>";
    for (name, schema) in entries(&document["components"]["schemas"]) {
        let _ = write!(html, "<h3 id=\"{0}\">{0}</h3>", escaped(name));
        let _ = write!(html, "<p>{}</p><table>", text(&schema["description"]));
        if !schema["enum"].is_null() {
            let _ = write!(html, "<tr><td>{}</td></tr>", kind(schema));
        }
        for (name, property) in entries(&schema["properties"]) {
            row(&mut html, name, &kind(property), &property["description"]);
        }
        html += "</table>";
    }
    html += "</main></body></html>";
    html
}

fn describe(html: &mut String, path: &str, method: &str, operation: &Value) {
    let method = method.to_uppercase();
    let _ = write!(html, "<h3><code>{} {}</code></h3>", escaped(&method), escaped(path));
    let _ = write!(html, "<p>{}</p><table>", text(&operation["summary"]));
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let name = parameter["name"].as_str().unwrap_or_default();
        let required = if parameter["required"] == true { ", required" } else { "" };
        let kind = format!("{}{required}", kind(&parameter["schema"]));
        row(html, name, &kind, &parameter["description"]);
    }
    for (content_type, content) in entries(&operation["requestBody"]["content"]) {
        let kind = format!("{}: {}", escaped(content_type), kind(&content["schema"]));
        row(html, "body", &kind, &Value::Null);
    }
    html.push_str("</table><table>");
    for (status, response) in entries(&operation["responses"]) {
        let contents: Vec<String> = entries(&response["content"])
            .map(|(content_type, content)| {
                format!("{}: {}", escaped(content_type), kind(&content["schema"]))
            })
            .collect();
        row(html, status, &contents.join("<br>"), &response["description"]);
    }
    html.push_str("</table>");
}

/// `kind` is HTML already.
fn row(html: &mut String, name: &str, kind: &str, description: &Value) {
    let name = escaped(name);
    let line = if kind.is_empty() || description.is_null() { "" } else { "<br>" };
    let description = text(description);
    let _ = write!(html, "<tr><td><code>{name}</code></td><td>{kind}{line}{description}</td></tr>");
}

/// A schema, as HTML.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return format!("<a href=\"#{0}\">{0}</a>", escaped(name));
    }
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> = words.iter().map(text).collect();
        return format!("<code>{}</code>", words.join("</code>, <code>"));
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        return choices.iter().map(kind).collect::<Vec<_>>().join(" or ");
    }
    let types = match &schema["type"] {
        Value::Array(types) => types.iter().map(text).collect::<Vec<_>>().join(" or "),
        other => text(other),
    };
    match types.as_str() {
        "array" => format!("list of {}", kind(&schema["items"])),
        _ if schema["type"].as_array().is_some_and(|all| all.contains(&Value::from("array"))) => {
            format!("{types}: {}", kind(&schema["items"]))
        }
        _ => match schema["format"].as_str() {
            Some(format) => format!("{types}, {}", escaped(format)),
            None => types,
        },
    }
}

fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value))
}

fn text(value: &Value) -> String {
    escaped(value.as_str().unwrap_or_default())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_names_every_route_and_loads_nothing() {
        let document = serde_json::to_value(&*crate::http::DOCUMENT).unwrap();
        let html = page(&document);
        for (path, _) in entries(&document["paths"]) {
            assert!(html.contains(&format!(" {path}</code>")), "{path}");
        }
        for loading in ["<script", "src=", "http://", "https://", "@import", "url("] {
            assert!(!html.contains(loading), "{loading}");
        }
    }

    #[test]
    fn texts_of_the_document_are_escaped() {
        let hostile = serde_json::json!({"info": {"title": "<b>\"&"}});
        assert!(page(&hostile).contains("<h1>&lt;b&gt;&quot;&amp;: API</h1>"));
    }
}
