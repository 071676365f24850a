//! Rows of all files as records: URLs matched, countries known, counts read. All checks of rows are
//! made here.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use jiff::Zoned;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::clash::{AddedSpellings, merged};
use super::ga4::ReportPages;
use super::replaced::OwnerPageviews;
use super::spill::{Spill, TrafficRecord};
use super::{COLUMNS, ImportTraffic, stop_before_the_first_day};
use crate::import::country::Countries;
use crate::import::matching::ArticleUrls;
use crate::import::owner::{self, DayOwner, Owners};
use crate::import::table::plain;
use crate::import::url::{is_path, normal_form, refuse_other_schemes, tracking};
use crate::import::{Error, field};
use crate::query::{Day, quoted};
use crate::rollup::CommandWork;

/// The cells of a row in the order of [`COLUMNS`]: day, URL, host, country, three counts.
pub(super) type RowCells<'a> = [&'a str; COLUMNS.len()];

/// The error of a cell.
pub(super) struct CellFault {
    /// Its place in [`RowCells`].
    pub column: usize,
    pub problem: String,
}

/// A file that rows come from.
#[derive(Debug)]
pub(super) struct TrafficFile {
    pub path: PathBuf,
    /// Errors name its lines; of a JSON report they name rows.
    pub has_lines: bool,
    /// It holds fewer page views or rows than its own total.
    is_short: bool,
}

/// The target of a URL's traffic.
#[derive(Debug, Clone, Copy)]
enum GatherTarget {
    Article(i32),
    /// The place of the form of its URL.
    Unmatched(i32),
}

/// The most URLs that are remembered as written.
const REMEMBERED: usize = 200_000;

/// All rows, gathered by day.
pub(super) struct Gather<'a> {
    articles: &'a ArticleUrls,
    pub owners: &'a Owners,
    site: Option<String>,
    /// Whether rows of several files are added up that differ in the spelling of a URL.
    files_add_up: bool,
    /// Hosts of the articles that paths without a host were matched with.
    hosts_of_paths: BTreeSet<String>,
    now: Zoned,
    /// The first day that is not over, here or in the time zone of a report.
    pub unfinished_from: Day,
    countries: Countries,
    /// Codes of the countries met.
    pub codes: Vec<&'static str>,
    country_places: HashMap<String, u32>,
    targets: HashMap<String, GatherTarget>,
    /// Forms of the URLs that match no article.
    pub unmatched: Vec<String>,
    unmatched_places: HashMap<String, i32>,
    /// Targets of places whose form got a host.
    moved_places: HashMap<i32, GatherTarget>,
    days: HashMap<String, i32>,
    pub spill: Spill,
    files: Vec<TrafficFile>,
    pages: ReportPages,
    pub rows: u64,
    pageviews: u64,
    pub notes: Vec<String>,
    address: String,
}

impl<'a> Gather<'a> {
    pub fn new(
        articles: &'a ArticleUrls,
        owners: &'a Owners,
        wish: &ImportTraffic,
    ) -> Result<Self, Error> {
        let site = wish.site.as_deref().map(normal_form);
        Ok(Self {
            articles,
            owners,
            hosts_of_paths: BTreeSet::new(),
            site: site.map(|site| site.trim_end_matches('/').to_owned()),
            files_add_up: wish.adds_up.iter().any(|column| plain(column) == "url"),
            now: wish.now.clone(),
            unfinished_from: Day::of(&wish.now),
            countries: Countries::new(),
            codes: Vec::new(),
            country_places: HashMap::new(),
            targets: HashMap::new(),
            unmatched: Vec::new(),
            unmatched_places: HashMap::new(),
            moved_places: HashMap::new(),
            days: HashMap::new(),
            spill: Spill::new()?,
            files: Vec::new(),
            pages: ReportPages::default(),
            rows: 0,
            pageviews: 0,
            notes: Vec::new(),
            address: String::new(),
        })
    }

    /// Page views of all rows so far.
    pub fn pageviews(&self) -> u64 {
        self.pageviews
    }

    /// How many forms match no article.
    pub fn unmatched_urls(&self) -> usize {
        self.unmatched.len() - self.moved_places.len()
    }

    /// To be called before the rows of a file.
    pub fn begin_file(&mut self, path: &Path, has_lines: bool) {
        self.files.push(TrafficFile { path: path.to_owned(), has_lines, is_short: false });
    }

    /// Says of the file whose rows were read last that the export left rows out: its days are known
    /// in part.
    pub fn note_short_file(&mut self, problem: &str) {
        if let Some(file) = self.files.last_mut() {
            file.is_short = true;
            let path = file.path.display();
            self.notes.push(format!("{path}: {problem}; its days are stored as partial"));
        }
    }

    /// Takes the date of this moment in the time zone in which a report's days end.
    pub fn take_today(&mut self, today_there: Day) {
        self.unfinished_from = self.unfinished_from.min(today_there);
    }

    /// Takes the pages of the file that is read.
    pub fn add_pages(&mut self, add: impl FnOnce(&mut ReportPages, usize)) {
        add(&mut self.pages, self.files.len().saturating_sub(1));
    }

    /// Says which reports lack pages in all files together.
    fn note_missing_pages(&mut self) {
        for (complete, held) in std::mem::take(&mut self.pages).incomplete() {
            let mut paths = Vec::new();
            for (_, file) in
                self.files.iter_mut().enumerate().filter(|(place, _)| held.files.contains(place))
            {
                file.is_short = true;
                paths.push(file.path.display().to_string());
            }
            self.notes.push(format!(
                "{}: reports of {complete} rows are not whole: {} of their rows are there; import \
                 the other pages too; until then their days are stored as partial",
                paths.join(", "),
                held.rows
            ));
        }
    }

    pub fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Takes a row. `dividing` are the cells of columns that divide page views: rows that differ in
    /// them, or in tracking parameters, are added up in all files.
    pub fn add<'c>(
        &mut self,
        cells: &RowCells<'_>,
        dividing: impl Iterator<Item = &'c [u8]>,
        line: u64,
    ) -> Result<(), CellFault> {
        let [date, url, host, country, pageviews, sessions, seconds] = *cells;
        let fault = |column| move |problem| CellFault { column, problem };
        let day = self.day(date).map_err(fault(0))?;
        if url.trim().is_empty() {
            return Err(CellFault { column: 1, problem: "it is empty".to_owned() });
        }
        let target = self.target(url, host).map_err(fault(1))?;
        let country = self.country(country).map_err(fault(3))?;
        let counts = [
            field::count(pageviews).map_err(fault(4))?,
            field::count(sessions).map_err(fault(5))?,
            field::seconds(seconds).map_err(fault(6))?,
        ];
        let spelling = xxh3_64(self.address.as_bytes());
        let clicks = tracking(&self.address).map(str::as_bytes);
        let with = |hash, part: &[u8]| xxh3_64_with_seed(part, hash);
        let hash = dividing.fold(clicks.fold(0, with), with);
        let (unmatched, target) = match target {
            GatherTarget::Article(id) => (false, id),
            GatherTarget::Unmatched(place) => (true, place),
        };
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        let (spelling, file) = (spelling as u32, self.files.len().saturating_sub(1) as u32);
        let record =
            TrafficRecord { unmatched, target, country, counts, hash, spelling, file, line };
        let temporary = |error: super::spill::Temporary| CellFault {
            column: 0,
            problem: format!("cannot keep the row in a temporary file: {}", error.0),
        };
        self.spill.add(day, record).map_err(temporary)?;
        self.rows += 1;
        self.pageviews += u64::from(counts[0]);
        Ok(())
    }

    fn day(&mut self, text: &str) -> Result<i32, String> {
        if let Some(day) = self.days.get(text) {
            return Ok(*day);
        }
        let day = field::day(text, Day::of(&self.now))?.number();
        self.days.insert(text.to_owned(), day);
        Ok(day)
    }

    fn country(&mut self, text: &str) -> Result<u32, String> {
        if let Some(place) = self.country_places.get(text) {
            return Ok(*place);
        }
        let code = self.countries.code(text)?;
        let known = self.codes.iter().position(|known| *known == code);
        let place = known.unwrap_or_else(|| {
            self.codes.push(code);
            self.codes.len() - 1
        }) as u32;
        self.country_places.insert(text.to_owned(), place);
        Ok(place)
    }

    /// Leaves the URL as written, with its host, in `address`.
    fn target(&mut self, url: &str, host: &str) -> Result<GatherTarget, String> {
        self.address.clear();
        let url = url.trim();
        if url.starts_with('/') && !url.starts_with("//") {
            self.address.push_str(host.trim());
            self.address.push_str(url);
        } else if url.starts_with('(') && !owner::host(host.trim()).is_empty() {
            // `(not set)` and `(other)` of a host.
            self.address.extend([host.trim(), "/", url]);
        } else {
            self.address.push_str(url);
        }
        if let Some(target) = self.targets.get(&self.address) {
            return Ok(*target);
        }
        refuse_other_schemes(&self.address)
            .map_err(|problem| format!("{problem}; leave such rows out of the export"))?;
        let mut form = normal_form(&self.address);
        if let Some(site) = self.site.as_ref().filter(|_| owner::host(&form).is_empty()) {
            form = with_host(site, &form);
        }
        let target = match self.articles.of(&form) {
            Some(id) => {
                if is_path(&form) {
                    self.hosts_of_paths.insert(self.owners.host_of_article(id).to_owned());
                }
                GatherTarget::Article(id)
            }
            None => GatherTarget::Unmatched(self.unmatched_place(form)?),
        };
        if self.targets.len() == REMEMBERED {
            self.targets.clear();
        }
        self.targets.insert(self.address.clone(), target);
        Ok(target)
    }

    fn unmatched_place(&mut self, form: String) -> Result<i32, String> {
        if form.is_empty() {
            return Err(format!("{} is not a URL", quoted(&self.address)));
        }
        if let Some(place) = self.unmatched_places.get(&form) {
            return Ok(*place);
        }
        let place = i32::try_from(self.unmatched.len())
            .map_err(|_| "there are too many URLs that match no article".to_owned())?;
        self.unmatched.push(form.clone());
        self.unmatched_places.insert(form, place);
        Ok(place)
    }

    /// To be called behind the last row: says which pages are missing, and gives paths that match no article the host of those that
    /// do, where it is one, or the only host there is.
    pub fn complete(&mut self) {
        self.note_missing_pages();
        let mut hosts = self.hosts_of_paths.iter();
        let only = match (hosts.next(), hosts.next()) {
            (Some(only), None) => Some(only.as_str()),
            (None, _) => self.owners.only_host(),
            _ => None,
        };
        let is_without = |form: &String| owner::host(form).is_empty();
        let Some(host) = only.map(str::to_owned) else {
            if self.owners.are_several() && self.unmatched.iter().any(is_without) {
                self.note(
                    "paths without a host match no article, and several blogs are known: --site \
                     HOST says whose they are"
                        .to_owned(),
                );
            }
            return;
        };
        for (place, form) in (0..).zip(&mut self.unmatched) {
            if !is_without(form) {
                continue;
            }
            *form = with_host(&host, form);
            if let Some(id) = self.articles.of(form) {
                self.moved_places.insert(place, GatherTarget::Article(id));
                continue;
            }
            let known = self.unmatched_places.entry(form.clone()).or_insert(place);
            if *known != place {
                self.moved_places.insert(place, GatherTarget::Unmatched(*known));
            }
        }
    }

    /// The rows of a day, those of one target and country added up.
    pub fn merged_day(&self, day: i32) -> Result<Vec<TrafficRecord>, Error> {
        self.merge(self.day_of_files(day)?, &mut AddedSpellings::default())
    }

    fn merge(
        &self,
        records: Vec<TrafficRecord>,
        spellings: &mut AddedSpellings,
    ) -> Result<Vec<TrafficRecord>, Error> {
        merged(records, self.files_add_up, spellings).map_err(|clash| clash.explain(&self.files))
    }

    /// The rows of a day with their final targets.
    fn day_of_files(&self, day: i32) -> Result<Vec<TrafficRecord>, Error> {
        let mut records = self.spill.day(day)?;
        for record in records.iter_mut().filter(|record| record.unmatched) {
            match self.moved_places.get(&record.target) {
                Some(GatherTarget::Article(id)) => (record.unmatched, record.target) = (false, *id),
                Some(GatherTarget::Unmatched(place)) => record.target = *place,
                None => {}
            }
        }
        Ok(records)
    }

    fn is_of_short_file(&self, record: &TrafficRecord) -> bool {
        self.files.get(record.file as usize).is_some_and(|file| file.is_short)
    }

    /// The owner of a row's traffic.
    pub fn owner(&self, record: &TrafficRecord) -> DayOwner {
        match self.unmatched.get(record.target as usize).filter(|_| record.unmatched) {
            Some(form) => self.owners.of_form(form),
            None => self.owners.of_article(record.target),
        }
    }

    /// Looks for rows that say the same thing twice, and for sums that do not fit. The page views
    /// of each day.
    pub fn check(&mut self, work: CommandWork<'_>) -> Result<BTreeMap<i32, OwnerPageviews>, Error> {
        let (mut days, mut spellings) = (BTreeMap::new(), AddedSpellings::default());
        for day in self.spill.days() {
            stop_before_the_first_day(work)?;
            let records = self.day_of_files(day)?;
            let mut of_day = OwnerPageviews::new();
            for record in records.iter().filter(|record| self.is_of_short_file(record)) {
                of_day.entry(self.owner(record)).or_default().in_part = true;
            }
            for record in self.merge(records, &mut spellings)? {
                let owner = of_day.entry(self.owner(&record)).or_default();
                owner.add(record.counts[0].into(), !record.unmatched);
            }
            days.insert(day, of_day);
        }
        self.notes.extend(spellings.note(&self.files));
        Ok(days)
    }
}

/// A form without a host, on a host.
fn with_host(host: &str, form: &str) -> String {
    let slash = if is_path(form) { "" } else { "/" };
    normal_form(&format!("{host}{slash}{form}"))
}
