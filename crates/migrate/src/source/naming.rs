//! Names of the target's tables and columns: those of the source, in small letters, or others
//! (`--names`, `--rename`).

use std::collections::HashMap;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::schema::{SourceSchema, SourceTable};
use crate::Error;
use crate::display::{flag, shell_word};

/// The way from a name in the source to that in the target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Naming {
    /// ASCII capitals become small letters, as PostgreSQL reads names without quotes.
    pub lower: bool,
    pub renames: Vec<Rename>,
}

/// `OLD=NEW` for a table, `TABLE.OLD=NEW` for a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Rename {
    old: String,
    new: String,
}

impl TryFrom<String> for Rename {
    type Error = Error;

    fn try_from(written: String) -> Result<Self, Error> {
        written.parse()
    }
}

impl From<Rename> for String {
    fn from(rename: Rename) -> Self {
        format!("{}={}", rename.old, rename.new)
    }
}

impl FromStr for Rename {
    type Err = Error;

    fn from_str(written: &str) -> Result<Self, Error> {
        let parts = written.rsplit_once('=');
        let parts = parts.filter(|(old, new)| !old.is_empty() && !new.is_empty());
        let (old, new) = parts.ok_or_else(|| Error::Rename {
            rule: flag("--rename", written),
            problem: "write OLD=NEW for a table, TABLE.OLD=NEW for a column".to_owned(),
        })?;
        Ok(Self { old: old.to_owned(), new: new.to_owned() })
    }
}

impl Naming {
    /// The flags that ask for the same names.
    pub fn flags(&self) -> Vec<String> {
        let lower = self.lower.then(|| "--names lower".to_owned());
        let renames = self.renames.iter().cloned().map(String::from);
        let renames = renames.map(|rename| format!("--rename {}", shell_word(&rename)));
        lower.into_iter().chain(renames).collect()
    }

    /// The same, without renames of what `schema` does not have.
    pub fn for_part(&self, schema: &SourceSchema) -> Self {
        let mut schema = schema.clone();
        let mut naming = self.clone();
        naming.renames.retain(|rename| rename.found(&mut schema).is_some());
        naming
    }

    /// Gives the tables and columns of `schema` their names in the target.
    ///
    /// # Errors
    /// [`Error::Rename`] for one that fits nothing, and for two of the same name.
    pub fn apply(&self, schema: &mut SourceSchema) -> Result<(), Error> {
        if self.lower {
            schema.tables.iter_mut().for_each(lower);
        }
        for (place, rename) in self.renames.iter().enumerate() {
            let mut earlier = self.renames[..place].iter();
            let same = |other: &&Rename| other.old.eq_ignore_ascii_case(&rename.old);
            if let Some(other) = earlier.find(same).filter(|other| other.new != rename.new) {
                let problem =
                    format!("another rule calls it {}: leave one of the two out", other.new);
                return Err(rename.refused(problem));
            }
            let name = rename.found(schema).ok_or_else(|| {
                rename.refused(
                    "the source has no such table or column among those that are moved".to_owned(),
                )
            })?;
            name.clone_from(&rename.new);
        }
        if *self == Self::default() { Ok(()) } else { self.refuse_equal_names(schema) }
    }

    fn refuse_equal_names(&self, schema: &SourceSchema) -> Result<(), Error> {
        let mut relations: HashMap<&str, String> = HashMap::new();
        for table in &schema.tables {
            let mut columns: HashMap<&str, String> = HashMap::new();
            for column in &table.columns {
                let place = format!("the column {}.{}", table.name, column.name);
                if let Some(other) = columns.insert(&column.target_name, place.clone()) {
                    return Err(self.equal(&other, &place, &column.target_name));
                }
            }
            let made = table.indexes.iter().filter(|index| index.created);
            let indexes = made.map(|index| (&index.name, format!("the index {}", index.name)));
            let own = (&table.target_name, format!("the table {}", table.name));
            for (name, place) in std::iter::once(own).chain(indexes) {
                if let Some(other) = relations.insert(name, place.clone()) {
                    return Err(self.equal(&other, &place, name));
                }
            }
        }
        Ok(())
    }

    fn equal(&self, one: &str, other: &str, name: &str) -> Error {
        let problem =
            format!("{one} and {other} would both be called {name}: give one another name");
        match self.renames.iter().find(|rename| rename.new == name) {
            Some(rename) => rename.refused(problem),
            None => Error::Rename { rule: "--names lower".to_owned(), problem },
        }
    }
}

impl Rename {
    fn refused(&self, problem: String) -> Error {
        Error::Rename { rule: flag("--rename", &String::from(self.clone())), problem }
    }

    /// The name in the target of the table or column; names may hold dots.
    fn found<'a>(&self, schema: &'a mut SourceSchema) -> Option<&'a mut String> {
        let is = |name: &str, wanted: &str| name.eq_ignore_ascii_case(wanted);
        let place = schema.tables.iter().position(|table| is(&table.name, &self.old));
        if let Some(place) = place {
            return Some(&mut schema.tables[place].target_name);
        }
        schema.tables.iter_mut().find_map(|table| {
            let (of_table, rest) = self.old.split_at_checked(table.name.len())?;
            let column = rest.strip_prefix('.').filter(|_| is(&table.name, of_table))?;
            let column = table.columns.iter_mut().find(|each| is(&each.name, column))?;
            Some(&mut column.target_name)
        })
    }
}

fn lower(table: &mut SourceTable) {
    table.target_name.make_ascii_lowercase();
    for column in &mut table.columns {
        column.target_name.make_ascii_lowercase();
    }
    // These names are the target's alone.
    table.indexes.iter_mut().for_each(|index| index.name.make_ascii_lowercase());
    for check in &mut table.checks {
        check.name = check.name.as_ref().map(|name| name.to_ascii_lowercase());
    }
}
