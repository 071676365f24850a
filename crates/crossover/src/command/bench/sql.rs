//! `crossover bench sql`: the user's own SQL files on several engines, without writing a plan.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use engine::{EngineKind, EngineSpec};
use plan::{Data, Factor, Given, Level, Parameter, Plan, ResultComparison, Statement};
use sql::{Dialect, Part, split};

use super::{RunArguments, carry_out};
use crate::shared::{CommandOutcome, Shared, Usage, sqlite_file};

/// The other keys of the plan, without flags.
const PLAN: &str = r#"
title = "Own SQL"
workload = "sql"
engines = []
trial = { mode = "steady", time = "5s" }
"#;

/// `crossover bench sql`
#[derive(clap::Args)]
pub struct Arguments {
    /// An engine: sqlite, postgres:18, a database URL; repeatable
    #[arg(long = "on", value_name = "ENGINE", env = "CROSSOVER_ON", value_delimiter = ' ')]
    engines: Vec<EngineSpec>,
    /// A SQLite file that is copied into every engine; absent: the engines hold the data
    #[arg(long, value_name = "FILE.db", env = "CROSSOVER_DATA", value_parser = sqlite_file())]
    data: Option<PathBuf>,
    /// SQL files, or folders of them; NAME.postgres.sql replaces NAME.sql on PostgreSQL
    #[arg(long, value_name = "FILE|FOLDER", required = true)]
    sql: Vec<PathBuf>,
    /// Values of :NAME in the files: NAME=1..1000, NAME=red,green or 'NAME=select ...'; repeatable
    #[arg(long = "parameter", value_name = "NAME=VALUES", value_parser = parameter)]
    parameters: Vec<(String, Parameter)>,
    /// Take each file as one transaction; otherwise each statement is measured by itself
    #[arg(long)]
    transaction: bool,
    /// How answers are compared between engines
    #[arg(long, value_enum, default_value = "rows")]
    answer: RowComparison,
    /// Numbers of clients
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1")]
    clients: Vec<u16>,
    /// Print the plan that all this fills in, and measure nothing
    #[arg(long)]
    print_plan: bool,
    #[command(flatten)]
    run: RunArguments,
}

/// How answers are compared.
#[derive(Clone, Copy, clap::ValueEnum)]
enum RowComparison {
    /// The same rows in any order
    Rows,
    /// The same rows in the same order
    Ordered,
    /// As many rows
    Count,
    /// Not at all
    None,
}

/// Runs `crossover bench sql`.
pub fn run(arguments: &Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let plan = plan(arguments)?;
    if arguments.print_plan {
        shared.print(&plan.to_toml()?)?;
        return Ok(CommandOutcome::Done);
    }
    carry_out(plan, &arguments.run, shared)
}

fn plan(arguments: &Arguments) -> anyhow::Result<Plan> {
    let mut plan: Plan = toml::from_str(PLAN)?;
    plan.engines.clone_from(&arguments.engines);
    if plan.engines.is_empty() {
        plan.engines = vec!["sqlite".parse()?, "postgres:18".parse()?];
    }
    if let Some(data) = &arguments.data {
        plan.data = Data::File(std::path::absolute(data)?);
    }
    let levels = arguments.clients.iter().map(|clients| Level::Number((*clients).into()));
    plan.factors.insert("clients".to_owned(), Factor::new(levels.collect()));
    let parameters: BTreeMap<String, Parameter> = arguments.parameters.iter().cloned().collect();
    for path in files(&arguments.sql)? {
        plan.statements.extend(statements(&path, arguments, &parameters)?);
    }
    check_parameters(&parameters, &plan.statements)?;
    let names: Vec<String> = plan.engines.iter().map(EngineSpec::label).collect();
    let count = plan.statements.len();
    let (what, are) = if count == 1 { ("statement", "is") } else { ("statements", "are") };
    plan.title = format!("Where {are} {count} {what} of SQL faster: {}?", names.join(" or "));
    arguments.run.apply(&mut plan)?;
    Ok(plan.resolved()?)
}

/// The SQL files named, and those in the folders named, without the twins of others.
fn files(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let unreadable = || format!("cannot read the folder {}", path.display());
        let entries = std::fs::read_dir(path).with_context(unreadable)?;
        let mut found = Vec::new();
        for entry in entries {
            let file = entry.with_context(unreadable)?.path();
            let is_sql = file.extension().is_some_and(|extension| extension == "sql");
            if is_sql && kind_of_twin(&file).is_none() {
                found.push(file);
            }
        }
        if found.is_empty() {
            return Err(
                Usage(format!("--sql {}: no file there ends in .sql", path.display())).into()
            );
        }
        found.sort();
        files.extend(found);
    }
    Ok(files)
}

/// The kind of engine for which the file replaces another one.
fn kind_of_twin(file: &Path) -> Option<EngineKind> {
    let stem = file.file_stem()?.to_str()?;
    plan::kinds_with_texts().find(|kind| stem.ends_with(&format!(".{}", kind.name())))
}

/// The entries that one file makes in the plan.
fn statements(
    path: &Path,
    arguments: &Arguments,
    parameters: &BTreeMap<String, Parameter>,
) -> anyhow::Result<Vec<Statement>> {
    let mut whole: Statement = toml::from_str("")?;
    whole.file = Some(path.to_owned());
    whole.transaction = arguments.transaction;
    whole.answer = match arguments.answer {
        RowComparison::Rows => ResultComparison::Rows,
        RowComparison::Ordered => ResultComparison::Ordered,
        RowComparison::Count => ResultComparison::Count,
        RowComparison::None => ResultComparison::None,
    };
    whole.read_files(None).map_err(Usage)?;
    let parts = parts(path, &whole.text, Dialect::Sqlite)?;
    let used = |parts: &[Part]| {
        let names = parts.iter().flat_map(|part| &part.parameters);
        let given = names.filter_map(|name| Some((name.clone(), parameters.get(name)?.clone())));
        given.collect::<BTreeMap<String, Parameter>>()
    };
    if whole.transaction || parts.len() == 1 {
        whole.parameters = used(&parts);
        return Ok(vec![whole]);
    }
    let mut twins = BTreeMap::new();
    for (kind, text) in &whole.texts {
        let dialect = plan::dialect_of(kind).unwrap_or(Dialect::Sqlite);
        let of_kind = self::parts(path, text, dialect)?;
        if of_kind.len() != parts.len() {
            let text = format!(
                "{} has {} statements, its twin for {kind} {}: they replace each other in their \
                 order, so there must be as many",
                path.display(),
                parts.len(),
                of_kind.len()
            );
            return Err(Usage(text).into());
        }
        twins.insert(kind.clone(), of_kind);
    }
    let single = |(index, part): (usize, &Part)| Statement {
        name: format!("{}:{}", whole.name, part.line),
        // Its lines are those of its own text.
        file: None,
        text: part.text.clone(),
        texts: twins
            .iter()
            .filter_map(|(kind, parts)| Some((kind.clone(), parts.get(index)?.text.clone())))
            .collect(),
        parameters: used(std::slice::from_ref(part)),
        ..whole.clone()
    };
    Ok(parts.iter().enumerate().map(single).collect())
}

fn parts(path: &Path, text: &str, dialect: Dialect) -> anyhow::Result<Vec<Part>> {
    let parts = split(text, dialect)
        .map_err(|(line, message)| Usage(format!("{}, line {line}: {message}", path.display())))?;
    if parts.is_empty() {
        return Err(Usage(format!("{} holds no statement", path.display())).into());
    }
    Ok(parts)
}

fn check_parameters(
    parameters: &BTreeMap<String, Parameter>,
    statements: &[Statement],
) -> anyhow::Result<()> {
    let used = |name: &String| statements.iter().any(|one| one.parameters.contains_key(name));
    match parameters.keys().find(|name| !used(name)) {
        Some(name) => Err(Usage(format!("--parameter {name}: no statement holds :{name}")).into()),
        None => Ok(()),
    }
}

/// `id=1..1000`, `colour=red,green`, `id=select id from t`.
fn parameter(text: &str) -> Result<(String, Parameter), String> {
    let (name, values) = text
        .split_once('=')
        .filter(|(name, values)| !name.is_empty() && !values.is_empty())
        .ok_or("write NAME=FIRST..LAST, NAME=VALUE,VALUE or 'NAME=select ...'")?;
    let first_word = values.split_whitespace().next().unwrap_or_default().to_lowercase();
    let parameter = if ["select", "with", "values"].contains(&first_word.as_str()) {
        Parameter::Query { query: values.to_owned() }
    } else if let Some((first, last)) = values.split_once("..") {
        let number =
            |text: &str| text.trim().parse().map_err(|_| format!("`{text}` is no whole number"));
        Parameter::Range { range: [number(first)?, number(last)?] }
    } else {
        Parameter::List { list: values.split(',').map(given).collect() }
    };
    Ok((name.to_owned(), parameter))
}

fn given(text: &str) -> Given {
    match (text.parse(), text.parse()) {
        (Ok(integer), _) => Given::Integer(integer),
        (_, Ok(double)) => Given::Double(double),
        _ => Given::Text(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn plan_of(words: &[&str]) -> anyhow::Result<Plan> {
        plan(&Line::try_parse_from([&["sql"], words].concat())?.arguments)
    }

    #[test]
    fn a_folder_of_files_becomes_a_plan_that_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        file("one.sql", "SELECT * FROM t WHERE a = :id");
        file("one.postgres.sql", "SELECT * FROM t WHERE a = :id::int");
        file("two.sql", "SELECT 1;\n\nSELECT :word");
        file("notes.txt", "not SQL");
        let path = folder.path().to_str().unwrap();
        let words = [
            "--on",
            "sqlite",
            "--sql",
            path,
            "--parameter",
            "id=1..9",
            "--parameter",
            "word=a,2",
            "--clients",
            "1,4",
            "--time",
            "1s",
        ];
        let plan = plan_of(&words).unwrap();
        let names: Vec<&str> = plan.statements.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["one", "two:1", "two:3"]);
        assert!(plan.statements[0].text_for(EngineKind::Postgres).ends_with("::int"));
        assert_eq!(plan.statements[0].parameters.len(), 1);
        assert!(plan.statements[1].parameters.is_empty());
        let list = Parameter::List { list: vec![Given::Text("a".to_owned()), Given::Integer(2)] };
        assert_eq!(plan.statements[2].parameters["word"], list);
        let again = plan::read(&plan.to_toml().unwrap(), "plan.toml").unwrap();
        assert_eq!(again, plan);
    }

    #[test]
    fn mistakes_name_the_file_the_line_and_the_way_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sql");
        let path = path.to_str().unwrap();
        let mistake = |text: &str, more: &[&str]| {
            std::fs::write(path, text).unwrap();
            let words = [&["--on", "sqlite", "--sql", path][..], more].concat();
            plan_of(&words).unwrap_err().to_string()
        };
        assert!(mistake("SELECT\n'a", &[]).contains("a.sql, line 2: this string is not closed"));
        assert!(mistake("-- nothing", &[]).contains("holds no statement"));
        assert!(
            mistake("SELECT 1", &["--parameter", "id=1..2"]).contains("no statement holds :id")
        );
        assert!(mistake("SELECT 1", &["--parameter", "id"]).contains("write NAME=FIRST..LAST"));
        let none =
            plan_of(&["--on", "sqlite", "--sql", folder.path().join("b.sql").to_str().unwrap()]);
        assert!(none.unwrap_err().to_string().contains("cannot read"));
    }
}
