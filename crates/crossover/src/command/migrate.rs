//! `crossover migrate SOURCE TARGET`: moves a SQLite file into PostgreSQL, all or nothing.

use std::path::{Path, PathBuf};

use engine::PostgresUrl;
use migrate::{
    MigrateOptions, MigrationRecipe, MigrationReport, SeededRows, Severity, SourceApplication,
    TypeRule, default_reject_file,
};

use tokio::task::JoinError;

use super::audit::{Choice, TypeFlags, print_report, text_options, usage};
use crate::shared::{CommandOutcome, OutputFormat, Shared, Usage};

/// Move a SQLite file into a PostgreSQL database; until the end the target is unchanged.
///
/// By default the schema is created; the declared types give the types, and where there are none the
/// stored values.
/// The result is proved by content digests before it is moved into place. A migration that was cut
/// off goes on by --resume or is undone by --abandon. Programs that write to the file in
/// rollback-journal mode wait meanwhile; in WAL mode they do not.
#[derive(clap::Args)]
pub struct Arguments {
    /// The SQLite file; or a file that says everything: FILE.toml, or FILE.load of pgloader; with
    /// --rejects a reject file; with --abandon it may be left out
    #[arg(env = "CROSSOVER_SOURCE")]
    source: Option<String>,
    /// The PostgreSQL database, for example postgresql://user@host/database
    #[arg(env = "CROSSOVER_TARGET")]
    target: Option<PostgresUrl>,
    #[command(flatten)]
    choice: Choice,
    #[command(flatten)]
    types: TypeFlags,
    /// Make tables, keys and indexes, move no rows
    #[arg(
        long,
        env = "CROSSOVER_SCHEMA_ONLY",
        conflicts_with_all = ["data_only", "rejects", "on_error", "reject_file"]
    )]
    schema_only: bool,
    /// Load into tables that exist (and are empty) instead of creating them
    #[arg(long, env = "CROSSOVER_DATA_ONLY")]
    data_only: bool,
    /// Make the tables also of an application that makes them by itself (exit code 3 otherwise, and
    /// nothing is written)
    #[arg(long, conflicts_with = "data_only", env = "CROSSOVER_MAKE_TABLES")]
    make_tables: bool,
    /// Drop the tables of the same names in the end; with --data-only: delete their rows
    #[arg(long, env = "CROSSOVER_REPLACE")]
    replace: bool,
    /// With --data-only, where a table of the target holds other rows: stop, keep them and leave out the
    /// file's, or replace them as --replace does [default: fail]
    #[arg(
        long,
        value_enum,
        value_name = "WAY",
        conflicts_with = "replace",
        env = "CROSSOVER_ON_SEEDED"
    )]
    on_seeded: Option<OnSeeded>,
    /// Do not compare both databases before the end
    #[arg(long, env = "CROSSOVER_NO_VERIFY")]
    no_verify: bool,
    /// What to do with a row that PostgreSQL would refuse [default: stop]; more than 1,000,000 of
    /// them stop it anyway
    #[arg(long, value_enum, env = "CROSSOVER_ON_ERROR")]
    on_error: Option<OnBadRow>,
    /// Where refused rows are kept (default: SOURCE.rejects.jsonl)
    #[arg(long, value_name = "FILE", env = "CROSSOVER_REJECT_FILE")]
    reject_file: Option<PathBuf>,
    /// SOURCE is a reject file, repaired: add its rows to the tables that exist
    #[arg(
        long,
        env = "CROSSOVER_REJECTS",
        conflicts_with_all = ["data_only", "replace", "on_seeded", "on_error", "reject_file"]
    )]
    rejects: bool,
    /// With --rejects: add rows also to tables without a key that hold equal ones already
    #[arg(long, requires = "rejects", env = "CROSSOVER_ADD_AGAIN")]
    add_again: bool,
    /// Do everything, then undo it
    #[arg(long, env = "CROSSOVER_DRY_RUN")]
    dry_run: bool,
    /// Load in parts of about this many bytes of the source: what an interruption costs at most
    /// [default: 64MiB]
    #[arg(long, value_name = "BYTES", value_parser = notation::number, env = "CROSSOVER_PART_BYTES")]
    part_bytes: Option<u64>,
    /// Number of connections at most [default: one for each core, at most 4]
    #[arg(
        long,
        value_name = "NUMBER",
        value_parser = clap::value_parser!(u16).range(1..),
        env = "CROSSOVER_WORKERS"
    )]
    workers: Option<u16>,
    /// Try a lost connection so often again, after growing waits [default: 8]; after that --resume
    /// goes on
    #[arg(long, value_name = "TIMES", env = "CROSSOVER_RECONNECTS")]
    reconnects: Option<u32>,
    /// Create the target database, with the encoding UTF8, if there is none; a dry run drops it again
    #[arg(long, env = "CROSSOVER_CREATE_DATABASE")]
    create_database: bool,
    /// Go on with the unfinished migration in the target, with its own options; begin if there is
    /// none
    #[arg(long, env = "CROSSOVER_RESUME", conflicts_with_all = ["rejects", "abandon"])]
    resume: bool,
    /// Undo the unfinished migration in the target
    #[arg(long, env = "CROSSOVER_ABANDON", conflicts_with = "rejects")]
    abandon: bool,
}

/// The action on a row that PostgreSQL would refuse.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum OnBadRow {
    /// Name it and change nothing
    Stop,
    /// Keep it, and the rows that refer to it, in the reject file, move the rest and exit 3
    Reject,
}

/// The way with rows that existing tables hold already.
#[derive(Clone, Copy, clap::ValueEnum)]
enum OnSeeded {
    Fail,
    Keep,
    Replace,
}

impl From<OnSeeded> for SeededRows {
    fn from(way: OnSeeded) -> Self {
        match way {
            OnSeeded::Fail => Self::Fail,
            OnSeeded::Keep => Self::Keep,
            OnSeeded::Replace => Self::Replace,
        }
    }
}

impl Arguments {
    /// The options of the command line, over those of a file if one is named.
    fn recipe(&self) -> anyhow::Result<MigrationRecipe> {
        let source = self.source.as_ref().ok_or_else(|| {
            Usage("name the SQLite file: crossover migrate SOURCE TARGET".to_owned())
        })?;
        let source = &engine::sqlite_path(Path::new(source));
        let mut recipe = if MigrationRecipe::is_one(source) {
            MigrationRecipe::read(source).map_err(usage)?
        } else {
            let (source, options) = (source.to_owned(), MigrateOptions::default());
            let (create_database, accept_losses, make_tables) = (false, false, false);
            MigrationRecipe {
                source,
                target: None,
                options,
                create_database,
                accept_losses,
                make_tables,
                notices: Vec::new(),
            }
        };
        if self.target.is_some() {
            recipe.target.clone_from(&self.target);
        }
        recipe.create_database |= self.create_database;
        recipe.accept_losses |= self.choice.accept_losses;
        recipe.make_tables |= self.make_tables;
        let options = &mut recipe.options;
        options.data_only |= self.data_only;
        options.replace |= self.replace;
        if let Some(way) = self.on_seeded {
            let applied = SeededRows::from(way).apply(options);
            applied.map_err(|problem| Usage(format!("--on-seeded {problem} (--data-only)")))?;
        }
        options.dry_run |= self.dry_run;
        options.resume = self.resume;
        options.add_again = self.add_again;
        options.part_bytes = self.part_bytes.unwrap_or(options.part_bytes);
        options.reconnects = self.reconnects.unwrap_or(options.reconnects);
        options.verify &= !self.no_verify;
        options.schema_only |= self.schema_only;
        options.workers = self.workers.or(options.workers);
        options.types = self.types.over(options.types);
        options.nocase = self.choice.nocase().unwrap_or(options.nocase);
        options.rules.overrule(self.choice.rules().0);
        self.choice.select(&mut options.selection);
        if self.choice.schema.is_some() {
            options.schema.clone_from(&self.choice.schema);
        }
        options.reject_file = match (self.on_error, options.reject_file.take()) {
            (Some(OnBadRow::Stop), _) | (None, None) => None,
            (Some(OnBadRow::Reject), None) => Some(default_reject_file(&recipe.source)),
            (_, Some(file)) => Some(file),
        };
        match (&mut options.reject_file, &self.reject_file) {
            (Some(file), Some(named)) => file.clone_from(named),
            (None, Some(_)) => {
                return Err(Usage("--reject-file is for --on-error reject".to_owned()).into());
            }
            (_, None) => {}
        }
        Ok(recipe)
    }

    /// The target of `--abandon`: the second argument, or the only one. A URL that comes first is
    /// the only one, whatever target the environment names.
    fn abandoned(&self) -> anyhow::Result<PostgresUrl> {
        match (&self.source, &self.target) {
            (Some(first), Some(target)) if !first.contains("://") => Ok(target.clone()),
            (Some(only), _) => only.parse().map_err(|error: engine::Error| {
                Usage(format!("--abandon takes the target: {error}")).into()
            }),
            (None, Some(target)) => Ok(target.clone()),
            (None, None) => Err(Usage("name the target to be put back".to_owned()).into()),
        }
    }
}

pub fn run(arguments: Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let (runtime, interrupted) = (shared.runtime(), shared.interrupted());
    let progress = shared.progress("migrate");
    if arguments.abandon {
        let target = arguments.abandoned()?;
        let put_back = runtime.block_on(migrate::abandon(&target, &progress, interrupted))?;
        let (source, started) = (put_back.source.display(), &put_back.started);
        shared.say(&format!("{target} is unchanged by the migration of {source} begun {started}"));
        return Ok(CommandOutcome::Done);
    }
    let recipe = arguments.recipe()?;
    let target = recipe.target.as_ref().ok_or_else(|| {
        Usage("name the PostgreSQL database: crossover migrate SOURCE TARGET".to_owned())
    })?;
    for notice in &recipe.notices {
        shared.say(notice);
    }
    // Before a database is made for a mistyped path.
    if recipe.create_database {
        drop(connect::sqlite::open_read_only(&recipe.source)?);
    }
    let is_copy = recipe.options.types.rule == TypeRule::ByValues;
    let makes_tables = !is_copy && !recipe.options.data_only && !arguments.rejects;
    let goes_on = || -> anyhow::Result<bool> {
        if !recipe.options.resume {
            return Ok(false);
        }
        let asking = migrate::unless_interrupted(interrupted, migrate::unfinished(target));
        Ok(runtime.block_on(asking)?.is_some())
    };
    if makes_tables && !recipe.make_tables && !goes_on()? && has_own_tables(&recipe, shared)? {
        return Ok(CommandOutcome::Findings);
    }
    let creating = migrate::create_database(target, interrupted);
    let created = recipe.create_database && runtime.block_on(creating)?;
    if created {
        shared.say(&format!("created the database of {target}"));
    }
    let (source, options) = (&recipe.source, &recipe.options);
    let done = if arguments.rejects {
        let loading = migrate::load_rejects(source, target, options, &progress, interrupted);
        runtime.block_on(loading)
    } else {
        runtime.block_on(migrate::migrate(source, target, options, &progress, interrupted))
    };
    let is_useless =
        created && (options.dry_run || done.is_err() && !is_unfinished(target, shared));
    let undone = if is_useless { drop_again(target, shared) } else { Ok(()) };
    let mut report = done.map_err(usage)?;
    undone?;
    progress.finish_and_clear();
    report.seconds.elapsed = shared.elapsed().as_secs_f64();
    print_report(shared, &report, || csv(&report), || report.to_text(&text_options(shared)))?;
    if shared.output_format != OutputFormat::Text {
        if let Some(advice) = report.advice() {
            shared.say(&advice);
        }
        let findings = report.findings.iter().filter(|each| each.severity != Severity::Note);
        for finding in findings {
            shared.say(&format!("{}: {finding}", finding.severity.name()));
        }
    }
    let complete = report.after_commit.is_empty()
        && report.rejected_rows == 0
        && !report.not_carried_over.are_findings(recipe.accept_losses);
    Ok(if complete { CommandOutcome::Done } else { CommandOutcome::Findings })
}

/// A migration that can be resumed keeps its plan in the database. So does one of which nothing is known.
fn is_unfinished(target: &PostgresUrl, shared: &Shared) -> bool {
    let asking = migrate::unless_interrupted(shared.interrupted(), migrate::unfinished(target));
    !matches!(shared.runtime().block_on(asking), Ok(None))
}

fn drop_again(target: &PostgresUrl, shared: &Shared) -> Result<(), migrate::Error> {
    let dropping = migrate::drop_database(target, shared.interrupted());
    shared.runtime().block_on(dropping)?;
    shared.say(&format!("dropped the database of {target} again"));
    Ok(())
}

/// Says how to go on if the application makes its tables by itself.
fn has_own_tables(recipe: &MigrationRecipe, shared: &Shared) -> anyhow::Result<bool> {
    let reading = shared.runtime().spawn_blocking({
        let (source, selection) = (recipe.source.clone(), recipe.options.selection.clone());
        move || SourceApplication::of_file(&source, &selection)
    });
    let ended = |error: JoinError| migrate::Error::Worker(error.to_string());
    let done = async { reading.await.map_err(ended)? };
    let reading = migrate::unless_interrupted(shared.interrupted(), done);
    let Some(application) = shared.runtime().block_on(reading).map_err(usage)? else {
        return Ok(false);
    };
    let advice = application.advice(&recipe.source, &recipe.options.flags());
    shared.say(&format!(
        "nothing was changed. {advice}. To make the tables all the same: --make-tables"
    ));
    Ok(true)
}

fn csv(report: &MigrationReport) -> String {
    let line = |table: &migrate::MigratedTable| {
        [table.table.clone(), table.rows.to_string(), table.kept.to_string()]
    };
    notation::csv_table(&["table", "rows", "kept"], report.tables.iter().map(line))
}
