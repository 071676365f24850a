//! Which tables are ours: a table of marks, `crossover_oltp`, names each with what it was filled
//! with. What has no mark is somebody else's and never touched.

use crate::console::Console;
use crate::layout::{Layout, layouts};
use crate::statement::Dialect;
use crate::{Error, Schema, TableOptions};

const MARKS: &str = "crossover_oltp";

/// What the tables of a schema were filled with; none where they are not there or not whole.
pub(crate) fn find(
    console: &mut Console<'_>,
    schema: Schema,
) -> Result<Option<TableOptions>, Error> {
    let marks = marks(console)?;
    let whole = marks.iter().filter(|mark| mark.is_whole);
    Ok(whole.filter_map(|mark| TableOptions::read(&mark.options)).find(|one| one.schema == schema))
}

/// Refuses to go on unless these very tables are there.
pub(crate) fn require(console: &mut Console<'_>, wanted: &TableOptions) -> Result<(), Error> {
    match find(console, wanted.schema)? {
        Some(found) if found == *wanted => Ok(()),
        Some(found) => Err(Error::OtherTables {
            place: console.place.clone(),
            found: found.to_string(),
            wanted: wanted.to_string(),
        }),
        None => {
            let table = layouts(wanted).first().map(|layout| layout.name.clone());
            let table = table.unwrap_or_default();
            let marked = marks(console)?.into_iter().any(|mark| mark.table == table);
            if !marked && exists(console, &table)? {
                return Err(foreign(console, &table, "it has no mark"));
            }
            Err(Error::NotFilled { place: console.place.clone(), table })
        }
    }
}

/// Makes room for these tables: those of ours of this schema go, and the new ones are marked.
pub(crate) fn claim(
    console: &mut Console<'_>,
    options: &TableOptions,
    layouts: &[Layout],
) -> Result<(), Error> {
    let marks = marks(console)?;
    for layout in layouts {
        let marked = marks.iter().any(|mark| mark.table == layout.name);
        if !exists(console, &layout.name)? {
            continue;
        }
        if !marked {
            return Err(foreign(console, &layout.name, "it has no mark"));
        }
        check_columns(console, layout)?;
    }
    console.run(&format!(
        "CREATE TABLE IF NOT EXISTS {MARKS} \
         (name VARCHAR(64) PRIMARY KEY, options VARCHAR(200) NOT NULL, filled INTEGER NOT NULL)"
    ))?;
    let prefix = format!("{} ", options.schema.name());
    for mark in marks.iter().filter(|mark| mark.options.starts_with(&prefix)) {
        forget(console, &mark.table)?;
    }
    for layout in layouts {
        let name = &layout.name;
        console.run(&format!("INSERT INTO {MARKS} VALUES ('{name}', '{options}', 0)"))?;
    }
    Ok(())
}

/// Marks the tables of these options as whole.
pub(crate) fn complete(console: &mut Console<'_>, options: &TableOptions) -> Result<(), Error> {
    console.run(&format!("UPDATE {MARKS} SET filled = 1 WHERE options = '{options}'"))
}

/// Drops the tables of ours and the marks.
pub(crate) fn remove(console: &mut Console<'_>) -> Result<(), Error> {
    for mark in marks(console)? {
        forget(console, &mark.table)?;
    }
    console.run(&format!("DROP TABLE IF EXISTS {MARKS}"))
}

/// The lowest key of the first table.
pub(crate) fn lowest_key(console: &mut Console<'_>) -> Result<u64, Error> {
    Ok(console.value("SELECT min(id) FROM sbtest1")?.parse().unwrap_or(1))
}

struct Mark {
    table: String,
    options: String,
    is_whole: bool,
}

fn marks(console: &mut Console<'_>) -> Result<Vec<Mark>, Error> {
    let mut marks = Vec::new();
    if exists(console, MARKS)? {
        let sql = format!("SELECT name, options, filled FROM {MARKS} ORDER BY name");
        console.rows(&sql, &mut |row| {
            let text = |at: usize| {
                let value = row.get(at).copied().flatten().unwrap_or_default();
                String::from_utf8_lossy(value).into_owned()
            };
            marks.push(Mark { table: text(0), options: text(1), is_whole: text(2) == "1" });
        })?;
    }
    // A mark may have been written by somebody else; what it names goes into statements.
    marks.retain(|mark| mark.table.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    Ok(marks)
}

fn forget(console: &mut Console<'_>, table: &str) -> Result<(), Error> {
    console.run(&format!("DROP TABLE IF EXISTS {table}"))?;
    console.run(&format!("DELETE FROM {MARKS} WHERE name = '{table}'"))
}

fn exists(console: &mut Console<'_>, table: &str) -> Result<bool, Error> {
    let sql = match console.dialect() {
        Dialect::Postgres => format!("SELECT count(to_regclass('{table}'))"),
        Dialect::Sqlite => format!("SELECT count(*) FROM sqlite_schema WHERE name = '{table}'"),
        Dialect::Mysql => format!(
            "SELECT count(*) FROM information_schema.tables \
             WHERE table_schema = database() AND table_name = '{table}'"
        ),
    };
    Ok(console.value(&sql)? != "0")
}

/// A marked table may have been replaced by somebody's own.
fn check_columns(console: &mut Console<'_>, layout: &Layout) -> Result<(), Error> {
    let (columns, table) = (layout.column_list(), &layout.name);
    let found = console.run(&format!("SELECT {columns} FROM {table} LIMIT 0"));
    found.map_err(|error| match error {
        Error::Engine { .. } => {
            foreign(console, table, &format!("it has not the columns {columns}"))
        }
        error => error,
    })
}

fn foreign(console: &Console<'_>, table: &str, difference: &str) -> Error {
    Error::ForeignTable {
        place: console.place.clone(),
        table: table.to_owned(),
        difference: difference.to_owned(),
    }
}
