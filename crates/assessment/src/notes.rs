//! Sentences beside the answer: what was compared, how steps were found, sizes, what a log shows. They
//! are kept with the run, so every output has the same.

use std::path::Path;

use engine::EngineKind;
use engine::shell::shell_word;
use migrate::{AuditReport, Severity, SourceApplication};
use notation::counted;
use notation::digits;
use record::{AssessmentRecord, Finished, NotMeasured};

use crate::engines::is_sqlite_alone;
use crate::options::AssessmentOptions;
use crate::preparation::MigratedCopy;
use crate::remedies::Remedies;
use crate::size::SqliteSize;
use crate::sql_log::LogFacts;
use crate::statement::MeasuredStatement;
use crate::tuning::Tuning;

/// Blockers shown in full; `crossover audit` shows all.
const BLOCKERS_SHOWN: usize = 10;
/// A statement of more letters is cut.
const SHOWN_MAX: usize = 200;

/// The statements that another library of this machine plans otherwise on the unchanged file.
pub fn other_plans(copy: &Path, statements: &[MeasuredStatement]) -> Vec<String> {
    let texts: Vec<&str> = statements.iter().map(|one| one.text_for(EngineKind::Sqlite)).collect();
    let Ok(connection) = connect::sqlite::open_read_only(copy) else { return Vec::new() };
    let own: Vec<Option<String>> =
        texts.iter().map(|sql| host::sqlite::explain(&connection, sql, |_| Ok(())).ok()).collect();
    let mut said = Vec::new();
    for other in connect::system_sqlite::plans(copy, &texts) {
        let differs = |(own, theirs): (&Option<String>, &Result<String, String>)| {
            let (Some(own), Ok(theirs)) = (own, theirs) else { return false };
            !connect::system_sqlite::is_same_plan(own, theirs)
        };
        let pairs = statements.iter().zip(own.iter().zip(&other.plans));
        let names: Vec<&str> =
            pairs.filter(|(_, pair)| differs(*pair)).map(|(one, _)| one.name.as_str()).collect();
        if !names.is_empty() {
            said.push(format!(
                "SQLite {} of this machine ({}) plans {} otherwise than the one measured, so it may \
                 take other times for {}.",
                other.library.version,
                other.library.origin,
                counted(names.len(), "statement"),
                names.join(", ")
            ));
        }
    }
    said
}

/// Releases that are compared, and what sets their builds apart.
fn versions(library: Option<&Path>, measured: &Finished, moved: &[MigratedCopy]) -> String {
    let sqlite = match library {
        None => {
            let version = connect::sqlite::version();
            format!("SQLite {version} (built into crossover, not your program's)")
        }
        Some(path) => {
            let engines = measured.run.engines.values();
            let version =
                engines.map(|one| one.version.as_str()).find(|it| it.starts_with("SQLite"));
            format!("{} ({})", version.unwrap_or("SQLite"), path.display())
        }
    };
    let mut said = vec![sqlite];
    for one in moved {
        let jit = if one.has_jit { "" } else { " (a build without JIT)" };
        let postgres = format!("PostgreSQL {}{jit}", one.version);
        if !said.contains(&postgres) {
            said.push(postgres);
        }
    }
    let word = if said.len() == 1 { "Version" } else { "Versions" };
    format!("{word}: {}.", said.join(", "))
}

/// Facts of the try that the reader of its answer needs.
pub fn record(
    options: &AssessmentOptions,
    tuning: Option<&Tuning>,
    moved: &[MigratedCopy],
    measured: &Finished,
) -> AssessmentRecord {
    let library = options.sqlite_library.as_deref();
    let is_alone = is_sqlite_alone(&options.engines);
    AssessmentRecord {
        source: options.source.display().to_string(),
        versions: vec![versions(library, measured, moved)],
        limits: limits(tuning, library, is_alone),
        to_compare: is_alone.then(|| options.command_on_postgres.clone()),
        ..AssessmentRecord::default()
    }
}

/// Limits of the comparison at their best; of SQLite alone those of its search.
fn limits(tuning: Option<&Tuning>, library: Option<&Path>, is_alone: bool) -> Vec<String> {
    let Some(tuning) = tuning else { return Vec::new() };
    let chosen = match is_alone {
        true => "the best step",
        false => "the best step of each engine",
    };
    let mut said = vec![format!(
        "Indexes and {chosen} were chosen in a short pilot; another run may choose others."
    )];
    let is_clear = is_alone && library.is_none();
    if !tuning.indexes.is_empty() && !is_clear {
        let planner = match library {
            None => "SQLite's planner".to_owned(),
            Some(_) => format!(
                "the planner of SQLite {}, which is built in, not that of the library,",
                connect::sqlite::version()
            ),
        };
        said.push(match is_alone {
            true => format!("Indexes were searched with {planner} and made on copies of the file."),
            false => format!(
                "Indexes were searched with {planner} and made on both engines; PostgreSQL was \
                 searched less hard: no index of its own kinds (INCLUDE, BRIN, partial) was tried."
            ),
        });
    }
    said
}

/// The statements that a distribution's build of PostgreSQL would compile, and the one measured does not.
pub fn without_jit(moved: &[MigratedCopy]) -> Vec<String> {
    let without = moved.iter().filter(|one| !one.has_jit && !one.compiled_with_jit.is_empty());
    let said = without.map(|one| {
        format!(
            "A build of {} with JIT, as distributions have, compiles {} at this cost and may take other \
             times for {}: --on postgres:/usr/lib/postgresql/18 measures one.",
            one.engine,
            counted(one.compiled_with_jit.len(), "statement"),
            one.compiled_with_jit.join(", ")
        )
    });
    said.collect()
}

/// How indexes were found, which of them PostgreSQL lacks or does not use, and which serve only statements
/// that were left out.
pub fn search(
    tuning: Option<&Tuning>,
    is_asked: bool,
    moved: &[MigratedCopy],
    left_out: &[NotMeasured],
) -> Vec<String> {
    let Some(tuning) = tuning else {
        let why = if is_asked { "SQLite cannot change the copy" } else { "--no-tuned" };
        return vec![format!("Indexes and settings were not searched ({why}).")];
    };
    let mut said = Vec::new();
    let kept = tuning.indexes.len();
    let proposed = counted(tuning.proposed, "new index");
    said.push(match (tuning.proposed, kept) {
        (0, _) => "SQLite's planner would use no new index for these statements.".to_owned(),
        (_, 0) => format!(
            "SQLite's planner would use {proposed}; none stayed: in the pilot the statements gained \
             too little."
        ),
        _ => format!(
            "SQLite's planner would use {proposed}; {kept} stayed: without {} some statement of the \
             pilot took more than a fifth longer.",
            if kept == 1 { "it" } else { "each of them" }
        ),
    });
    let not_portable = tuning.indexes.iter().filter(|index| !index.is_portable);
    let lacking: Vec<&str> = not_portable.map(|index| index.name.as_str()).collect();
    if !lacking.is_empty() && !moved.is_empty() {
        said.push(format!(
            "PostgreSQL does not have {}: it knows no collation of SQLite's.",
            lacking.join(", ")
        ));
    }
    for one in moved.iter().filter(|one| !one.unused_indexes.is_empty()) {
        said.push(format!("{} does not use {}.", one.engine, one.unused_indexes.join(", ")));
    }
    let is_out = |name: &String| left_out.iter().any(|one| one.name == *name);
    let idle = tuning.indexes.iter().filter(|one| one.used_by.iter().all(is_out));
    let idle: Vec<&str> = idle.map(|one| one.name.as_str()).collect();
    if !idle.is_empty() {
        said.push(format!("{} serves only statements that were not measured.", idle.join(", ")));
    }
    if kept > 0 {
        let bytes: u64 = tuning.indexes.iter().map(|index| index.bytes).sum();
        said.push(format!(
            "The new indexes take {} in SQLite and make writes slower, which was not measured.",
            notation::bytes(bytes)
        ));
    }
    if !tuning.plans_changed_by_analyze.is_empty() {
        let postgres = match moved.is_empty() {
            true => "",
            false => "; PostgreSQL is always analysed",
        };
        said.push(format!(
            "ANALYZE alone changes the plan of {} in SQLite{postgres}.",
            counted(tuning.plans_changed_by_analyze.len(), "statement")
        ));
    }
    said
}

/// The move into an engine, if it was filled for this try.
pub fn move_of(moved: &MigratedCopy) -> Option<String> {
    let migration = moved.migration.as_ref()?;
    let rows: u64 = migration.tables.iter().map(|table| table.rows).sum();
    Some(format!(
        "Moved into PostgreSQL {}: {} in {}, every row read back and verified ({:.1} s)",
        moved.version,
        counted(rows, "row"),
        counted(migration.tables.len(), "table"),
        migration.seconds.elapsed
    ))
}

pub fn sizes(sqlite: SqliteSize, moved: &[MigratedCopy]) -> String {
    let free = match (sqlite.vacuumed_bytes, sqlite.free_bytes) {
        (Some(bytes), _) => format!(" ({} after VACUUM)", notation::bytes(bytes)),
        (None, 0) => String::new(),
        (None, free) => format!(" ({} of it free pages)", notation::bytes(free)),
    };
    let mut said = vec![format!("SQLite {}{free}", notation::bytes(sqlite.file_bytes))];
    for one in moved {
        let (tables, indexes) = (one.size.table_bytes, one.size.index_bytes);
        said.push(format!(
            "{} {} (tables {}, indexes {})",
            one.engine,
            notation::bytes(tables + indexes),
            notation::bytes(tables),
            notation::bytes(indexes)
        ));
    }
    format!("On disk, unchanged and without logs: {}.", said.join("; "))
}

/// Blockers, and the changes to the copies because of them. Of SQLite alone, whose copies have all rows,
/// the number of blockers.
pub fn refused(
    file: &Path,
    audit: &AuditReport,
    remedies: &Remedies,
    is_alone: bool,
) -> Vec<String> {
    let audit_command = format!("crossover audit {}", shell_word(&file.display().to_string()));
    if is_alone {
        let count = audit.count(Severity::Blocker);
        let counted = counted(count, "blocker");
        let said = format!("PostgreSQL would refuse the file: {counted} ({audit_command}).");
        return (count > 0).then_some(said).into_iter().collect();
    }
    let blockers = audit.findings.iter().filter(|each| each.severity == Severity::Blocker);
    let count = audit.count(Severity::Blocker);
    let advice = audit.advice().map(|advice| {
        let application = audit.application.as_ref();
        let types = application.and_then(SourceApplication::types_not_copied);
        let types = types.map(|types| format!("; {types}")).unwrap_or_default();
        format!("{advice}. This try measured types by the file alone{types}.")
    });
    let mut said = match (count, advice) {
        (0, None) => vec!["PostgreSQL refuses nothing of the file.".to_owned()],
        (0, Some(advice)) => vec![advice],
        (_, advice) => advice
            .into_iter()
            .chain([format!("PostgreSQL would refuse the file: {}.", counted(count, "blocker"))])
            .collect(),
    };
    said.extend(blockers.take(BLOCKERS_SHOWN).map(|blocker| format!("Blocker: {blocker}")));
    if count > BLOCKERS_SHOWN {
        said.push(format!("{} more.", counted(count - BLOCKERS_SHOWN, "blocker")));
    }
    if !remedies.mappings.is_empty() {
        let rules: Vec<String> =
            remedies.mappings.iter().map(|rule| format!("--map '{rule}'")).collect();
        said.push(format!("The copy has other types: {}", rules.join(" ")));
    }
    let kept = audit.findings.iter().filter(|each| each.kind == "kept_as_stored").count();
    if kept > 0 {
        let columns = counted(kept, "column");
        said.push(format!(
            "The copy gives {columns} the type of the values, which do not fit the declared one; \
             crossover migrate asks for a --map there."
        ));
    }
    said.extend(remedies.tables_left_out.iter().map(|one| format!("{one} is not in the copy.")));
    for (table, refused) in &remedies.refused_rows {
        let all = audit.tables.iter().find(|each| each.name == *table).map_or(0, |one| one.rows);
        let doubt = match remedies.may_be_measured(table) {
            true => "",
            false => ", too many to measure it",
        };
        said.push(format!(
            "{table}: {} of {} that PostgreSQL refuses left out on both sides{doubt}.",
            notation::thousands(*refused),
            counted(all, "row")
        ));
    }
    let besides = [(Severity::Warning, "warning"), (Severity::Note, "note")]
        .map(|(severity, word)| (audit.count(severity), word));
    let besides: Vec<String> = besides
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| counted(*count, word))
        .collect();
    if !besides.is_empty() {
        said.push(format!("{audit_command} shows {} besides.", besides.join(" and ")));
    }
    said
}

/// Facts of a log: repetitions and locks. `milliseconds` is the measured mean of a statement at its best.
pub fn of_log(log: &LogFacts, milliseconds: impl Fn(&str) -> Option<f64>) -> Vec<String> {
    let mut said = Vec::new();
    let unreadable = match log.unreadable {
        0 => String::new(),
        many => format!("; the values of {} cannot be read", notation::thousands(many)),
    };
    let about = if log.not_kept > 0 { "about " } else { "" };
    let beyond = match log.beyond {
        0 => String::new(),
        many => format!("; the {about}{} that take least are not tried", notation::thousands(many)),
    };
    said.push(format!(
        "{} ({}): {}, {} of which read, {about}{} of different text{unreadable}{beyond}. Sets of values \
         are drawn from the log's own.",
        log.file.display(),
        log.framework.unwrap_or("unknown"),
        counted(log.statements, "statement"),
        notation::thousands(log.queries),
        notation::thousands((log.distinct.len() + log.not_kept) as u64),
    ));
    for query in log.repeated() {
        let cost = milliseconds(&query.name).map(|ms| {
            let all = ms * query.most_in_a_request as f64;
            format!(", {} ms of that request with SQLite at its best", digits(all))
        });
        said.push(format!(
            "N+1: {} times in {}{}: {} (\"{}\"). {} fetches these rows with one query.",
            notation::thousands(query.most_in_a_request),
            log.unit(),
            cost.unwrap_or_default(),
            shortened(&query.text),
            query.name,
            log.repetition_advice.unwrap_or("A join")
        ));
    }
    if let Some(advice) = log.locked_advice {
        let times = counted(log.locked, "time");
        said.push(format!("\"database is locked\" {times}. The settings against it:\n{advice}"));
    }
    said
}

fn shortened(text: &str) -> String {
    match text.chars().count() > SHOWN_MAX {
        true => format!("{} ...", text.chars().take(SHOWN_MAX).collect::<String>().trim_end()),
        false => text.to_owned(),
    }
}
