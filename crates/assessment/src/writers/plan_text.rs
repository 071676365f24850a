//! The plan of writers as TOML.

use std::fmt::Write as _;
use std::path::Path;

use engine::EngineSpec;
use plan::{ResultComparison, Seconds, Statement};
use serde::Serialize;

use super::WriteTransaction;
use crate::error::Result;
use crate::plan_file::{basic, braces_in, migration};
use crate::remedies::Remedies;

/// Numbers of writers that are measured before those between.
const CLIENTS: &str = "[1, 4, 16]";
/// The largest weight of a transaction of a log.
const WEIGHT_MAX: u64 = 20;

pub struct WriterPlan<'a> {
    /// The user's file, for the title.
    pub source: &'a Path,
    pub engines: &'a [EngineSpec],
    pub remedies: &'a Remedies,
    pub transactions: Vec<WriteTransaction>,
    pub budget: Seconds,
    pub seed: u64,
    pub command_line: &'a str,
}

#[derive(Serialize)]
struct WrittenStatements {
    statement: Vec<Statement>,
}

impl WriterPlan<'_> {
    /// The plan on the copy or file `data`.
    pub fn write(&self, data: &Path) -> Result<String> {
        let file = self.source.file_name().unwrap_or_default().to_string_lossy();
        let mut text = format!("# Written by: {}\n", self.command_line.replace('\n', " "));
        text.push_str(
            "# What to change to learn more:\n\
             #   clients      other numbers of writers\n\
             #   clients_as   [\"processes\"] as gunicorn and puma have them, [\"threads\"] as Go and Node\n\
             #   begin        of a statement: \"deferred\" as most frameworks, \"immediate\"\n\
             # docs/reference/plans.md explains every key; `crossover bench FILE --dry-run` shows what \
             would be done.\n",
        );
        let _ = writeln!(text, "title = {}", basic(&format!("How many writers: {file}")));
        text.push_str("workload = \"sql\"\nresponse = \"transactions_per_second\"\n");
        let engines: Vec<String> =
            self.engines.iter().map(|engine| basic(&engine.to_string())).collect();
        let _ = writeln!(text, "engines = [{}]", engines.join(", "));
        let _ = writeln!(text, "data = {}", basic(&data.display().to_string()));
        let _ = writeln!(
            text,
            "replicates = 5\nmax_failures = \"5%\"\nbudget = \"{}\"\nseed = {}",
            self.budget, self.seed
        );
        let words: Vec<String> = migration(self.remedies).iter().map(|word| basic(word)).collect();
        let _ = writeln!(text, "\n[application]\nprepare = [[{}]]", words.join(", "));
        text.push_str("\n[trial]\nmode = \"steady\"\ntime = \"2s\"\n");
        let _ = writeln!(
            text,
            "\n[factors]\nclients = {{ levels = {CLIENTS}, swept = \"log\", bisect = true }}\n\
             clients_as = [\"processes\"]"
        );
        let constants = self.constants();
        if !constants.is_empty() {
            text.push_str("\n[constants]\n");
            for name in constants {
                let _ = writeln!(text, "{name} = {}", basic(&format!("{{{name}}}")));
            }
        }
        let written = toml::to_string(&WrittenStatements { statement: self.statements() });
        text.push('\n');
        text.push_str(&written.map_err(|error| crate::Error::Usage(error.to_string()))?);
        Ok(text)
    }

    /// Names in braces, which a plan would take for placeholders.
    fn constants(&self) -> std::collections::BTreeSet<String> {
        let texts = self.transactions.iter();
        let texts = texts.flat_map(|one| [&one.text].into_iter().chain(&one.postgres_text));
        braces_in(texts)
    }

    fn statements(&self) -> Vec<Statement> {
        let executions = || self.transactions.iter().filter_map(|one| one.executions);
        let least = executions().min().unwrap_or(1).max(1);
        let statement = |one: &WriteTransaction| {
            let weight = one.executions.map_or(1, |count| (count / least).clamp(1, WEIGHT_MAX));
            let texts = one.postgres_text.iter();
            Statement {
                name: one.name.clone(),
                text: one.text.clone(),
                texts: texts.map(|text| ("postgres".to_owned(), text.clone())).collect(),
                weight: u32::try_from(weight).unwrap_or(1),
                transaction: one.is_several,
                begin: one.begin,
                parameters: one.parameters.clone(),
                sets: one.sets.clone(),
                ignore_columns: one.ignored_columns.clone(),
                answer: match one.is_logged {
                    true => ResultComparison::Count,
                    false => ResultComparison::default(),
                },
                ..Statement::default()
            }
        };
        self.transactions.iter().map(statement).collect()
    }
}
