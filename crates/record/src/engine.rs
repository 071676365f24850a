//! An engine at the time of its measurement: version, settings, what it promises to keep.

use std::collections::BTreeMap;

use plan::Durability;
use serde::{Deserialize, Serialize};

/// The setting of a pooled engine that names the pool's program and version.
pub const POOL_PROGRAM: &str = "pool program";

/// Name of the setting by which a record tells that a copy compares booleans with numbers.
pub const BOOLEAN_CAST: &str = "cast of boolean to integer";

/// An engine at the time of its measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema, Deserialize)]
pub struct EngineRecord {
    /// Its name in tables and charts.
    pub name: String,
    /// Kind and exact version, as `PostgreSQL 18.1`.
    pub version: String,
    /// Settings read back from the engine.
    pub settings: Vec<(String, String)>,
    /// Events that a committed transaction survives, judged from the settings read back.
    #[serde(default)]
    pub durability: Durability,
    /// Whether the planner had statistics (ANALYZE); none where that cannot be seen.
    #[serde(default)]
    pub statistics_present: Option<bool>,
    /// Size of the database's files, bytes; none where they are out of sight.
    #[serde(default)]
    pub data_bytes: Option<u64>,
    /// Settings read back at each of the plan's steps, by its name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub step_settings: BTreeMap<String, Vec<(String, String)>>,
    /// Workload `blob`: what it holds, and the room that takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blobs: Option<BlobStore>,
}

/// Blobs and the room that they take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema, Deserialize)]
pub struct BlobStore {
    pub count: u64,
    /// Their own bytes together.
    pub content_bytes: u64,
    /// The length of what holds them: the database's file, or all files together.
    pub stored_bytes: u64,
    /// Space of the file system for that, in whole blocks and with the folders.
    pub allocated_bytes: u64,
}
