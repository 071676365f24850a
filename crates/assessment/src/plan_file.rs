//! The plan of the experiment as a file for the user: it repeats what was measured, and says what
//! to change to learn more.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use engine::EngineSpec;
use indicatif::HumanCount;
use plan::Seconds;

use crate::budget::Chosen;
use crate::error::{Error, Result};
use crate::remedies::Remedies;
use crate::statement::MeasuredStatement;
use crate::tuned::{LABEL, Tuned};

/// Everything that the plan says.
pub struct PlanText<'a> {
    /// The user's file, for the title.
    pub source: &'a Path,
    /// The file that is measured.
    pub data: &'a Path,
    /// The engines, the first being the one that others are compared with.
    pub engines: &'a [EngineSpec],
    /// Makes the copies comparable.
    pub remedies: &'a Remedies,
    /// The engine in second place.
    pub tuned: Option<&'a Tuned>,
    /// Statements, blocks, length of a trial.
    pub chosen: &'a Chosen,
    /// How long it may take.
    pub budget: Seconds,
    pub seed: Option<u64>,
    pub command_line: &'a str,
}

impl PlanText<'_> {
    /// The plan as TOML with comments.
    pub fn write(&self) -> String {
        let file = self.source.file_name().unwrap_or_default().to_string_lossy();
        let mut text = format!("# Written by: {}\n", self.command_line.replace('\n', " "));
        text.push_str(
            "# What to change to learn more:\n\
             #   replicates   more blocks give narrower intervals (5 is the least); beyond the \
             fifth none\n\
             #                begins that would end after the budget\n\
             #   engines      other releases and settings: 'postgres:16', \
             'postgres:18[work_mem=64MB]', 'sqlite[cache_size=-64000]'\n\
             #   [factors]    clients = [1, 2, 4] asks with several clients at a time\n\
             #   [[statement]] texts, how often each is executed in a round (weight), values of \
             its parameters\n\
             # docs/reference/plans.md explains every key; `crossover bench FILE --dry-run` shows what \
             would be done.\n",
        );
        let _ = writeln!(text, "title = {}", basic(&format!("{file} on SQLite and PostgreSQL")));
        text.push_str("workload = \"sql\"\n");
        text.push_str(&self.tuning());
        let engines: Vec<String> = self
            .engines
            .iter()
            .map(|engine| format!("  {},\n", basic(&engine.to_string())))
            .collect();
        let _ = writeln!(text, "engines = [\n{}]", engines.concat());
        let _ = writeln!(text, "data = {}", basic(&self.data.display().to_string()));
        let _ = writeln!(text, "replicates = {}", self.chosen.blocks);
        let _ = writeln!(text, "budget = \"{}\"", self.budget);
        if let Some(seed) = self.seed {
            let _ = writeln!(text, "seed = {seed}");
        }
        if let Some(conditions) = self.conditions() {
            let _ = writeln!(text, "conditions = {}", basic(&conditions));
        }
        let braces = self.braces();
        if !braces.is_empty() {
            text.push_str("\n# Braces that are meant as they are.\n[constants]\n");
        }
        for name in braces {
            let _ = writeln!(text, "{name} = \"{{{name}}}\"");
        }
        let _ = writeln!(text, "\n[trial]\nmode = \"steady\"");
        let _ = writeln!(text, "time = \"{}s\"", self.chosen.trial.as_secs().max(1));
        let _ = writeln!(text, "\n# How PostgreSQL gets the data; SQLite gets a copy of the file.");
        let words: Vec<String> = migration(self.remedies).iter().map(|word| basic(word)).collect();
        let _ = writeln!(text, "[application]\nprepare = [[{}]]", words.join(", "));
        for (statement, weight) in &self.chosen.statements {
            text.push_str(&statement_text(statement, *weight));
        }
        text
    }

    /// How the tuned copy was made, as comments.
    fn tuning(&self) -> String {
        let Some(tuned) = self.tuned else { return String::new() };
        let mut text = format!(
            "# `{LABEL}` is a copy of the file on which this was done (cache_size by each \
             connection):\n"
        );
        for line in tuned.statements() {
            let _ = writeln!(text, "#   {}", line.replace('\n', " "));
        }
        text
    }

    /// QuotedNames in braces in the statements: a plan would take them for placeholders.
    fn braces(&self) -> BTreeSet<String> {
        let engines: Vec<String> = self.engines.iter().map(EngineSpec::to_string).collect();
        let texts = self.chosen.statements.iter().flat_map(|(statement, _)| {
            let parameters = statement.parameters.iter().map(|parameter| &parameter.query);
            [&statement.text].into_iter().chain(&statement.postgres_text).chain(parameters)
        });
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let is_name = |name: &&str| !name.is_empty() && name.chars().all(is_plain);
        texts
            .chain(&engines)
            .flat_map(|text| text.split('{').skip(1))
            .filter_map(|rest| rest.split_once('}').map(|(name, _)| name))
            .filter(is_name)
            .map(str::to_owned)
            .collect()
    }

    /// Conditions of the data that the report has to name.
    fn conditions(&self) -> Option<String> {
        let mut parts = Vec::new();
        if !self.remedies.mappings.is_empty() {
            parts.push(format!("types mended in the copy: {}", self.remedies.mappings.join(", ")));
        }
        let refused = self.remedies.refused_rows.iter();
        let refused: Vec<String> =
            refused.map(|(table, rows)| format!("{} of {table}", HumanCount(*rows))).collect();
        if !refused.is_empty() {
            let refused = refused.join(", ");
            parts.push(format!("without the rows that PostgreSQL refuses: {refused}"));
        }
        if !self.remedies.tables_left_out.is_empty() {
            let tables = self.remedies.tables_left_out.join(", ");
            parts.push(format!("without the tables that PostgreSQL cannot have: {tables}"));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// The command of the plan that fills PostgreSQL.
pub fn migration(remedies: &Remedies) -> Vec<String> {
    let mut words = ["{crossover}", "migrate", "--accept-losses"].map(str::to_owned).to_vec();
    words.extend(remedies.mappings.iter().map(|rule| format!("--map={rule}")));
    words.extend(remedies.tables_left_out.iter().map(|table| format!("--exclude={table}")));
    words.extend(["{data}".to_owned(), "{database_url}".to_owned()]);
    words
}

fn statement_text(statement: &MeasuredStatement, weight: u32) -> String {
    let mut text = String::from("\n[[statement]]\n");
    if let Some(place) = &statement.place {
        let _ = writeln!(text, "# {}", place.replace('\n', " "));
    }
    let _ = writeln!(text, "name = {}", basic(&statement.name));
    let _ = writeln!(text, "weight = {weight}");
    let _ = writeln!(text, "text = {}", multiline(&statement.text));
    if let Some(postgres) = &statement.postgres_text {
        let _ = writeln!(text, "texts.postgres = {}", multiline(postgres));
    }
    for parameter in &statement.parameters {
        let (name, query) = (&parameter.name, multiline(&parameter.query));
        let _ = writeln!(text, "parameters.{name}.query = {query}");
    }
    text
}

/// A TOML string on one line.
fn basic(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// A TOML string in its most readable form.
fn multiline(text: &str) -> String {
    let is_literal = !text.contains("'''") && !text.ends_with('\'') && !text.contains('\r');
    let plain = text.chars().all(|c| c == '\n' || c == '\t' || !c.is_control());
    match (is_literal && plain, text.contains('\n'), text.contains('\'')) {
        (true, false, false) => format!("'{text}'"),
        (true, _, _) => format!("'''\n{text}'''"),
        _ => basic(text),
    }
}

/// Where the plan is written: `try-FILE.toml` here, or the next free number; nothing that exists
/// is touched.
pub fn free_path(source: &Path, extension: &str) -> PathBuf {
    let stem = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut path = PathBuf::from(format!("try-{stem}.{extension}"));
    let mut number = 2;
    while path.exists() {
        path = PathBuf::from(format!("try-{stem}-{number}.{extension}"));
        number += 1;
    }
    path
}

pub fn write_new(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(Error::io("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::EngineKind;

    #[test]
    fn the_plan_is_readable_with_any_statement_text() {
        let statement = MeasuredStatement {
            name: "it's \"x\"".to_owned(),
            text: "SELECT '{a}', '{\"k\": 1}', '\n{b_2}' -- {C}".to_owned(),
            postgres_text: Some("SELECT '{d}'".to_owned()),
            parameters: Vec::new(),
            place: Some("a.sql, line 1".to_owned()),
            tables: Vec::new(),
        };
        let chosen = Chosen {
            statements: vec![(statement.clone(), 3)],
            blocks: 5,
            trial: std::time::Duration::from_secs(2),
            left_out: Vec::new(),
        };
        let remedies =
            Remedies { mappings: vec!["t.c=varchar(9)".to_owned()], ..Remedies::default() };
        let engines = ["sqlite", "postgres:18[work_mem=64MB]"].map(|name| name.parse().unwrap());
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("it's.db");
        std::fs::write(&data, "").unwrap();
        let text = PlanText {
            source: Path::new("shop.db"),
            data: &data,
            engines: &engines,
            remedies: &remedies,
            tuned: None,
            chosen: &chosen,
            budget: Seconds(120),
            seed: Some(7),
            command_line: "crossover try shop.db",
        }
        .write();
        let plan = plan::read(&text, "it").unwrap();
        assert_eq!(plan.statements[0].name, statement.name);
        assert_eq!(plan.statements[0].text_for(EngineKind::Sqlite), statement.text);
        assert_eq!(plan.statements[0].text_for(EngineKind::Postgres), "SELECT '{d}'");
        let constants: Vec<(&str, &str)> =
            plan.constants.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(constants, [("a", "{a}"), ("b_2", "{b_2}"), ("d", "{d}")]);
        let rule = "--map=t.c=varchar(9)".to_owned();
        assert!(plan.application.prepare[0].contains(&rule));
        assert_eq!((plan.replicates, plan.seed), (5, Some(7)));
    }

    #[test]
    fn texts_come_back_as_they_were() {
        for text in [
            "SELECT 1",
            "SELECT 'it''s'",
            "SELECT \"a\"\nFROM t",
            "SELECT ''''''''",
            "a\r\nb",
            "tab\tin",
            "\nleading",
            "back\\slash \\n",
            "\u{1}",
        ] {
            let written = format!("text = {}", multiline(text));
            let read: toml::Table = written.parse().unwrap();
            assert_eq!(read["text"].as_str(), Some(text), "{written}");
        }
    }
}
