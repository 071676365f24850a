//! The migration from end to end, in one transaction of the target: schema or takedown, rows, keys,
//! sequences, proof, commit. Whatever fails before the commit leaves the target as it was.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use engine::PostgresUrl;
use indicatif::ProgressBar;

use super::catalog::{catalog, current_schema};
use super::load::Load;
use super::matching::{Matched, match_tables};
use super::prepare::{self, Prepared};
use super::reject::reject;
use super::reject_file::RejectFile;
use super::reload::to_database;
use super::report::{MigratedTable, MigrationReport, Seconds};
use super::sequences;
use super::session::Session;
use crate::audit::{Audit, AuditOptions, Finding, audit_source, key_findings, readers};
use crate::inspect::{Schema, Source, thousands};
use crate::mapping::Rules;
use crate::selection::{Selection, estimated_rows};
use crate::verify::{Verification, compare_all, selected};
use crate::watch::blocking;
use crate::{Error, Severity, Watch};

/// What a migration does.
#[derive(Clone, Debug)]
pub struct MigrateOptions {
    /// Load into tables that exist instead of creating them.
    pub data_only: bool,
    /// `--map` rules.
    pub rules: Rules,
    /// Which tables.
    pub selection: Selection,
    /// The target's schema; the first of its search path unless given.
    pub schema: Option<String>,
    /// Prove the result before it is committed.
    pub verify: bool,
    /// Rows that stand in the target's tables are deleted, tables to be created are dropped first.
    pub replace: bool,
    /// Roll back instead of committing.
    pub dry_run: bool,
    /// Keep refused rows in this file and move the rest, instead of stopping.
    pub reject_file: Option<PathBuf>,
}

impl Default for MigrateOptions {
    fn default() -> Self {
        Self {
            data_only: false,
            rules: Rules::default(),
            selection: Selection::default(),
            schema: None,
            verify: true,
            replace: false,
            dry_run: false,
            reject_file: None,
        }
    }
}

/// Moves a SQLite file into a PostgreSQL database.
///
/// # Errors
/// The target is as it was after any error; each names the place and the way out.
pub async fn migrate(
    source: &Path,
    target: &PostgresUrl,
    options: &MigrateOptions,
    progress: &ProgressBar,
    interrupted: &AtomicBool,
) -> Result<MigrationReport, Error> {
    run(source, target, options, false, Watch { progress, interrupted }).await
}

/// As [`migrate`]; with `add`, rows are added to what is there.
async fn run(
    source: &Path,
    target: &PostgresUrl,
    options: &MigrateOptions,
    add: bool,
    watch: Watch<'_>,
) -> Result<MigrationReport, Error> {
    let started = Instant::now();
    let mut migration = Migration::inspect(source, target, options, watch).await?;
    migration.add = add;
    migration.seconds.inspect = started.elapsed().as_secs_f64();
    migration.session.begin().await?;
    let done = migration.move_all(watch).await;
    let verification = match done {
        Ok(verification) => verification,
        Err(error) => {
            migration.session.roll_back().await;
            return Err(migration.name_orphans(error, watch).await);
        }
    };
    Ok(migration.finish(target, verification, watch).await)
}

/// Adds the rows of a reject file, after their repair, to the tables of the target: all or none.
///
/// # Errors
/// As [`migrate`]; a row is named by its line in the file.
pub async fn load_rejects(
    file: &Path,
    target: &PostgresUrl,
    options: &MigrateOptions,
    progress: &ProgressBar,
    interrupted: &AtomicBool,
) -> Result<MigrationReport, Error> {
    let unusable = |error: std::io::Error| Error::RejectFile {
        path: file.to_owned(),
        reason: format!("no room for a temporary file: {error}"),
    };
    let folder = tempfile::tempdir().map_err(unusable)?;
    let database = folder.path().join("rejects.db");
    to_database(file, &database)?;
    let options = MigrateOptions { data_only: true, ..options.clone() };
    let watch = Watch { progress, interrupted };
    let mut report = run(&database, target, &options, true, watch).await?;
    report.source = file.to_owned();
    Ok(report)
}

/// A migration under way.
struct Migration<'a> {
    options: &'a MigrateOptions,
    source: Arc<Source>,
    schema: Schema,
    /// Set where types are chosen: what was found and what each column becomes.
    audit: Option<Audit>,
    session: Session,
    namespace: String,
    tables: Vec<MigratedTable>,
    matched: Vec<Matched>,
    rejects: Option<RejectFile>,
    notices: Vec<String>,
    /// Rows are added to what is there: how repaired rejects are loaded.
    add: bool,
    sequences_set: usize,
    seconds: Seconds,
}

impl<'a> Migration<'a> {
    async fn inspect(
        path: &Path,
        target: &PostgresUrl,
        options: &'a MigrateOptions,
        watch: Watch<'_>,
    ) -> Result<Self, Error> {
        let session = Session::connect(target).await?;
        let namespace = match &options.schema {
            Some(schema) => schema.clone(),
            None => current_schema(&session.client).await?,
        };
        watch.progress.set_message("reading the source");
        let (source, schema, audit) = blocking(watch, {
            let (path, options) = (path.to_owned(), options.clone());
            move |watch| read_source(&path, &options, watch)
        })
        .await?;
        options.rules.check(&schema)?;
        Ok(Self {
            options,
            source,
            schema,
            audit,
            session,
            namespace,
            tables: Vec::new(),
            matched: Vec::new(),
            rejects: None,
            notices: Vec::new(),
            add: false,
            sequences_set: 0,
            seconds: Seconds::default(),
        })
    }

    /// Everything inside the transaction.
    async fn move_all(&mut self, watch: Watch<'_>) -> Result<Option<Verification>, Error> {
        let clock = Instant::now();
        let mut prepared = self.prepare(watch).await?;
        self.reject(&mut prepared, watch).await?;
        self.notices.append(&mut prepared.notices);
        self.seconds.prepare = clock.elapsed().as_secs_f64();

        let clock = Instant::now();
        for matched in &prepared.to_load {
            let table = self.schema.tables[matched.source].clone();
            watch.progress.set_message(table.name.clone());
            let name = table.name.clone();
            let load = Load { table, matched: matched.clone(), freeze: prepared.freeze };
            let rows = Arc::new(load).run(&self.session.client, &self.source, watch).await?;
            let rejected_rows = matched.rejected.len() as u64;
            self.tables.push(MigratedTable { table: name, rows, rejected_rows, kept: false });
        }
        self.seconds.copy = clock.elapsed().as_secs_f64();

        let clock = Instant::now();
        for sql in prepared.keys.iter().chain(&prepared.foreign_keys) {
            watch.progress.set_message(short_statement(sql));
            self.session.run(sql, watch).await?;
        }
        let client = &self.session.client;
        let version = self.session.server_version;
        self.sequences_set =
            sequences::set(client, &self.schema, &prepared.to_load, version).await?;
        self.seconds.keys = clock.elapsed().as_secs_f64();

        let clock = Instant::now();
        let mut verification = None;
        if self.options.verify && !self.add {
            watch.progress.set_message("comparing both databases");
            let proof =
                compare_all(client, &self.source, &self.schema, &prepared.to_load, watch).await?;
            if !proof.is_equal() {
                let tables = proof.tables.iter().filter(|table| !table.equal);
                let text: String = tables.map(|table| table.differences_text()).collect();
                return Err(Error::Differs(text.trim_end().to_owned()));
            }
            verification = Some(proof);
        }
        self.matched = prepared.to_load;
        watch.check()?;
        if let Some(rejects) = &mut self.rejects {
            rejects.sync()?;
        }
        if self.options.dry_run {
            self.session.roll_back().await;
        } else {
            self.session.commit().await?;
        }
        self.seconds.verify = clock.elapsed().as_secs_f64();
        Ok(verification)
    }

    /// Makes the target ready for rows.
    async fn prepare(&mut self, watch: Watch<'_>) -> Result<Prepared, Error> {
        let (session, options) = (&self.session, self.options);
        if let Some(audit) = &self.audit {
            return prepare::create(session, audit, &self.namespace, options, watch).await;
        }
        let found = catalog(&session.client, &self.namespace).await?;
        let matched = match_tables(&self.schema, &found, &options.rules)
            .map_err(|problems| Error::Target(problems.join("\n")))?;
        if self.add {
            return prepare::to_add(session, matched).await;
        }
        let (prepared, kept) =
            prepare::existing(session, &self.source, &self.schema, matched, options, watch).await?;
        let kept = kept.into_iter().map(|(table, rows)| MigratedTable {
            table,
            rows,
            rejected_rows: 0,
            kept: true,
        });
        self.tables.extend(kept);
        Ok(prepared)
    }

    /// Finds and sets aside the rows that cannot be moved, if that was asked for.
    async fn reject(&mut self, prepared: &mut Prepared, watch: Watch<'_>) -> Result<(), Error> {
        let Some(path) = self.options.reject_file.clone() else { return Ok(()) };
        watch.progress.set_message("looking for rows to reject");
        let (source, schema) = (self.source.clone(), self.schema.clone());
        let mut tables = std::mem::take(&mut prepared.to_load);
        let references = prepared.references.clone();
        let (tables, file) = blocking(watch, move |watch| {
            let file = reject(&source, &schema, &mut tables, &references, &path, watch)?;
            Ok((tables, file))
        })
        .await?;
        prepared.to_load = tables;
        self.rejects = Some(file);
        Ok(())
    }

    /// A violated foreign key is explained by the source's own rows.
    async fn name_orphans(&self, error: Error, watch: Watch<'_>) -> Error {
        let Error::Constraint(message) = error else { return error };
        let (source, schema) = (self.source.clone(), self.schema.clone());
        let found = blocking(watch, move |_| {
            source.with(|connection| key_findings(&source, connection, &schema))
        });
        let findings = found.await.unwrap_or_default();
        let orphans = findings.iter().filter(|finding| finding.severity == Severity::Blocker);
        let lines: Vec<String> = orphans.map(ToString::to_string).collect();
        let named =
            if lines.is_empty() { String::new() } else { format!("\n{}", lines.join("\n")) };
        Error::Constraint(format!("{message}{named}"))
    }

    /// After the commit: statistics and visibility, so that the first queries are fast.
    async fn finish(
        mut self,
        target: &PostgresUrl,
        verification: Option<Verification>,
        watch: Watch<'_>,
    ) -> MigrationReport {
        let clock = Instant::now();
        let mut after_commit = Vec::new();
        for matched in self.matched.iter().filter(|_| !self.options.dry_run) {
            let sql = format!("VACUUM (ANALYZE) {}", matched.relation);
            watch.progress.set_message(sql.clone());
            if let Err(error) = self.session.run(&sql, watch).await {
                let interrupted = matches!(error, Error::Interrupted);
                after_commit.push(format!("the rows are committed, but {sql} was not done"));
                if interrupted {
                    break;
                }
            }
        }
        let rejected_rows = self.rejects.as_ref().map_or(0, RejectFile::count);
        let kept = match self.rejects.take().filter(|_| !self.options.dry_run) {
            Some(file) => file.keep().unwrap_or_else(|error| {
                after_commit.push(format!("the rows are committed, but: {error}"));
                None
            }),
            None => None,
        };
        self.seconds.vacuum = clock.elapsed().as_secs_f64();
        let findings = self.audit.map(|audit| audit.report.findings).unwrap_or_default();
        MigrationReport {
            source: self.source.path().to_owned(),
            target: target.to_string(),
            schema: self.namespace,
            dry_run: self.options.dry_run,
            tables: self.tables,
            findings,
            sequences_set: self.sequences_set,
            verification,
            rejected_rows,
            reject_file: kept,
            notices: self.notices,
            after_commit,
            seconds: self.seconds,
        }
    }
}

/// The source's schema; with every value looked at if the types are to be chosen.
fn read_source(
    path: &Path,
    options: &MigrateOptions,
    watch: Watch<'_>,
) -> Result<(Arc<Source>, Schema, Option<Audit>), Error> {
    let source = Source::open(path, readers())?;
    if options.data_only {
        let schema = selected(&source, &options.selection)?;
        let rows = source.with(|connection| Ok(estimated_rows(connection, &schema)))?;
        let passes = if options.verify { 3 } else { 1 };
        watch.progress.set_length(passes * rows.iter().sum::<u64>());
        return Ok((Arc::new(source), schema, None));
    }
    let audit_options = AuditOptions {
        rules: options.rules.clone(),
        selection: options.selection.clone(),
        target: None,
    };
    let audit = audit_source(&source, &audit_options, watch)?;
    // Rows that do not fit can be set aside; tables that do not fit cannot.
    let blocks = |finding: &&Finding| {
        finding.severity == Severity::Blocker
            && (options.reject_file.is_none() || !finding.is_about_rows)
    };
    let blockers: Vec<&Finding> = audit.report.findings.iter().filter(blocks).collect();
    if !blockers.is_empty() {
        let lines: Vec<String> = blockers.iter().map(|finding| format!("  {finding}")).collect();
        let plural = if blockers.len() == 1 { "" } else { "s" };
        return Err(Error::Blocked {
            count: format!("{} blocker{plural}", thousands(blockers.len() as u64)),
            list: lines.join("\n"),
        });
    }
    let passes = if options.verify { 4 } else { 2 };
    let rows: u64 = audit.report.tables.iter().map(|table| table.rows).sum();
    watch.progress.set_length(passes * rows);
    Ok((Arc::new(source), audit.schema.clone(), Some(audit)))
}

/// The beginning of a statement, for a progress bar.
fn short_statement(sql: &str) -> String {
    sql.chars().take(60).map(|each| if each == '\n' { ' ' } else { each }).collect()
}
