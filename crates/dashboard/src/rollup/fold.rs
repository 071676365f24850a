//! Pages made from facts: the totals of a day, and those of the longer spans that it belongs to.

use std::collections::{BTreeMap, BTreeSet};

use super::calendar::Grain;
use super::definition::{KEPT, TotalsKind};
use super::page::{PageEntry, TotalSums, collect};
use crate::query::{Day, Period};

/// The blog of every article, by the article's id.
pub(crate) type Blogs = std::collections::HashMap<i32, i32>;

/// The totals of one day, of every kind, sorted by their keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DayTotals {
    pub facts: Vec<PageEntry>,
    articles: Vec<PageEntry>,
    blogs: Vec<PageEntry>,
}

impl DayTotals {
    /// From a day's facts in the order of their keys: article, country.
    pub fn new(facts: Vec<PageEntry>, blogs: &Blogs) -> Self {
        let mut articles: Vec<PageEntry> = Vec::new();
        let mut by_blog: BTreeMap<(i32, i32), TotalSums> = BTreeMap::new();
        for group in facts.chunk_by(|one, other| one.key.0 == other.key.0) {
            let article = group.first().map_or(0, |fact| fact.key.0);
            let mut sums = TotalSums::default();
            // Every fact has an article: the schema's foreign key says so.
            let blog = blogs.get(&article).copied().unwrap_or_default();
            for fact in group {
                sums.add(&fact.sums, 1);
                by_blog.entry((blog, fact.key.1)).or_default().add(&fact.sums, 1);
            }
            articles.push(PageEntry { key: (article, 0), sums });
        }
        let blogs = by_blog.into_iter().map(|(key, sums)| PageEntry { key, sums }).collect();
        Self { facts, articles, blogs }
    }

    pub fn blogs_with_facts(&self) -> BTreeSet<i32> {
        self.blogs.iter().map(|entry| entry.key.0).collect()
    }

    pub fn of(&self, kind: TotalsKind) -> &[PageEntry] {
        match kind {
            TotalsKind::BlogCountry => &self.blogs,
            TotalsKind::Article => &self.articles,
            TotalsKind::ArticleCountry => &self.facts,
        }
    }
}

/// A page's place in the table, with the totals that go there.
pub(crate) type Page = (TotalsKind, Grain, Day, Vec<PageEntry>);

/// Makes the pages of all spans from days that come in their order: a span is complete when the
/// next one begins.
pub(crate) struct Fold {
    open: Vec<OpenPage>,
}

/// The totals of one kind over one span, as they gather.
struct OpenPage {
    kind: TotalsKind,
    grain: Grain,
    span: Option<Period>,
    entries: Vec<PageEntry>,
    /// The number at which they are added up.
    limit: usize,
}

/// The least number of totals that are added up together.
const GATHERED: usize = 300_000;

impl Fold {
    pub fn new() -> Self {
        let open = |(kind, grain)| OpenPage {
            kind,
            grain,
            span: None,
            entries: Vec::new(),
            limit: GATHERED,
        };
        Self { open: KEPT.into_iter().map(open).collect() }
    }

    /// Takes the totals of one day and hands out the pages that its beginning completes.
    pub fn day(&mut self, day: Day, totals: &DayTotals) -> Vec<Page> {
        let mut complete = Vec::new();
        for open in &mut self.open {
            if open.span.is_none_or(|span| span.end() < day) {
                complete.extend(open.take());
                open.span = open.grain.span(day);
            }
            open.add(totals.of(open.kind));
        }
        complete
    }

    /// The pages left when the facts end.
    pub fn finish(&mut self) -> Vec<Page> {
        self.open.iter_mut().filter_map(OpenPage::take).collect()
    }
}

impl OpenPage {
    fn add(&mut self, entries: &[PageEntry]) {
        self.entries.extend_from_slice(entries);
        if self.entries.len() > self.limit {
            self.entries = collect(std::mem::take(&mut self.entries));
            self.limit = GATHERED.max(2 * self.entries.len());
        }
    }

    fn take(&mut self) -> Option<Page> {
        let entries = collect(std::mem::take(&mut self.entries));
        let start = self.span?.start();
        (!entries.is_empty()).then_some((self.kind, self.grain, start, entries))
    }
}
