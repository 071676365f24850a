//! `crossover dashboard` as a user types it.

mod generate;
mod import;
mod moved;
mod moved_stopped;
mod served;
mod shared_file;
mod small;

use std::process::Command;

use crate::place::Place;

/// `crossover dashboard` with `words`.
fn dashboard(place: &Place, words: &[&str]) -> Command {
    place.command(&[&["dashboard"], words].concat())
}
