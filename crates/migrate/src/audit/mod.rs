//! Audit: every declared type against every stored value, before anything is moved.

mod citext;
mod collation;
mod column;
mod csv;
mod entry;
mod evidence;
mod existing_tables;
mod file_header;
mod framework_rows;
mod framework_versions;
mod keys;
mod lossy_values;
mod made_index;
mod mapping_file;
mod mismatch;
mod moment_units;
mod next_step;
mod numbering;
mod object;
mod options;
mod outside_children;
mod parallel;
mod pglz;
mod proposed;
mod remedy;
mod row_size;
mod scan;
mod stored_values;
mod structure;
mod table_findings;
mod target_constraints;
mod target_numbering;
mod target_rows;
mod text;
mod text_form;
mod tried_types;
mod unique;
mod unwritten;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use indicatif::ProgressBar;
use serde::Serialize;

pub(crate) use citext::MAKE_EXTENSION as MAKE_CITEXT;
pub(crate) use existing_tables::existing_tables;
pub(crate) use framework_rows::leave_standing;
pub(crate) use keys::{ParentLookup, all_findings as key_findings};
pub(crate) use mismatch::mismatch_finding;
pub(crate) use object::objects;
pub use options::AuditOptions;
pub(crate) use outside_children::findings as outside_children;
pub use target_constraints::audit_target_constraints;
pub(crate) use target_constraints::{orphans_before_move, rows_before_move};
pub(crate) use unwritten::{changed_for_the_move, unwritten_columns};

use self::parallel::{ScannedTable, scan_all};
use self::table_findings::{chosen_fields, on_checks, on_unwritten};
use self::tried_types::TriedTypes;
use crate::ddl::{PlannedTable, proposal, too_many};
use crate::finding::{Finding, Losses, Severity};
use crate::mapping::{Candidate, MapRules};
use crate::source::{
    Affinity, SourceApplication, SourceFile, SourceSchema, SourceTable, quoted, readers, resolve,
    schema,
};
use crate::value::{PostgresType, Profile, TargetField, TextKind, ValueReading};
use crate::{Error, Task};

#[derive(Clone, Debug, Serialize)]
pub struct AuditReport {
    pub source: PathBuf,
    pub tables: Vec<TableReport>,
    pub findings: Vec<Finding>,
    pub not_carried_over: Losses,
    /// The application that makes its tables by itself, where migration would create them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application: Option<SourceApplication>,
    /// The schema that migration would create, as an SQL script; empty with a target.
    #[serde(skip)]
    pub proposed_schema: String,
    /// Migration would create the tables.
    #[serde(skip)]
    pub creates: bool,
    /// Tables with the tables that refer to them, by the foreign keys of the source.
    #[serde(skip)]
    pub children: Vec<(String, String)>,
    /// The user's rules.
    #[serde(skip)]
    pub mapped: MapRules,
    /// The flags that ask for the same rules, types, tables, names and schema.
    #[serde(skip)]
    pub flags: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct TableReport {
    pub name: String,
    pub rows: u64,
    pub columns: Vec<ColumnReport>,
}

/// A column: its declaration, its values, its type in PostgreSQL.
#[derive(Clone, Debug, Serialize)]
pub struct ColumnReport {
    pub name: String,
    pub declared_type: String,
    pub affinity: Affinity,
    #[serde(flatten)]
    pub profile: Profile,
    /// The type proposed, or that of the target.
    pub postgres_type: String,
    /// The reading of a `--map` rule.
    #[serde(skip)]
    pub reading: Option<ValueReading>,
}

impl AuditReport {
    pub fn blocks(&self) -> bool {
        self.count(Severity::Blocker) > 0
    }

    /// Adds findings, sorted by severity.
    pub fn add(&mut self, findings: Vec<Finding>) {
        self.findings.extend(findings);
        self.findings.sort_by_key(|finding| finding.severity);
    }

    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }
}

/// An audit with the data that a migration needs.
pub struct Audit {
    pub report: AuditReport,
    /// The source's schema, as selected.
    pub schema: SourceSchema,
    /// The field of each column, by table and column.
    pub fields: Vec<Vec<TargetField>>,
}

/// Reads the whole file once, read-only, from one snapshot.
///
/// # Errors
/// A file that cannot be read, a rule or selection that fits nothing, [`Error::Interrupted`].
pub fn audit(
    source: &Path,
    options: &AuditOptions,
    progress: &ProgressBar,
    interrupted: &AtomicBool,
) -> Result<AuditReport, Error> {
    let source = SourceFile::open(source, readers())?;
    Ok(audit_source(&source, options, Task { progress, interrupted })?.report)
}

pub(crate) fn audit_source(
    source: &SourceFile,
    options: &AuditOptions,
    task: Task<'_>,
) -> Result<Audit, Error> {
    source.check_pages()?;
    let creates = options.target.is_none();
    let (schema, estimate, general) = source.with(|connection| {
        let found = schema(connection).map_err(|error| source.explain(error))?;
        let mut found = options.selection.apply(found)?;
        // Findings on these tables are those of the constraints.
        if let Some(catalog) = &options.target {
            framework_rows::leave_out_litestream(catalog, &mut found, &options.selection);
        }
        let estimate = crate::source::estimated_rows(connection, &found);
        let explain = |error| source.explain(error);
        let mut general =
            object::findings(connection, &found, options.target.as_ref()).map_err(explain)?;
        general.extend(SourceApplication::of(&found).and_then(|each| each.finding()));
        general.extend(file_header::findings(connection, &found, creates).map_err(explain)?);
        Ok((found, estimate, general))
    })?;
    options.rules.check(&schema)?;
    task.progress.set_length(estimate.iter().sum());
    let (flags, options) = (options.flags(), &citext::with_rules(&schema, options));
    let tried = TriedTypes::of(&schema, options)?;
    let scanned = scan_all(source, &schema, &tried.candidates, &estimate, options, task)?;
    let mut audit = findings_of(source, schema, &tried, scanned, general, options, task)?;
    audit.report.flags = flags;
    Ok(audit)
}

/// `findings`: those on the file and on objects without values.
fn findings_of(
    source: &SourceFile,
    schema: SourceSchema,
    tried: &TriedTypes,
    scanned: Vec<ScannedTable>,
    mut findings: Vec<Finding>,
    options: &AuditOptions,
    task: Task<'_>,
) -> Result<Audit, Error> {
    let (creates, candidates) = (options.target.is_none(), &tried.candidates);
    let mut fields = chosen_fields(candidates, &scanned);
    if creates {
        findings.extend(unify(&schema, candidates, &scanned, &mut fields, options));
    }
    let made_for = options.made_for();
    let planned = schema.tables.iter().zip(&fields);
    let planned: Vec<PlannedTable<'_>> =
        planned.map(|(table, fields)| PlannedTable { table, fields, made_for }).collect();
    let mut tables = Vec::new();
    for (place, (table, scanned)) in schema.tables.iter().zip(scanned).enumerate() {
        let (planned, profiles) = (planned[place], scanned.scan.profiles);
        let fields = planned.fields;
        let candidates = &candidates[place];
        let found = of_columns(source, planned, candidates, &profiles, options, task)?;
        let is_tried = |finding: &Finding| {
            let column = finding.column.as_ref().and_then(|name| table.column(name));
            column.is_none_or(|column| creates || !tried.is_untried(place, column))
        };
        findings.extend(found.into_iter().filter(is_tried));
        findings.extend(on_unwritten(&schema, tried, place, &profiles));
        findings.extend(column::large_rows(table, &profiles, source.connections()));
        findings.extend(row_size::finding(source, table, fields, &profiles, creates, task)?);
        if creates {
            findings.extend(structure::declaration(&schema, planned));
            findings.extend(stored_values::findings(source, planned, task)?);
            findings.extend(numbering::of_key(table, candidates, fields, &profiles));
            findings.extend(entry::findings(source, planned, &profiles, task)?);
        }
        findings.extend(on_checks(
            planned,
            scanned.scan.violations,
            scanned.scan.untested,
            creates,
        ));
        findings.extend(scanned.key_findings);
        let mut report = table_report(table, fields, profiles);
        for each in tried.unwritten.iter().filter(|each| each.table == place) {
            report.columns[each.source].postgres_type.clone_from(&each.column.shown_type);
        }
        tables.push(report);
    }
    if creates {
        findings.extend(unique::findings(source, &planned, &tables, task)?);
        findings.extend(citext::needed(&fields));
        findings.extend(too_many(&schema, &fields, made_for));
        findings.extend(column::wide_integers(&schema, &fields));
    }
    findings.extend(tried.mismatches.iter().map(|each| mismatch_finding(&schema, each)));
    findings.sort_by_key(|finding| finding.severity);
    let proposed_schema = match options.target {
        Some(_) => String::new(),
        None => proposal(&schema, &fields, &findings, options.schema.as_deref(), made_for),
    };
    let source = source.path().to_owned();
    let not_carried_over = Losses::of(&findings);
    let report = AuditReport {
        source,
        tables,
        findings,
        not_carried_over,
        application: SourceApplication::of(&schema).filter(|_| creates),
        proposed_schema,
        creates,
        children: children(&schema),
        mapped: options.rules.clone(),
        flags: options.flags(),
    };
    Ok(Audit { report, schema, fields })
}

fn children(schema: &SourceSchema) -> Vec<(String, String)> {
    let of_table = |table: &SourceTable| {
        let parents = resolve(schema, table).into_iter().filter_map(|key| key.parent);
        let pair =
            |(parent, _): (usize, _)| (schema.tables[parent].name.clone(), table.name.clone());
        parents.map(pair).collect::<Vec<_>>()
    };
    schema.tables.iter().flat_map(of_table).collect()
}

/// Gives the columns of foreign keys one type where their values allow it; the others are findings.
fn unify(
    schema: &SourceSchema,
    candidates: &[Vec<Candidate>],
    scanned: &[ScannedTable],
    fields: &mut [Vec<TargetField>],
    options: &AuditOptions,
) -> Vec<Finding> {
    let allows = |table: usize, column: usize, field: &TargetField| {
        let free =
            candidates[table][column].may_fall_back || candidates[table][column].field.is_none();
        let of_source = &schema.tables[table];
        let rule = options.rules.find(of_source, &of_source.columns[column]);
        let keeps_numbers =
            !schema.tables[table].is_numbered(column) || field.postgres_type.is_integer();
        keeps_numbers
            && (free || rule.is_none())
            && scanned[table].scan.profiles[column].allows(&field.postgres_type)
    };
    let holds = |table: usize, column: usize, postgres_type: &PostgresType| {
        let profile = &scanned[table].scan.profiles[column];
        let as_integers = *postgres_type == PostgresType::BigInt && profile.holds_integers();
        as_integers || profile.allows(postgres_type)
    };
    keys::unify(schema, fields, allows, holds)
}

/// The findings on the values of all columns of a table.
fn of_columns(
    source: &SourceFile,
    planned: PlannedTable<'_>,
    candidates: &[Candidate],
    profiles: &[Profile],
    options: &AuditOptions,
    task: Task<'_>,
) -> Result<Vec<Finding>, Error> {
    let PlannedTable { table, fields, .. } = planned;
    let relation = options.target.as_ref().and_then(|catalog| {
        let relation = catalog.relation(&table.target_name)?;
        Some((catalog.quoted(&relation.name), relation))
    });
    let mut findings = Vec::new();
    for (position, column) in table.columns.iter().enumerate() {
        let names = relation.as_ref().and_then(|(name, relation)| {
            let found = relation.column(&column.target_name)?;
            let (table, name) = (name.as_str(), quoted(&found.name));
            Some(evidence::TargetColumn { table, name, generated: found.generated.as_ref() })
        });
        let (field, profile) = (&fields[position], &profiles[position]);
        let form = profile.form().filter(|_| profile.only_texts());
        // UUIDs of one spelling stay different, which saves a second reading of most keys.
        let may_collide = |form: &TextKind| *form != TextKind::Uuid || profile.mixes_uuids();
        let form = form.filter(may_collide).map(TextKind::postgres_type);
        let form_collides = match form.filter(|form| *form != field.postgres_type) {
            Some(form) => unique::would_collide(source, planned, position, form, task)?,
            None => false,
        };
        findings.extend(column::findings(&evidence::ColumnEvidence {
            table,
            position,
            candidate: &candidates[position],
            field,
            profile,
            form_collides,
            target: names,
        }));
    }
    Ok(findings)
}

fn table_report(
    table: &SourceTable,
    fields: &[TargetField],
    profiles: Vec<Profile>,
) -> TableReport {
    let rows = profiles.first().map_or(0, Profile::rows);
    let columns =
        table.columns.iter().zip(fields).zip(profiles).map(|((column, field), profile)| {
            ColumnReport {
                name: column.name.clone(),
                declared_type: column.declared_type.clone(),
                affinity: column.affinity,
                profile,
                postgres_type: field.postgres_type.to_string(),
                reading: field.reading,
            }
        });
    TableReport { name: table.name.clone(), rows, columns: columns.collect() }
}
