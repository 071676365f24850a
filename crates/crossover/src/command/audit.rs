//! `crossover audit SOURCE`: what PostgreSQL would refuse in a SQLite file, and the exact remedy.

use std::path::{Path, PathBuf};

use engine::PostgresUrl;
use indicatif::ProgressBar;
use migrate::{
    AuditOptions, AuditReport, FrameworkChoice, IntegerRule, MapRule, MapRules, Naming, NocaseRule,
    Rename, Selection, TextOptions, TypeChoice, TypeRule,
};
use tokio::task::JoinError;

use super::report::terminal_width;
use crate::flag::sqlite_file;
use crate::shared::{CommandOutcome, OutputFormat, Shared, Usage};

/// Read every value of a SQLite file and say what PostgreSQL would refuse.
///
/// The file is opened read-only and read from one snapshot. Programs that write to it in
/// rollback-journal mode wait meanwhile; in WAL mode they do not. Exits 3 if something blocks a
/// migration or would not be carried over.
#[derive(clap::Args)]
pub struct Arguments {
    /// The SQLite file
    #[arg(env = "CROSSOVER_SOURCE", value_parser = sqlite_file())]
    source: PathBuf,
    #[command(flatten)]
    choice: Choice,
    #[command(flatten)]
    types: TypeFlags,
    /// Judge against the tables that exist in this PostgreSQL database: their types, and by
    /// temporary tables there their constraints
    #[arg(long, value_name = "URL", env = "CROSSOVER_TARGET")]
    target: Option<PostgresUrl>,
    /// Print the PostgreSQL schema that migrate would create, with a comment at every decision
    #[arg(long, conflicts_with = "target", env = "CROSSOVER_EMIT_SCHEMA")]
    emit_schema: bool,
    /// Write a migration file with the type of every column, which `crossover migrate FILE.toml URL`
    /// carries out; FILE must not exist
    #[arg(
        long,
        value_name = "FILE.toml",
        conflicts_with = "target",
        value_parser = mapping_file,
        env = "CROSSOVER_WRITE_MAPPING"
    )]
    write_mapping: Option<PathBuf>,
    /// Show a table of all columns: their declared types, their values, their types in PostgreSQL
    #[arg(long, env = "CROSSOVER_COLUMNS")]
    columns: bool,
}

/// A name that `migrate` takes for a migration file.
fn mapping_file(written: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(written);
    match path.extension().is_some_and(|ending| ending == "toml") {
        true => Ok(path),
        false => Err(format!("a migration file ends in .toml: {written}.toml")),
    }
}

/// The types of tables that are created: the same for audit and migrate.
#[derive(clap::Args)]
pub struct TypeFlags {
    /// The type of whole numbers where --map gives none [default: int8]
    #[arg(long, value_enum, env = "CROSSOVER_INTEGERS")]
    integers: Option<Integers>,
    /// Source of a column's type where --map gives none [default: declared]
    #[arg(long, value_enum, env = "CROSSOVER_TYPES")]
    types: Option<Types>,
}

/// Choices of types.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Types {
    /// The declared type; values that do not fit are blockers
    Declared,
    /// The values too, where they do not fit a declared date, time, moment, JSON or UUID: for copies
    /// that are measured
    Values,
}

/// Types of whole numbers.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Integers {
    /// bigint
    Int8,
    /// integer
    Int4,
    /// integer for INT, INTEGER, INT4 and MEDIUMINT, bigint for BIGINT and INT8
    Declared,
}

impl TypeFlags {
    /// The choice of the flags, otherwise `given`.
    pub fn over(&self, given: TypeChoice) -> TypeChoice {
        let integers = self.integers.map(|named| match named {
            Integers::Int8 => IntegerRule::Int8,
            Integers::Int4 => IntegerRule::Int4,
            Integers::Declared => IntegerRule::Declared,
        });
        let rule = self.types.map(|named| match named {
            Types::Declared => TypeRule::Declared,
            Types::Values => TypeRule::ByValues,
        });
        TypeChoice {
            rule: rule.unwrap_or(given.rule),
            integers: integers.unwrap_or(given.integers),
        }
    }
}

/// Names of the tables that are created.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum NameForm {
    /// Exactly as in the source
    Keep,
    /// ASCII capitals become small letters, as PostgreSQL reads names without quotes
    Lower,
}

/// Which tables, which types: the same for audit, migrate and verify.
#[derive(clap::Args)]
pub struct Choice {
    /// Give a column a type; * matches anything (`*.*_at=timestamptz`), `type:DECLARED=TYPE` all
    /// columns of a declared type; a rule that names one column wins, otherwise the last. Numbers in
    /// dates are read by `using` (epoch_seconds, epoch_milliseconds, epoch_microseconds, epoch_days,
    /// julian_day), durations in intervals by `using microseconds` or `using since_1970`, blobs in
    /// columns of texts by `using utf8`; a reading alone keeps the target's type
    #[arg(
        long = "map",
        value_name = "TABLE.COLUMN[=TYPE][ using READING]",
        env = "CROSSOVER_MAP",
        value_delimiter = ';'
    )]
    map: Vec<MapRule>,
    /// Only these tables (* matches anything)
    #[arg(long = "table", value_name = "TABLE", env = "CROSSOVER_TABLE", value_delimiter = ',')]
    tables: Vec<String>,
    /// Not these tables, views and virtual tables, nor these columns (TABLE.COLUMN), which count as not
    /// carried over
    #[arg(long, value_name = "TABLE[.COLUMN]", env = "CROSSOVER_EXCLUDE", value_delimiter = ',')]
    exclude: Vec<String>,
    /// Not this index (* matches anything); it counts as not carried over
    #[arg(long, value_name = "INDEX", env = "CROSSOVER_SKIP_INDEX", value_delimiter = ',')]
    skip_index: Vec<String>,
    /// Names of tables and columns in the target [default: keep]
    #[arg(long, value_enum, env = "CROSSOVER_NAMES")]
    names: Option<NameForm>,
    /// Give a table (OLD=NEW) or a column (TABLE.OLD=NEW) another name in the target
    #[arg(
        long = "rename",
        value_name = "OLD=NEW",
        env = "CROSSOVER_RENAME",
        value_delimiter = ';'
    )]
    renames: Vec<Rename>,
    /// The schema of the target (default: the first of its search path)
    #[arg(long, value_name = "SCHEMA", env = "CROSSOVER_SCHEMA")]
    pub schema: Option<String>,
    /// The framework of the application that made the file: django, sqlalchemy, rails, typeorm,
    /// sequelize, efcore, fluentmigrator, prisma, knex, laravel, diesel, xorm, gorm, or none; auto
    /// takes what its tables tell
    #[arg(long, value_name = "NAME", env = "CROSSOVER_FRAMEWORK")]
    pub framework: Option<FrameworkChoice>,
    /// Form of COLLATE NOCASE where tables are created: indexes over lower(), columns of the
    /// extension citext, or a warning [default: none]
    #[arg(long, value_enum, value_name = "FORM", env = "CROSSOVER_NOCASE")]
    nocase: Option<Nocase>,
    /// Exit 0 although rules are not carried over (triggers, views, collations, ...); rows that are
    /// left behind are accepted by --exclude alone
    #[arg(long, env = "CROSSOVER_ACCEPT_LOSSES")]
    pub accept_losses: bool,
}

/// A form of COLLATE NOCASE.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Nocase {
    Index,
    Citext,
    None,
}

impl Choice {
    /// The form of `--nocase`, if it is given.
    pub fn nocase(&self) -> Option<NocaseRule> {
        self.nocase.map(|form| match form {
            Nocase::Index => NocaseRule::Index,
            Nocase::Citext => NocaseRule::Citext,
            Nocase::None => NocaseRule::None,
        })
    }

    /// The rules of `--map`.
    pub fn rules(&self) -> MapRules {
        MapRules(self.map.clone())
    }

    /// The tables of `--table` and `--exclude`, the framework of `--framework`.
    pub fn selection(&self) -> Selection {
        Selection {
            tables: self.tables.clone(),
            excluded: self.exclude.clone(),
            skipped_indexes: self.skip_index.clone(),
            framework: self.framework.unwrap_or_default(),
            naming: Naming {
                lower: self.names == Some(NameForm::Lower),
                renames: self.renames.clone(),
            },
        }
    }

    /// Adds the selection of the flags to that of a migration file.
    pub fn select(&self, selection: &mut Selection) {
        let own = self.selection();
        selection.tables.extend(own.tables);
        selection.excluded.extend(own.excluded);
        selection.skipped_indexes.extend(own.skipped_indexes);
        selection.naming.renames.extend(own.naming.renames);
        if let Some(framework) = self.framework {
            selection.framework = framework;
        }
        if let Some(names) = self.names {
            selection.naming.lower = names == NameForm::Lower;
        }
    }
}

pub fn run(arguments: Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let target = match &arguments.target {
        None => None,
        Some(url) => {
            name_unfinished(url, shared)?;
            let schema = arguments.choice.schema.as_deref();
            let reading = migrate::read_catalog(url, schema);
            let reading = migrate::unless_interrupted(shared.interrupted(), reading);
            Some(shared.runtime().block_on(reading)?)
        }
    };
    let options = AuditOptions {
        rules: arguments.choice.rules(),
        types: arguments.types.over(TypeChoice::default()),
        selection: arguments.choice.selection(),
        schema: arguments.choice.schema.clone(),
        target,
        nocase: arguments.choice.nocase().unwrap_or_default(),
        ..AuditOptions::default()
    };
    let progress = shared.progress("audit");
    let mut report = audit(&arguments.source, &options, &progress, shared).map_err(usage)?;
    if let Some(url) = &arguments.target {
        let (schema, source) = (arguments.choice.schema.as_deref(), &arguments.source);
        let asking = migrate::audit_target_constraints(
            source,
            url,
            &options,
            schema,
            &progress,
            shared.interrupted(),
        );
        report.add(shared.runtime().block_on(asking).map_err(usage)?);
    }
    if let Some(path) = &arguments.write_mapping {
        // With the remedies, so that the file can be run.
        let rules = report.remedied(&options.rules);
        let remedied = AuditOptions { rules, ..options };
        let proposed = audit(&arguments.source, &remedied, &progress, shared).map_err(usage)?;
        proposed.write_mapping(path, &remedied).map_err(usage)?;
        shared.say(&format!("wrote {}", path.display()));
    }
    progress.finish_and_clear();
    let has_text = shared.output_format == OutputFormat::Text && !arguments.emit_schema;
    if let Some(advice) = report.advice().filter(|_| !has_text) {
        shared.say(&advice);
    }
    if arguments.emit_schema {
        shared.print(&report.proposed_schema)?;
    } else {
        let options = TextOptions { columns: arguments.columns, ..text_options(shared) };
        print_report(shared, &report, || report.to_csv(), || report.to_text(&options))?;
    }
    let loses = report.not_carried_over.are_findings(arguments.choice.accept_losses);
    Ok(if report.blocks() || loses { CommandOutcome::Findings } else { CommandOutcome::Done })
}

/// The audit on a thread of its own: SQLite may wait for a lock, or count for long.
fn audit(
    source: &Path,
    options: &AuditOptions,
    progress: &ProgressBar,
    shared: &Shared,
) -> Result<AuditReport, migrate::Error> {
    let auditing = shared.runtime().spawn_blocking({
        let (source, options, progress) = (source.to_owned(), options.clone(), progress.clone());
        let interrupted = shared.interrupted().clone();
        move || migrate::audit(&source, &options, &progress, &interrupted)
    });
    let ended = |error: JoinError| migrate::Error::Worker(error.to_string());
    let done = async { auditing.await.map_err(ended)? };
    shared.runtime().block_on(migrate::unless_interrupted(shared.interrupted(), done))
}

/// Says on standard error that a migration into this database is unfinished, if it is.
pub fn name_unfinished(target: &PostgresUrl, shared: &Shared) -> anyhow::Result<()> {
    let asking = migrate::unless_interrupted(shared.interrupted(), migrate::unfinished(target));
    if let Some(unfinished) = shared.runtime().block_on(asking)? {
        shared.say(&unfinished.to_string());
    }
    Ok(())
}

/// As wide as the terminal, as detailed as asked for.
pub fn text_options(shared: &Shared) -> TextOptions {
    TextOptions { width: terminal_width(), columns: false, verbose: shared.verbose }
}

/// Prints a report in the form that the user chose.
pub fn print_report(
    shared: &Shared,
    report: &impl serde::Serialize,
    csv: impl FnOnce() -> String,
    text: impl FnOnce() -> String,
) -> anyhow::Result<()> {
    match shared.output_format {
        OutputFormat::Json => shared.print_json(report),
        OutputFormat::Csv => shared.print(&csv()),
        OutputFormat::Text => shared.print(&text()),
    }
}

/// A request that cannot be met ends with the exit code of wrong usage.
pub fn usage(error: migrate::Error) -> anyhow::Error {
    if error.is_usage() { Usage(error.to_string()).into() } else { error.into() }
}
