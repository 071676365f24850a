//! Recipe of a set of blobs: kept with the data, so that every later step can check them.

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::content::mix;

/// The largest blob: SQLite holds at most 1,000,000,000 bytes in a row, the row's own header
/// counted (<https://www.sqlite.org/limits.html>).
pub const BLOB_BYTES_MAX: u64 = 1_000_000_000 - 16;

/// Blobs to be made: ids 1 to `count`, sizes uniform within `blob_bytes` ± `variance_bytes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipe {
    pub count: u64,
    /// The middle of their sizes, bytes.
    pub blob_bytes: u64,
    /// By how much a size may differ from it, bytes; less than `blob_bytes`.
    #[serde(default)]
    pub variance_bytes: u64,
    /// SQLite's page size, a power of two from 512 to 65536; `None`: SQLite's default, 4096.
    #[serde(default)]
    pub page_bytes: Option<u32>,
    /// Other bytes and sizes for every number.
    pub seed: u64,
}

impl Recipe {
    /// Refuses what cannot be made, before anything is written.
    pub fn check(&self) -> Result<(), Error> {
        let refuse = |problem: String| Err(Error::Recipe { problem });
        if self.count == 0 {
            return refuse("the number of blobs must be at least 1".to_owned());
        }
        if self.count > i64::MAX as u64 {
            return refuse(format!("{} blobs are more than SQLite has keys", self.count));
        }
        if self.blob_bytes == 0 {
            return refuse("the size of a blob must be at least 1 byte".to_owned());
        }
        if self.variance_bytes >= self.blob_bytes {
            return refuse(format!(
                "a variance of {} bytes around {} would make sizes of 0 and less: it must be \
                 smaller than the size",
                self.variance_bytes, self.blob_bytes
            ));
        }
        let largest = self.blob_bytes.saturating_add(self.variance_bytes);
        if largest > BLOB_BYTES_MAX {
            return refuse(format!(
                "blobs of {largest} bytes: SQLite holds at most 1,000,000,000 bytes in a row, its \
                 header counted, so {BLOB_BYTES_MAX} in a blob"
            ));
        }
        match self.page_bytes {
            Some(bytes) if !(512..=65536).contains(&bytes) || !bytes.is_power_of_two() => {
                refuse(format!("a page of {bytes} bytes: a power of two from 512 to 65536"))
            }
            _ => Ok(()),
        }
    }

    /// The size of blob `id`, bytes.
    #[must_use]
    pub fn size(&self, id: u64) -> usize {
        let sizes = u128::from(2 * self.variance_bytes + 1);
        let place = (u128::from(mix(mix(!self.seed).wrapping_add(id))) * sizes) >> 64;
        (self.blob_bytes - self.variance_bytes) as usize + place as usize
    }

    /// The largest size there can be, bytes: how long a buffer for one blob must be.
    #[must_use]
    pub fn largest_bytes(&self) -> usize {
        (self.blob_bytes + self.variance_bytes) as usize
    }

    /// The content of blob `id` after `generation` updates, in `buffer`, which becomes as
    /// long as the blob.
    pub fn blob(&self, id: u64, generation: u64, buffer: &mut Vec<u8>) {
        // Not cleared first: a longer buffer is cut, a shorter one grows once, then never again.
        buffer.resize(self.size(id), 0);
        crate::content(self.seed, id, generation, buffer);
    }

    /// The newest generation, from `newest` down, that `bytes` are of blob `id`; `None` if their
    /// length or a byte is wrong.
    #[must_use]
    pub fn generation_of(&self, id: u64, newest: u64, bytes: &[u8]) -> Option<u64> {
        let right_length = bytes.len() == self.size(id);
        if right_length { crate::generation_of(self.seed, id, newest, bytes) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe(blob_bytes: u64, variance_bytes: u64) -> Recipe {
        Recipe { count: 10, blob_bytes, variance_bytes, page_bytes: None, seed: 1 }
    }

    #[test]
    fn sizes_reach_both_ends_and_nothing_beyond() {
        let recipe = recipe(10, 2);
        let mut seen = [0; 16];
        for id in 1..=1000 {
            seen[recipe.size(id)] += 1;
        }
        assert_eq!(seen.iter().sum::<i32>(), 1000);
        assert!(seen[8..=12].iter().all(|count| (120..280).contains(count)), "{seen:?}");
    }

    #[test]
    fn without_variance_all_sizes_are_the_same() {
        assert!((1..100).all(|id| recipe(10_000, 0).size(id) == 10_000));
    }

    #[test]
    fn what_cannot_be_made_is_refused_with_its_bounds() {
        let told = |recipe: Recipe| recipe.check().unwrap_err().to_string();
        assert!(told(recipe(0, 0)).contains("at least 1 byte"));
        assert!(told(recipe(10, 10)).contains("smaller than the size"));
        assert!(told(recipe(2_000_000_000, 0)).contains("1,000,000,000"));
        assert!(told(recipe(1_000_000_000, 0)).contains("1,000,000,000"));
        assert!(told(recipe(BLOB_BYTES_MAX, 1)).contains("1,000,000,000"));
        assert!(told(Recipe { count: 0, ..recipe(1, 0) }).contains("number of blobs"));
        assert!(told(Recipe { page_bytes: Some(1000), ..recipe(1, 0) }).contains("power of two"));
        assert!(recipe(BLOB_BYTES_MAX, 0).check().is_ok());
    }
}
