//! Catalog of the tables that this program made: a table of marks, `crossover_oltp`, names each
//! with its options, and each has a comment, which is lost when another program replaces the table.
//! A table without both belongs to another program and is never touched.

use crate::Error;
use crate::console::Console;
use crate::layout::{Layout, TABLE_COMMENT, layouts};
use crate::statement::EngineDialect;
use plan::oltp::{Schema, TableOptions};

const MARKS: &str = "crossover_oltp";

/// The options that the tables of a schema were filled with; none where they are not there or not
/// whole.
pub(crate) fn find(
    console: &mut Console<'_>,
    schema: Schema,
) -> Result<Option<TableOptions>, Error> {
    let mut found = None;
    for mark in marks(console)?.iter().filter(|mark| mark.is_whole) {
        let Some(options) = TableOptions::read(&mark.options).filter(|one| one.schema == schema)
        else {
            continue;
        };
        if !is_ours(console, &mark.table)? {
            return Ok(None);
        }
        found = Some(options);
    }
    Ok(found)
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
            let marks = marks(console)?;
            refuse_foreign(console, &marks, &table)?;
            Err(Error::NotFilled { place: console.place.clone(), table })
        }
    }
}

/// Makes room for these tables: marked ones of this schema are dropped, the new ones are marked.
pub(crate) fn claim(
    console: &mut Console<'_>,
    options: &TableOptions,
    layouts: &[Layout],
) -> Result<(), Error> {
    let marks = marks(console)?;
    let prefix = format!("{} ", options.schema.name());
    let old: Vec<&Mark> = marks.iter().filter(|mark| mark.options.starts_with(&prefix)).collect();
    let names = layouts.iter().map(|layout| &layout.name).chain(old.iter().map(|mark| &mark.table));
    for name in names {
        refuse_foreign(console, &marks, name)?;
    }
    console.run(&format!(
        "CREATE TABLE IF NOT EXISTS {MARKS} \
         (name VARCHAR(64) PRIMARY KEY, options VARCHAR(200) NOT NULL, filled INTEGER NOT NULL)"
    ))?;
    for mark in old {
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

/// Drops the marked tables and the marks.
pub(crate) fn remove(console: &mut Console<'_>) -> Result<(), Error> {
    let marks = marks(console)?;
    for mark in &marks {
        refuse_foreign(console, &marks, &mark.table)?;
    }
    for mark in &marks {
        forget(console, &mark.table)?;
    }
    console.run(&format!("DROP TABLE IF EXISTS {MARKS}"))
}

/// The lowest key of each table.
pub(crate) fn lowest_keys(console: &mut Console<'_>, tables: u32) -> Result<Vec<u64>, Error> {
    let lowest = |table: u32| -> Result<u64, Error> {
        let key = console.value(&format!("SELECT min(id) FROM sbtest{table}"))?;
        Ok(key.parse().unwrap_or(1))
    };
    (1..=tables).map(lowest).collect()
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
    // Another program may have written a mark; the name in it becomes a part of statements.
    marks.retain(|mark| mark.table.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    Ok(marks)
}

fn forget(console: &mut Console<'_>, table: &str) -> Result<(), Error> {
    console.run(&format!("DROP TABLE IF EXISTS {table}"))?;
    console.run(&format!("DELETE FROM {MARKS} WHERE name = '{table}'"))
}

fn exists(console: &mut Console<'_>, table: &str) -> Result<bool, Error> {
    let sql = match console.dialect() {
        EngineDialect::Postgres => format!("SELECT count(to_regclass('{table}'))"),
        EngineDialect::Sqlite => {
            format!("SELECT count(*) FROM sqlite_schema WHERE name = '{table}'")
        }
        EngineDialect::Mysql => format!(
            "SELECT count(*) FROM information_schema.tables \
             WHERE table_schema = database() AND table_name = '{table}'"
        ),
    };
    Ok(console.value(&sql)? != "0")
}

/// Whether a table bears our comment.
fn is_ours(console: &mut Console<'_>, table: &str) -> Result<bool, Error> {
    let sql = match console.dialect() {
        EngineDialect::Postgres => format!(
            "SELECT count(*) FROM pg_class WHERE oid = to_regclass('{table}') \
             AND obj_description(oid, 'pg_class') = '{TABLE_COMMENT}'"
        ),
        EngineDialect::Sqlite => format!(
            "SELECT count(*) FROM sqlite_schema WHERE name = '{table}' AND instr(sql, '{TABLE_COMMENT}')"
        ),
        EngineDialect::Mysql => format!(
            "SELECT count(*) FROM information_schema.tables WHERE table_schema = database() \
             AND table_name = '{table}' AND table_comment = '{TABLE_COMMENT}'"
        ),
    };
    Ok(console.value(&sql)? != "0")
}

/// Refuses to go on where a table of this name belongs to another program.
fn refuse_foreign(console: &mut Console<'_>, marks: &[Mark], table: &str) -> Result<(), Error> {
    if !exists(console, table)? {
        return Ok(());
    }
    if !marks.iter().any(|mark| mark.table == table) {
        return Err(foreign(console, table, "it has no mark"));
    }
    match is_ours(console, table)? {
        true => Ok(()),
        false => {
            Err(foreign(console, table, "another program has put it in the place of one that was"))
        }
    }
}

fn foreign(console: &Console<'_>, table: &str, difference: &str) -> Error {
    Error::ForeignTable {
        place: console.place.clone(),
        table: table.to_owned(),
        difference: difference.to_owned(),
    }
}
