//! Migration report: rows by table, verification, seconds by phase; also as text.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::display::{rows, thousands};
use crate::finding::{Finding, Losses};
use crate::grid::grid;
use crate::verify::VerificationReport;

#[derive(Clone, Debug, Serialize)]
pub struct MigrationReport {
    pub source: PathBuf,
    /// The target, its password masked.
    pub target: String,
    pub schema: String,
    /// Everything was undone at the end.
    pub dry_run: bool,
    pub tables: Vec<MigratedTable>,
    /// Features of the source that were not carried over, or not as declared.
    pub findings: Vec<Finding>,
    /// Rows and rules that do not arrive.
    pub not_carried_over: Losses,
    /// Sequences set to continue after the largest value.
    pub sequences_set: usize,
    /// `None` if verification was declined.
    pub verification: Option<VerificationReport>,
    /// Rows that were refused and kept in the reject file.
    pub rejected_rows: u64,
    pub reject_file: Option<PathBuf>,
    /// Faults of the target that existed before and still do.
    pub notices: Vec<String>,
    pub steps: usize,
    /// Steps that an earlier run had finished.
    pub steps_done_before: usize,
    /// Lost connections that were replaced.
    pub reconnects: u32,
    /// Failures after the commit, and changes of the source during the migration.
    pub after_commit: Vec<String>,
    pub seconds: PhaseSeconds,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MigratedTable {
    pub table: String,
    pub rows: u64,
    /// Rows of the source that were rejected.
    pub rejected_rows: u64,
    /// It already held the same rows and was left unchanged.
    pub kept: bool,
}

/// Seconds, all of them and by phase.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct PhaseSeconds {
    /// From the beginning of the command, or of the call, to its end.
    pub elapsed: f64,
    /// Reading the schema, and every value if types are chosen by them.
    pub inspect: f64,
    pub prepare: f64,
    pub copy: f64,
    /// Keys, indexes, foreign keys, sequences.
    pub keys: f64,
    pub verify: f64,
    pub vacuum: f64,
}

impl MigrationReport {
    /// The command that shows the proposed statements, which the findings here leave out.
    pub fn statements_hint(&self) -> Option<String> {
        let is_proposed = self.findings.iter().any(|finding| finding.statement.is_some());
        let source = self.source.display();
        is_proposed.then(|| {
            format!("crossover audit {source} shows statements for what was not carried over")
        })
    }

    /// The report as text, ending with a newline.
    pub fn to_text(&self) -> String {
        let mut table = grid(["table", "rows", "proof", ""], &[1]);
        for moved in &self.tables {
            let proof = self.verification.as_ref().and_then(|verification| {
                verification.tables.iter().find(|each| each.table == moved.table)
            });
            table.add_row([
                moved.table.clone(),
                thousands(moved.rows),
                match (proof, moved.kept) {
                    (Some(proof), _) => format!("equal {}", &proof.target_digest[..16]),
                    (None, true) => "equal".to_owned(),
                    (None, false) => "not made".to_owned(),
                },
                match (moved.kept, moved.rejected_rows) {
                    (true, _) => "was there already".to_owned(),
                    (false, 0) => String::new(),
                    (false, rejected) => format!("{} rejected", thousands(rejected)),
                },
            ]);
        }
        let mut text = format!("{table}\n");
        if let Some(path) = &self.reject_file {
            let (rejected, them) = match self.rejected_rows {
                1 => ("1 rejected row is".to_owned(), "it"),
                many => (format!("{} rejected rows are", thousands(many)), "them"),
            };
            let _ = writeln!(
                text,
                "{rejected} in {}: repair {them} and load {them} by crossover migrate --rejects {} \
                 {}",
                path.display(),
                path.display(),
                self.target
            );
        }
        let losses = self.not_carried_over.line();
        for problem in self.notices.iter().chain(&self.after_commit).chain(&losses) {
            let _ = writeln!(text, "{problem}");
        }
        if self.steps_done_before > 0 {
            let (before, steps) = (self.steps_done_before, self.steps);
            let _ = writeln!(text, "{before} of {steps} steps had been done before");
        }
        if self.reconnects > 0 {
            let times = if self.reconnects == 1 { "once" } else { "several times" };
            let _ = writeln!(text, "the connection was lost {times} and replaced");
        }
        let moved: u64 =
            self.tables.iter().filter(|table| !table.kept).map(|table| table.rows).sum();
        let seconds = &self.seconds;
        let what = if self.dry_run { "tried and undone" } else { "moved" };
        let _ = writeln!(
            text,
            "{what}: {} into {} (schema {}) in {:.1} s: inspect {:.1}, prepare {:.1}, copy {:.1}, \
             keys {:.1}, verify {:.1}, vacuum {:.1}",
            rows(moved),
            self.target,
            self.schema,
            seconds.elapsed,
            seconds.inspect,
            seconds.prepare,
            seconds.copy,
            seconds.keys,
            seconds.verify,
            seconds.vacuum
        );
        text
    }
}
