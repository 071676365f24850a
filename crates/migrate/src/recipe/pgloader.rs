//! Parser of pgloader's load files: `LOAD DATABASE FROM sqlite://... INTO postgresql://... WITH
//! ...;` (<https://pgloader.readthedocs.io/en/latest/ref/sqlite.html>). Every clause is either
//! carried out or refused by its name.

use std::path::PathBuf;

use super::{MigrationRecipe, default_reject_file};
use crate::Error;
use crate::mapping::{MapRule, MapRules};
use crate::transfer::MigrateOptions;

/// The words with which a clause begins.
const CLAUSES: [&str; 9] =
    ["FROM", "INTO", "WITH", "SET", "CAST", "INCLUDING", "EXCLUDING", "BEFORE", "AFTER"];

pub fn parse(text: &str) -> Result<MigrationRecipe, String> {
    let words = words(text)?;
    let mut words = words.iter().map(String::as_str).peekable();
    for expected in ["LOAD", "DATABASE"] {
        let found = words.next().unwrap_or("nothing");
        if !found.eq_ignore_ascii_case(expected) {
            return Err(format!("only LOAD DATABASE is understood, not `{found}`"));
        }
    }
    let (mut source, mut target) = (None, None);
    let mut reading = PgloaderParser::default();
    while let Some(clause) = words.next() {
        if clause == ";" {
            match words.next() {
                None => break,
                Some(more) => return Err(format!("one command is read, `{more}` follows it")),
            }
        }
        let is_clause = |word: &str| CLAUSES.iter().any(|known| word.eq_ignore_ascii_case(known));
        let mut of_clause = Vec::new();
        while let Some(word) = words.next_if(|word| *word != ";" && !is_clause(word)) {
            of_clause.push(word);
        }
        match (clause.to_ascii_uppercase().as_str(), of_clause.as_slice()) {
            ("FROM", [url]) => source = Some(sqlite_path(url)?),
            ("INTO", [url]) => target = Some(url.to_string()),
            ("WITH", options) => {
                for option in options.split(|word| *word == ",") {
                    reading.option(&option.join(" ").to_ascii_lowercase())?;
                }
            }
            ("CAST", casts) => {
                for cast in casts.split(|word| *word == ",") {
                    reading.cast(cast)?;
                }
            }
            ("INCLUDING", names) => reading.options.selection.tables = patterns(names)?,
            ("EXCLUDING", names) => reading.options.selection.excluded = patterns(names)?,
            _ => return Err(not_understood(&format!("{clause} {}", of_clause.join(" ")))),
        }
    }
    let source = source.ok_or("FROM with the SQLite file is missing")?;
    let target: String = target.ok_or("INTO with the PostgreSQL database is missing")?;
    let target = by_socket(&target.replacen("pgsql://", "postgresql://", 1));
    let PgloaderParser { mut options, rejects, notices } = reading;
    options.reject_file = rejects.then(|| default_reject_file(&source));
    let target = target.parse().map_err(|error: engine::Error| format!("INTO: {error}"))?;
    let (create_database, accept_losses, make_tables) = (false, false, false);
    Ok(MigrationRecipe {
        source,
        target: Some(target),
        options,
        create_database,
        accept_losses,
        make_tables,
        notices,
    })
}

/// libpq's form of a socket's folder, which pgloader writes as `USER@unix:/FOLDER:PORT/DATABASE`; the port
/// may be left out. Other addresses stay.
fn by_socket(url: &str) -> String {
    let parts = || {
        let (scheme, rest) = url.split_once("://")?;
        let at = rest.find("unix:").filter(|at| *at == 0 || rest[..*at].ends_with('@'))?;
        let (user, place) = (&rest[..at], &rest[at + "unix:".len()..]);
        let (folder, database, port) = match place.split_once(':') {
            Some((folder, rest)) => {
                let (port, database) = rest.split_once('/')?;
                (folder, database, format!("&port={port}"))
            }
            None => {
                let (folder, database) = place.rsplit_once('/')?;
                (folder, database, String::new())
            }
        };
        let (database, parameters) = database.split_once('?').unwrap_or((database, ""));
        let parameters =
            if parameters.is_empty() { String::new() } else { format!("&{parameters}") };
        Some(format!("{scheme}://{user}/{database}?host={folder}{port}{parameters}"))
    };
    parts().unwrap_or_else(|| url.to_owned())
}

#[derive(Default)]
struct PgloaderParser {
    options: MigrateOptions,
    rejects: bool,
    notices: Vec<String>,
}

impl PgloaderParser {
    fn option(&mut self, option: &str) -> Result<(), String> {
        let name = option.split('=').next().unwrap_or_default().trim();
        match name {
            "data only" | "create no tables" => self.options.data_only = true,
            "truncate" | "include drop" => self.options.replace = true,
            "on error stop" => self.rejects = false,
            "on error resume next" => self.rejects = true,
            // Crossover always does this.
            "create tables" | "create indexes" | "foreign keys" | "drop indexes"
            | "reset sequences" | "include no drop" | "no truncate" | "quote identifiers" => {}
            // These change the pace and not the result.
            "workers"
            | "concurrency"
            | "batch rows"
            | "batch size"
            | "prefetch rows"
            | "max parallel create index"
            | "multiple readers per thread"
            | "single reader per thread"
            | "rows per range" => {
                self.notices.push(format!("WITH {option}: Crossover chooses that itself"));
            }
            _ => return Err(not_understood(&format!("WITH {option}"))),
        }
        Ok(())
    }

    /// `column TABLE.COLUMN to TYPE`, optionally with `drop typemod`.
    fn cast(&mut self, words: &[&str]) -> Result<(), String> {
        let refused = || not_understood(&format!("CAST {}", words.join(" ")));
        let (kind, rest) = words.split_first().ok_or_else(refused)?;
        let [column, to, postgres_type @ ..] = rest else { return Err(refused()) };
        if !kind.eq_ignore_ascii_case("column") || !to.eq_ignore_ascii_case("to") {
            return Err(refused());
        }
        let postgres_type = match postgres_type {
            [postgres_type @ .., drop, typemod]
                if drop.eq_ignore_ascii_case("drop") && typemod.eq_ignore_ascii_case("typemod") =>
            {
                postgres_type
            }
            all => all,
        };
        let rule = format!("{column}={}", postgres_type.join(" "));
        let rule: MapRule =
            rule.parse().map_err(|error: Error| format!("{}: {error}", refused()))?;
        let MapRules(rules) = &mut self.options.rules;
        rules.push(rule);
        Ok(())
    }
}

fn not_understood(what: &str) -> String {
    format!(
        "`{}` is not understood: take it out, or say it by an option of crossover migrate",
        what.trim()
    )
}

/// `[ONLY] TABLE NAMES LIKE 'a%', 'b'`
fn patterns(words: &[&str]) -> Result<Vec<String>, String> {
    let head: Vec<String> = words
        .iter()
        .take_while(|word| !word.starts_with('\''))
        .map(|word| word.to_ascii_lowercase())
        .collect();
    if !matches!(head.join(" ").as_str(), "only table names like" | "table names like") {
        return Err(not_understood(&words.join(" ")));
    }
    let names = words[head.len()..].iter().filter(|word| **word != ",");
    Ok(names.map(|name| name.trim_matches('\'').replace('%', "*")).collect())
}

fn sqlite_path(url: &str) -> Result<PathBuf, String> {
    let path = url.trim_matches('\'');
    match path.split_once("://") {
        None => Ok(PathBuf::from(path)),
        Some(("sqlite", path)) => Ok(PathBuf::from(path)),
        Some((scheme, _)) => Err(format!("FROM {scheme}: only SQLite files are migrated")),
    }
}

/// Splits at blanks, commas and the final semicolon; comments go, quoted texts stay whole.
fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let until = |close: &str, from: usize| {
            let end = rest[from..].find(close).map(|end| from + end + close.len());
            end.ok_or_else(|| format!("{close} is missing"))
        };
        let (word, end) = match first {
            '-' if rest.starts_with("--") => (false, rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => (false, until("*/", 2)?),
            '\'' => (true, until("'", 1)?),
            '$' if rest.starts_with("$$") => (true, until("$$", 2)?),
            ',' | ';' => (true, 1),
            _ => {
                // A comma inside brackets belongs to a type: numeric(10,2).
                let mut depth = 0_u32;
                let ends = |character: char| {
                    match character {
                        '(' => depth += 1,
                        ')' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    character.is_whitespace()
                        || (depth == 0 && (character == ',' || character == ';'))
                };
                (true, rest.find(ends).unwrap_or(rest.len()))
            }
        };
        if rest[..end].contains("{{") {
            return Err(format!("`{}`: variables in {{{{}}}} are not filled in", &rest[..end]));
        }
        if word {
            words.push(rest[..end].to_owned());
        }
        rest = rest[end..].trim_start();
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use engine::PostgresUrl;

    use super::*;

    #[test]
    fn the_usual_file_is_read() {
        let recipe = parse(
            "-- ours\nload database from sqlite:///data/shop.db\n into pgsql://me@host/shop\n\
             with data only, reset sequences, workers = 8, on error resume next\n\
             cast column a.slug to varchar(512) drop typemod, column a.price to numeric(10,2)\n\
             excluding table names like 'django%', 'x' /* end */;",
        )
        .unwrap();
        assert_eq!(recipe.source, PathBuf::from("/data/shop.db"));
        assert_eq!(recipe.target.unwrap().database(), Some("shop"));
        assert!(recipe.options.data_only && recipe.options.reject_file.is_some());
        assert_eq!(recipe.options.selection.excluded, ["django*", "x"]);
        assert_eq!(recipe.options.rules.0.len(), 2);
        assert_eq!(recipe.notices, ["WITH workers = 8: Crossover chooses that itself"]);
    }

    #[test]
    fn sockets_are_written_in_two_ways() {
        let socket = |port: Option<u16>| {
            PostgresUrl::unix_socket("/run/postgresql", port, "me", "shop").to_string()
        };
        for (written, port) in [
            ("pgsql://me@unix:/run/postgresql:5433/shop", Some(5433)),
            ("postgresql://me@unix:/run/postgresql/shop", None),
        ] {
            let recipe = parse(&format!("LOAD DATABASE FROM a.db INTO {written};")).unwrap();
            assert_eq!(recipe.target.unwrap().to_string(), socket(port));
        }
        let plain = "postgresql://unix@host:5433/unix";
        assert_eq!(by_socket(plain), plain);
    }

    #[test]
    fn unknown_clauses_are_named() {
        let refused = |rest: &str| {
            parse(&format!("LOAD DATABASE FROM a.db INTO postgresql://h/d {rest};")).unwrap_err()
        };
        for (rest, expected) in [
            ("WITH data only, create no indexes", "`WITH create no indexes` is not understood"),
            ("SET work_mem to '16MB'", "`SET work_mem to '16MB'` is not understood"),
            ("CAST type datetime to timestamptz", "`CAST type datetime to timestamptz`"),
            ("BEFORE LOAD DO $$ drop schema x; $$", "`BEFORE LOAD DO $$ drop schema x; $$`"),
            ("CAST column a.b to varchr", "unknown type `varchr`"),
            ("; LOAD CSV", "`LOAD` follows it"),
        ] {
            assert!(refused(rest).contains(expected), "{}", refused(rest));
        }
        assert!(parse("LOAD CSV FROM x").unwrap_err().contains("only LOAD DATABASE"));
        assert!(parse("LOAD DATABASE FROM mysql://h/d INTO x").unwrap_err().contains("SQLite"));
        assert!(parse("LOAD DATABASE FROM {{DB}} INTO x").unwrap_err().contains("{{DB}}"));
    }
}
