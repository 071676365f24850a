//! Runs that are written here, file by file, so that what they must show is known.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::place::Place;

pub const PLAN: &str = r#"
title = "Which of two?"
workload = "http"
engines = ["sqlite[label=one]", "sqlite[label=other]"]
replicates = 5
[factors]
clients = [1, 2]
[application]
start = ["app"]
[[request]]
name = "all"
path = "/"
"#;

/// A run to be written.
pub struct Sitting<'a> {
    pub id: &'a str,
    /// Times everything that it took.
    pub factor: f64,
    pub data: &'a str,
    pub plan: &'a str,
    pub interleaved_with: Option<&'a str>,
}

impl<'a> Sitting<'a> {
    pub fn new(id: &'a str, factor: f64) -> Self {
        Self { id, factor, data: "d", plan: PLAN, interleaved_with: None }
    }
}

impl Place {
    pub fn record(&self, sitting: &Sitting<'_>) -> PathBuf {
        let run = self.path("runs").join(sitting.id);
        std::fs::create_dir_all(run.join("trials")).unwrap();
        std::fs::write(run.join("plan.toml"), sitting.plan).unwrap();
        std::fs::write(run.join("run.json"), run_json(sitting).to_string()).unwrap();
        let mut number = 0;
        for block in 1..=5 {
            for (engine, base) in [("one", 10.0), ("other", 20.0)] {
                for clients in [1.0, 2.0] {
                    number += 1;
                    // A wobble that no two trials and no two runs share.
                    let wobble =
                        (number * 7919 + sitting.id.len() * 31 + id_number(sitting.id)) % 101;
                    let noise = 1.0 + 0.01 * (wobble as f64 / 50.0 - 1.0);
                    let mean = base * clients * sitting.factor * noise;
                    let trial = trial_json(number, block, engine, clients, mean);
                    let path = run.join("trials").join(format!("{number:04}.json"));
                    std::fs::write(path, trial.to_string()).unwrap();
                }
            }
        }
        run
    }
}

fn id_number(id: &str) -> usize {
    id.bytes().map(usize::from).sum::<usize>() * 17
}

pub fn run_json(sitting: &Sitting<'_>) -> Value {
    let cells = [json!({"clients": 1.0}), json!({"clients": 2.0})];
    json!({
        "schema_version": 1,
        "id": sitting.id,
        "started": format!("{}-{}-{}T08:00:00Z", &sitting.id[..4], &sitting.id[4..6], &sitting.id[6..8]),
        "finished": null,
        "complete": true,
        "seed": 7,
        "command_line": "crossover bench plan.toml",
        "crossover_version": "0.1.0",
        "program_digest": "p",
        "data_digest": sitting.data,
        "environment": {
            "cpu_model": "a processor", "cpus": 2, "memory_bytes": 1 << 30, "swap_bytes": 0,
            "operating_system": null, "kernel": "Linux", "kernel_command_line": null,
            "idle_governor": null, "frequency_governor": null, "clock_source": null,
            "virtualisation": null, "data_directory": "/data", "file_system": null,
            "fdatasync_ms": null, "crossover_version": "0.1.0", "build_profile": "release",
            "rust_version": "r", "sqlite_version": "3", "sqlite_compile_options": [],
        },
        "engines": {},
        "rounds": [{ "cells": cells, "blocks": 5 }],
        "resumed": [],
        "answers": {},
        "interleaved_with": sitting.interleaved_with,
    })
}

/// As release 0.1.0 wrote it: everything newer is left out.
fn trial_json(number: usize, block: usize, engine: &str, clients: f64, mean: f64) -> Value {
    json!({
        "number": number, "block": block, "engine": engine, "levels": { "clients": clients },
        "status": "ok", "started": "2026-11-01T08:00:00Z", "wall_seconds": 1.0, "requests": 100,
        "failures": 0, "first_failure": null, "response_time_ms_mean": mean,
        "requests_per_second": 1000.0 / mean, "cpu_seconds_per_request": mean / 1000.0,
        "cores_used": 1.0, "client_cores_used": 0.01, "steal_fraction": 0.0,
        "other_cores_used": 0.0, "server_resident_bytes": null,
        "by_request": [{ "name": "all", "requests": 100, "response_time_ms_mean": mean }],
    })
}

/// Writes every trial of a run again, as `change` leaves it.
pub fn change_trials(run: &Path, change: impl Fn(&mut Value)) {
    for trial in std::fs::read_dir(run.join("trials")).unwrap() {
        let path = trial.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let mut trial: Value = serde_json::from_str(&text).unwrap();
        change(&mut trial);
        std::fs::write(path, trial.to_string()).unwrap();
    }
}
