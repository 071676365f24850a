//! Beginning of a migration: a new one, rows to append, or one to resume. Each ends with the list
//! of steps.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use notation::{counted, thousands};

use super::dependents::lost_properties;
use super::load_rejects::{RowNames, refuse_loaded};
use super::options::MigrateOptions;
use super::prepare::{self, PreparedTarget};
use super::publish::Destination;
use super::reject::{RejectCriteria, reject};
use super::reject_file::RejectFile;
use super::report::{MigratedTable, PhaseSeconds};
use super::seeded;
use super::state::{self, MigrationState, STAGING_SCHEMA, SavedMigration};
use super::step::{MigrationStep, Stage, plan};
use super::workers::MigrationJob;
use crate::audit::{
    Audit, AuditOptions, audit_source, changed_for_the_move, existing_tables, mismatch_finding,
    objects, orphans_before_move, outside_children, rows_before_move, unwritten_columns,
};
use crate::finding::{Finding, Losses, Severity};
use crate::source::{SourceFile, SourceSchema, open_selected};
use crate::target::rights::TableAccess;
use crate::target::{
    MatchedTable, TableMatching, TargetSession, catalog, match_tables, match_with_unwritten,
    namespace, rights,
};
use crate::task::blocking;
use crate::{Error, Task};

/// A migration whose target is prepared and whose steps are known.
pub struct PreparedMigration {
    pub job: MigrationJob,
    /// Saved in the staging schema.
    pub saved: SavedMigration,
    pub steps: Vec<MigrationStep>,
    /// Steps that an earlier run had finished.
    pub steps_done_before: usize,
    /// Time of the beginning, as the server shows it.
    pub started: String,
    /// Findings of the audit before the transfer.
    pub findings: Vec<Finding>,
    pub rejects: Option<RejectFile>,
    /// Sequences set to continue after the largest value.
    pub sequences_set: usize,
    pub seconds: PhaseSeconds,
}

impl PreparedMigration {
    fn new(
        job: MigrationJob,
        saved: SavedMigration,
        steps: Vec<MigrationStep>,
        rejects: Option<RejectFile>,
    ) -> Self {
        Self {
            job,
            saved,
            steps_done_before: steps.iter().filter(|step| step.done).count(),
            steps,
            started: "just now".to_owned(),
            findings: Vec::new(),
            rejects,
            sequences_set: 0,
            seconds: PhaseSeconds::default(),
        }
    }
}

/// Begins a migration: prepares the target and saves the steps in it, in one transaction. That
/// transaction stays open, and everything else happens in it, where nothing may last before the
/// end: a dry run over existing tables, or rows that are replaced.
pub async fn start(
    path: &Path,
    session: &TargetSession,
    options: &MigrateOptions,
    task: Task<'_>,
) -> Result<PreparedMigration, Error> {
    begin(path, session, options, None, task).await
}

/// Begins to append rows with these names to existing ones, in one transaction that stays open.
pub async fn append(
    path: &Path,
    session: &TargetSession,
    options: &MigrateOptions,
    names: RowNames,
    task: Task<'_>,
) -> Result<PreparedMigration, Error> {
    begin(path, session, options, Some(names), task).await
}

async fn begin(
    path: &Path,
    session: &TargetSession,
    options: &MigrateOptions,
    names: Option<RowNames>,
    task: Task<'_>,
) -> Result<PreparedMigration, Error> {
    let clock = Instant::now();
    let namespace = namespace(&session.client, options.schema.as_deref()).await?;
    task.progress.set_message("reading the source");
    let read = blocking(task, {
        let (path, options) = (path.to_owned(), options.clone());
        let server_version = session.server_version;
        move |task| read_source(&path, &options, server_version, task)
    });
    let (source, mut schema, audit) = read.await?;
    let add = names.is_some();
    let mut standing = Vec::new();
    if options.data_only && !add {
        standing = seeded::leave_standing(session, &namespace, &source, &mut schema, options, task)
            .await?;
    }
    for (table, names) in names.into_iter().flatten() {
        let table = schema.tables.iter_mut().find(|each| each.name == table);
        if let Some(table) = table {
            table.row_names = names;
        }
    }
    options.rules.check(&schema)?;
    let inspect = clock.elapsed().as_secs_f64();
    session.begin().await?;
    let tables: Vec<String> = schema.tables.iter().map(|table| table.target_name.clone()).collect();
    let namespaced = namespace.clone();
    let audited = AuditedSource { source, schema, audit, namespace: namespaced, standing, add };
    let prepared = audited.prepare(session, options, task).await;
    match prepared {
        Ok(mut prepared) => {
            prepared.seconds.inspect = inspect;
            Ok(prepared)
        }
        Err(error) => {
            session.roll_back().await;
            let (client, access) = (&session.client, TableAccess::Change);
            Err(rights::explain(error, client, &namespace, &tables, access).await)
        }
    }
}

/// The source with its audit, before the target is touched.
struct AuditedSource {
    source: Arc<SourceFile>,
    schema: SourceSchema,
    audit: Option<Audit>,
    namespace: String,
    /// Findings on tables that are left unchanged in the target.
    standing: Vec<Finding>,
    add: bool,
}

impl AuditedSource {
    async fn prepare(
        self,
        session: &TargetSession,
        options: &MigrateOptions,
        task: Task<'_>,
    ) -> Result<PreparedMigration, Error> {
        let (prepared, findings) = self.target(session, options, task).await?;
        let Self { source, schema, namespace, standing, add, .. } = self;
        let one_transaction =
            add || (options.data_only && (options.dry_run || prepared.replaces_rows));
        let PreparedTarget { to_load, kept, fresh, rest, references, constraints, notices, .. } =
            prepared;
        let criteria = RejectCriteria {
            source: source.clone(),
            schema: schema.clone(),
            references: references.clone(),
            constraints: constraints.clone(),
        };
        let (to_load, rejects) =
            set_rejects_aside(session, options, criteria, to_load, task).await?;
        let part_bytes = (!one_transaction).then_some(options.part_bytes);
        let mut steps = plan(&source, &schema, &to_load, rest, part_bytes)?;
        steps.retain(|step| !options.schema_only || step.stage != Stage::Load);
        let existing = to_load.iter().filter(|_| options.data_only);
        let saved = SavedMigration {
            options: options.clone(),
            source: source.path().to_owned(),
            fingerprint: source.fingerprint().to_owned(),
            namespace,
            loaded: existing.map(|each| (each.relation.clone(), each.partitioned)).collect(),
            kept: kept.iter().map(|(table, rows)| kept_table(&schema, table, *rows)).collect(),
            references,
            constraints,
            notices,
            not_carried_over: Losses::of(&findings),
            standing: standing.into_iter().map(|finding| finding.table).collect(),
        };
        if !one_transaction {
            if options.data_only {
                state::create_staging_schema(session, task).await?;
            }
            state::write(&session.client, &saved, &steps).await?;
            session.run("COMMIT", task).await?;
        }
        let (matched, kept) = (to_load, kept.into_iter().map(|(table, _)| table).collect());
        let by_steps = !one_transaction;
        let job = MigrationJob { source, schema, matched, kept, by_steps, fresh, adds: add };
        let prepared = PreparedMigration::new(job, saved, steps, rejects);
        Ok(PreparedMigration { findings, ..prepared })
    }

    async fn target(
        &self,
        session: &TargetSession,
        options: &MigrateOptions,
        task: Task<'_>,
    ) -> Result<(PreparedTarget, Vec<Finding>), Error> {
        let (schema, namespace) = (&self.schema, self.namespace.as_str());
        if let Some(audit) = &self.audit {
            let make_namespace = options.schema.is_some();
            let destination =
                Destination { schema, namespace, make_namespace, replace: options.replace };
            let prepared = prepare::create(session, audit, &destination, options, task).await?;
            let mut findings = audit.report.findings.clone();
            if options.replace {
                let tables: Vec<String> =
                    schema.tables.iter().map(|table| table.target_name.clone()).collect();
                findings.extend(lost_properties(session, namespace, &tables).await?);
            }
            return Ok((prepared, findings));
        }
        let found = catalog(&session.client, namespace).await?;
        let TableMatching { tables: matched, unwritten, mismatches } =
            match_with_unwritten(schema, &found, &options.rules)?;
        let mut of_tables = unwritten_columns(&self.source, schema, &unwritten, task).await?;
        of_tables.extend(mismatches.iter().map(|each| mismatch_finding(schema, each)));
        let is_whole = unwritten.is_empty() && mismatches.is_empty();
        of_tables.extend(
            existing_tables(session, &self.source, schema, &matched, self.add, task).await?,
        );
        if options.reject_file.is_none() && !self.add && is_whole {
            let (source, computed) = (&self.source, !options.verify);
            of_tables
                .extend(rows_before_move(session, source, schema, &matched, computed, task).await?);
        }
        if options.replace && is_whole {
            of_tables
                .extend(outside_children(session, &self.source, schema, &matched, task).await?);
        }
        refuse_blockers(&of_tables)?;
        if self.add {
            let prepared = prepare::to_add(session, matched).await?;
            if !options.add_again {
                refuse_loaded(session, &self.source, schema, &prepared.to_load, task).await?;
            }
            return Ok((prepared, of_tables));
        }
        let changed = changed_for_the_move(&found, schema);
        let mut findings = objects(&self.source, schema, found, task).await?;
        findings.extend(of_tables);
        findings.extend(self.standing.clone());
        let mut prepared =
            prepare::existing(session, &self.source, schema, matched, options, task).await?;
        prepared.notices.extend(changed);
        if options.reject_file.is_none() {
            let not_valid = prepared.not_valid.clone();
            refuse_blockers(&orphans_before_move(&self.source, schema, not_valid, task).await?)?;
        }
        Ok((prepared, findings))
    }
}

fn kept_table(schema: &SourceSchema, kept: &MatchedTable, rows: u64) -> MigratedTable {
    let table = schema.tables[kept.source].name.clone();
    MigratedTable { table, rows, rejected_rows: 0, kept: true }
}

pub async fn resume(
    path: &Path,
    session: &TargetSession,
    state: MigrationState,
    task: Task<'_>,
) -> Result<PreparedMigration, Error> {
    let clock = Instant::now();
    let MigrationState { saved, steps, started } = state;
    task.progress.set_message("reading the source");
    let options = saved.options.clone();
    let (source, mut schema) = blocking(task, {
        let (path, options) = (path.to_owned(), options.clone());
        move |task| open(&path, &options, task)
    })
    .await?;
    if source.fingerprint() != saved.fingerprint {
        return Err(Error::SourceChanged { path: path.to_owned() });
    }
    schema.tables.retain(|table| !saved.standing.contains(&table.name));
    let namespace = if options.data_only { &saved.namespace } else { STAGING_SCHEMA };
    let found = catalog(&session.client, namespace).await?;
    let mut all = match_tables(&schema, &found, &options.rules)?;
    if !options.data_only {
        all = all.into_iter().map(MatchedTable::made_here).collect();
    }
    let (matched, kept) = all.into_iter().partition(|table| {
        let name = &schema.tables[table.source].name;
        options.schema_only
            || steps.iter().any(|step| step.stage == Stage::Load && step.table == *name)
    });
    let (references, constraints) = (saved.references.clone(), saved.constraints.clone());
    let criteria =
        RejectCriteria { source: source.clone(), schema: schema.clone(), references, constraints };
    let (matched, rejects) = set_rejects_aside(session, &options, criteria, matched, task).await?;
    let seconds =
        PhaseSeconds { inspect: clock.elapsed().as_secs_f64(), ..PhaseSeconds::default() };
    let job =
        MigrationJob { source, schema, matched, kept, by_steps: true, fresh: true, adds: false };
    let prepared = PreparedMigration::new(job, saved, steps, rejects);
    Ok(PreparedMigration { started, seconds, ..prepared })
}

/// Finds and sets aside rows that cannot be moved, if `--on-error reject` was given.
async fn set_rejects_aside(
    session: &TargetSession,
    options: &MigrateOptions,
    criteria: RejectCriteria,
    matched: Vec<MatchedTable>,
    task: Task<'_>,
) -> Result<(Vec<MatchedTable>, Option<RejectFile>), Error> {
    let Some(path) = options.reject_file.clone() else { return Ok((matched, None)) };
    task.progress.set_message("looking for rows to reject");
    let (matched, file) = reject(session, criteria, matched, path, task).await?;
    Ok((matched, Some(file)))
}

fn open(
    path: &Path,
    options: &MigrateOptions,
    task: Task<'_>,
) -> Result<(Arc<SourceFile>, SourceSchema), Error> {
    let passes = if options.verify { 3 } else { 1 };
    open_selected(path, options.connections(), &options.selection, passes, task)
}

/// The source's schema; with an audit of every value if types are chosen by them.
fn read_source(
    path: &Path,
    options: &MigrateOptions,
    server_version: i32,
    task: Task<'_>,
) -> Result<(Arc<SourceFile>, SourceSchema, Option<Audit>), Error> {
    if options.data_only {
        let (source, schema) = open(path, options, task)?;
        return source.check_pages().map(|()| (source.clone(), schema, None));
    }
    let source = SourceFile::open(path, options.connections())?;
    let audit_options = AuditOptions {
        rules: options.rules.clone(),
        types: options.types,
        selection: options.selection.clone(),
        schema: options.schema.clone(),
        target: None,
        server_version: Some(server_version),
        nocase: options.nocase,
    };
    let audit = audit_source(&source, &audit_options, task)?;
    // Rows that do not fit can be set aside; tables that do not fit cannot.
    let takes_unfit_rows = options.reject_file.is_some() || options.schema_only;
    let blocks = |finding: &&Finding| {
        finding.severity == Severity::Blocker && (!takes_unfit_rows || !finding.is_about_rows)
    };
    let blockers: Vec<&Finding> = audit.report.findings.iter().filter(blocks).collect();
    if !blockers.is_empty() {
        return Err(blocked(&blockers));
    }
    let passes = if options.verify { 4 } else { 2 };
    let rows: u64 = audit.report.tables.iter().map(|table| table.rows).sum();
    task.progress.set_length(passes * rows);
    Ok((Arc::new(source), audit.schema.clone(), Some(audit)))
}

/// Most blockers in the message of an error.
const BLOCKERS_NAMED: usize = 20;

fn refuse_blockers(findings: &[Finding]) -> Result<(), Error> {
    let is_blocker = |each: &&Finding| each.severity == Severity::Blocker;
    let blockers: Vec<&Finding> = findings.iter().filter(is_blocker).collect();
    if blockers.is_empty() { Ok(()) } else { Err(blocked(&blockers)) }
}

/// The blockers among findings, as an error.
fn blocked(blockers: &[&Finding]) -> Error {
    let named = blockers.iter().take(BLOCKERS_NAMED);
    let mut lines: Vec<String> = named.map(|finding| format!("  {finding}")).collect();
    if blockers.len() > BLOCKERS_NAMED {
        let others = thousands((blockers.len() - BLOCKERS_NAMED) as u64);
        lines.push(format!("  and {others} more"));
    }
    let way_out = match blockers.iter().all(|finding| finding.is_about_rows) {
        true => "; --on-error reject moves the rest and keeps refused rows",
        false => "",
    };
    let count = counted(blockers.len(), "blocker");
    Error::Blocked { count, list: lines.join("\n"), way_out }
}
