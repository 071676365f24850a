//! A run in at most twelve lines of plain Markdown, to be posted where strangers read it: no name of a
//! file, table, column or statement, and no path, unless names are asked for.

use std::collections::BTreeMap;

use engine::shell::shell_word;
use notation::{bytes, counted};
use plan::{CLIENTS_AS, Plan, Statement};
use record::{Finished, Run};
use sql::tokens;

use crate::document;
use crate::document::{Document, EnginePart};

/// Flags of a command line whose values tell nothing of the user's data.
const TELLING_NOTHING: [&str; 12] = [
    "--budget",
    "--seed",
    "--begin",
    "--expect",
    "--delay",
    "--enough",
    "--clients",
    "--clients-as",
    "--time",
    "--replicates",
    "--server-memory",
    "--server-cpus",
];

/// The post, ending with a newline. `first` is said before the run's own answer; `with_names` keeps the
/// user's names.
pub fn post(finished: &Finished, first: Option<String>, with_names: bool) -> String {
    let masked = (!with_names).then(|| without_names(finished));
    let posted = masked.as_ref().unwrap_or(finished);
    let of_run = document(posted);
    let question = match with_names {
        true => finished.plan.title.clone(),
        false => question(finished, &of_run),
    };
    let lines = [
        Some(format!("**{question}**")),
        Some(String::new()),
        Some(
            first
                .into_iter()
                .chain([of_run.summary.headline.clone()])
                .collect::<Vec<_>>()
                .join(" "),
        ),
        Some(String::new()),
        Some(format!("- Versions: {}", versions(&of_run))),
        Some(format!("- Machine: {}", machine(finished))),
        Some(format!("- Durability: {}", durability(&of_run))),
        Some(format!("- Clients: {}", clients(&finished.plan))),
        Some(format!("- {}", method(&of_run))),
        kinds(&finished.plan).filter(|_| !with_names),
        Some(format!("- Repeat: `{}`", command(&finished.run, with_names))),
    ];
    lines.into_iter().flatten().map(|line| line + "\n").collect()
}

/// Labels that no user chose: those of a try's engines.
const OWN_LABELS: [&str; 2] = ["SQLite", "SQLite with BEGIN IMMEDIATE"];

/// The same run, in which numbers stand for the user's names of statements, requests and engines: every
/// sentence is made without them.
fn without_names(finished: &Finished) -> Finished {
    let Finished { folder, plan, run, trials } = finished;
    let (folder, mut plan, mut run, mut trials) =
        (folder.clone(), plan.clone(), run.clone(), trials.clone());
    let unit = unit(plan.unit_of_work());
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for (place, statement) in plan.statements.iter_mut().enumerate() {
        let word = format!("{unit} {}", place + 1);
        names.insert(std::mem::replace(&mut statement.name, word.clone()), word);
    }
    for (place, request) in plan.requests.iter_mut().enumerate() {
        let word = format!("request {}", place + 1);
        names.insert(std::mem::replace(&mut request.name, word.clone()), word);
    }
    let mut labels: BTreeMap<String, String> = BTreeMap::new();
    for (place, engine) in plan.engines.iter_mut().enumerate() {
        let own = engine.label();
        if engine.own("label").is_some_and(|label| !OWN_LABELS.contains(&label)) {
            let word = format!("{} ({})", engine.source.kind().properties().product, place + 1);
            // Letters, digits, blanks and brackets are a label.
            let _ = engine.settings.set("label", &word);
        }
        labels.insert(own, engine.label());
    }
    let renamed = |names: &BTreeMap<String, String>, name: &mut String| {
        if let Some(word) = names.get(name) {
            name.clone_from(word);
        }
    };
    for trial in &mut trials {
        renamed(&labels, &mut trial.engine);
        trial.by_request.iter_mut().for_each(|one| renamed(&names, &mut one.name));
        trial.plans.clear();
        trial.first_failure = None;
    }
    plan.best_steps = std::mem::take(&mut plan.best_steps)
        .into_iter()
        .map(|(label, step)| (labels.get(&label).cloned().unwrap_or(label), step))
        .collect();
    run.engines = std::mem::take(&mut run.engines)
        .into_iter()
        .map(|(label, engine)| (labels.get(&label).cloned().unwrap_or(label), engine))
        .collect();
    plan.title.clear();
    plan.conditions.clear();
    if let Some(assessment) = &mut run.assessment {
        for (place, one) in assessment.not_measured.iter_mut().enumerate() {
            one.name = format!("a further {unit} ({})", place + 1);
        }
        assessment.to_compare =
            assessment.to_compare.as_ref().map(|_| "crossover try FILE".to_owned());
    }
    Finished { folder, plan, run, trials }
}

fn question(finished: &Finished, document: &Document) -> String {
    let engines = finished.plan.engines.iter();
    let products = engines.map(|engine| engine.source.kind().properties().product);
    let mut products: Vec<&str> = products.collect();
    products.dedup();
    let engines = products.join(" or ");
    match finished.plan.statements.len().max(finished.plan.requests.len()) {
        0 => format!("{engines}: {}?", document.run.workload),
        count => {
            let unit = unit(document.run.unit_of_work);
            format!("{engines} for {}?", counted(count as u64, unit))
        }
    }
}

/// `- In their order: 1 is a join of 2 tables; 2 is ...`, of at most eight.
fn kinds(plan: &Plan) -> Option<String> {
    const NAMED: usize = 8;
    let all = plan.statements.iter().enumerate();
    let mut all: Vec<String> =
        all.map(|(place, one)| format!("{} is {}", place + 1, kind(one))).collect();
    let more = all.len().saturating_sub(NAMED);
    all.truncate(NAMED);
    if more > 0 {
        all.push(format!("{more} more"));
    }
    (!all.is_empty()).then(|| format!("- In their order: {}", all.join("; ")))
}

/// The command line without words that name the user's files and engines' labels.
fn command(run: &Run, with_names: bool) -> String {
    let line = &run.command_line;
    let seed =
        if line.contains("--seed") { String::new() } else { format!(" --seed {}", run.seed) };
    if with_names {
        return format!("{line}{seed}");
    }
    let words = shlex::split(line).unwrap_or_default();
    let mut told: Vec<String> = Vec::new();
    let mut words = words.iter().map(String::as_str).peekable();
    while let Some(word) = words.next() {
        let (flag, value) = match word.split_once('=').filter(|_| word.starts_with("--")) {
            Some((flag, value)) => (flag, Some(value)),
            None => (word, None),
        };
        let mut value = || value.or_else(|| words.next_if(|next| !next.starts_with('-')));
        match flag {
            "--writes" | "--no-tuned" | "--no-wait-for-quiet" => told.push(flag.to_owned()),
            "--on" => told.push(format!("--on {}", engine_word(value().unwrap_or_default()))),
            _ if TELLING_NOTHING.contains(&flag) => {
                told.push(format!("{flag} {}", shell_word(value().unwrap_or_default())));
            }
            "--runs" | "--output-format" => drop(value()),
            _ if flag.starts_with("--") => {
                let has_value = value().is_some();
                told.push(if has_value { format!("{flag} FILE") } else { flag.to_owned() });
            }
            _ if flag.starts_with('-') => {}
            "crossover" | "try" | "bench" | "dashboard" | "http" | "sql" | "blob" | "oltp"
            | "compare" => {
                told.push(word.to_owned());
            }
            _ => told.push("FILE".to_owned()),
        }
    }
    told.join(" ") + &seed
}

/// `postgres:18`, without a path, an address or a label; settings stay whose values name nothing.
fn engine_word(name: &str) -> String {
    const WORDS: [&str; 12] = [
        "on",
        "off",
        "wal",
        "delete",
        "truncate",
        "persist",
        "memory",
        "full",
        "normal",
        "immediate",
        "deferred",
        "keep",
    ];
    let is_plain = |value: &str| {
        WORDS.contains(&value)
            || (value.starts_with(|first: char| first.is_ascii_digit() || first == '-')
                && value
                    .chars()
                    .all(|letter| letter.is_ascii_alphanumeric() || ".-".contains(letter)))
    };
    let (base, settings) = name.split_once('[').unwrap_or((name, ""));
    let kind = base.split(':').next().unwrap_or_default();
    let base = if base.contains('/') { format!("{kind}:...") } else { base.to_owned() };
    let pairs = settings.trim_end_matches(']').split(',');
    let kept = pairs.filter(|pair| {
        pair.split_once('=').is_some_and(|(key, value)| key != "label" && is_plain(value))
    });
    let kept: Vec<&str> = kept.collect();
    match kept.is_empty() {
        true => base,
        false => shell_word(&format!("{base}[{}]", kept.join(","))),
    }
}

fn unit(unit_of_work: &'static str) -> &'static str {
    if unit_of_work == "statement" { "query" } else { unit_of_work }
}

/// `a join of 2 tables`, `an update`, by the words of the statement.
fn kind(statement: &Statement) -> String {
    let text = &statement.text;
    let words: Vec<String> =
        tokens(text).iter().map(|token| token.text.to_ascii_uppercase()).collect();
    let count = |wanted: &str| words.iter().filter(|word| *word == wanted).count();
    let joined = count("JOIN") + 1;
    let writes = ["INSERT", "UPDATE", "DELETE", "REPLACE"].into_iter().find(|one| count(one) > 0);
    match (writes, count("SELECT")) {
        (Some(_), _) if statement.transaction => {
            let statements = text.split(';').filter(|part| !part.trim().is_empty()).count();
            format!("a transaction of {}", counted(statements as u64, "statement"))
        }
        (Some("INSERT"), _) => "an insert".to_owned(),
        (Some("UPDATE"), _) => "an update".to_owned(),
        (Some("DELETE"), _) => "a delete".to_owned(),
        (Some(_), _) => "a replace".to_owned(),
        _ if joined > 1 => format!("a join of {joined} tables"),
        _ if count("GROUP") > 0 => "a grouping".to_owned(),
        _ if text.to_ascii_lowercase().contains("count(") => "a count".to_owned(),
        _ if count("WHERE") > 0 => "a search".to_owned(),
        _ => "a read".to_owned(),
    }
}

fn versions(document: &Document) -> String {
    let mut versions: Vec<&str> =
        document.engines.iter().map(|engine| engine.version.as_str()).collect();
    versions.retain(|version| !version.is_empty());
    versions.dedup();
    format!("{}; Crossover {}", versions.join(", "), document.run.crossover_version)
}

fn machine(finished: &Finished) -> String {
    let of = &finished.run.environment;
    let processor = of.cpu_model.clone().unwrap_or_else(|| "processor not known".to_owned());
    let memory = of.memory_bytes.map(|memory| format!(", {} of memory", bytes(memory)));
    format!("{} ({processor}){}", counted(of.cpus as u64, "processor"), memory.unwrap_or_default())
}

fn durability(document: &Document) -> String {
    let of = |engine: &EnginePart| format!("{} {}", engine.product, engine.durability);
    let mut all: Vec<String> = document.engines.iter().map(of).collect();
    all.dedup();
    all.join("; ")
}

fn clients(plan: &Plan) -> String {
    let levels = |name: &str| {
        let factor = plan.factors.get(name)?;
        let words: Vec<String> = factor.levels.iter().map(ToString::to_string).collect();
        Some(words.join(", "))
    };
    let number = levels("clients").unwrap_or_else(|| "1".to_owned());
    let form = levels(CLIENTS_AS).map(|form| format!(" as {form}")).unwrap_or_default();
    let model = match plan.load.model {
        plan::LoadModel::Closed => "closed load, each sends when it has its answer",
        plan::LoadModel::Open => "open load, requests come at a rate",
    };
    format!("{number} at a time{form}; {model}")
}

fn method(document: &Document) -> String {
    let blocks = counted(document.run.blocks as u64, "block");
    let intervals = match document.run.blocks < stats::INTERVAL_MIN_REPLICATES {
        true => "values without intervals",
        false => "intervals of 95%",
    };
    let compared =
        if document.engines.len() > 1 { ", answers compared between engines" } else { "" };
    let unfinished = if document.run.complete { "" } else { ", not finished" };
    format!("Method: {blocks} in random order, {intervals}{compared}{unfinished}")
}
