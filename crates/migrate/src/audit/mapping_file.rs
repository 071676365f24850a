//! Migration file of an audit (`--write-mapping`): the type of every column, to be edited and run.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use super::text::stored;
use super::{AuditOptions, AuditReport, ColumnReport};
use crate::Error;
use crate::display::escaped;
use crate::finding::Severity;
use crate::mapping::MapRules;
use crate::source::FrameworkChoice;

impl AuditReport {
    /// `rules` with the remedies of blockers, which have the last word on their columns.
    pub fn remedied(&self, rules: &MapRules) -> MapRules {
        let mut all = rules.clone();
        all.overrule(self.rules().into_iter().filter_map(|rule| rule.parse().ok()));
        all
    }

    /// Writes a new migration file that makes the tables of this audit.
    ///
    /// # Errors
    /// [`Error::Recipe`] for a file that exists or cannot be written.
    pub fn write_mapping(&self, path: &Path, options: &AuditOptions) -> Result<(), Error> {
        let wrong = |error: std::io::Error| Error::Recipe {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        let text = self.mapping_file(path, options).map_err(wrong)?;
        let mut file = std::fs::File::create_new(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => Error::Recipe {
                path: path.to_owned(),
                reason: "the file exists: name another, or move it away".to_owned(),
            },
            _ => wrong(error),
        })?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(wrong)
    }

    fn mapping_file(&self, path: &Path, options: &AuditOptions) -> std::io::Result<String> {
        let mut text = String::from(
            "# The type of every column, as crossover audit proposes it. Edit it, then:\n\
             # crossover migrate THIS_FILE URL\n\n",
        );
        let source = self.source.canonicalize()?;
        let own = path.parent().unwrap_or(Path::new(""));
        let own = if own == Path::new("") { Path::new(".") } else { own }.canonicalize()?;
        // Beside its source the file may move with it.
        let source = source.strip_prefix(&own).unwrap_or(&source);
        let mut line = |key: &str, value: String| {
            let _ = writeln!(text, "{key} = {value}");
        };
        line("source", quoted(&source.display().to_string()));
        if let Some(schema) = &options.schema {
            line("schema", quoted(schema));
        }
        if let Some(nocase) = options.nocase.name() {
            line("nocase", quoted(nocase));
        }
        let selection = &options.selection;
        if selection.framework != FrameworkChoice::Auto {
            line("framework", quoted(&selection.framework.to_string()));
        }
        for (key, names) in [
            ("tables", &selection.tables),
            ("exclude", &selection.excluded),
            ("skip_index", &selection.skipped_indexes),
        ] {
            if !names.is_empty() {
                let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
                line(key, format!("[{}]", names.join(", ")));
            }
        }
        if selection.naming.lower {
            line("names", quoted("lower"));
        }
        if !selection.naming.renames.is_empty() {
            text.push_str("\n[rename]\n");
            for rename in selection.naming.renames.iter().cloned().map(String::from) {
                let (old, new) = rename.rsplit_once('=').unwrap_or((&rename, ""));
                let _ = writeln!(text, "{} = {}", quoted(old), quoted(new));
            }
        }
        text.push_str("\n[map]\n");
        for table in &self.tables {
            for column in &table.columns {
                self.write_column(&mut text, &table.name, column);
            }
        }
        Ok(text)
    }

    fn write_column(&self, text: &mut String, table: &str, column: &ColumnReport) {
        let is_here = |finding: &&crate::Finding| {
            finding.severity == Severity::Blocker
                && finding.table == table
                && finding.column.as_ref() == Some(&column.name)
        };
        for blocker in self.findings.iter().filter(is_here) {
            let _ = writeln!(text, "# blocker: {}", blocker.problem());
        }
        let reading = column.reading.map_or_else(String::new, |it| format!(" using {}", it.name()));
        let declared = match column.declared_type.as_str() {
            "" => "no declared type".to_owned(),
            declared => escaped(declared),
        };
        let values = match stored(column) {
            values if values.is_empty() => "no values".to_owned(),
            values => values,
        };
        let name = quoted(&format!("{table}.{}", column.name));
        let postgres_type = quoted(&format!("{}{reading}", column.postgres_type));
        let _ = writeln!(text, "{name} = {postgres_type} # {declared}: {values}");
    }
}

/// A text as a basic string of TOML, which is also a key.
fn quoted(text: &str) -> String {
    let written: String = text
        .chars()
        .map(|character| match character {
            '"' | '\\' => format!("\\{character}"),
            _ if character.is_control() => format!("\\u{:04x}", u32::from(character)),
            _ => character.to_string(),
        })
        .collect();
    format!("\"{written}\"")
}
