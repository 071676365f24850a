//! Storage of blobs as an experiment sets it: how SQLite or files are opened, read and written, and what
//! a finished update survives.

mod durability;
mod settings;

pub use durability::WriteDurability;
pub use settings::{By, FileSettings, JournalMode, Reading, SqliteSettings, Synchronous, Writing};
