//! Report of a run, for people and programs: one document, drawn as HTML, text, or JSON.

pub mod analysis;
pub mod answer;
mod blob;
pub mod comparison;
mod compose;
mod conditions;
mod csv;
mod document;
mod engines;
mod error;
#[cfg(test)]
mod formula;
mod grid;
mod html;
mod listing;
mod post;
mod regression;
mod release_history;
mod several;
mod steps;
mod table;
mod text;
mod throughput;
pub mod warning;

pub use self::csv::{csv, csv_of_trials};
pub use blob::BlobPart;
pub use compose::document;
pub use conditions::relay_in_words;
pub use document::{Document, Several};
pub use error::ReportError;
pub use html::{has_page, html};
pub use listing::{RunSummary, list, summarise};
pub use post::post;
pub use several::several;
pub use steps::StepsPart;
pub use text::{markdown, text, text_of_several};
