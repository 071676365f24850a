//! Facts of the reference dataset, one day after the other: visits by article and country.
//!
//! Every pair of article and country has a rate: popularity (Zipf) x age of the article x size of
//! the country (Zipf). Visits arrive in a Poisson process of that rate, and a day lasts until
//! exactly as many pairs as its quota have had one. So each day is an exact weighted sample
//! without replacement (Efraimidis, Spirakis: Weighted random sampling with a reservoir, 2006;
//! their keys are our first arrivals), and the visits until the day's end are the pageviews.
//!
//! Memory is that of one day: a rate per article and the pairs that may be in the sample.

use std::ops::ControlFlow;

use super::DatasetOptions;
use super::article::GeneratedArticle;
use super::quota::daily_quotas;
use super::random::{RandomStream, mix, step, unit};
use super::vocabulary::COUNTRIES;
use super::zipf;

/// Exponent of the articles' popularity.
const ARTICLE_EXPONENT: f64 = 0.9;
/// Exponent of the countries' sizes.
const COUNTRY_EXPONENT: f64 = 1.1;
/// The share of interest in an article that remains after years, and the days in which the rest
/// falls to 1/e.
const LASTING_INTEREST: f64 = 0.25;
const INTEREST_DAYS: f64 = 120.0;

/// One row of the table `traffic`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fact {
    pub day: i32,
    pub article_id: i32,
    pub country_id: i32,
    pub pageviews: i32,
    pub sessions: i32,
    pub engagement_seconds: i32,
}

impl Fact {
    /// In the order of the columns.
    pub fn values(&self) -> [i32; 6] {
        [
            self.day,
            self.article_id,
            self.country_id,
            self.pageviews,
            self.sessions,
            self.engagement_seconds,
        ]
    }
}

/// A pair of article and country that has had a visit.
#[derive(Clone, Copy)]
struct Visited {
    /// Time of the first visit since the day's beginning.
    arrival: f64,
    article: u32,
    country: u32,
    /// The seed of further random numbers about the pair.
    random: u64,
}

/// Makes the facts of a dataset.
pub struct TrafficModel<'a> {
    articles: &'a [GeneratedArticle],
    quotas: Vec<u64>,
    start: i32,
    seed: u64,
    popularity: Vec<f64>,
    countries: Vec<f64>,
    /// Interest by age in days.
    interest: Vec<f64>,
}

impl<'a> TrafficModel<'a> {
    /// `generate.rows` must not be more than [`most_rows`].
    pub fn new(generate: &DatasetOptions, articles: &'a [GeneratedArticle]) -> Self {
        let (start, end) = generate.days();
        let oldest = articles.first().map_or(start, |article| article.published);
        let popularity = zipf::weights(articles.len(), ARTICLE_EXPONENT);
        let quotas = daily_quotas(start, &daily_maxima(generate, articles), generate.rows);
        Self {
            articles,
            quotas,
            start,
            seed: mix(generate.seed),
            popularity: articles.iter().map(|article| popularity[article.rank]).collect(),
            countries: zipf::weights(COUNTRIES.len(), COUNTRY_EXPONENT),
            interest: (0..=end - oldest).map(interest).collect(),
        }
    }

    /// Hands the facts to `receive`, a day at a time, in the order of the primary key, until all
    /// are made or `receive` breaks off.
    pub fn each_day(&self, mut receive: impl FnMut(Vec<Fact>) -> ControlFlow<()>) {
        let mut rates = Vec::with_capacity(self.articles.len());
        let mut time_per_row = 0.0001;
        for (day, &quota) in (self.start..).zip(&self.quotas) {
            if quota == 0 {
                continue;
            }
            self.rates(day, &mut rates);
            let guess = time_per_row * quota as f64;
            let (mut visited, day_length) = self.sample(day, quota as usize, &rates, guess);
            time_per_row = day_length / quota as f64;
            visited.sort_unstable_by_key(|pair| (pair.article, pair.country));
            let fact = |pair: &Visited| self.fact(day, pair, &rates, day_length);
            if receive(visited.iter().map(fact).collect()).is_break() {
                return;
            }
        }
    }

    /// The rate of each article on a day; 0 before its publication.
    fn rates(&self, day: i32, rates: &mut Vec<f64>) {
        rates.clear();
        rates.extend(self.articles.iter().zip(&self.popularity).map(|(article, popularity)| {
            usize::try_from(day - article.published)
                .map_or(0.0, |age| popularity * self.interest[age])
        }));
    }

    /// The `quota` pairs that were visited first, and when the last of them was.
    ///
    /// `guess` is how long that may take: the result does not depend on it, only the time needed.
    fn sample(&self, day: i32, quota: usize, rates: &[f64], guess: f64) -> (Vec<Visited>, f64) {
        let mut limit = guess * 1.1;
        let mut visited = loop {
            let visited = self.visited_before(limit, day, rates);
            if visited.len() >= quota {
                break visited;
            }
            limit *= 1.5;
        };
        let by_arrival = |a: &Visited, b: &Visited| {
            let place = |pair: &Visited| (pair.article, pair.country);
            a.arrival.total_cmp(&b.arrival).then_with(|| place(a).cmp(&place(b)))
        };
        let (_, last, _) = visited.select_nth_unstable_by(quota - 1, by_arrival);
        let day_length = last.arrival;
        visited.truncate(quota);
        (visited, day_length)
    }

    /// All pairs with a visit before `limit`.
    fn visited_before(&self, limit: f64, day: i32, rates: &[f64]) -> Vec<Visited> {
        let day_state = mix(step(self.seed, day as u64));
        let mut visited = Vec::new();
        for (article, &rate) in rates.iter().enumerate().filter(|(_, rate)| **rate > 0.0) {
            let state = mix(step(day_state, article as u64));
            // A little more than needed, so that no rounding can lose a pair.
            let bound = rate * limit * 1.000_001;
            for (country, &size) in self.countries.iter().enumerate() {
                let random = mix(step(state, country as u64));
                let probability = unit(random);
                // -ln(1 - p) is at least p: spares the logarithm for all that arrive too late.
                if probability >= bound * size {
                    continue;
                }
                let arrival = -libm::log1p(-probability) / (rate * size);
                if arrival < limit {
                    let (article, country) = (article as u32, country as u32);
                    visited.push(Visited { arrival, article, country, random });
                }
            }
        }
        visited
    }

    fn fact(&self, day: i32, pair: &Visited, rates: &[f64], day_length: f64) -> Fact {
        let (article, country) = (pair.article as usize, pair.country as usize);
        let rate = rates[article] * self.countries[country];
        let mut random = RandomStream::new(pair.random);
        let pageviews = 1 + random.poisson(rate * (day_length - pair.arrival));
        // A tenth to four tenths of the further views belong to a session that had begun.
        let same_session =
            (pageviews - 1) as usize * (100 + random.below(300)) + random.below(1000);
        let sessions = pageviews - same_session as u32 / 1000;
        // A reader stays between an eighth and 15 eighths of what the article takes.
        let eighths = 1 + random.below(15) as u32;
        let engagement_seconds = sessions * self.articles[article].reading_seconds * eighths / 8;
        Fact {
            day,
            article_id: pair.article as i32 + 1,
            country_id: pair.country as i32 + 1,
            pageviews: pageviews as i32,
            sessions: sessions as i32,
            engagement_seconds: engagement_seconds as i32,
        }
    }
}

fn interest(age_days: i32) -> f64 {
    LASTING_INTEREST + (1.0 - LASTING_INTEREST) * libm::exp(-f64::from(age_days) / INTEREST_DAYS)
}

/// The largest number of rows for each day: every published article in every country.
fn daily_maxima(generate: &DatasetOptions, articles: &[GeneratedArticle]) -> Vec<u64> {
    let (start, end) = generate.days();
    let published = |day| articles.partition_point(|article| article.published <= day) as u64;
    (start..=end).map(|day| published(day) * COUNTRIES.len() as u64).collect()
}

/// The largest number of rows that these articles can have.
pub fn most_rows(generate: &DatasetOptions, articles: &[GeneratedArticle]) -> u64 {
    daily_maxima(generate, articles).iter().sum()
}
