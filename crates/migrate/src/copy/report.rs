//! A migration for people: rows by table, the proof, where the time went.

use std::fmt::Write as _;

use super::migration::MigrationReport;
use crate::grid::grid;
use crate::inspect::thousands;

impl MigrationReport {
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
            let _ = writeln!(
                text,
                "{} rejected rows are in {}: repair them and load them by crossover migrate \
                 --rejects {} {}",
                thousands(self.rejected_rows),
                path.display(),
                path.display(),
                self.target
            );
        }
        for problem in &self.after_commit {
            let _ = writeln!(text, "{problem}");
        }
        let moved: u64 =
            self.tables.iter().filter(|table| !table.kept).map(|table| table.rows).sum();
        let seconds = &self.seconds;
        let what = if self.dry_run { "tried and undone" } else { "moved" };
        let _ = writeln!(
            text,
            "{what}: {} rows into {} (schema {}) in {:.1} s: inspect {:.1}, prepare {:.1}, \
             copy {:.1}, keys {:.1}, verify {:.1}, vacuum {:.1}",
            thousands(moved),
            self.target,
            self.schema,
            seconds.total(),
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
