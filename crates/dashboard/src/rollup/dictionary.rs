//! The dictionary of ids: names, articles, countries, with the order of their keys. It is read once
//! for each version of the data and kept in memory, so queries read only totals.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::database::{Error, SqlRow};
use crate::query::{DimensionFilter, Query, QueryRefusal};
use crate::schema::{DataVersion, Dimension, DimensionPlace, NAMED};

pub(crate) const NONE: u32 = u32::MAX;

/// The place of each id in a list.
#[derive(Debug)]
enum Places {
    /// By the id itself, where ids are not much larger than they are many.
    Direct(Vec<u32>),
    Map(HashMap<i32, u32>),
}

impl Places {
    fn new(ids: &[i32]) -> Self {
        let (places, most) = (|| (0_u32..).zip(ids), 8 * ids.len() + 1024);
        let fits = |id: &i32| usize::try_from(*id).is_ok_and(|id| id < most);
        if !ids.iter().all(fits) {
            return Self::Map(places().map(|(place, id)| (*id, place)).collect());
        }
        let mut direct = vec![NONE; most];
        for (place, id) in places() {
            if let Some(slot) = usize::try_from(*id).ok().and_then(|id| direct.get_mut(id)) {
                *slot = place;
            }
        }
        Self::Direct(direct)
    }

    /// [`NONE`] for an unknown id.
    #[inline]
    fn of(&self, id: i32) -> u32 {
        match self {
            Self::Direct(places) => places.get(id as usize).copied().unwrap_or(NONE),
            Self::Map(places) => places.get(&id).copied().unwrap_or(NONE),
        }
    }
}

/// Texts with their order by bytes.
#[derive(Debug)]
pub(crate) struct Texts {
    texts: Vec<String>,
    /// The rank of each; equal texts have equal ranks.
    ranks: Vec<u32>,
    /// The places in the order of their texts.
    order: Vec<u32>,
}

impl Texts {
    fn new(texts: Vec<String>) -> Self {
        let text = |place: u32| texts.get(place as usize).map(String::as_str);
        let mut order: Vec<u32> = (0..texts.len() as u32).collect();
        order.sort_by_key(|place| text(*place));
        let mut ranks = vec![0; texts.len()];
        let (mut rank, mut before) = (0, None);
        for place in &order {
            let text = text(*place);
            rank += u32::from(before.is_some() && before != Some(text));
            before = Some(text);
            if let Some(slot) = ranks.get_mut(*place as usize) {
                *slot = rank;
            }
        }
        Self { texts, ranks, order }
    }

    pub fn len(&self) -> usize {
        self.texts.len()
    }

    pub fn text(&self, place: u32) -> &str {
        self.texts.get(place as usize).map_or("", String::as_str)
    }

    pub fn rank(&self, place: u32) -> u32 {
        self.ranks.get(place as usize).copied().unwrap_or(NONE)
    }

    fn place(&self, text: &str) -> Option<u32> {
        let found = self.order.binary_search_by(|place| self.text(*place).cmp(text)).ok()?;
        self.order.get(found).copied()
    }
}

/// A table of things that have a key: names, codes, UUIDs.
#[derive(Debug)]
pub(crate) struct Keyed {
    places: Places,
    pub keys: Texts,
}

impl Keyed {
    fn new(ids: &[i32], keys: Vec<String>) -> Self {
        Self { places: Places::new(ids), keys: Texts::new(keys) }
    }

    /// [`NONE`] for an unknown id.
    #[inline]
    pub fn place(&self, id: i32) -> u32 {
        self.places.of(id)
    }
}

/// The blogs' place in [`NAMED`].
pub(crate) const BLOG: usize = 0;

/// The articles, in the order of their ids.
#[derive(Debug)]
pub(crate) struct ArticleDictionary {
    pub ids: Keyed,
    pub titles: Texts,
    /// Days since 1970-01-01.
    pub published: Vec<i32>,
    /// The place of the article for which each one's traffic counts where translations are
    /// grouped: its own, unless it is a translation.
    pub originals: Vec<u32>,
    /// For each of [`NAMED`], the place of each article's name.
    pub fields: [Vec<u32>; NAMED.len()],
}

/// Everything that ids stand for in one version of the data.
#[derive(Debug)]
pub(crate) struct Dictionary {
    pub version: DataVersion,
    /// By the order of [`NAMED`].
    pub names: [Keyed; NAMED.len()],
    pub countries: Keyed,
    pub country_names: Texts,
    pub articles: ArticleDictionary,
}

/// Reads the tables of a dictionary: the statements, each followed by its rows.
#[derive(Debug, Default)]
pub(crate) struct DictionaryReader {
    names: [(Vec<i32>, Vec<String>); NAMED.len()],
    countries: (Vec<i32>, Vec<String>, Vec<String>),
    articles: (Vec<i32>, Vec<String>, Vec<String>),
    published: Vec<i32>,
    originals: Vec<Option<i32>>,
    fields: [Vec<i32>; NAMED.len()],
}

impl DictionaryReader {
    pub const STATEMENTS: usize = NAMED.len() + 2;

    pub fn statement(place: usize) -> String {
        match NAMED.get(place) {
            Some(dimension) => {
                let DimensionPlace { table, key, .. } = dimension.place();
                format!("SELECT id, {} FROM {} ORDER BY id", key.name(), table.name())
            }
            None if place == NAMED.len() => "SELECT id, code, name FROM countries".to_owned(),
            None => format!(
                "SELECT id, uuid, title, published, original_id, {} FROM articles ORDER BY id",
                NAMED.map(|dimension| dimension.place().refers.1.name()).join(", ")
            ),
        }
    }

    /// Takes a row of one of them.
    pub fn row(&mut self, place: usize, row: SqlRow<'_>) -> Result<(), Error> {
        let id = row.small(0)?;
        if let Some((ids, names)) = self.names.get_mut(place) {
            ids.push(id);
            names.push(row.text(1)?.to_owned());
            return Ok(());
        }
        let (ids, keys, labels) =
            if place == NAMED.len() { &mut self.countries } else { &mut self.articles };
        ids.push(id);
        keys.push(row.text(1)?.to_owned());
        labels.push(row.text(2)?.to_owned());
        if place > NAMED.len() {
            self.published.push(row.small(3)?);
            let original = row.optional_integer(4)?;
            self.originals.push(original.and_then(|id| i32::try_from(id).ok()));
            for (place, field) in (5..).zip(&mut self.fields) {
                field.push(row.small(place)?);
            }
        }
        Ok(())
    }

    /// The dictionary of what was read.
    pub fn finish(self, version: DataVersion) -> Dictionary {
        let names = self.names.map(|(ids, names)| Keyed::new(&ids, names));
        let (ids, uuids, titles) = self.articles;
        let ids = Keyed::new(&ids, uuids);
        let own = (0_u32..).zip(&self.originals);
        let original = |(own, original): (u32, &Option<i32>)| {
            original.map(|id| ids.place(id)).filter(|place| *place != NONE).unwrap_or(own)
        };
        let originals = own.map(original).collect();
        let mut keyed = names.iter();
        let fields = self.fields.map(|field| {
            let names = keyed.next();
            let place = |id: i32| names.map_or(NONE, |names| names.place(id));
            field.into_iter().map(place).collect()
        });
        let articles = ArticleDictionary {
            ids,
            titles: Texts::new(titles),
            published: self.published,
            originals,
            fields,
        };
        let (ids, codes, country_names) = self.countries;
        Dictionary {
            version,
            names,
            countries: Keyed::new(&ids, codes),
            country_names: Texts::new(country_names),
            articles,
        }
    }
}

impl Dictionary {
    /// The names of a dimension, and its place in [`NAMED`].
    pub fn named(&self, dimension: Dimension) -> Option<(usize, &Keyed)> {
        let place = NAMED.iter().position(|known| *known == dimension)?;
        Some((place, self.names.get(place)?))
    }

    pub fn keyed(&self, dimension: Dimension) -> &Keyed {
        match self.named(dimension) {
            Some((_, names)) => names,
            None if dimension == Dimension::Country => &self.countries,
            None => &self.articles.ids,
        }
    }

    /// The keys themselves where values have no labels.
    pub fn labels(&self, dimension: Dimension) -> &Texts {
        match dimension {
            Dimension::Country => &self.country_names,
            Dimension::Article => &self.articles.titles,
            named => &self.keyed(named).keys,
        }
    }

    /// The places of a filter's keys.
    fn places(
        &self,
        filter: &DimensionFilter,
        allows_unknown: bool,
    ) -> Result<Vec<u32>, QueryRefusal> {
        let keyed = self.keyed(filter.dimension);
        if allows_unknown {
            return Ok(filter.keys.iter().filter_map(|key| keyed.keys.place(key)).collect());
        }
        let place = |key: &String| {
            let unknown =
                || QueryRefusal::UnknownKey { name: filter.parameter(), key: key.clone() };
            keyed.keys.place(key).ok_or_else(unknown)
        };
        filter.keys.iter().map(place).collect()
    }

    /// The places of all filters' keys, filter by filter.
    pub fn all_places(&self, query: &Query) -> Result<Vec<Vec<u32>>, QueryRefusal> {
        let allows_unknown = query.filters.allows_unknown;
        query.filters.values.iter().map(|filter| self.places(filter, allows_unknown)).collect()
    }
}

/// The dictionary of the version that was asked for last.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cache(Arc<Mutex<Option<Arc<Dictionary>>>>);

impl Cache {
    /// That of `version`, if it is there.
    pub fn get(&self, version: DataVersion) -> Option<Arc<Dictionary>> {
        let kept = self.0.lock();
        kept.clone().filter(|dictionary| dictionary.version == version)
    }

    /// Keeps one, unless a later one of the same table is there already.
    pub fn put(&self, dictionary: &Arc<Dictionary>) {
        let mut kept = self.0.lock();
        let is_later = |kept: &Arc<Dictionary>| {
            let (kept, new) = (kept.version, dictionary.version);
            kept.table == new.table && kept.data > new.data
        };
        if !kept.as_ref().is_some_and(is_later) {
            *kept = Some(dictionary.clone());
        }
    }
}
