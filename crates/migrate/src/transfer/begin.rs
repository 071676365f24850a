//! How a migration begins: anew, or again where an earlier one was cut off. Either way it ends with
//! the steps that are to be done.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::load_rejects::{RowNames, refuse_loaded};
use super::migration::MigrateOptions;
use super::prepare::{self, Prepared};
use super::publish::Place;
use super::reject::{Standard, reject};
use super::reject_file::RejectFile;
use super::report::{MigratedTable, Seconds};
use super::state::{self, Saved, State, WORKSHOP};
use super::step::{Stage, Step, plan};
use super::workers::Job;
use crate::audit::{Audit, AuditOptions, audit_source, objects};
use crate::display::thousands;
use crate::finding::{Finding, Losses, Severity};
use crate::source::{Schema, Source, estimated_rows, readers, selected};
use crate::target::{Matched, Session, catalog, current_schema, match_tables};
use crate::watch::blocking;
use crate::{Error, Watch};

/// A migration whose steps are known.
pub struct Begun {
    /// What the steps work from.
    pub job: Job,
    /// What is written down in the target.
    pub saved: Saved,
    pub steps: Vec<Step>,
    /// Those that an earlier program had done.
    pub steps_done_before: usize,
    /// When it began, as the server shows it.
    pub started: String,
    /// What was found in the source before anything was done.
    pub findings: Vec<Finding>,
    pub rejects: Option<RejectFile>,
    /// Sequences that go on after the largest value.
    pub sequences_set: usize,
    /// Where the time went so far.
    pub seconds: Seconds,
}

/// Begins a migration: the target is made ready and the steps are written down in it, in one
/// transaction. It stays open, and everything else happens in it, where nothing may last before
/// the end: a dry run over existing tables, or rows that are to be replaced.
pub async fn anew(
    path: &Path,
    session: &Session,
    options: &MigrateOptions,
    watch: Watch<'_>,
) -> Result<Begun, Error> {
    begin(path, session, options, None, watch).await
}

/// Begins to add rows, which have these names, to what is there, in one transaction that stays
/// open.
pub async fn adding(
    path: &Path,
    session: &Session,
    options: &MigrateOptions,
    names: RowNames,
    watch: Watch<'_>,
) -> Result<Begun, Error> {
    begin(path, session, options, Some(names), watch).await
}

async fn begin(
    path: &Path,
    session: &Session,
    options: &MigrateOptions,
    names: Option<RowNames>,
    watch: Watch<'_>,
) -> Result<Begun, Error> {
    let clock = Instant::now();
    let namespace = match &options.schema {
        Some(schema) => schema.clone(),
        None => current_schema(&session.client).await?,
    };
    watch.progress.set_message("reading the source");
    let read = blocking(watch, {
        let (path, options) = (path.to_owned(), options.clone());
        move |watch| read_source(&path, &options, watch)
    });
    let (source, mut schema, audit) = read.await?;
    let add = names.is_some();
    for (table, names) in names.into_iter().flatten() {
        let table = schema.tables.iter_mut().find(|each| each.name == table);
        if let Some(table) = table {
            table.row_names = Arc::new(names);
        }
    }
    options.rules.check(&schema)?;
    let inspect = clock.elapsed().as_secs_f64();
    session.begin().await?;
    let origin = Origin { source, schema, audit, namespace, add };
    let begun = origin.prepare(session, options, watch).await;
    match begun {
        Ok(mut begun) => {
            begun.seconds.inspect = inspect;
            Ok(begun)
        }
        Err(error) => {
            session.roll_back().await;
            Err(error)
        }
    }
}

/// What is known before the target is touched.
struct Origin {
    source: Arc<Source>,
    schema: Schema,
    audit: Option<Audit>,
    namespace: String,
    add: bool,
}

impl Origin {
    async fn prepare(
        self,
        session: &Session,
        options: &MigrateOptions,
        watch: Watch<'_>,
    ) -> Result<Begun, Error> {
        let (prepared, kept, findings) = self.target(session, options, watch).await?;
        let Self { source, schema, namespace, add, .. } = self;
        let one_transaction =
            add || (options.data_only && (options.dry_run || prepared.replaces_rows));
        let Prepared { to_load, fresh, rest, references, demands, notices, .. } = prepared;
        let standard = Standard {
            source: source.clone(),
            schema: schema.clone(),
            references: references.clone(),
            demands: demands.clone(),
        };
        let (to_load, rejects) = set_aside(session, options, standard, to_load, watch).await?;
        let part_bytes = (!one_transaction).then_some(options.part_bytes);
        let steps = plan(&source, &schema, &to_load, rest, part_bytes)?;
        let existing = to_load.iter().filter(|_| options.data_only);
        let saved = Saved {
            options: options.clone(),
            source: source.path().to_owned(),
            fingerprint: source.fingerprint().to_owned(),
            namespace,
            loaded: existing.map(|each| (each.relation.clone(), each.partitioned)).collect(),
            kept,
            references,
            demands,
            notices,
            not_carried_over: Losses::of(&findings),
        };
        if !one_transaction {
            if options.data_only {
                state::make_workshop(session, watch).await?;
            }
            state::write(&session.client, &saved, &steps).await?;
            session.run("COMMIT", watch).await?;
        }
        let matched = to_load;
        let job = Job { source, schema, matched, by_steps: !one_transaction, fresh };
        Ok(Begun {
            job,
            saved,
            steps,
            steps_done_before: 0,
            started: "just now".to_owned(),
            findings,
            rejects,
            sequences_set: 0,
            seconds: Seconds::default(),
        })
    }

    async fn target(
        &self,
        session: &Session,
        options: &MigrateOptions,
        watch: Watch<'_>,
    ) -> Result<(Prepared, Vec<MigratedTable>, Vec<Finding>), Error> {
        let (schema, namespace) = (&self.schema, self.namespace.as_str());
        if let Some(audit) = &self.audit {
            let make_namespace = options.schema.is_some();
            let place = Place { schema, namespace, make_namespace, replace: options.replace };
            let prepared = prepare::create(session, audit, &place, options, watch).await?;
            return Ok((prepared, Vec::new(), audit.report.findings.clone()));
        }
        let found = catalog(&session.client, namespace).await?;
        let matched = match_tables(schema, &found, &options.rules)
            .map_err(|problems| Error::Target(problems.join("\n")))?;
        if self.add {
            let prepared = prepare::to_add(session, matched).await?;
            if !options.add_again {
                refuse_loaded(session, &self.source, schema, &prepared.to_load, watch).await?;
            }
            return Ok((prepared, Vec::new(), Vec::new()));
        }
        let objects = objects(&self.source, schema, found, watch).await?;
        let (prepared, kept) =
            prepare::existing(session, &self.source, schema, matched, options, watch).await?;
        let kept = kept.into_iter().map(|(table, rows)| MigratedTable {
            table,
            rows,
            rejected_rows: 0,
            kept: true,
        });
        Ok((prepared, kept.collect(), objects))
    }
}

/// Goes on with a migration that was cut off.
pub async fn again(
    path: &Path,
    session: &Session,
    state: State,
    watch: Watch<'_>,
) -> Result<Begun, Error> {
    let clock = Instant::now();
    let State { saved, steps, started } = state;
    watch.progress.set_message("reading the source");
    let options = saved.options.clone();
    let (source, schema) = blocking(watch, {
        let (path, options) = (path.to_owned(), options.clone());
        move |watch| open_selected(&path, &options, watch)
    })
    .await?;
    if source.fingerprint() != saved.fingerprint {
        return Err(Error::SourceChanged { path: path.to_owned() });
    }
    let namespace = if options.data_only { &saved.namespace } else { WORKSHOP };
    let found = catalog(&session.client, namespace).await?;
    let mut matched = match_tables(&schema, &found, &options.rules)
        .map_err(|problems| Error::Target(problems.join("\n")))?;
    matched.retain(|table| {
        let name = &schema.tables[table.source].name;
        steps.iter().any(|step| step.stage == Stage::Load && step.table == *name)
    });
    let (references, demands) = (saved.references.clone(), saved.demands.clone());
    let standard = Standard { source: source.clone(), schema: schema.clone(), references, demands };
    let (matched, rejects) = set_aside(session, &options, standard, matched, watch).await?;
    let steps_done_before = steps.iter().filter(|step| step.done).count();
    let seconds = Seconds { inspect: clock.elapsed().as_secs_f64(), ..Seconds::default() };
    let job = Job { source, schema, matched, by_steps: true, fresh: true };
    Ok(Begun {
        job,
        saved,
        steps,
        steps_done_before,
        started,
        findings: Vec::new(),
        rejects,
        sequences_set: 0,
        seconds,
    })
}

/// Finds and sets aside the rows that cannot be moved, if that was asked for.
async fn set_aside(
    session: &Session,
    options: &MigrateOptions,
    standard: Standard,
    matched: Vec<Matched>,
    watch: Watch<'_>,
) -> Result<(Vec<Matched>, Option<RejectFile>), Error> {
    let Some(path) = options.reject_file.clone() else { return Ok((matched, None)) };
    watch.progress.set_message("looking for rows to reject");
    let (matched, file) = reject(session, standard, matched, path, watch).await?;
    Ok((matched, Some(file)))
}

fn open_selected(
    path: &Path,
    options: &MigrateOptions,
    watch: Watch<'_>,
) -> Result<(Arc<Source>, Schema), Error> {
    let source = Source::open(path, readers())?;
    let schema = selected(&source, &options.selection)?;
    let rows = source.with(|connection| Ok(estimated_rows(connection, &schema)))?;
    let passes = if options.verify { 3 } else { 1 };
    watch.progress.set_length(passes * rows.iter().sum::<u64>());
    Ok((Arc::new(source), schema))
}

/// The source's schema; with every value looked at if the types are to be chosen.
fn read_source(
    path: &Path,
    options: &MigrateOptions,
    watch: Watch<'_>,
) -> Result<(Arc<Source>, Schema, Option<Audit>), Error> {
    if options.data_only {
        let (source, schema) = open_selected(path, options, watch)?;
        return Ok((source, schema, None));
    }
    let source = Source::open(path, readers())?;
    let audit_options = AuditOptions {
        rules: options.rules.clone(),
        selection: options.selection.clone(),
        schema: options.schema.clone(),
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
        return Err(blocked(&blockers));
    }
    let passes = if options.verify { 4 } else { 2 };
    let rows: u64 = audit.report.tables.iter().map(|table| table.rows).sum();
    watch.progress.set_length(passes * rows);
    Ok((Arc::new(source), audit.schema.clone(), Some(audit)))
}

/// The blockers among findings, as an error.
fn blocked(blockers: &[&Finding]) -> Error {
    let lines: Vec<String> = blockers.iter().map(|finding| format!("  {finding}")).collect();
    let plural = if blockers.len() == 1 { "" } else { "s" };
    let count = thousands(blockers.len() as u64);
    let way_out = match blockers.iter().all(|finding| finding.is_about_rows) {
        true => "; --on-error reject moves the rest and keeps refused rows",
        false => "",
    };
    Error::Blocked { count: format!("{count} blocker{plural}"), list: lines.join("\n"), way_out }
}
