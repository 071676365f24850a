//! Rows of a file as articles of the database: found by UUID or URL, compared, inserted, changed.

use std::collections::HashMap;
use std::path::Path;

use super::ImportedArticles;
use super::cell::{MakeFault, checked_uuid, fitting, given, published, required, uuid_of};
use super::names::{NameTable, id_column, join_spellings};
use super::read::{ArticleRow, BLOG, COLUMNS, ORIGINAL};
use crate::database::{self, CommandTransaction, SqlValue};
use crate::import::Error;
use crate::import::url::{is_path, normal_form, refuse_other_schemes};
use crate::query::quoted;
use crate::schema::NAMED;
use crate::spelling::tidied;

/// The name where none is given.
const NO_NAME: &str = "none";

const URL: usize = 0;
const TITLE: usize = 1;
const PUBLISHED: usize = 2;
const UUID: usize = 3;
const SLUG: usize = 4;

/// An article as stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Stored {
    uuid: String,
    slug: String,
    url: String,
    title: String,
    names: [i32; NAMED.len()],
    published: i32,
    original: Option<i32>,
}

/// Writes all rows; whether an article has gone to another blog.
pub(super) fn write(
    transaction: &CommandTransaction<'_>,
    path: &Path,
    rows: &[ArticleRow],
) -> Result<(ImportedArticles, bool), Error> {
    let joined = join_spellings(transaction)?;
    let mut articles = ArticleChanges::read(transaction)?;
    let mut ids = Vec::with_capacity(rows.len());
    for row in rows {
        let fault = |column: usize, problem: String| fault(path, row, column, problem);
        ids.push(articles.take(transaction, row, &fault)?);
    }
    for (row, id) in rows.iter().zip(&ids) {
        let fault = |column: usize, problem: String| fault(path, row, column, problem);
        articles.set_original(row, *id, &fault)?;
    }
    for (row, id) in rows.iter().zip(&ids) {
        if let Err(problem) = articles.check_original(*id) {
            return Err(fault(path, row, ORIGINAL, problem));
        }
    }
    let (mut imported, moved) = articles.write(transaction)?;
    imported.joined_names = joined.names;
    Ok((imported, moved || joined.blogs))
}

fn fault(path: &Path, row: &ArticleRow, column: usize, problem: String) -> Error {
    let column = COLUMNS.get(column).map_or("", |column| column.name).to_owned();
    Error::Cell { path: path.to_owned(), place: row.place.clone(), column, problem }
}

/// The statements that insert and change an article, both with its id as the last value.
fn statements() -> (String, String) {
    let columns: Vec<&str> = ["uuid", "slug", "url", "title"]
        .into_iter()
        .chain(NAMED.map(id_column))
        .chain(["published", "id"])
        .collect();
    let marks: Vec<String> = (1..=columns.len()).map(|number| format!("${number}")).collect();
    let mut set: Vec<String> =
        columns.iter().zip(&marks).map(|(column, mark)| format!("{column} = {mark}")).collect();
    let id = set.pop().unwrap_or_default();
    let (names, marks, set) = (columns.join(", "), marks.join(", "), set.join(", "));
    let insert = format!("INSERT INTO articles ({names}) VALUES ({marks})");
    (insert, format!("UPDATE articles SET {set} WHERE {id}"))
}

/// The articles in the database, and after the import.
struct ArticleChanges {
    before: HashMap<i32, Stored>,
    after: HashMap<i32, Stored>,
    by_uuid: HashMap<String, i32>,
    by_form: HashMap<String, i32>,
    /// The places of the rows taken, by the articles that they are.
    taken: HashMap<i32, String>,
    names: [NameTable; NAMED.len()],
    last_id: i32,
}

impl ArticleChanges {
    fn read(transaction: &CommandTransaction<'_>) -> Result<Self, database::Error> {
        let mut names: [NameTable; NAMED.len()] = Default::default();
        for (names, dimension) in names.iter_mut().zip(NAMED) {
            *names = NameTable::read(transaction, dimension)?;
        }
        let mut before = HashMap::new();
        let all = format!(
            "SELECT id, uuid, slug, url, title, {}, published, original_id FROM articles",
            NAMED.map(id_column).join(", ")
        );
        transaction.rows(&all, &[], |row| {
            let mut names = [0; NAMED.len()];
            for (name, place) in names.iter_mut().zip(5..) {
                *name = row.small(place)?;
            }
            let original = row.optional_integer(6 + NAMED.len())?;
            let stored = Stored {
                uuid: row.text(1)?.to_owned(),
                slug: row.text(2)?.to_owned(),
                url: row.text(3)?.to_owned(),
                title: row.text(4)?.to_owned(),
                names,
                published: row.small(5 + NAMED.len())?,
                original: original.and_then(|id| i32::try_from(id).ok()),
            };
            before.insert(row.small(0)?, stored);
            Ok::<_, database::Error>(())
        })?;
        let mut ids: Vec<i32> = before.keys().copied().collect();
        ids.sort_unstable_by_key(|id| std::cmp::Reverse(*id));
        // Of two articles with one form the first is found: it is inserted last.
        let of = |id: &i32, key: fn(&Stored) -> String| {
            (before.get(id).map(key).unwrap_or_default(), *id)
        };
        let by_form = ids.iter().map(|id| of(id, |it| normal_form(&it.url))).collect();
        let by_uuid = ids.iter().map(|id| of(id, |it| it.uuid.to_lowercase())).collect();
        let last_id = ids.first().copied().unwrap_or(0).max(0);
        let after = before.clone();
        Ok(Self { before, after, by_uuid, by_form, taken: HashMap::new(), names, last_id })
    }

    /// Takes a row, its original aside; the id of its article.
    fn take(
        &mut self,
        transaction: &CommandTransaction<'_>,
        row: &ArticleRow,
        fault: MakeFault<'_>,
    ) -> Result<i32, Error> {
        let url = required(row, URL, 1_024, fault)?;
        refuse_other_schemes(url).map_err(|problem| fault(URL, problem))?;
        let form = normal_form(url);
        let host = form.split(['/', '?']).next().unwrap_or_default().to_owned();
        if is_path(&form) || !host.contains('.') || host.contains(' ') {
            let problem =
                format!("{} is not a URL with a host, such as https://example.com/a", quoted(url));
            return Err(fault(URL, problem));
        }
        let title = required(row, TITLE, 512, fault)?;
        let published = published(required(row, PUBLISHED, 64, fault)?)
            .map_err(|problem| fault(PUBLISHED, problem))?;
        let uuid = given(row, UUID).filter(|uuid| !uuid.is_empty());
        let uuid = uuid.map(|uuid| {
            checked_uuid(uuid).ok_or_else(|| fault(UUID, format!("{} is not a UUID", quoted(uuid))))
        });
        let uuid = uuid.transpose()?;
        let id = self.id(uuid.as_deref(), &form, fault)?;
        if let Some(place) = self.taken.insert(id, row.place.clone()) {
            return Err(fault(
                URL,
                format!("it is the article of {place} again; remove one of them"),
            ));
        }
        let mut stored = match self.before.get(&id) {
            Some(stored) => stored.clone(),
            None => Stored::default(),
        };
        let is_new = stored.uuid.is_empty();
        stored.url = url.to_owned();
        stored.title = title.to_owned();
        stored.published = published;
        if is_new {
            stored.uuid = uuid.unwrap_or_else(|| uuid_of(&form));
        }
        if let Some(slug) = given(row, SLUG).or(is_new.then_some("")) {
            let last = form.split('?').next().and_then(|it| it.rsplit('/').next());
            let slug = if slug.is_empty() { last.unwrap_or_default() } else { slug };
            stored.slug = fitting(slug, 512).map_err(|problem| fault(SLUG, problem))?.to_owned();
        }
        for (place, dimension) in NAMED.into_iter().enumerate() {
            let Some(name) = given(row, BLOG + place).or(is_new.then_some("")) else { continue };
            let name = match (name, place) {
                ("", 0) => host.as_str(),
                ("", _) => NO_NAME,
                (name, _) => name,
            };
            let name = tidied(name);
            let name = fitting(&name, 64).map_err(|problem| fault(BLOG + place, problem))?;
            if let (Some(names), Some(id)) =
                (self.names.get_mut(place), stored.names.get_mut(place))
            {
                *id = names.id(transaction, dimension, name)?;
            }
        }
        self.by_uuid.insert(stored.uuid.to_lowercase(), id);
        self.by_form.insert(form, id);
        self.after.insert(id, stored);
        Ok(id)
    }

    /// The article with that UUID, with that URL, or a new one.
    fn id(&mut self, uuid: Option<&str>, form: &str, fault: MakeFault<'_>) -> Result<i32, Error> {
        let by_form = self.by_form.get(form).copied();
        let by_uuid = uuid.map(|uuid| self.by_uuid.get(uuid).copied());
        match (by_uuid, by_form) {
            (Some(Some(by_uuid)), Some(by_form)) if by_uuid != by_form => {
                let other = self.after.get(&by_form).map_or("", |other| other.uuid.as_str());
                Err(fault(URL, format!("it is the URL of another article, {other}")))
            }
            (Some(None), Some(by_form)) => {
                let other = self.after.get(&by_form).map_or("", |other| other.uuid.as_str());
                Err(fault(UUID, format!("the article with this URL has another UUID, {other}")))
            }
            (Some(Some(id)), _) | (None, Some(id)) => Ok(id),
            (Some(None) | None, None) => {
                self.last_id += 1;
                Ok(self.last_id)
            }
        }
    }

    /// The original, which may come later in the file than its translation.
    fn set_original(
        &mut self,
        row: &ArticleRow,
        id: i32,
        fault: MakeFault<'_>,
    ) -> Result<(), Error> {
        let Some(text) = given(row, ORIGINAL) else { return Ok(()) };
        let original = if text.is_empty() {
            None
        } else {
            let by_uuid = self.by_uuid.get(&text.to_lowercase());
            let found = by_uuid.or_else(|| self.by_form.get(&normal_form(text))).copied();
            let unknown = || {
                let problem = format!("{} is neither UUID nor URL of an article", quoted(text));
                fault(ORIGINAL, problem)
            };
            Some(found.ok_or_else(unknown)?)
        };
        if let Some(stored) = self.after.get_mut(&id) {
            stored.original = original;
        }
        Ok(())
    }

    /// An original is not a translation.
    fn check_original(&self, id: i32) -> Result<(), String> {
        let original = |id: i32| self.after.get(&id).and_then(|stored| stored.original);
        let Some(found) = original(id) else { return Ok(()) };
        if found == id {
            return Err("an article is not the translation of itself".to_owned());
        }
        if original(found).is_some() {
            return Err("the original is itself a translation; name its original".to_owned());
        }
        if self.after.values().any(|stored| stored.original == Some(id)) {
            return Err("the article has translations, so it cannot be one".to_owned());
        }
        Ok(())
    }

    /// Inserts and changes articles; originals last, since they refer to other articles.
    fn write(
        self,
        transaction: &CommandTransaction<'_>,
    ) -> Result<(ImportedArticles, bool), database::Error> {
        let (insert, update) = statements();
        let (mut imported, mut moved) = (ImportedArticles::default(), false);
        let mut ids: Vec<i32> = self.taken.keys().copied().collect();
        ids.sort_unstable();
        for id in &ids {
            let Some(stored) = self.after.get(id) else { continue };
            let before = self.before.get(id);
            let sql = match before {
                None => {
                    imported.added += 1;
                    &insert
                }
                Some(before) if before == stored => {
                    imported.unchanged += 1;
                    continue;
                }
                Some(before) => {
                    imported.changed += 1;
                    moved |= before.names.first() != stored.names.first();
                    &update
                }
            };
            let texts = [&stored.uuid, &stored.slug, &stored.url, &stored.title];
            let mut values: Vec<SqlValue<'_>> = texts.map(|text| text.as_str().into()).to_vec();
            values.extend(stored.names.map(SqlValue::from));
            values.extend([SqlValue::from(stored.published), SqlValue::from(*id)]);
            transaction.execute(sql, &values)?;
        }
        for id in &ids {
            let original =
                |of: &HashMap<i32, Stored>| of.get(id).and_then(|stored| stored.original);
            let after = original(&self.after);
            if after != original(&self.before) {
                let set = "UPDATE articles SET original_id = $1 WHERE id = $2";
                let after = after.map_or(SqlValue::Null, SqlValue::from);
                transaction.execute(set, &[after, (*id).into()])?;
            }
        }
        Ok((imported, moved))
    }
}
