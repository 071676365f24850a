//! The plan of the experiment as a file for the user: it repeats what was measured, and says what
//! to change to learn more.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use engine::EngineSpec;
use plan::{DELAY_MS, Delay, EnoughBound, Seconds, Step};

use crate::budget::{Chosen, ChosenStatement};
use crate::engines::first_server;
use crate::error::{Error, Result};
use crate::remedies::Remedies;

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
    pub steps: &'a [Step],
    /// By label the step of each engine at its best.
    pub best_steps: &'a BTreeMap<String, String>,
    pub enough: Option<EnoughBound>,
    /// Distances to PostgreSQL; none without the factor.
    pub delays: &'a [Delay],
    /// Statements, blocks, length of a trial.
    pub chosen: &'a Chosen,
    /// How long it may take.
    pub budget: Seconds,
    pub seed: u64,
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
             #   [[step]]     changes to the copies, each on top of those before it\n\
             #   [[statement]] texts, how often each is executed in a round (weight), values of \
             its parameters\n\
             # docs/reference/plans.md explains every key; `crossover bench FILE --dry-run` shows what \
             would be done.\n",
        );
        let has_server = first_server(self.engines).is_some();
        let on = if has_server { "SQLite and PostgreSQL" } else { "SQLite" };
        let _ = writeln!(text, "title = {}", basic(&format!("{file} on {on}")));
        text.push_str("workload = \"sql\"\n");
        let engines: Vec<String> = self
            .engines
            .iter()
            .map(|engine| format!("  {},\n", basic(&engine.to_string())))
            .collect();
        let _ = writeln!(text, "engines = [\n{}]", engines.concat());
        let _ = writeln!(text, "data = {}", basic(&self.data.display().to_string()));
        let _ = writeln!(text, "replicates = {}", self.chosen.blocks);
        let _ = writeln!(text, "budget = \"{}\"", self.budget);
        let _ = writeln!(text, "seed = {}", self.seed);
        if let Some(enough) = self.enough {
            let _ = writeln!(text, "enough = {}", basic(&enough.to_string()));
        }
        if let Some(conditions) = self.conditions() {
            let _ = writeln!(text, "conditions = {}", basic(&conditions));
        }
        let braces = self.braces();
        if !braces.is_empty() {
            text.push_str("\n# Literal braces.\n[constants]\n");
        }
        for name in braces {
            let _ = writeln!(text, "{name} = \"{{{name}}}\"");
        }
        if !self.delays.is_empty() {
            let all: Vec<String> = self.delays.iter().map(|one| one.ms().to_string()).collect();
            let _ = writeln!(text, "\n# Milliseconds per round trip to PostgreSQL, by a relay.");
            let _ = writeln!(text, "[factors]\n{DELAY_MS} = [{}]", all.join(", "));
        }
        let _ = writeln!(text, "\n[trial]\nmode = \"steady\"");
        let _ = writeln!(text, "time = \"{}s\"", self.chosen.trial.as_secs().max(1));
        if has_server {
            text.push_str(&self.application());
        }
        if !self.best_steps.is_empty() {
            text.push_str(
                "\n# The steps at which engines are compared at their best.\n[best_steps]\n",
            );
        }
        for (engine, step) in self.best_steps {
            let _ = writeln!(text, "{} = {}", basic(engine), basic(step));
        }
        for step in self.steps {
            text.push_str(&step_text(step));
        }
        for chosen in &self.chosen.statements {
            text.push_str(&self.statement_text(chosen));
        }
        text
    }

    fn application(&self) -> String {
        let words: Vec<String> = migration(self.remedies).iter().map(|word| basic(word)).collect();
        format!(
            "\n# How PostgreSQL gets the data; SQLite gets a copy of the file.\n\
             [application]\nprepare = [[{}]]\n",
            words.join(", ")
        )
    }

    fn statement_text(&self, chosen: &ChosenStatement) -> String {
        let ChosenStatement { statement, weight, steps } = chosen;
        let mut text = String::from("\n[[statement]]\n");
        if let Some(place) = &statement.place {
            let _ = writeln!(text, "# {}", place.replace('\n', " "));
        }
        let _ = writeln!(text, "name = {}", basic(&statement.name));
        let _ = writeln!(text, "weight = {weight}");
        if let Some(executions) = statement.executions {
            let _ = writeln!(text, "executions = {executions}");
        }
        if steps.contains(&false) {
            let named = self.steps.iter().zip(steps).filter(|(_, is)| **is);
            let named: Vec<String> = named.map(|(step, _)| basic(&step.name)).collect();
            let _ = writeln!(text, "steps = [{}]", named.join(", "));
        }
        let _ = writeln!(text, "text = {}", multiline(&statement.text));
        if let Some(postgres) = &statement.postgres_text {
            let _ = writeln!(text, "texts.postgres = {}", multiline(postgres));
        }
        for parameter in &statement.parameters {
            let (name, query) = (&parameter.name, multiline(&parameter.query));
            let _ = writeln!(text, "parameters.{name}.query = {query}");
        }
        if !statement.sets.is_empty() {
            let sets = toml::Value::try_from(&statement.sets).map(|sets| inline(&sets));
            let _ = writeln!(text, "sets = {}", sets.unwrap_or_else(|_| "[]".to_owned()));
        }
        text
    }

    /// QuotedNames in braces in the statements: a plan would take them for placeholders.
    fn braces(&self) -> BTreeSet<String> {
        let data = self.data.display().to_string();
        let engines: Vec<String> = self.engines.iter().map(EngineSpec::to_string).collect();
        let texts =
            self.chosen.statements.iter().flat_map(|ChosenStatement { statement, .. }| {
                let parameters = statement.parameters.iter().map(|parameter| &parameter.query);
                [&statement.text].into_iter().chain(&statement.postgres_text).chain(parameters)
            });
        braces_in(texts.chain(&engines).chain([&data]))
    }

    /// Conditions of the data that the report has to name.
    fn conditions(&self) -> Option<String> {
        let mut parts = Vec::new();
        if !self.remedies.mappings.is_empty() {
            parts.push(format!("types changed in the copy: {}", self.remedies.mappings.join(", ")));
        }
        let refused = self.remedies.refused_rows.iter();
        let refused: Vec<String> = refused
            .map(|(table, rows)| format!("{} of {table}", notation::thousands(*rows)))
            .collect();
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

/// The names in braces of these texts.
pub fn braces_in<'t>(texts: impl Iterator<Item = &'t String>) -> BTreeSet<String> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let is_name = |name: &&str| !name.is_empty() && name.chars().all(is_plain);
    texts
        .flat_map(|text| text.split('{').skip(1))
        .filter_map(|rest| rest.split_once('}').map(|(name, _)| name))
        .filter(is_name)
        .map(str::to_owned)
        .collect()
}

/// The command of the plan that fills PostgreSQL.
pub fn migration(remedies: &Remedies) -> Vec<String> {
    let words = ["{crossover}", "migrate", "--accept-losses", "--types=values"];
    let mut words = words.map(str::to_owned).to_vec();
    words.extend(remedies.mappings.iter().map(|rule| format!("--map={rule}")));
    words.extend(remedies.tables_left_out.iter().map(|table| format!("--exclude={table}")));
    words.extend(["{data}".to_owned(), "{database_url}".to_owned()]);
    words
}

fn step_text(step: &Step) -> String {
    let mut text = format!("\n[[step]]\nname = {}\n", basic(&step.name));
    for (kind, changes) in [("sqlite", &step.sqlite), ("postgres", &step.postgres)] {
        if !changes.statements.is_empty() {
            let all: Vec<String> = changes.statements.iter().map(|sql| basic(sql)).collect();
            let _ = writeln!(text, "{kind}.statements = [\n  {},\n]", all.join(",\n  "));
        }
        for (name, value) in &changes.settings {
            let _ = writeln!(text, "{kind}.settings.{name} = {}", basic(value));
        }
    }
    text
}

/// A value of TOML on one line.
fn inline(value: &toml::Value) -> String {
    match value {
        toml::Value::Table(table) => {
            let pairs = table.iter().map(|(name, value)| format!("{name} = {}", inline(value)));
            format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
        }
        toml::Value::Array(all) => {
            format!("[{}]", all.iter().map(inline).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// A TOML string on one line.
pub fn basic(text: &str) -> String {
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
    use crate::statement::MeasuredStatement;
    use engine::EngineKind;

    #[test]
    fn the_plan_is_readable_with_any_statement_text() {
        let statement = MeasuredStatement {
            name: "it's \"x\"".to_owned(),
            text: "SELECT '{a}', '{\"k\": 1}', '\n{b_2}' -- {C}".to_owned(),
            postgres_text: Some("SELECT '{d}'".to_owned()),
            sets: vec![BTreeMap::from([("v1".to_owned(), plan::Given::Text("it's".to_owned()))])],
            executions: Some(12),
            place: Some("a.sql, line 1".to_owned()),
            ..MeasuredStatement::default()
        };
        let chosen = Chosen {
            statements: vec![ChosenStatement {
                statement: statement.clone(),
                weight: 3,
                steps: vec![true, false],
            }],
            blocks: 5,
            trial: std::time::Duration::from_secs(2),
            left_out: Vec::new(),
            notes: Vec::new(),
            ..Chosen::default()
        };
        let settings = BTreeMap::from([("cache_size".to_owned(), "-65536".to_owned())]);
        let index = "CREATE INDEX \"A\" ON t(\"B\")".to_owned();
        let steps = [
            Step { name: "unchanged".to_owned(), ..Step::default() },
            Step {
                name: "1 index".to_owned(),
                sqlite: plan::StepChanges { statements: vec![index], settings },
                ..Step::default()
            },
        ];
        let best = BTreeMap::from([("sqlite".to_owned(), "1 index".to_owned())]);
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
            steps: &steps,
            best_steps: &best,
            enough: Some("p95 < 100ms".parse().unwrap()),
            delays: &["0", "0.5ms", "5ms"].map(|delay| delay.parse().unwrap()),
            chosen: &chosen,
            budget: Seconds(120),
            seed: 7,
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
        assert_eq!(plan.steps, steps);
        let delays = [0.0, 0.5, 5.0].map(plan::Level::Number);
        assert_eq!(plan.factors[DELAY_MS].levels, delays);
        assert_eq!(plan.statements[0].steps, ["unchanged"]);
        assert_eq!(plan.statements[0].sets, statement.sets);
        assert_eq!(plan.statements[0].executions, Some(12));
        assert_eq!(plan.best_steps, best);
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
