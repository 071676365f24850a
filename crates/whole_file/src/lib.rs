//! Files that are whole or absent, also after a crash: written under a temporary name, synced, renamed,
//! and their folder synced.

mod publish;
mod write;

pub use publish::{publish, sync_folder_of};
pub use write::{write, write_with, write_with_mode};
