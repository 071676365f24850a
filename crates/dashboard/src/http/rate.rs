//! Token buckets: one for each owner, filled as time goes by.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// More owners than this are not kept: those whose buckets are full again are forgotten.
const OWNERS_MAX: usize = 10_000;

/// Buckets of one size and one rate.
#[derive(Debug)]
pub(super) struct Buckets<O> {
    tokens_per_second: f64,
    size: f64,
    buckets: Mutex<HashMap<O, Bucket>>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    tokens: f64,
    at: Instant,
}

impl<O: Clone + Eq + Hash> Buckets<O> {
    /// Full buckets of `size` tokens, filled again in `fill`.
    pub(super) fn new(size: u32, fill: Duration) -> Self {
        let size = f64::from(size.max(1));
        let tokens_per_second = size / fill.as_secs_f64().max(0.001);
        Self { tokens_per_second, size, buckets: Mutex::default() }
    }

    /// Takes a token of the owner, or returns the time to wait for one.
    pub(super) fn take(&self, owner: &O, now: Instant) -> Result<(), Duration> {
        let mut buckets = self.buckets.lock();
        if buckets.len() >= OWNERS_MAX {
            buckets.retain(|_, bucket| self.filled(*bucket, now).tokens < self.size);
        }
        let full = Bucket { tokens: self.size, at: now };
        let bucket = buckets.entry(owner.clone()).or_insert(full);
        *bucket = self.filled(*bucket, now);
        if bucket.tokens < 1.0 {
            let seconds = (1.0 - bucket.tokens) / self.tokens_per_second;
            return Err(Duration::from_secs_f64(seconds));
        }
        bucket.tokens -= 1.0;
        Ok(())
    }

    /// Returns a token that was not used.
    pub(super) fn give_back(&self, owner: &O) {
        if let Some(bucket) = self.buckets.lock().get_mut(owner) {
            bucket.tokens = (bucket.tokens + 1.0).min(self.size);
        }
    }

    fn filled(&self, bucket: Bucket, now: Instant) -> Bucket {
        let seconds = now.saturating_duration_since(bucket.at).as_secs_f64();
        let tokens = (bucket.tokens + seconds * self.tokens_per_second).min(self.size);
        Bucket { tokens, at: now.max(bucket.at) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_bucket_says_the_time_to_wait_and_fills_again() {
        let buckets = Buckets::new(2, Duration::from_secs(20));
        let begin = Instant::now();
        let later = |seconds| begin + Duration::from_secs(seconds);
        assert_eq!(buckets.take(&"ann", begin), Ok(()));
        assert_eq!(buckets.take(&"ann", begin), Ok(()));
        let wait = buckets.take(&"ann", begin).unwrap_err();
        assert!((wait.as_secs_f64() - 10.0).abs() < 0.001, "{wait:?}");
        assert_eq!(buckets.take(&"bob", begin), Ok(()), "each owner has a bucket");
        assert!(buckets.take(&"ann", later(9)).is_err());
        assert_eq!(buckets.take(&"ann", later(11)), Ok(()));
        assert!(buckets.take(&"ann", later(11)).is_err());
        buckets.give_back(&"ann");
        assert_eq!(buckets.take(&"ann", later(11)), Ok(()));
    }

    #[test]
    fn full_buckets_are_forgotten_when_there_are_too_many() {
        let buckets = Buckets::new(1, Duration::from_secs(1));
        let begin = Instant::now();
        for number in 0..3 * OWNERS_MAX {
            let now = begin + Duration::from_millis(u64::try_from(number).unwrap());
            buckets.take(&number, now).unwrap();
        }
        assert!(buckets.buckets.lock().len() <= OWNERS_MAX);
    }
}
