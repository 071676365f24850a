//! The report as one self-contained page: the built page of `web/` with the document inside.

use rust_embed::RustEmbed;
use serde::Serialize;

use crate::ReportError;

/// The pages as `make web` builds them.
#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[include = "report.html"]
#[allow_missing = true]
struct Pages;

/// Whether this program was built with its pages.
pub fn has_page() -> bool {
    Pages::get("report.html").is_some()
}

/// Stands in the page where the document belongs.
const PLACE: &str = "\"__CROSSOVER_REPORT__\"";

/// The page with `document` in it: a [`super::Document`], or [`super::Several`].
///
/// # Errors
/// [`ReportError::NoPage`] where this program was built without `web/dist`.
pub fn html(document: &impl Serialize) -> Result<String, ReportError> {
    let page = Pages::get("report.html").ok_or(ReportError::NoPage)?;
    let page = String::from_utf8_lossy(&page.data);
    // A `<` inside the data would end the script element or begin a comment.
    let json = serde_json::to_string(document)?.replace('<', "\\u003c");
    Ok(page.replacen(PLACE, &json, 1))
}
