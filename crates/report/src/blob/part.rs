//! Part of the report that only workload `blob` has: the contract with the page
//! (`web/src/report/document/document.ts` mirrors it).

use serde::Serialize;
use stats::Estimate;

use plan::Levels;

#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
pub struct BlobPart {
    /// Every treatment in the units of blobs.
    pub times: Vec<TimePart>,
    /// The article's pictures, as far as this run has what they need.
    pub pictures: Vec<PicturePart>,
    /// Space of each form on storage.
    pub space: Vec<SpacePart>,
    /// The sentence under that table.
    pub space_paragraph: String,
    /// Files by SQLite, for each size of its pages and of the blobs; none where they do not vary.
    pub page_sizes: Option<PageSizesPart>,
    pub claims: Vec<ClaimPart>,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct TimePart {
    pub engine: String,
    /// One level of each factor.
    pub levels: Levels,
    /// Mean time of one blob until the last COMMIT or close, microseconds: what the article measures.
    pub time_per_blob_us: Estimate,
    /// The same until the end of the engine's checkpoint.
    pub time_per_blob_with_checkpoint_us: Option<f64>,
    /// The same until nothing is left to be written to storage: what verdicts rest on.
    pub time_per_blob_synced_us: Option<Estimate>,
    /// Bytes of blobs, by all clients together, 1,000,000 a second.
    pub megabytes_per_second: Option<f64>,
    /// Of a file's time, the share that goes into opening and closing it (0 to 1).
    pub open_close_fraction: Option<f64>,
}

/// A picture: times by that of one line.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct PicturePart {
    /// A short constant name, as `read_sql`.
    pub id: &'static str,
    pub title: &'static str,
    /// The line whose time is 1.
    pub base: String,
    pub bars: Vec<BarPart>,
    /// Its result in words, from these numbers.
    pub paragraph: String,
}

/// A bar of a picture.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct BarPart {
    pub engine: String,
    /// Its time by the base's, paired by block.
    pub ratio: Estimate,
}

/// Space of a form on storage.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct SpacePart {
    /// A line of that form.
    pub engine: String,
    pub blobs: u64,
    /// Their own bytes.
    pub content_bytes: u64,
    /// Length of the database's file, or of all files.
    pub stored_bytes: u64,
    /// In whole blocks of the file system, with its folders.
    pub allocated_bytes: u64,
    /// `allocated_bytes` by that of SQLite, where that was measured.
    pub times_sqlite: Option<f64>,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct PageSizesPart {
    /// The line in the numerator.
    pub of: String,
    /// The line in the denominator.
    pub by: String,
    /// Sizes of blobs, bytes.
    pub blob_bytes: Vec<f64>,
    /// A row for each size of pages.
    pub rows: Vec<PageSizeRow>,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct PageSizeRow {
    pub page_bytes: f64,
    /// In the order of [`PageSizesPart::blob_bytes`].
    pub ratios: Vec<Option<Estimate>>,
}

/// One of the article's claims.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct ClaimPart {
    pub claim: &'static str,
    pub figure: &'static str,
    /// Ours: what was divided by what, or where a share was measured.
    pub of: String,
    /// A ratio, or a share (0 to 1); none where it was not measured.
    pub measured: Option<Estimate>,
    pub verdict: ClaimVerdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimVerdict {
    /// As the article has it, or more so.
    Holds,
    /// Its direction, and not its size.
    InPart,
    /// Its direction; whether its size too the interval leaves open.
    SizeUndecided,
    DoesNot,
    /// The interval allows both, or there is none.
    Undecided,
    /// This run lacks what it takes.
    NotMeasured,
}

impl ClaimVerdict {
    pub fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::InPart => "in part",
            Self::SizeUndecided => "direction holds, size undecided",
            Self::DoesNot => "does not hold",
            Self::Undecided => "undecided",
            Self::NotMeasured => "not measured",
        }
    }
}
