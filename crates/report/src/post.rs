//! A run in at most twelve lines of plain Markdown, to be posted where strangers read it: no name of a
//! file, table, column or statement, and no path, unless names are asked for.

use engine::shell::shell_word;
use notation::{bytes, counted};
use plan::{CLIENTS_AS, Plan, Statement};
use record::Finished;
use sql::tokens;

use crate::document;
use crate::document::{Document, EnginePart};

/// Flags of a command line whose values tell nothing of the user's data.
const TELLING_NOTHING: [&str; 14] = [
    "--budget",
    "--seed",
    "--writes",
    "--begin",
    "--expect",
    "--delay",
    "--enough",
    "--clients",
    "--clients-as",
    "--time",
    "--replicates",
    "--no-tuned",
    "--server-memory",
    "--server-cpus",
];

/// The post, ending with a newline. `with_names` keeps the user's names.
pub fn post(finished: &Finished, with_names: bool) -> String {
    let of_run = document(finished);
    let names = PostedNames::of(finished, &of_run, with_names);
    let lines = [
        Some(format!("**{}**", names.question(finished, &of_run))),
        Some(String::new()),
        Some(names.told(&of_run.summary.headline)),
        Some(String::new()),
        Some(format!("- Versions: {}", versions(&of_run))),
        Some(format!("- Machine: {}", machine(finished))),
        Some(format!("- Durability: {}", durability(&of_run))),
        Some(format!("- Clients: {}", clients(&finished.plan))),
        Some(format!("- {}", method(&of_run))),
        names.key(),
        Some(format!("- Repeat: `{}`", names.command(&of_run.run.command_line, of_run.run.seed))),
    ];
    lines.into_iter().flatten().map(|line| line + "\n").collect()
}

/// The user's names, and the words that stand for them.
struct PostedNames {
    with_names: bool,
    /// Names with their words, the longest name first.
    words: Vec<(String, String)>,
    /// The kind of each statement, in their order.
    kinds: Vec<String>,
}

impl PostedNames {
    fn of(finished: &Finished, document: &Document, with_names: bool) -> Self {
        let (mut words, mut kinds) = (Vec::new(), Vec::new());
        for (place, statement) in finished.plan.statements.iter().enumerate() {
            let word = format!("{} {}", unit(document), place + 1);
            kinds.push(format!("{} is {}", place + 1, kind(statement)));
            words.push((format!("\"{}\"", statement.name), word.clone()));
            words.push((statement.name.clone(), word));
        }
        for (place, request) in finished.plan.requests.iter().enumerate() {
            words.push((request.name.clone(), format!("request {}", place + 1)));
        }
        for (place, engine) in finished.plan.engines.iter().enumerate() {
            // A label is the user's own word; the kind is not.
            if engine.own("label").is_some_and(|label| label != "SQLite") {
                let kind = engine.source.kind().properties().product;
                words.push((engine.label(), format!("{kind} ({})", place + 1)));
            }
        }
        words.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        Self { with_names, words, kinds }
    }

    /// The sentence with words in the place of names.
    fn told(&self, sentence: &str) -> String {
        if self.with_names {
            return sentence.to_owned();
        }
        let replaced = |text: String, (name, word): &(String, String)| text.replace(name, word);
        self.words.iter().fold(sentence.to_owned(), replaced)
    }

    fn question(&self, finished: &Finished, document: &Document) -> String {
        if self.with_names {
            return document.run.title.clone();
        }
        let mut engines: Vec<&str> =
            document.engines.iter().map(|engine| engine.product.as_str()).collect();
        engines.dedup();
        let engines = engines.join(" or ");
        let of = |unit: &str, count: usize| counted(count as u64, unit);
        match finished.plan.statements.len().max(finished.plan.requests.len()) {
            0 => format!("{engines}: {}?", document.run.workload),
            count => format!("{engines} for {}?", of(unit(document), count)),
        }
    }

    /// `- Query 1 is a join of 2 tables; 2 is ...`, of at most eight.
    fn key(&self) -> Option<String> {
        const NAMED: usize = 8;
        let more = self.kinds.len().saturating_sub(NAMED);
        let mut kinds = self.kinds.iter().take(NAMED).cloned().collect::<Vec<_>>().join("; ");
        if more > 0 {
            kinds.push_str(&format!("; {more} more"));
        }
        (!self.kinds.is_empty() && !self.with_names).then(|| format!("- In their order: {kinds}"))
    }

    /// The command line without words that name the user's files and engines' labels.
    fn command(&self, line: &str, seed: u64) -> String {
        let seed = if line.contains("--seed") { String::new() } else { format!(" --seed {seed}") };
        if self.with_names {
            return format!("{line}{seed}");
        }
        let words = shlex::split(line).unwrap_or_default();
        let mut told: Vec<String> = Vec::new();
        let mut place = 0;
        while place < words.len() {
            let word = words[place].as_str();
            let (flag, value) = match word.split_once('=') {
                Some((flag, value)) if word.starts_with("--") => (flag, Some(value.to_owned())),
                _ => (word, None),
            };
            place += 1;
            let is_flag = flag.starts_with("--");
            let takes_next = is_flag
                && value.is_none()
                && words.get(place).is_some_and(|next| !next.starts_with("--"));
            match flag {
                "--on" => {
                    let named = value.or_else(|| words.get(place).cloned());
                    place += usize::from(takes_next);
                    told.push(format!("--on {}", engine_word(&named.unwrap_or_default())));
                }
                _ if TELLING_NOTHING.contains(&flag) => {
                    told.push(word.to_owned());
                    if takes_next && !matches!(flag, "--writes" | "--no-tuned") {
                        told.push(shell_word(&words[place]));
                        place += 1;
                    }
                }
                _ if is_flag => {
                    let has_value = takes_next || value.is_some();
                    told.push(if has_value { format!("{flag} ...") } else { flag.to_owned() });
                    place += usize::from(takes_next);
                }
                "crossover" | "try" | "bench" | "dashboard" | "http" | "sql" | "blob" | "oltp"
                | "compare" => told.push(word.to_owned()),
                _ => told.push("FILE".to_owned()),
            }
        }
        told.join(" ") + &seed
    }
}

/// `postgres:18`, without a path, an address or the brackets' own words.
fn engine_word(name: &str) -> String {
    let base = name.split('[').next().unwrap_or_default();
    let kind = base.split(':').next().unwrap_or_default();
    if base.contains('/') || base.contains("://") { format!("{kind}:...") } else { base.to_owned() }
}

fn unit(document: &Document) -> &'static str {
    match document.run.unit_of_work {
        "statement" => "query",
        other => other,
    }
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
        _ if count("GROUP") > 0 => "a grouping of one table".to_owned(),
        _ if text.to_ascii_lowercase().contains("count(") => "a count of one table".to_owned(),
        _ if count("WHERE") > 0 => "a search in one table".to_owned(),
        _ => "a read of one table".to_owned(),
    }
}

fn versions(document: &Document) -> String {
    let mut versions: Vec<&str> =
        document.engines.iter().map(|engine| engine.version.as_str()).collect();
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
    format!("Method: {blocks} in random order, intervals of 95%, answers compared between engines")
}
