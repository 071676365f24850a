//! Statements for features that are not carried over: complete where PostgreSQL is sure to take
//! them, otherwise a draft in comments. They are shown, never run.

use crate::ddl::{collated_parts, default_proposal, renamed};
use crate::source::{
    Index, OtherKind, OtherObject, SourceCheck, SourceColumn, SourceSchema, SourceTable, quoted,
};
use crate::value::TargetField;
use sql::{Token, closing, tokens};

/// Heading of every draft.
const DRAFT: &str = "-- To be written by hand. A draft, names as migrated, the rest as in SQLite:";

/// A statement that PostgreSQL may refuse: in comments, so that all that is proposed can be run.
fn draft(statement: &str) -> String {
    let lines = statement.lines().map(|line| format!("\n-- {line}"));
    std::iter::once(DRAFT.to_owned()).chain(lines).collect()
}

/// `ALTER TABLE ... ADD CHECK` with the unchanged expression.
pub fn check(table: &SourceTable, check: &SourceCheck) -> String {
    let name = check.name.as_ref();
    let name = name.map_or_else(String::new, |name| format!("CONSTRAINT {} ", quoted(name)));
    let expression = renamed(&check.expression, &columns(table));
    draft(&format!("ALTER TABLE {} ADD {name}CHECK ({expression});", quoted(&table.target_name)))
}

/// `ALTER COLUMN ... SET DEFAULT`, where PostgreSQL has something close.
pub fn default(table: &SourceTable, column: &SourceColumn, field: &TargetField) -> Option<String> {
    let expression = default_proposal(column, field)?;
    let (table, column) = (quoted(&table.target_name), quoted(&column.target_name));
    Some(format!("ALTER TABLE {table} ALTER COLUMN {column} SET DEFAULT {expression};"))
}

/// The column created again, computed as in SQLite.
pub fn generated(
    table: &SourceTable,
    column: &SourceColumn,
    field: &TargetField,
) -> Option<String> {
    let expression = renamed(column.expression.as_deref()?, &columns(table));
    let (table, column) = (quoted(&table.target_name), quoted(&column.target_name));
    Some(draft(&format!(
        "ALTER TABLE {table} DROP COLUMN {column};\n\
         ALTER TABLE {table} ADD COLUMN {column} {} GENERATED ALWAYS AS ({expression}) STORED;",
        field.postgres_type
    )))
}

/// `CREATE INDEX` over the same expressions, with the same condition.
pub fn index(table: &SourceTable, index: &Index) -> Option<String> {
    let tokens = tokens(&index.sql);
    let on = tokens.iter().position(|token| token.is_word("ON"))?;
    let rest = renamed(&index.sql[tokens.get(on + 1)?.end()..], &columns(table));
    let unique = if index.unique { "UNIQUE " } else { "" };
    let (name, table) = (quoted(&index.name), quoted(&table.target_name));
    Some(draft(&format!("CREATE {unique}INDEX {name} ON {table}{rest};")))
}

/// The index that a collation of SQLite means, as PostgreSQL has it; `None` for a collation
/// that the application brought.
pub fn collated_index(
    table: &SourceTable,
    key: &[(usize, String)],
    unique: bool,
    predicate: Option<&str>,
) -> Option<String> {
    let parts = collated_parts(table, key);
    let unique = if unique { "UNIQUE " } else { "" };
    let condition = predicate.map_or_else(String::new, |condition| format!(" WHERE {condition}"));
    let (table, parts) = (quoted(&table.target_name), parts?.join(", "));
    Some(format!("CREATE {unique}INDEX ON {table} ({parts}){condition};"))
}

/// Proposal for a view, trigger or virtual table.
pub fn object(schema: &SourceSchema, object: &OtherObject) -> Option<String> {
    let mut names: Vec<(&str, &str)> = Vec::new();
    for table in &schema.tables {
        names.push((&table.name, &table.target_name));
        names.extend(columns(table));
    }
    match object.kind {
        OtherKind::View => view(object, &names),
        OtherKind::Trigger => trigger(object, &names),
        OtherKind::VirtualTable => full_text(object),
        OtherKind::ShadowTable => None,
    }
}

/// The names of a table's columns, each with that in the target.
fn columns(table: &SourceTable) -> Vec<(&str, &str)> {
    let columns = table.columns.iter();
    columns.map(|column| (column.name.as_str(), column.target_name.as_str())).collect()
}

fn view(object: &OtherObject, names: &[(&str, &str)]) -> Option<String> {
    let tokens = tokens(&object.sql);
    let keyword = tokens.iter().position(|token| token.is_word("VIEW"))?;
    let name = name_after(&tokens, keyword)?;
    let rest = renamed(&object.sql[tokens[name].end()..], names);
    Some(draft(&format!("CREATE VIEW {}{};", quoted(&object.name), rest.trim_end())))
}

/// The place of a name after a keyword: after `IF NOT EXISTS` and a schema.
fn name_after(tokens: &[Token<'_>], keyword: usize) -> Option<usize> {
    let mut place = keyword + 1;
    if tokens.get(place)?.is_word("IF") {
        place += 3;
    }
    if tokens.get(place + 1)?.is(".") {
        place += 2;
    }
    tokens.get(place).map(|_| place)
}

fn trigger(object: &OtherObject, names: &[(&str, &str)]) -> Option<String> {
    let (sql, tokens) = (&object.sql, tokens(&object.sql));
    let find =
        |word: &str, from: usize| (from..tokens.len()).find(|place| tokens[*place].is_word(word));
    let name = name_after(&tokens, find("TRIGGER", 0)?)?;
    let (on, begin) = (find("ON", name)?, find("BEGIN", name)?);
    let end = (begin..tokens.len()).rev().find(|place| tokens[*place].is_word("END"))?;
    let events = ["DELETE", "INSERT", "UPDATE"];
    let event = (name + 1..on).find(|at| events.iter().any(|word| tokens[*at].is_word(word)))?;
    let timing = match tokens[event - 1] {
        before if before.is_word("AFTER") => "AFTER",
        before if before.is_word("OF") => "INSTEAD OF",
        _ => "BEFORE",
    };
    let text = |from: usize, to: usize| renamed(sql[from..to].trim(), names);
    let of_event = text(tokens[event].start, tokens[on].start);
    let table = renamed(tokens.get(on + 1)?.text, names);
    let when = find("WHEN", on).filter(|when| *when < begin).map_or_else(String::new, |when| {
        format!("WHEN ({}) ", text(tokens[when].end(), tokens[begin].start))
    });
    let body = text(tokens[begin].end(), tokens[end].start);
    let row = if tokens[event].is_word("DELETE") { "OLD" } else { "NEW" };
    let name = quoted(&object.name);
    Some(draft(&format!(
        "CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $trigger$\nBEGIN\n    \
         {body}\n    RETURN {row};\nEND\n$trigger$;\n\
         CREATE TRIGGER {name} {timing} {of_event} ON {table} FOR EACH ROW {when}\
         EXECUTE PROCEDURE {name}();"
    )))
}

/// Full-text search as PostgreSQL has it: a table and an index over its words.
fn full_text(object: &OtherObject) -> Option<String> {
    let tokens = tokens(&object.sql);
    let using = tokens.iter().position(|token| token.is_word("USING"))?;
    let module = tokens.get(using + 1)?.name()?.to_ascii_lowercase();
    let open = using + 2;
    if !module.starts_with("fts") || !tokens.get(open)?.is("(") {
        return None;
    }
    let inside = &tokens[open + 1..closing(&tokens, open).min(tokens.len())];
    let arguments = inside.split(|token| token.is(","));
    // `tokenize = porter` is an option, `body UNINDEXED` a column.
    let names = arguments.filter(|argument| !argument.iter().any(|token| token.is("=")));
    let names: Vec<String> =
        names.filter_map(|argument| argument.first()?.name()).map(|name| quoted(&name)).collect();
    if names.is_empty() {
        return None;
    }
    let columns: Vec<String> = names.iter().map(|name| format!("{name} text")).collect();
    let words: Vec<String> = names.iter().map(|name| format!("coalesce({name}, '')")).collect();
    let name = quoted(&object.name);
    Some(format!(
        "-- Search by to_tsvector(...) @@ plainto_tsquery('simple', 'words').\n\
         CREATE TABLE {name} ({});\n\
         CREATE INDEX ON {name} USING gin (to_tsvector('simple', {}));",
        columns.join(", "),
        words.join(" || ' ' || ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::schema;

    fn objects(script: &str) -> Vec<String> {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        connection.execute_batch(script).unwrap();
        let schema = schema(&connection).unwrap();
        schema.others.iter().filter_map(|other| object(&schema, other)).collect()
    }

    #[test]
    fn views_and_triggers_have_a_draft() {
        let found = objects(
            "CREATE TABLE Log(At TEXT, n INT); \
             CREATE VIEW IF NOT EXISTS latest(moment) AS SELECT max(at) FROM log; \
             CREATE TRIGGER keep AFTER UPDATE OF n ON log WHEN new.n > 0 \
             BEGIN INSERT INTO log VALUES ('x', 1); DELETE FROM log WHERE n < 0; END;",
        );
        assert_eq!(
            found,
            [
                draft(
                    "CREATE FUNCTION \"keep\"() RETURNS trigger LANGUAGE plpgsql AS \
                     $trigger$\nBEGIN\n    INSERT INTO \"Log\" VALUES ('x', 1); DELETE FROM \
                     \"Log\" WHERE \"n\" < 0;\n    RETURN NEW;\nEND\n$trigger$;\n\
                     CREATE TRIGGER \"keep\" AFTER UPDATE OF \"n\" ON \"Log\" FOR EACH ROW \
                     WHEN (new.\"n\" > 0) EXECUTE PROCEDURE \"keep\"();"
                ),
                draft("CREATE VIEW \"latest\"(moment) AS SELECT max(\"At\") FROM \"Log\";"),
            ]
        );
    }

    #[test]
    fn full_text_search_has_a_statement_and_other_modules_none() {
        let found = objects(
            "CREATE VIRTUAL TABLE s USING fts5(title, \"the body\" UNINDEXED, tokenize = porter); \
             CREATE VIRTUAL TABLE r USING rtree(id, a, b)",
        );
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("CREATE TABLE \"s\" (\"title\" text, \"the body\" text);"));
    }
}
