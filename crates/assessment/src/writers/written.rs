//! Transactions of the user's SQL files: statements between BEGIN and COMMIT are one, every other
//! statement is one by itself.

use std::path::{Path, PathBuf};

use engine::EngineKind;
use plan::TransactionBegin;
use rusqlite::Connection;
use sql::tokens;

use super::WriteTransaction;
use crate::error::{Error, Result};
use crate::names::QuotedNames;
use crate::sql_file::{refuse_database, without_comments};

/// A statement that begins or ends a transaction.
pub enum TransactionWord {
    Begin(TransactionBegin),
    Commit,
    Rollback,
}

impl TransactionWord {
    /// By its first words; none of any other statement, such as ROLLBACK TO a savepoint.
    pub fn of(text: &str) -> Option<Self> {
        let words = words(text);
        let second = words.get(1).map_or("", String::as_str);
        match words.first().map_or("", String::as_str) {
            "BEGIN" if matches!(second, "IMMEDIATE" | "EXCLUSIVE") => {
                Some(Self::Begin(TransactionBegin::Immediate))
            }
            "BEGIN" => Some(Self::Begin(TransactionBegin::Deferred)),
            "START" if second == "TRANSACTION" => Some(Self::Begin(TransactionBegin::Deferred)),
            "COMMIT" | "END" => Some(Self::Commit),
            "ROLLBACK" if !words.iter().any(|word| word == "TO") => Some(Self::Rollback),
            _ => None,
        }
    }
}

fn words(text: &str) -> Vec<String> {
    tokens(text).iter().map(|token| token.text.to_ascii_uppercase()).collect()
}

/// A word after BEGIN or COMMIT that belongs to the next statement.
fn without_semicolon(text: &str) -> Option<String> {
    const OWN: [&str; 9] = [
        "BEGIN",
        "START",
        "COMMIT",
        "END",
        "ROLLBACK",
        "TRANSACTION",
        "DEFERRED",
        "IMMEDIATE",
        "EXCLUSIVE",
    ];
    words(text).into_iter().find(|word| !OWN.contains(&word.as_str()) && word != ";")
}

/// `true` if a statement may change rows.
pub fn writes(text: &str) -> bool {
    const WRITING: [&str; 4] = ["INSERT", "UPDATE", "DELETE", "REPLACE"];
    let is_writing = |word: &str| WRITING.contains(&word.to_ascii_uppercase().as_str());
    let tokens = tokens(text);
    let first = tokens.first().map_or("", |token| token.text);
    is_writing(first)
        || (first.eq_ignore_ascii_case("WITH") && tokens.iter().any(|token| is_writing(token.text)))
}

/// A transaction that has begun in a file.
struct OpenTransaction {
    place: String,
    name: String,
    begin: TransactionBegin,
    texts: Vec<String>,
    postgres_texts: Vec<String>,
    has_twin: bool,
}

/// Reads the transactions of `paths`; each statement is tried on `connection`.
pub fn read(
    paths: &[PathBuf],
    connection: &Connection,
    names: &QuotedNames,
) -> Result<Vec<WriteTransaction>> {
    let mut found = Vec::new();
    for file in plan::sql_files(paths).map_err(Error::Usage)? {
        for path in file.paths() {
            refuse_database("--sql", path, connection)?;
        }
        let mut open: Option<OpenTransaction> = None;
        for statement in file.statements().map_err(Error::Usage)? {
            let own = statement.for_kind(EngineKind::Sqlite);
            let place = place(&own.path, own.line);
            let refuse = |what: &str| Err(Error::Usage(format!("{place}: {what}")));
            let word = TransactionWord::of(&own.text);
            if let Some(next) = word.as_ref().and_then(|_| without_semicolon(&own.text)) {
                return refuse(&format!("a semicolon is missing before {next}"));
            }
            match (word, &mut open) {
                (Some(TransactionWord::Begin(_)), Some(_)) => {
                    return refuse("a transaction begins within another: COMMIT is missing");
                }
                (Some(TransactionWord::Begin(begin)), None) => {
                    open = Some(OpenTransaction {
                        place,
                        name: statement.name.clone(),
                        begin,
                        texts: Vec::new(),
                        postgres_texts: Vec::new(),
                        has_twin: false,
                    });
                }
                (Some(TransactionWord::Rollback), _) => {
                    return refuse(
                        "a transaction that is rolled back writes nothing: leave it out",
                    );
                }
                (Some(TransactionWord::Commit), None) => {
                    return refuse("COMMIT without BEGIN");
                }
                (Some(TransactionWord::Commit), Some(_)) => {
                    found.extend(open.take().and_then(OpenTransaction::close));
                }
                (None, transaction) => {
                    let text = check(&own.text, &place, connection, names)?;
                    let twin = statement.twins.get(&EngineKind::Postgres);
                    let twin = twin.map(|twin| without_comments(&twin.text));
                    match transaction {
                        Some(transaction) => transaction.add(text, twin),
                        None => found.push(WriteTransaction {
                            name: statement.name,
                            text,
                            postgres_text: twin,
                            ..WriteTransaction::default()
                        }),
                    }
                }
            }
        }
        if let Some(open) = open {
            let what = "this transaction has no COMMIT: add it, or leave BEGIN out";
            return Err(Error::Usage(format!("{}: {what}", open.place)));
        }
    }
    if !found.iter().any(|one| writes_somewhere(&one.text)) {
        return Err(Error::Usage(
            "--writes: no statement of --sql writes (INSERT, UPDATE, DELETE, REPLACE): leave --writes out"
                .to_owned(),
        ));
    }
    plan::number_equal(found.iter_mut().map(|one| &mut one.name));
    Ok(found)
}

impl OpenTransaction {
    fn add(&mut self, text: String, twin: Option<String>) {
        self.has_twin |= twin.is_some();
        self.postgres_texts.push(twin.unwrap_or_else(|| text.clone()));
        self.texts.push(text);
    }

    /// None of an empty one.
    fn close(self) -> Option<WriteTransaction> {
        let Self { name, begin, texts, postgres_texts, has_twin, .. } = self;
        (!texts.is_empty()).then(|| WriteTransaction {
            name,
            begin,
            text: texts.join(";\n"),
            postgres_text: has_twin.then(|| postgres_texts.join(";\n")),
            is_several: true,
            ..WriteTransaction::default()
        })
    }
}

/// True where one of the statements of a text writes.
pub fn writes_somewhere(text: &str) -> bool {
    text.split(";\n").any(writes)
}

fn place(path: &Path, line: usize) -> String {
    format!("{}, line {line}", path.display())
}

/// The statement with names as PostgreSQL needs them. SQLite must understand it, and it has no parameters.
fn check(text: &str, place: &str, connection: &Connection, names: &QuotedNames) -> Result<String> {
    let text = without_comments(text);
    let quoted = names.quoted(&text);
    let text = if connection.prepare(&quoted).is_ok() { quoted } else { text };
    let refuse = |what: String| Error::Usage(format!("{place}: {what}"));
    const TAKEN: [&str; 10] = [
        "SELECT",
        "WITH",
        "VALUES",
        "INSERT",
        "UPDATE",
        "DELETE",
        "REPLACE",
        "SAVEPOINT",
        "RELEASE",
        "ROLLBACK",
    ];
    let first = words(&text).first().cloned().unwrap_or_default();
    if !TAKEN.contains(&first.as_str()) {
        return Err(refuse(format!(
            "{first} is not measured: a setting belongs to its engine (--on 'sqlite[...]'), and tables are \
             made before"
        )));
    }
    let statement =
        connection.prepare(&text).map_err(|error| refuse(format!("SQLite: {error}")))?;
    if let Some(name) = (1..=statement.parameter_count()).next() {
        let name = statement.parameter_name(name).unwrap_or("?").to_owned();
        return Err(refuse(format!(
            "it takes the parameter {name}: put an expression in its place, or measure it by `crossover \
             bench sql --parameter`"
        )));
    }
    Ok(text)
}
