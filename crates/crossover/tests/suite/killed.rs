//! Servers of these tests that are killed while they are measured.

use rustix::process::{Pid, Signal, kill_process};

use crate::place::Place;

/// Kills the PostgreSQL server that this place's experiment has started.
pub fn kill_the_server(place: &Place) {
    let folders = std::fs::read_dir(place.path("data/postgres")).unwrap();
    let pids = folders.filter_map(|folder| {
        let path = folder.unwrap().path();
        let files = ["postmaster.pid", "data/postmaster.pid"].map(|name| path.join(name));
        files.iter().find_map(|file| std::fs::read_to_string(file).ok())
    });
    let text = pids.last().unwrap();
    let pid = Pid::from_raw(text.lines().next().unwrap().trim().parse().unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}
