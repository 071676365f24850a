//! Outcome of an assessment: the run with its answer, and what is known besides.

use std::path::{Path, PathBuf};

use engine::shell::shell_word;
use migrate::AuditReport;
use record::{Finished, NotMeasured};
use report::Document;
use serde::Serialize;

use crate::preparation::MigratedCopy;
use crate::remedies::Remedies;
use crate::size::SqliteSize;
use crate::sql_log::LogFacts;
use crate::tuning::Tuning;

/// Findings, the run, and the files that were written.
pub struct Assessment {
    pub source: PathBuf,
    pub audit: AuditReport,
    pub remedies: Remedies,
    pub sqlite_size: SqliteSize,
    pub tuning: Option<Tuning>,
    pub moved: Vec<MigratedCopy>,
    pub not_measured: Vec<NotMeasured>,
    pub logs: Vec<LogFacts>,
    /// Sentences beside the answer; the run has them too.
    pub notes: Vec<String>,
    /// None if nothing could be measured.
    pub measured: Option<Finished>,
    pub plan_file: Option<PathBuf>,
    pub kept: Option<PathBuf>,
}

/// The outcome for programs.
#[derive(Serialize)]
struct Json<'a> {
    source: &'a Path,
    findings: &'a [migrate::Finding],
    tables: Vec<TableRows<'a>>,
    remedies: &'a Remedies,
    sqlite_size: SqliteSize,
    tuning: Option<&'a Tuning>,
    moved: &'a [MigratedCopy],
    not_measured: &'a [NotMeasured],
    logs: &'a [LogFacts],
    notes: &'a [String],
    plan: Option<&'a Path>,
    kept: Option<&'a Path>,
    /// The answer, its table and its reasons.
    report: Option<&'a Document>,
}

#[derive(Serialize)]
struct TableRows<'a> {
    name: &'a str,
    rows: u64,
}

impl Assessment {
    /// PostgreSQL refuses rows or tables of the file, so that another one was measured.
    #[must_use]
    pub fn has_blockers(&self) -> bool {
        !self.moved.is_empty() && self.audit.blocks()
    }

    /// Everything, for programs; `report` is that of the run.
    #[must_use]
    pub fn to_json<'a>(&'a self, report: Option<&'a Document>) -> impl Serialize + 'a {
        let tables = self.audit.tables.iter();
        Json {
            source: &self.source,
            findings: &self.audit.findings,
            tables: tables.map(|table| TableRows { name: &table.name, rows: table.rows }).collect(),
            remedies: &self.remedies,
            sqlite_size: self.sqlite_size,
            tuning: self.tuning.as_ref(),
            moved: &self.moved,
            not_measured: &self.not_measured,
            logs: &self.logs,
            notes: &self.notes,
            plan: self.plan_file.as_deref(),
            kept: self.kept.as_deref(),
            report,
        }
    }

    /// The files that stay, as text.
    #[must_use]
    pub fn files(&self) -> String {
        let mut text = String::new();
        if let Some(plan) = &self.plan_file {
            let word = shell_word(&plan.display().to_string());
            text.push_str(&format!(
                "Plan: {} (`crossover bench {word}` repeats it)\n",
                plan.display()
            ));
        }
        if let Some(kept) = &self.kept {
            text.push_str(&format!("Kept: {}\n", kept.display()));
        }
        text
    }

    /// Facts of a file of which nothing could be measured, as text.
    #[must_use]
    pub fn without_measurement(&self) -> String {
        let mut text = "Nothing was measured, so there is no verdict.\n".to_owned();
        for one in &self.not_measured {
            let place = one.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
            text.push_str(&format!("- \"{}\"{place}: {}\n", one.name, one.why));
        }
        for note in &self.notes {
            text.push_str(&format!("- {note}\n"));
        }
        text
    }
}
