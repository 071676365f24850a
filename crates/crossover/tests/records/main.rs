//! Recorded runs by the program itself: listed, removed, reported in every form, compared.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod compared;
mod kept;
mod older;
#[path = "../schema/mod.rs"]
mod schema;
mod written;
