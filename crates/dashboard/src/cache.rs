//! The answer cache: exact, because an entry belongs to one version of the data and every query
//! reads the version; bounded in bytes. Of several requests for the same answer at the same time,
//! one does the work.

use std::future::Future;

use bytes::Bytes;
use quick_cache::sync::Cache;
use quick_cache::{OptionsBuilder, Weighter};

use crate::answer::{AnswerDesign, Error};
use crate::database::Deadline;
use crate::query::{AnswerFormat, Query};

/// The cost of an entry besides its body and its key.
const OVERHEAD_BYTES: u64 = 256;

/// An answer as kept and sent: cloning copies no body.
#[derive(Debug, Clone)]
pub(crate) struct CachedAnswer {
    pub content_type: &'static str,
    pub body: Bytes,
    pub etag: String,
    /// Rows of the database that were added up for it.
    pub rows_read: i64,
    pub design: AnswerDesign,
}

/// The result of a look into the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lookup {
    Hit,
    /// It had to be made.
    Miss,
}

/// The question with all its defaults, and the version of the data that answers it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct CacheKey {
    query: String,
    is_csv: bool,
    data_version: String,
}

impl CacheKey {
    /// The same for equal requests, however their parameters are ordered.
    pub(crate) fn of(query: &Query, data_version: String) -> Option<Self> {
        let is_csv = query.format == AnswerFormat::Csv;
        Some(Self { query: serde_json::to_string(query).ok()?, is_csv, data_version })
    }
}

#[derive(Debug, Clone)]
struct Bytewise;

impl Weighter<CacheKey, CachedAnswer> for Bytewise {
    fn weight(&self, question: &CacheKey, answer: &CachedAnswer) -> u64 {
        let bytes = question.query.len() + question.data_version.len() + answer.body.len();
        u64::try_from(bytes).unwrap_or(u64::MAX).saturating_add(OVERHEAD_BYTES)
    }
}

pub(crate) struct AnswerCache {
    answers: Cache<CacheKey, CachedAnswer, Bytewise>,
}

impl std::fmt::Debug for AnswerCache {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("AnswerCache").field("bytes", &self.bytes()).finish()
    }
}

impl AnswerCache {
    /// A cache that holds at most `bytes`; none if that is nothing.
    pub(crate) fn new(bytes: u64) -> Option<Self> {
        // One shard: an answer larger than its shard would never be kept.
        let options = OptionsBuilder::new()
            .estimated_items_capacity(1_000)
            .weight_capacity(bytes)
            .shards(1)
            .build()
            .ok()?;
        let answers =
            Cache::with_options(options, Bytewise, Default::default(), Default::default());
        (bytes > 0).then_some(Self { answers })
    }

    /// The answer to `question` if it is there already.
    pub(crate) fn kept(&self, question: &CacheKey) -> Option<CachedAnswer> {
        self.answers.get(question)
    }

    /// The answer to `question`, made by `make` if it is not there. Other requests for it
    /// wait, each until its own deadline; if it fails, the next of them tries.
    pub(crate) async fn answer(
        &self,
        question: &CacheKey,
        deadline: &Deadline,
        make: impl Future<Output = Result<CachedAnswer, Error>>,
    ) -> Result<(CachedAnswer, Lookup), Error> {
        match deadline.wait(self.answers.get_value_or_guard_async(question)).await? {
            Ok(kept) => Ok((kept, Lookup::Hit)),
            Err(guard) => {
                let made = make.await?;
                // Refused only if another request has put it there by now.
                let _ = guard.insert(made.clone());
                Ok((made, Lookup::Miss))
            }
        }
    }

    /// The bytes held.
    pub(crate) fn bytes(&self) -> u64 {
        self.answers.weight()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::database;
    use crate::query::Grouping;

    fn question(parameters: &[(&str, &str)], data_version: &str) -> CacheKey {
        let pairs: Vec<_> =
            parameters.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let query = Query::parse(Grouping::Teams, &pairs).unwrap();
        CacheKey::of(&query, data_version.to_owned()).unwrap()
    }

    const START: (&str, &str) = ("start", "2021-01-01");
    const END: (&str, &str) = ("end", "2021-01-31");

    fn kept(bytes: usize) -> CachedAnswer {
        let body = Bytes::from(vec![b'x'; bytes]);
        CachedAnswer {
            content_type: "text/plain",
            body,
            etag: String::new(),
            rows_read: 1,
            design: AnswerDesign::Daily,
        }
    }

    /// For requests that must not make an answer.
    async fn never() -> Result<CachedAnswer, Error> {
        panic!("made twice")
    }

    async fn ask(cache: &AnswerCache, question: &CacheKey, bytes: usize) -> Lookup {
        let (deadline, _cancel) = Deadline::begin(None);
        cache.answer(question, &deadline, async { Ok(kept(bytes)) }).await.unwrap().1
    }

    #[tokio::test]
    async fn a_question_is_answered_once_for_each_data_version() {
        let cache = AnswerCache::new(1_000_000).unwrap();
        let first = question(&[START, END, ("sort", "-pageviews")], "1");
        assert_eq!(ask(&cache, &first, 10).await, Lookup::Miss);
        let same = question(&[END, START], "1");
        assert_eq!(ask(&cache, &same, 10).await, Lookup::Hit, "order and defaults do not count");
        for other in [
            question(&[START, END], "2"),
            question(&[START, END, ("format", "csv")], "1"),
            question(&[START, END, ("limit", "1")], "1"),
        ] {
            assert_eq!(ask(&cache, &other, 10).await, Lookup::Miss, "{other:?}");
        }
    }

    #[tokio::test]
    async fn the_cache_keeps_to_its_size_and_keeps_no_failure() {
        let cache = AnswerCache::new(100_000).unwrap();
        for number in 0..100 {
            let version = number.to_string();
            ask(&cache, &question(&[START, END], &version), 10_000).await;
            assert!(cache.bytes() <= 100_000, "{}", cache.bytes());
        }
        assert!(cache.bytes() > 10_000, "{}", cache.bytes());
        let huge = question(&[START, END], "huge");
        ask(&cache, &huge, 1_000_000).await;
        assert!(cache.bytes() <= 100_000, "{}", cache.bytes());
        let failing = question(&[START, END], "failing");
        let (deadline, _cancel) = Deadline::begin(None);
        let fails = async { Err(database::Error::BrokenOff("by the test".to_owned()).into()) };
        let failed = cache.answer(&failing, &deadline, fails).await;
        assert!(failed.unwrap_err().to_string().contains("by the test"));
        assert_eq!(ask(&cache, &failing, 10).await, Lookup::Miss);
        assert!(AnswerCache::new(0).is_none());
    }

    #[tokio::test]
    async fn of_several_equal_requests_one_does_the_work() {
        let cache = AnswerCache::new(1_000_000).unwrap();
        let question = question(&[START, END], "1");
        let (finish, finished) = tokio::sync::oneshot::channel::<()>();
        let slow = async {
            finished.await.unwrap();
            Ok(kept(10))
        };
        let (deadline, _cancel) = Deadline::begin(None);
        let first = cache.answer(&question, &deadline, slow);
        let second = cache.answer(&question, &deadline, never());
        tokio::pin!(first, second);
        assert!(futures_util::poll!(&mut first).is_pending());
        assert!(futures_util::poll!(&mut second).is_pending());
        finish.send(()).unwrap();
        assert_eq!(first.await.unwrap().1, Lookup::Miss);
        assert_eq!(second.await.unwrap().1, Lookup::Hit);
    }

    #[tokio::test(start_paused = true)]
    async fn a_waiter_times_out_after_its_own_limit() {
        let cache = AnswerCache::new(1_000_000).unwrap();
        let question = question(&[START, END], "1");
        let (endless, _cancel) = Deadline::begin(None);
        let first = cache.answer(&question, &endless, std::future::pending());
        tokio::pin!(first);
        assert!(futures_util::poll!(&mut first).is_pending());
        let wait = async || {
            let (deadline, _cancel) = Deadline::begin(Some(Duration::from_millis(20)));
            cache.answer(&question, &deadline, never()).await.unwrap_err()
        };
        let (second, third) = tokio::join!(wait(), wait());
        for error in [second, third] {
            assert!(matches!(error, Error::Database(database::Error::TooSlow { .. })), "{error}");
        }
        assert!(futures_util::poll!(&mut first).is_pending(), "the first one goes on");
    }
}
