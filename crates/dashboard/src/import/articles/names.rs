//! Names that articles refer to: authors, teams, products, languages, blogs. Spellings of one name
//! are one row.

use std::collections::HashMap;

use crate::database::{self, CommandTransaction};
use crate::imported_days;
use crate::schema::{Dimension, NAMED};
use crate::spelling::identity;

/// The names of one dimension.
#[derive(Default)]
pub(super) struct NameTable {
    /// By what all spellings of a name have in common.
    ids: HashMap<String, i32>,
    last: i32,
}

impl NameTable {
    pub fn read(
        transaction: &CommandTransaction<'_>,
        dimension: Dimension,
    ) -> Result<Self, database::Error> {
        let mut names = Self::default();
        each_name(transaction, dimension, |id, name| {
            names.last = names.last.max(id);
            names.ids.entry(identity(name)).or_insert(id);
        })?;
        Ok(names)
    }

    /// The id of a name, which is made if it is not there in any spelling.
    pub fn id(
        &mut self,
        transaction: &CommandTransaction<'_>,
        dimension: Dimension,
        name: &str,
    ) -> Result<i32, database::Error> {
        let key = identity(name);
        if let Some(id) = self.ids.get(&key) {
            return Ok(*id);
        }
        self.last += 1;
        let table = dimension.place().table.name();
        let insert = format!("INSERT INTO {table} (id, name) VALUES ($1, $2)");
        transaction.execute(&insert, &[self.last.into(), name.into()])?;
        self.ids.insert(key, self.last);
        Ok(self.last)
    }
}

/// The spellings that became one name with another.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct JoinedSpellings {
    pub names: usize,
    /// Whether blogs are among them: then their totals are others.
    pub blogs: bool,
}

/// Joins the spellings of each name that earlier programs stored one by one; the oldest stays.
pub(super) fn join_spellings(
    transaction: &CommandTransaction<'_>,
) -> Result<JoinedSpellings, database::Error> {
    let mut joined = JoinedSpellings::default();
    for dimension in NAMED {
        let (mut first, mut later) = (HashMap::new(), Vec::new());
        each_name(transaction, dimension, |id, name| {
            let kept = *first.entry(identity(name)).or_insert(id);
            if kept != id {
                later.push((kept, id));
            }
        })?;
        let (table, column) = (dimension.place().table.name(), id_column(dimension));
        for (kept, id) in later {
            let refer = format!("UPDATE articles SET {column} = $1 WHERE {column} = $2");
            transaction.execute(&refer, &[kept.into(), id.into()])?;
            if dimension == Dimension::Blog {
                imported_days::join(transaction, id, kept)?;
            }
            transaction.execute(&format!("DELETE FROM {table} WHERE id = $1"), &[id.into()])?;
            joined.names += 1;
            joined.blogs |= dimension == Dimension::Blog;
        }
    }
    Ok(joined)
}

/// The column of an article that refers to its name.
pub(super) fn id_column(dimension: Dimension) -> &'static str {
    dimension.place().refers.1.name()
}

fn each_name(
    transaction: &CommandTransaction<'_>,
    dimension: Dimension,
    mut each: impl FnMut(i32, &str),
) -> Result<(), database::Error> {
    let sql = format!("SELECT id, name FROM {} ORDER BY id", dimension.place().table.name());
    transaction.rows(&sql, &[], |row| {
        each(row.small(0)?, row.text(1)?);
        Ok::<_, database::Error>(())
    })
}
