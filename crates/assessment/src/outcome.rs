//! Outcome of an assessment: everything that is known at its end, its verdict, and its forms for
//! programs.

use std::path::{Path, PathBuf};

use migrate::{AuditReport, Severity};
use record::Finished;
use report::Document;
use report::analysis::Shown;
use serde::Serialize;

use crate::budget::LeftOut;
use crate::preparation::MigratedCopy;
use crate::remedies::Remedies;
use crate::result::{self, StatementResult};
use crate::size::SqliteSize;
use crate::sql_log::LogFacts;
use crate::tuned::Tuned;
use crate::verdict::{self, VerdictFacts};

/// Findings, verdict, and the files that were written.
pub struct Assessment {
    pub(crate) facts: AssessmentFacts,
    pub(crate) document: Option<Document>,
    pub(crate) rows: Vec<StatementResult>,
    /// Sentences, a paragraph a line.
    pub(crate) verdict: String,
}

/// Results of audit, move and measurement.
pub(crate) struct AssessmentFacts {
    pub source: PathBuf,
    pub audit: AuditReport,
    pub remedies: Remedies,
    pub sqlite_size: SqliteSize,
    pub tuned: Option<Tuned>,
    pub moved: Vec<MigratedCopy>,
    pub left_out: Vec<LeftOut>,
    pub derived: bool,
    pub logs: Vec<LogFacts>,
    pub measured: Option<Finished>,
    pub plan_file: Option<PathBuf>,
    /// The tuned copy that the plan measures.
    pub tuned_file: Option<PathBuf>,
    pub kept: Option<PathBuf>,
}

#[derive(Serialize)]
struct Json<'a> {
    source: &'a Path,
    findings: &'a [migrate::Finding],
    tables: Vec<TableRows<'a>>,
    remedies: &'a Remedies,
    sqlite_size: SqliteSize,
    tuned: Option<&'a Tuned>,
    moved: &'a [MigratedCopy],
    statements: &'a [StatementResult],
    left_out: &'a [LeftOut],
    logs: &'a [LogFacts],
    verdict: &'a str,
    plan: Option<&'a Path>,
    tuned_file: Option<&'a Path>,
    kept: Option<&'a Path>,
    report: Option<&'a Document>,
}

#[derive(Serialize)]
struct TableRows<'a> {
    name: &'a str,
    rows: u64,
}

impl Assessment {
    pub(crate) fn new(facts: AssessmentFacts) -> Self {
        let document = facts.measured.as_ref().map(report::document);
        let rows = match (&facts.measured, &document) {
            (Some(finished), Some(document)) => result::rows(document, finished),
            _ => Vec::new(),
        };
        let margin = facts.measured.as_ref().map(|run| run.plan.equivalent_within.to_string());
        let engines: Vec<&str> = facts.moved.iter().map(|moved| moved.engine.as_str()).collect();
        let verdict = verdict::paragraphs(&VerdictFacts {
            rows: &rows,
            engines: &engines,
            tuned: facts.tuned.as_ref(),
            not_measured: facts.left_out.len(),
            margin: margin.as_deref().unwrap_or_default(),
        });
        let products = document.iter().flat_map(|document| &document.engines);
        let products = products.filter(|one| engines.contains(&one.name.as_str()));
        let products = products.map(|one| (one.name.clone(), one.product.clone())).collect();
        let verdict = report::answer::in_words(&products, &verdict);
        Self { facts, document, rows, verdict }
    }

    /// The run and its report; none if nothing could be measured.
    #[must_use]
    pub fn measured(&self) -> Option<(&Finished, &Document)> {
        self.facts.measured.as_ref().zip(self.document.as_ref())
    }

    /// True if nothing blocks a migration and every statement has a verdict.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let undecided = Some(Shown::Undecided);
        let open = |row: &StatementResult| [row.verdict, row.verdict_to_tuned].contains(&undecided);
        let decided = !self.rows.is_empty() && !self.rows.iter().any(open);
        decided && !self.facts.audit.blocks() && self.facts.left_out.is_empty()
    }

    /// The files that stay: plan, tuned copy, the copies that are kept.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let AssessmentFacts { plan_file, tuned_file, kept, .. } = &self.facts;
        [plan_file, tuned_file, kept].into_iter().flatten().map(PathBuf::as_path)
    }

    /// A row for each statement on each engine.
    #[must_use]
    pub fn to_csv(&self) -> String {
        result::csv(&self.rows)
    }

    /// Everything, for programs.
    pub fn to_json(&self) -> impl Serialize {
        let facts = &self.facts;
        let tables = facts.audit.tables.iter();
        Json {
            source: &facts.source,
            findings: &facts.audit.findings,
            tables: tables.map(|table| TableRows { name: &table.name, rows: table.rows }).collect(),
            remedies: &facts.remedies,
            sqlite_size: facts.sqlite_size,
            tuned: facts.tuned.as_ref(),
            moved: &facts.moved,
            statements: &self.rows,
            left_out: &facts.left_out,
            logs: &facts.logs,
            verdict: &self.verdict,
            plan: facts.plan_file.as_deref(),
            tuned_file: facts.tuned_file.as_deref(),
            kept: facts.kept.as_deref(),
            report: self.document.as_ref(),
        }
    }
}

/// The file, and whether PostgreSQL would refuse something of it.
pub(crate) fn audited(source: &Path, audit: &AuditReport) -> String {
    let rows: u64 = audit.tables.iter().map(|table| table.rows).sum();
    let refused = match audit.count(Severity::Blocker) {
        0 => "PostgreSQL refuses nothing of it".to_owned(),
        count => format!("{} for PostgreSQL", result::several(count as u64, "blocker")),
    };
    let tables = result::several(audit.tables.len() as u64, "table");
    format!("{}: {tables}, {}; {refused}", source.display(), result::several(rows, "row"))
}
