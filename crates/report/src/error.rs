//! Errors of a report.

/// Why a report could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// This program was built without its pages.
    #[error("this crossover was built without its report page; run `make web` and build again")]
    NoPage,
    /// The document could not be written as JSON.
    #[error("the report cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}
