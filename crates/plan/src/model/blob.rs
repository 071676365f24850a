//! `[blob]`: what workload `blob` stores, and what is done to it. A placeholder may be in every
//! key, so that each of them can be a factor; a factor there needs a new start of the engine.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Durability;

/// A number or a text, in which a placeholder may stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "a key of [blob] is a whole number or a text, as 10000 or \"{size}\""
)]
pub enum Knob {
    /// As 10000.
    Number(u64),
    /// As "256MiB" or "{blob_bytes}".
    Text(String),
}

impl fmt::Display for Knob {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(formatter, "{number}"),
            Self::Text(text) => formatter.write_str(text),
        }
    }
}

impl From<&str> for Knob {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// The blobs of an experiment, as the plan has them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Blob {
    /// `read`, or `update`: blobs are overwritten by others of the same size.
    pub operation: Knob,
    /// How many blobs there are.
    pub count: Knob,
    pub bytes: Knob,
    /// Half-width of the even spread of sizes: bytes, or a share as `20%`.
    pub variance: Knob,
    /// There are fewer blobs where all of them together would be larger.
    pub total_max: Knob,
    /// How many blobs a pass reads, chosen at random: a number, or a share as `10%`.
    pub reads: Knob,
    /// How many blobs a transaction overwrites, chosen alike.
    pub updates: Knob,
    /// `one` for all reads of a pass or all updates, or `each` blob in its own.
    pub transaction: Knob,
    /// `warm`: what is read lies in the page cache; `cold`: it was dropped from there before the
    /// trial, in which each blob is read at most once.
    pub cache: Knob,
    pub page_bytes: Knob,
    /// Events that writes survive, made equal on all engines: `none`, `program_crash`,
    /// `power_loss`, or `as_set` by each engine's own settings.
    pub durability: Knob,
    /// Starts the blobs' random content.
    pub seed: Knob,
}

impl Default for Blob {
    fn default() -> Self {
        Self {
            operation: "read".into(),
            count: Knob::Number(100_000),
            bytes: Knob::Number(10_000),
            variance: Knob::Number(2_000),
            total_max: "2GiB".into(),
            reads: "100%".into(),
            updates: "10%".into(),
            transaction: "one".into(),
            cache: "warm".into(),
            page_bytes: Knob::Number(4_096),
            durability: "as_set".into(),
            seed: Knob::Number(1),
        }
    }
}

/// The operation on the blobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum BlobOperation {
    Read,
    Update,
}

impl BlobOperation {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The blobs at one set of levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlobCell {
    pub operation: BlobOperation,
    /// Already bounded by the plan's `total_max`.
    pub count: u64,
    pub bytes: u64,
    pub variance: u64,
    pub page_bytes: u32,
    /// Blobs that a pass reads, or a transaction overwrites.
    pub per_pass: u64,
    pub transaction_per_blob: bool,
    pub cold: bool,
    /// None: as each engine is set.
    pub durability: Option<Durability>,
    pub seed: u64,
}

impl Blob {
    /// Each key with what is in it.
    fn knobs(&self) -> [(&'static str, &Knob); 12] {
        [
            ("operation", &self.operation),
            ("count", &self.count),
            ("bytes", &self.bytes),
            ("variance", &self.variance),
            ("total_max", &self.total_max),
            ("reads", &self.reads),
            ("updates", &self.updates),
            ("transaction", &self.transaction),
            ("cache", &self.cache),
            ("page_bytes", &self.page_bytes),
            ("durability", &self.durability),
            ("seed", &self.seed),
        ]
    }

    /// Every text that acts on every engine. The size of pages is SQLite's alone.
    pub fn texts_for_all(&self) -> Vec<String> {
        let for_all = self.knobs().into_iter().filter(|(key, _)| *key != "page_bytes");
        for_all.map(|(_, knob)| knob.to_string()).collect()
    }

    /// The texts that decide which blobs there are.
    pub(crate) fn texts_of_data(&self) -> Vec<String> {
        let shaping = [&self.count, &self.bytes, &self.variance, &self.total_max, &self.seed];
        shaping.map(Knob::to_string).to_vec()
    }
}
