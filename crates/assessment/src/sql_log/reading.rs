//! Reading of a log: its distinct queries with a sample of their calls, and how often one request sends
//! the same.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};

use super::line::{LogEvent, LoggedSql, LoggingLibrary};
use super::shape::QueryShape;
use super::{DistinctQuery, LogFacts, advice};

/// Calls of one query that are kept to draw sets of values from: at least ten of one shape are wanted.
const CALLS_KEPT: usize = 64;
/// The distinct queries that stay when twice as many are known: those that took most.
const DISTINCT_MAX: usize = 20_000;

/// A log as far as it has been read.
pub struct LogReading {
    facts: LogFacts,
    /// The place of each distinct query, by its text without values.
    places: HashMap<String, usize>,
    libraries: BTreeMap<LoggingLibrary, usize>,
    locked: BTreeMap<&'static str, usize>,
    in_request: Requests,
    random: Xoshiro256PlusPlus,
}

impl LogReading {
    pub fn new(path: &Path, seed: u64) -> Self {
        let facts = LogFacts {
            file: path.to_owned(),
            framework: None,
            statements: 0,
            queries: 0,
            unreadable: 0,
            not_kept: 0,
            has_boundaries: false,
            distinct: Vec::new(),
            beyond: 0,
            repetition_advice: None,
            locked: 0,
            locked_advice: None,
        };
        Self {
            facts,
            places: HashMap::new(),
            libraries: BTreeMap::new(),
            locked: BTreeMap::new(),
            in_request: Requests::default(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    pub fn note(&mut self, event: LogEvent) {
        let one = match event {
            LogEvent::Boundary => {
                self.facts.has_boundaries = true;
                self.in_request.end(&mut self.facts.distinct);
                return;
            }
            LogEvent::Locked(name) => {
                *self.locked.entry(name).or_default() += 1;
                return;
            }
            LogEvent::Ended { .. } => return,
            LogEvent::Statement(one) => one,
        };
        self.facts.statements += 1;
        *self.libraries.entry(one.library).or_default() += 1;
        if !is_query(&one.raw) {
            return;
        }
        self.facts.queries += 1;
        let Some(text) = &one.text else {
            self.facts.unreadable += 1;
            return;
        };
        let shape = QueryShape::of(text);
        let place = self.place(one, shape);
        let has_boundaries = self.facts.has_boundaries;
        self.in_request.add(place, has_boundaries, &mut self.facts.distinct);
    }

    /// Forgets the queries that took least so far, so that a late one that takes most has a place.
    fn forget_the_cheapest(&mut self) {
        let distinct = &mut self.facts.distinct;
        self.in_request.end(distinct);
        let cost = |one: &DistinctQuery| (one.total_seconds.unwrap_or(0.0), one.count);
        distinct.sort_by(|a, b| cost(b).partial_cmp(&cost(a)).unwrap_or(Ordering::Equal));
        self.facts.not_kept += distinct.len().saturating_sub(DISTINCT_MAX);
        distinct.truncate(DISTINCT_MAX);
        let places = distinct.iter().enumerate().map(|(place, one)| (one.text.clone(), place));
        self.places = places.collect();
    }

    /// Adds one to the query that it is; its place.
    fn place(&mut self, one: LoggedSql, shape: QueryShape) -> usize {
        if self.facts.distinct.len() >= 2 * DISTINCT_MAX {
            self.forget_the_cheapest();
        }
        let distinct = &mut self.facts.distinct;
        let Some(place) = self.places.get(&shape.group).copied() else {
            self.places.insert(shape.group.clone(), distinct.len());
            distinct.push(DistinctQuery {
                name: String::new(),
                text: shape.group.clone(),
                count: 1,
                total_seconds: one.seconds,
                most_in_a_request: 0,
                slowest: one,
                calls: vec![shape],
            });
            return distinct.len() - 1;
        };
        let query = &mut distinct[place];
        query.count += 1;
        if let (Some(total), Some(seconds)) = (&mut query.total_seconds, one.seconds) {
            *total += seconds;
        }
        if one.seconds > query.slowest.seconds {
            query.slowest = one;
        }
        // A sample in which each call has the same chance (Vitter's algorithm R).
        if query.calls.len() < CALLS_KEPT {
            query.calls.push(shape);
        } else {
            let drawn = self.random.random_range(0..query.count);
            if let Some(kept) = query.calls.get_mut(drawn) {
                *kept = shape;
            }
        }
        place
    }

    pub fn facts(mut self) -> LogFacts {
        if self.facts.distinct.len() > DISTINCT_MAX {
            self.forget_the_cheapest();
        }
        let mut facts = self.facts;
        self.in_request.end(&mut facts.distinct);
        // A chain of exceptions has one error under several names.
        facts.locked = self.locked.values().copied().max().unwrap_or(0);
        let library = self.libraries.iter().max_by_key(|(_, count)| **count);
        let library = library.map(|(one, _)| *one);
        facts.framework = library.map(advice::name);
        facts.repetition_advice = library.map(advice::against_repetition);
        facts.locked_advice = library.filter(|_| facts.locked > 0).map(advice::against_locks);
        facts
    }
}

/// How often each query was sent since the last boundary. Without any, an uninterrupted run of the
/// same query is counted, since nothing tells one request from the next.
#[derive(Default)]
struct Requests {
    counts: BTreeMap<usize, usize>,
    last: Option<usize>,
}

impl Requests {
    fn add(&mut self, place: usize, has_boundaries: bool, distinct: &mut [DistinctQuery]) {
        if !has_boundaries && self.last != Some(place) {
            self.end(distinct);
        }
        self.last = Some(place);
        *self.counts.entry(place).or_default() += 1;
    }

    fn end(&mut self, distinct: &mut [DistinctQuery]) {
        for (place, count) in std::mem::take(&mut self.counts) {
            let query = &mut distinct[place];
            query.most_in_a_request = query.most_in_a_request.max(count);
        }
    }
}

fn is_query(text: &str) -> bool {
    let first = ::sql::tokens(text).first().map_or("", |token| token.text).to_uppercase();
    matches!(first.as_str(), "SELECT" | "WITH")
}
