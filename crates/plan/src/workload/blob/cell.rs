//! Blobs of a plan at one cell: keys of `[blob]` with their placeholders filled in, checked.

use std::fmt;
use std::str::FromStr;

use crate::{
    Blob, BlobCell, BlobOperation, Bytes, Durability, Knob, Levels, Percent, Placeholders, Plan,
    PlanError, expand,
};

/// The least number of blobs, however large they are.
const COUNT_MIN: u64 = 16;
/// SQLite and PostgreSQL hold no larger value than 1 GB or less, and a trial needs many of them.
const BYTES_MAX: u64 = 256 << 20;

impl Plan {
    /// The blobs at `levels`.
    pub fn blob_at(&self, levels: &Levels) -> Result<BlobCell, PlanError> {
        let reader = CellReader {
            blob: self.blob.clone().unwrap_or_default(),
            values: self.placeholders(levels)?,
        };
        let blob = &reader.blob;
        let bytes = reader.number("bytes", &blob.bytes, 1, BYTES_MAX)?;
        let variance = reader.share("variance", &blob.variance, bytes)?;
        if variance >= bytes {
            let message =
                format!("{variance} is not below bytes = {bytes}; write variance = \"20%\"");
            return Err(PlanError::impossible("blob.variance", message));
        }
        let total = reader.size("total_max", &blob.total_max)?;
        let count = reader.number("count", &blob.count, COUNT_MIN, 1_000_000)?;
        let count = count.min((total / bytes).max(COUNT_MIN));
        let page_bytes = reader.number("page_bytes", &blob.page_bytes, 512, 65_536)?;
        if !page_bytes.is_power_of_two() {
            let message =
                format!("{page_bytes} is not a size of a page: a power of two from 512 to 65536");
            return Err(PlanError::impossible("blob.page_bytes", message));
        }
        let operation = reader.word(
            "operation",
            &blob.operation,
            &[("read", BlobOperation::Read), ("update", BlobOperation::Update)],
        )?;
        let per_pass = match operation {
            BlobOperation::Read => reader.share("reads", &blob.reads, count)?,
            BlobOperation::Update => reader.share("updates", &blob.updates, count)?,
        };
        Ok(BlobCell {
            operation,
            count,
            bytes,
            variance,
            page_bytes: u32::try_from(page_bytes).unwrap_or(4_096),
            per_pass: per_pass.clamp(1, count),
            transaction_per_blob: reader.word(
                "transaction",
                &blob.transaction,
                &[("one", false), ("each", true)],
            )?,
            cold: reader.word("cache", &blob.cache, &[("warm", false), ("cold", true)])?,
            durability: reader.word("durability", &blob.durability, &TIERS)?,
            seed: reader.number("seed", &blob.seed, 0, u64::MAX)?,
        })
    }
}

/// The words of `durability`.
const TIERS: [(&str, Option<Durability>); 4] = [
    ("as_set", None),
    ("none", Some(Durability::None)),
    ("program_crash", Some(Durability::SurvivesProgramCrash)),
    ("power_loss", Some(Durability::SurvivesPowerLoss)),
];

/// Reads keys at one set of levels.
struct CellReader {
    blob: Blob,
    values: Placeholders,
}

impl CellReader {
    fn text(&self, key: &str, knob: &Knob) -> Result<String, PlanError> {
        expand(&knob.to_string(), &format!("blob.{key}"), &self.values)
    }

    fn parsed<T: FromStr>(&self, key: &str, knob: &Knob) -> Result<T, PlanError>
    where
        T::Err: fmt::Display,
    {
        let text = self.text(key, knob)?;
        text.parse().map_err(|error: T::Err| {
            PlanError::impossible(&format!("blob.{key}"), format!("`{text}`: {error}"))
        })
    }

    /// Bytes, with a unit or without.
    fn size(&self, key: &str, knob: &Knob) -> Result<u64, PlanError> {
        let bytes = self.text(key, knob)?.parse();
        bytes.or_else(|_| self.parsed(key, knob).map(|bytes: Bytes| bytes.0))
    }

    fn number(&self, key: &str, knob: &Knob, least: u64, most: u64) -> Result<u64, PlanError> {
        let text = self.text(key, knob)?;
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| {
            let message = format!("`{text}` is not a whole number from {least} to {most}");
            PlanError::impossible(&format!("blob.{key}"), message)
        })
    }

    /// A number, or a share of `whole`.
    fn share(&self, key: &str, knob: &Knob, whole: u64) -> Result<u64, PlanError> {
        let text = self.text(key, knob)?;
        if !text.ends_with('%') {
            return self.number(key, knob, 0, u64::MAX);
        }
        let share: Percent = self.parsed(key, knob)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most all")]
        let part = (whole as f64 * share.0) as u64;
        Ok(part)
    }

    fn word<T: Copy>(&self, key: &str, knob: &Knob, words: &[(&str, T)]) -> Result<T, PlanError> {
        let text = self.text(key, knob)?;
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        found.ok_or_else(|| {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let nearest = engine::nearest(&text, known.iter().copied());
            let message = format!("`{text}` is none of {}{nearest}", known.join(", "));
            PlanError::impossible(&format!("blob.{key}"), message)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;

    fn plan(blob: &str, factors: &str) -> Result<Plan, PlanError> {
        let text = format!(
            "title = \"blobs\"\nworkload = \"blob\"\nengines = [\"sqlite\", \"dir\"]\n\
             [blob]\n{blob}\n[factors]\n{factors}\n"
        );
        crate::read(&text, "blob.toml")
    }

    fn refusal(blob: &str, factors: &str) -> String {
        plan(blob, factors).unwrap_err().to_string()
    }

    #[test]
    fn placeholders_work_in_every_key_and_large_blobs_are_fewer() {
        let factors = "size = [1000, 10000000]\nwhat = [\"read\", \"update\"]";
        let blob = "bytes = \"{size}\"\nvariance = \"20%\"\ntotal_max = \"256MB\"\n\
                    operation = \"{what}\"\nupdates = \"10%\"";
        let plan = plan(blob, factors).unwrap();
        let at = |bytes: f64, what: &str| {
            let levels = Levels::from([
                ("size".to_owned(), Level::Number(bytes)),
                ("what".to_owned(), Level::Text(what.to_owned())),
            ]);
            plan.blob_at(&levels).unwrap()
        };
        let small = at(1e3, "read");
        assert_eq!((small.count, small.variance, small.per_pass), (100_000, 200, 100_000));
        let large = at(1e7, "update");
        assert_eq!((large.count, large.per_pass), (25, 2));
        assert_eq!(large.operation, BlobOperation::Update);
        let again = crate::read(&plan.to_toml().unwrap(), "again.toml").unwrap();
        assert_eq!(again, plan);
    }

    #[test]
    fn mistakes_name_their_key_and_the_way_out() {
        for (blob, factors, said) in [
            (
                "operation = \"raed\"",
                "",
                "blob.operation: `raed` is none of read, update (did you mean `read`?)",
            ),
            ("bytes = 0", "", "blob.bytes: `0` is not a whole number from 1"),
            ("bytes = 2000000000", "", "blob.bytes"),
            ("bytes = 1000", "", "blob.variance: 2000 is not below bytes = 1000"),
            ("page_bytes = 1000", "", "a power of two from 512 to 65536"),
            ("durability = \"full\"", "", "none of as_set, none, program_crash, power_loss"),
            ("operation = \"update\"", "clients = [1, 2]", "one client at a time updates"),
            ("operation = \"update\"\ncache = \"cold\"", "", "cold caches are for reads"),
            ("", "size = [1, 2]", "factors.size: changes nothing"),
            ("bytes = \"{sise}\"", "", "unknown placeholder {sise}"),
        ] {
            let refusal = refusal(blob, factors);
            assert!(refusal.contains(said), "{refusal}");
        }
    }
}
