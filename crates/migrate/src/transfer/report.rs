//! Migration report: rows by table, verification, seconds by phase; also as text.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use notation::{column_table, counted, drawn, thousands};

use crate::display::{TextOptions, escaped, rows, seconds, shell_word, wrapped};
use crate::finding::{Finding, Losses, Severity, sections};
use crate::source::SourceApplication;
use crate::verify::VerificationReport;

/// Most tables named unless all are asked for.
const TABLES_NAMED: usize = 10;

#[derive(Clone, Debug, Serialize)]
pub struct MigrationReport {
    pub source: PathBuf,
    /// The target, its password masked.
    pub target: String,
    pub schema: String,
    /// Everything was undone at the end.
    pub dry_run: bool,
    /// Tables, keys and indexes were made, no rows were moved.
    pub schema_only: bool,
    pub tables: Vec<MigratedTable>,
    /// Features of the source that were not carried over, or not as declared.
    pub findings: Vec<Finding>,
    /// Rows and rules that do not arrive.
    pub not_carried_over: Losses,
    /// The application that makes its tables by itself, if they were created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application: Option<SourceApplication>,
    /// Sequences set to continue after the largest value.
    pub sequences_set: usize,
    /// `None` if verification was declined.
    pub verification: Option<VerificationReport>,
    /// Rows that were refused and kept in the reject file.
    pub rejected_rows: u64,
    pub reject_file: Option<PathBuf>,
    /// The first of them in words, with their reasons.
    pub first_rejected: Vec<String>,
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
    /// The rules and the selection of tables, as flags, which a verification needs too.
    #[serde(skip)]
    pub flags: Vec<String>,
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
    /// The report as text, ending with a newline.
    pub fn to_text(&self, options: &TextOptions) -> String {
        let losses = self.not_carried_over.line();
        let mut text = String::new();
        let advice = self.advice().map(|advice| format!("{advice}."));
        for line in [self.answer()].into_iter().chain(advice).chain(losses) {
            let _ = writeln!(text, "{}", wrapped(&line, options.width, "  "));
        }
        if let Some(path) = &self.reject_file {
            let (rejected, them) = match self.rejected_rows {
                1 => ("1 rejected row is".to_owned(), "it"),
                many => (format!("{} rejected rows are", thousands(many)), "them"),
            };
            let path = path.display().to_string();
            let _ = writeln!(
                text,
                "{rejected} in {}: repair {them} and load {them} by crossover migrate --rejects {} \
                 {}{}",
                escaped(&path),
                shell_word(&path),
                shell_word(&self.target),
                self.flags.iter().map(|flag| format!(" {flag}")).collect::<String>()
            );
            for row in &self.first_rejected {
                let _ = writeln!(
                    text,
                    "{}",
                    wrapped(&format!("  {}", escaped(row)), options.width, "    ")
                );
            }
            let more = self.rejected_rows.saturating_sub(self.first_rejected.len() as u64);
            if more > 0 {
                let _ = writeln!(text, "  and {} more", thousands(more));
            }
        }
        for problem in self.notices.iter().chain(&self.after_commit) {
            let _ = writeln!(text, "{}", escaped(problem));
        }
        if self.steps_done_before > 0 {
            let before = thousands(self.steps_done_before);
            let steps = counted(self.steps, "step");
            let _ = writeln!(text, "{before} of {steps} had been done before");
        }
        if self.reconnects > 0 {
            let times = if self.reconnects == 1 { "once" } else { "several times" };
            let _ = writeln!(text, "the connection was lost {times} and replaced");
        }
        for (table, conversion) in
            self.verification.iter().flat_map(VerificationReport::conversions)
        {
            let finding = conversion.finding(table);
            let is_same =
                |own: &Finding| (&own.table, &own.column) == (&finding.table, &finding.column);
            if !self.findings.iter().any(|own| own.kind == finding.kind && is_same(own)) {
                let problem = format!("{}: compared as the target computes it", finding.problem());
                let _ = writeln!(text, "{}", wrapped(&problem, options.width, "  "));
            }
        }
        text.push('\n');
        let is_named = |finding: &&Finding| options.verbose || finding.severity != Severity::Note;
        let findings: Vec<Finding> = self.findings.iter().filter(is_named).cloned().collect();
        let rejected = if self.schema_only { "Rows that do not fit" } else { "Rejected" };
        text.push_str(&sections(&findings, rejected, options));
        text.push_str(&self.tables_text(options));
        if !self.flags.is_empty() && !self.dry_run && !self.schema_only {
            let _ = writeln!(text, "To verify it again: {}", self.verify_command());
        }
        text
    }

    fn verify_command(&self) -> String {
        let source = shell_word(&self.source.display().to_string());
        let flags: String = self.flags.iter().map(|flag| format!(" {flag}")).collect();
        format!("crossover verify {source} {}{flags}", shell_word(&self.target))
    }

    /// The way of an application that makes its tables by itself.
    pub fn advice(&self) -> Option<String> {
        Some(self.application.as_ref()?.advice(&self.source, &self.flags))
    }

    /// The rows that were moved, whether they were verified, and the time.
    fn answer(&self) -> String {
        let moved = self.tables.iter().filter(|table| !table.kept);
        let (tables, moved) =
            moved.fold((0, 0), |(tables, sum), table| (tables + 1, sum + table.rows));
        if self.schema_only {
            let what = if self.dry_run { "tried and undone" } else { "made" };
            return format!(
                "{what}: {} in {} (schema {}) in {} s; no rows moved",
                counted(tables, "table"),
                self.target,
                escaped(&self.schema),
                seconds(self.seconds.elapsed),
            );
        }
        let what = if self.dry_run { "tried and undone" } else { "moved" };
        let proof = match &self.verification {
            Some(proof) if !proof.conversions().is_empty() => {
                "every row verified under the conversions named below"
            }
            Some(_) => "every row verified",
            None => "not verified",
        };
        format!(
            "{what}: {} in {} into {} (schema {}) in {} s; {proof}",
            rows(moved),
            counted(tables, "table"),
            self.target,
            escaped(&self.schema),
            seconds(self.seconds.elapsed),
        )
    }

    /// The largest tables, or all of them, and the seconds of each phase.
    fn tables_text(&self, options: &TextOptions) -> String {
        let mut tables: Vec<&MigratedTable> = self.tables.iter().collect();
        if !options.verbose && tables.len() > TABLES_NAMED {
            tables.sort_by_key(|table| (table.rejected_rows == 0, std::cmp::Reverse(table.rows)));
            tables.truncate(TABLES_NAMED);
        }
        let mut text = String::new();
        if !tables.is_empty() {
            let mut grid = column_table(["table", "rows", "proof", ""], [1], options.width);
            for table in &tables {
                grid.add_row(self.row(table));
            }
            text.push_str(&drawn(&grid));
        }
        if tables.len() < self.tables.len() {
            let others = counted((self.tables.len() - tables.len()) as u64, "table");
            let _ = writeln!(text, "  and {others} more (-v names all)");
        }
        if options.verbose {
            let PhaseSeconds { elapsed: _, inspect, prepare, copy, keys, verify, vacuum } =
                self.seconds;
            let [inspect, prepare, copy, keys, verify, vacuum] =
                [inspect, prepare, copy, keys, verify, vacuum].map(seconds);
            let _ = writeln!(
                text,
                "seconds: inspect {inspect}, prepare {prepare}, copy {copy}, keys {keys}, \
                 verify {verify}, vacuum {vacuum}"
            );
        }
        text
    }

    fn row(&self, moved: &MigratedTable) -> [String; 4] {
        let proof = self.verification.as_ref().and_then(|verification| {
            verification.tables.iter().find(|each| each.table == moved.table)
        });
        [
            escaped(&moved.table),
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
        ]
    }
}
