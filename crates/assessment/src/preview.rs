//! Preview of a try, without doing anything.

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

use notation::counted;

use crate::engines::{check_distances, is_sqlite_alone, version_of};
use crate::error::{Error, Result};
use crate::names::QuotedNames;
use crate::options::AssessmentOptions;
use crate::place::Copies;
use crate::{sql_file, sql_log};

/// The file, its statements, the copies, the time.
///
/// # Errors
/// Mistakes in the options, statements, logs or the library, as the try itself would name them.
pub fn preview(options: &AssessmentOptions, interrupted: &AtomicBool) -> Result<String> {
    check_distances(&options.engines, &options.delays)?;
    let mut connection = connect::sqlite::open_read_only(&options.source)?;
    let schema = migrate::schema(&connection)?;
    let names = QuotedNames::of(&schema);
    let bytes = options.source.metadata().map_err(Error::io("read", &options.source))?.len();
    let mut statements = Vec::new();
    if !options.sql.is_empty() {
        statements.extend(sql_file::read(&options.sql, &mut connection, &names)?);
    }
    for path in &options.sql_logs {
        statements.extend(sql_log::read_log(path, options.seed, &mut connection, &names)?.0);
    }
    let mut text = String::new();
    let file = options.source.display();
    let _ = writeln!(
        text,
        "{file}: {}, {}; only read",
        notation::bytes(bytes),
        counted(schema.tables.len(), "table")
    );
    let _ = match statements.len() {
        0 => writeln!(text, "Statements: {}", crate::derive::rule()),
        many => writeln!(text, "Statements: {}", counted(many, "statement")),
    };
    for statement in &statements {
        let executions = statement.executions.map(|count| format!(", {count} in the log"));
        let _ = writeln!(text, "  {}{}", statement.name, executions.unwrap_or_default());
    }
    let steps = match options.tuned {
        true => "unchanged, with ANALYZE, with indexes for the statements, with settings",
        false => "unchanged only (--no-tuned)",
    };
    let sqlite = match &options.sqlite_library {
        None => "SQLite".to_owned(),
        Some(path) => format!("SQLite {} ({})", version_of(path, interrupted)?, path.display()),
    };
    let is_alone = is_sqlite_alone(&options.engines);
    let (others, before) = match is_alone {
        true => (" alone".to_owned(), "audit and pilot"),
        false => {
            let others: Vec<String> = options.engines.iter().map(ToString::to_string).collect();
            (format!(" and {}", others.join(", ")), "audit, move and pilot")
        }
    };
    let _ = writeln!(text, "Engines: {sqlite}{others}, {steps}");
    let copies = Copies { has_steps: options.tuned, has_server: !is_alone };
    if !options.delays.is_empty() {
        let delays: Vec<String> = options.delays.iter().map(|one| one.ms().to_string()).collect();
        let _ = writeln!(text, "Distances to PostgreSQL: {} ms", delays.join(", "));
    }
    let _ = writeln!(
        text,
        "Disk: copies take up to {} for the time of the try",
        notation::bytes(copies.space_needed(bytes))
    );
    let _ = writeln!(
        text,
        "Time: at most {} for the blocks and one trial more; {before} come before",
        options.budget
    );
    Ok(text)
}
