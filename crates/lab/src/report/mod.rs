//! What a run shows, for people and programs: one document, drawn as HTML, text, or JSON.

mod blob;
mod compose;
mod conditions;
mod csv;
mod document;
mod engines;
mod html;
mod listing;
mod several;
mod table;
mod text;
mod throughput;

pub use self::csv::{csv, csv_of_trials, csv_table};
pub use blob::BlobPart;
pub use compose::document;
pub use document::{Document, Several, WarningPart};
pub use html::html;
pub use listing::{RunSummary, summarise};
pub use several::several;
pub use text::{markdown, text, text_of_several};

/// Why a report could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// This program was built without its pages.
    #[error("this crossover was built without its report page; run `make web` and build again")]
    NoPage,
    /// The document could not be written as JSON.
    #[error("the report cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The table could not be written.
    #[error("the report cannot be written as CSV: {0}")]
    Csv(#[from] ::csv::Error),
}
