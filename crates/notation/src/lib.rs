//! Values in their written form: counts, sizes, durations, CSV, tables of a terminal.
//! A form that only one file needs stays there.

mod count;
mod csv;
mod duration;
mod size;
mod table;

pub use count::{capitalised, counted, digits, plural, thousands};
pub use csv::{csv_table, harmless};
pub use duration::{duration, span, whole_seconds};
pub use size::{bytes, number};
pub use table::{column_table, drawn, keep_whole};
