//! Result of `blob run`, and its printed form.

use std::collections::BTreeMap;

use blob::{BlobForm, BlobTarget, Checked, Order, SqliteAccess, Timed, Work};
use notation::csv_table;
use plan::storage::{By, FileSettings, JournalMode, Synchronous, WriteDurability};
use serde::Serialize;

use super::statistics::Statistics;
use crate::shared::{OutputFormat, Shared};

/// One pass over a target.
#[derive(Serialize, schemars::JsonSchema)]
pub struct RunResult {
    target: String,
    form: BlobForm,
    /// `read`, `update` or `open_and_close`
    work: &'static str,
    order: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    max_id: u64,
    count: u64,
    misses: u64,
    bytes: u64,
    /// With the checkpoint, where one was made
    time_per_blob_us: f64,
    /// Up to the end of COMMIT
    time_to_commit_per_blob_us: f64,
    elapsed_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint_ms: Option<f64>,
    megabytes_per_second: f64,
    pub transaction_per_blob: bool,
    /// As the engine has them
    settings: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    durability: Option<WriteDurability>,
    /// What was done to the page cache first
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statistics: Option<Statistics>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked: Option<Checked>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integrity: Option<Vec<String>>,
}

impl RunResult {
    pub fn new(target: &BlobTarget, work: Work, order: Order, max_id: u64, timed: &Timed) -> Self {
        let seconds = timed.with_checkpoint().as_secs_f64();
        let blobs = timed.blobs.max(1) as f64;
        Self {
            target: target.path().display().to_string(),
            form: target.form(),
            work: match work {
                Work::Read => "read",
                Work::Update { .. } => "update",
                Work::OpenAndClose => "open_and_close",
            },
            order: order.name(),
            seed: match order {
                Order::Random { seed } | Order::Once { seed } => Some(seed),
                Order::Ascending | Order::Descending => None,
            },
            max_id,
            count: timed.blobs,
            misses: timed.misses,
            bytes: timed.bytes,
            time_per_blob_us: seconds * 1e6 / blobs,
            time_to_commit_per_blob_us: timed.time.as_secs_f64() * 1e6 / blobs,
            elapsed_ms: seconds * 1e3,
            checkpoint_ms: timed.checkpoint.map(|time| time.as_secs_f64() * 1e3),
            megabytes_per_second: timed.bytes as f64 / 1e6 / seconds.max(1e-9),
            transaction_per_blob: false,
            settings: BTreeMap::new(),
            durability: None,
            state: None,
            statistics: None,
            checked: None,
            integrity: None,
        }
    }

    /// The settings of a database, read back.
    pub fn read_settings(&mut self, access: &SqliteAccess, blob_api: bool) -> anyhow::Result<()> {
        let by = if blob_api { By::BlobApi } else { By::Sql };
        self.settings.insert("sqlite", connect::sqlite::version().to_owned());
        self.settings.insert("by", if by == By::Sql { "sql" } else { "blob_api" }.to_owned());
        for name in ["page_size", "cache_size", "mmap_size", "journal_mode", "synchronous"] {
            self.settings.insert(name, access.pragma(name)?);
        }
        if let Some(level) = self.settings.get_mut("synchronous") {
            let names = ["off", "normal", "full", "extra"];
            let number = level.parse::<usize>().ok();
            if let Some(name) = number.and_then(|number| names.get(number)) {
                (*name).clone_into(level);
            }
        }
        if self.work == "update" {
            let setting = |name: &str| self.settings.get(name).map_or("", String::as_str);
            let journal = setting("journal_mode").parse::<JournalMode>().ok();
            let level = setting("synchronous").parse::<Synchronous>().ok();
            let both = journal.zip(level);
            self.durability =
                both.map(|(journal, level)| WriteDurability::with_sqlite(journal, level));
        }
        Ok(())
    }

    pub fn file_settings(&mut self, settings: FileSettings, looked_up: bool) {
        let name = |value: &dyn std::fmt::Debug| format!("{value:?}").to_lowercase();
        self.settings.insert("names", if looked_up { "looked up" } else { "known" }.to_owned());
        if self.work == "update" {
            self.settings.insert("write", name(&settings.writing));
            self.settings.insert("fsync", settings.fsync.to_string());
            let level = WriteDurability::with_files(settings.writing, settings.fsync);
            self.durability = Some(level);
        } else {
            self.settings.insert("read", name(&settings.reading));
        }
    }

    /// Whether nothing that was checked is wrong.
    pub fn is_whole(&self) -> bool {
        let right = self.checked.as_ref().is_none_or(|checked| checked.wrong.is_empty());
        right && self.integrity.as_ref().is_none_or(|told| *told == ["ok"])
    }

    pub fn print(&self, shared: &Shared) -> anyhow::Result<()> {
        match shared.output_format {
            OutputFormat::Json => shared.print_json(self),
            OutputFormat::Csv => shared.print(&self.csv()),
            OutputFormat::Text => shared.print(&self.text()),
        }
    }

    fn csv(&self) -> String {
        let seed = self.seed.map(|seed| seed.to_string()).unwrap_or_default();
        let checkpoint = self.checkpoint_ms.map(|time| format!("{time:.3}")).unwrap_or_default();
        let to_commit = self.time_to_commit_per_blob_us;
        let cells = [
            ("target", self.target.clone()),
            ("form", self.form.name().to_owned()),
            ("work", self.work.to_owned()),
            ("order", self.order.to_owned()),
            ("seed", seed),
            ("max_id", self.max_id.to_string()),
            ("count", self.count.to_string()),
            ("misses", self.misses.to_string()),
            ("bytes", self.bytes.to_string()),
            ("time_per_blob_us", format!("{:.3}", self.time_per_blob_us)),
            ("time_to_commit_per_blob_us", format!("{to_commit:.3}")),
            ("checkpoint_ms", checkpoint),
            ("megabytes_per_second", format!("{:.1}", self.megabytes_per_second)),
        ];
        csv_table(&cells.each_ref().map(|(name, _)| *name), [cells.map(|(_, cell)| cell)])
    }

    fn text(&self) -> String {
        let done = match self.work {
            "read" => "read",
            "update" => "overwritten",
            _ => "opened and closed",
        };
        let seed = self.seed.map_or_else(String::new, |seed| format!(" (seed {seed})"));
        let mut text = format!(
            "{} blobs {done}, {}, {}{seed}, keys up to {}\n",
            notation::thousands(self.count),
            notation::bytes(self.bytes),
            self.order,
            notation::thousands(self.max_id),
        );
        let settings = self.settings.iter().map(|(name, value)| format!("{name} {value}"));
        let settings: Vec<String> = settings.collect();
        let each = if self.transaction_per_blob { ", a transaction for each" } else { "" };
        text += &format!("{}: {}{each}\n", self.form.name(), settings.join(", "));
        if let Some(durability) = self.durability {
            text += &format!("durability: {}\n", durability.name());
        }
        if let Some(state) = &self.state {
            text += &format!("{state}\n");
        }
        if self.misses > 0 {
            text += &format!("{} keys without a blob\n", notation::thousands(self.misses));
        }
        text += &format!("time per blob: {:.3} us\n", self.time_per_blob_us);
        if let Some(time) = self.checkpoint_ms {
            let to_commit = self.time_to_commit_per_blob_us;
            text +=
                &format!("  up to COMMIT {to_commit:.3} us; the checkpoint took {time:.1} ms\n");
        }
        if self.work != "open_and_close" {
            text += &format!("rate: {:.1} MB/s\n", self.megabytes_per_second);
        }
        for (name, value) in self.statistics.iter().flatten() {
            text += &format!("{name}: {}\n", notation::thousands(*value));
        }
        if let Some(checked) = &self.checked {
            text += &match checked.wrong.first() {
                None => format!("all {} blobs are right\n", notation::thousands(checked.blobs)),
                Some(first) => format!(
                    "{} of {} blobs are wrong or missing, the first {first}\n",
                    notation::thousands(checked.wrong.len()),
                    notation::thousands(checked.blobs)
                ),
            };
        }
        for line in self.integrity.iter().flatten() {
            text += &format!("integrity check: {line}\n");
        }
        text
    }
}
