//! `crossover bench sql`: the user's own SQL files on several engines, without writing a plan.

mod named_values;
mod statements;

use std::collections::BTreeMap;
use std::path::PathBuf;

use engine::EngineSpec;
use plan::{Data, Factor, Level, Parameter, Plan, ResultComparison, Statement};

use super::client_form::ClientForm;
use super::distance::ConnectionWay;
use super::throughput::ThroughputArguments;
use super::{RunArguments, carry_out, command_words};
use crate::flag::{EngineList, sqlite_file};
use crate::shared::{CommandOutcome, Shared, Usage};

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
    #[arg(long = "on", value_name = "ENGINE", env = "CROSSOVER_ON")]
    engines: Vec<EngineList>,
    /// A SQLite file that is copied into every engine; absent: the engines hold the data
    #[arg(long, value_name = "FILE.db", env = "CROSSOVER_DATA", value_parser = sqlite_file())]
    data: Option<PathBuf>,
    /// SQL files, or folders of them; NAME.postgres.sql replaces NAME.sql on PostgreSQL; repeatable
    #[arg(long, value_name = "FILE|FOLDER", required = true)]
    sql: Vec<PathBuf>,
    /// Values of :NAME in the files: NAME=1..1000, NAME=red,green or 'NAME=select ...'; repeatable
    #[arg(long = "parameter", value_name = "NAME=VALUES", value_parser = named_values::parameter)]
    parameters: Vec<(String, Parameter)>,
    /// Levels of {NAME} in the statements, in --sql, --data and --on: version=old,new; repeatable
    #[arg(long = "factor", value_name = "NAME=LEVELS", value_parser = named_values::factor)]
    factors: Vec<(String, Factor)>,
    /// A command that fills {database_url}, once per engine and data; repeatable. Absent: --data is
    /// moved there by crossover migrate
    #[arg(long, value_name = "COMMAND")]
    prepare: Vec<String>,
    /// Take each file as one transaction; otherwise each statement is measured by itself
    #[arg(long)]
    transaction: bool,
    /// How answers are compared between engines
    #[arg(long, value_enum, default_value = "rows")]
    answer: RowComparison,
    /// A column of the answers that is not compared; repeatable
    #[arg(long = "ignore-column", value_name = "NAME")]
    ignore_columns: Vec<String>,
    /// Numbers of clients [default: 1]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    clients: Vec<u16>,
    #[command(flatten)]
    throughput: ThroughputArguments,
    #[command(flatten)]
    form: ClientForm,
    #[command(flatten)]
    way: ConnectionWay,
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
    let mut plan = plan::parse(PLAN, "bench sql")?;
    plan.engines = EngineList::all(&arguments.engines);
    if plan.engines.is_empty() {
        plan.engines = vec!["sqlite".parse()?, "postgres:18".parse()?];
    }
    if let Some(data) = &arguments.data {
        plan.data = Data::File(std::path::absolute(data)?);
    }
    plan.application.prepare = command_words(&arguments.prepare)?;
    arguments.throughput.apply(&mut plan, &arguments.clients);
    plan.factors.extend(arguments.factors.iter().cloned());
    let parameters: BTreeMap<String, Parameter> = arguments.parameters.iter().cloned().collect();
    let template = template(arguments);
    plan.statements = statements::read(&arguments.sql, &plan.factors, &parameters, &template)?;
    check_parameters(&parameters, &plan.statements)?;
    plan.title = title(&plan);
    arguments.form.apply(&mut plan);
    arguments.way.apply(&mut plan);
    arguments.run.apply(&mut plan)?;
    Ok(plan.resolved()?)
}

/// What is the same for every statement.
fn template(arguments: &Arguments) -> Statement {
    Statement {
        transaction: arguments.transaction,
        answer: match arguments.answer {
            RowComparison::Rows => ResultComparison::Rows,
            RowComparison::Ordered => ResultComparison::Ordered,
            RowComparison::Count => ResultComparison::Count,
            RowComparison::None => ResultComparison::None,
        },
        ignore_columns: arguments.ignore_columns.clone(),
        ..Statement::default()
    }
}

/// The question: engines beside each other, or versions on one.
fn title(plan: &Plan) -> String {
    let count = plan.statements.len();
    let (what, are) = if count == 1 { ("statement", "is") } else { ("statements", "are") };
    let mut others = plan.factors.iter().filter(|(name, _)| *name != "clients");
    match (plan.engines.as_slice(), others.next()) {
        ([only], Some((name, factor))) => {
            let levels: Vec<String> = factor.levels.iter().map(Level::to_string).collect();
            let (levels, engine) = (levels.join(" or "), only.label());
            format!("Where {are} {count} {what} of SQL faster on {engine}: {name} {levels}?")
        }
        (engines, _) => {
            let names: Vec<String> = engines.iter().map(EngineSpec::label).collect();
            let names = names.join(" or ");
            match plan.own_response {
                Some(_) => format!("Which does more of {count} {what} of SQL a second: {names}?"),
                None => format!("Where {are} {count} {what} of SQL faster: {names}?"),
            }
        }
    }
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

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use engine::EngineKind;
    use plan::Given;

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
    fn a_factor_in_the_path_makes_versions_of_each_statement() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        for (version, table) in [("old", "a"), ("new", "b")] {
            file(&format!("{version}/q/one.sql"), &format!("SELECT :id FROM {table}"));
            file(&format!("{version}/q/two.sql"), &format!("SELECT 1; SELECT 2 FROM {table}"));
        }
        file("new/q/two.postgres.sql", "SELECT 3; SELECT 4");
        let path = folder.path().join("{version}/q");
        let words = ["--on", "sqlite", "--parameter", "id=1..9", "--sql", path.to_str().unwrap()];
        let plan = plan_of(&[&words[..], &["--factor", "version=old,new"]].concat()).unwrap();
        assert!(plan.title.ends_with("faster on sqlite: version old or new?"), "{}", plan.title);
        let names: Vec<&str> = plan.statements.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["one", "two:1", "two:1 (2)"]);
        let text = |index: usize, kind: EngineKind, version: &str| {
            let values = plan::Placeholders::from([("version".to_owned(), version.to_owned())]);
            plan.statements[index].text_at(kind, &values).to_owned()
        };
        assert_eq!(text(0, EngineKind::Sqlite, "new"), "SELECT :id FROM b");
        assert_eq!(text(2, EngineKind::Sqlite, "old"), "SELECT 2 FROM a");
        assert_eq!(text(2, EngineKind::Postgres, "new"), "SELECT 4");
        let again = plan::read(&plan.to_toml().unwrap(), "plan.toml").unwrap();
        assert_eq!(again, plan);

        let mistake =
            |more: &[&str]| plan_of(&[&words[..], more].concat()).unwrap_err().to_string();
        assert!(mistake(&[]).contains("--factor NAME=old,new"));
        file("new/q/three.sql", "SELECT 1");
        let said = mistake(&["--factor", "version=old,new"]);
        assert!(said.contains("three.sql is in one version only"), "{said}");
        let nothing = ["--factor", "version=old,new", "--factor", "rows=1,2"];
        std::fs::remove_file(folder.path().join("new/q/three.sql")).unwrap();
        assert!(mistake(&nothing).contains("factors.rows: changes nothing"));
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
        assert!(none.unwrap_err().to_string().contains("there is no file"));
    }
}
