//! Shadow tables, in which SQLite's virtual tables keep their rows. SQLite knows them by name
//! alone, and a user's table may have such a name: `notes_content` beside a full-text index that
//! says `content='notes_content'`. In doubt a table counts as ordinary, so that its rows are moved.

use super::other::{OtherKind, OtherObject};
use sql::{closing, tokens};

/// `true` if the virtual table `owner` keeps its rows in the table `name`.
pub fn is_shadow(owner: &OtherObject, name: &str) -> bool {
    let ending = name.strip_prefix(owner.name.as_str()).and_then(|rest| rest.strip_prefix('_'));
    let Some(ending) = ending.filter(|_| owner.kind == OtherKind::VirtualTable) else {
        return false;
    };
    let Some(declared) = declared(&owner.sql) else { return false };
    let mut options = declared.options.iter();
    endings(&declared.module).contains(&ending)
        && !options.any(|(option, _)| replaces(option, ending))
}

/// The place of a virtual table's rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// In tables of its own; this one has a row for each.
    Own(String),
    /// In another table or view (`content=` of FTS): it is an index.
    Of(String),
    /// Nowhere: FTS without content keeps words alone.
    Nowhere,
    /// As its module has it, which is none of SQLite's own.
    Unknown,
}

/// The module of a virtual table, in lower case, and where the table has its rows.
pub fn content(owner: &OtherObject) -> (String, Content) {
    let Some(VirtualTableClause { module, options }) = declared(&owner.sql) else {
        return (String::new(), Content::Unknown);
    };
    let named = options.iter().find(|(option, _)| replaces(option, "content"));
    let content = match (module.as_str(), named) {
        ("fts3" | "fts4" | "fts5", Some((_, name))) if name.is_empty() => Content::Nowhere,
        ("fts3" | "fts4" | "fts5", Some((_, name))) => Content::Of(name.clone()),
        ("fts3" | "fts4" | "fts5", None) => Content::Own(format!("{}_content", owner.name)),
        ("rtree" | "rtree_i32" | "geopoly", _) => Content::Own(format!("{}_rowid", owner.name)),
        // These modules show rows of other tables.
        ("fts4aux" | "fts5vocab" | "fts3tokenize" | "dbstat", _) => Content::Nowhere,
        _ => Content::Unknown,
    };
    (module, content)
}

/// Name endings of the shadow tables of SQLite's own modules.
fn endings(module: &str) -> &'static [&'static str] {
    match module {
        "fts3" => &["content", "segments", "segdir"],
        "fts4" => &["content", "segments", "segdir", "docsize", "stat"],
        "fts5" => &["content", "data", "idx", "docsize", "config"],
        "rtree" | "rtree_i32" | "geopoly" => &["node", "rowid", "parent"],
        _ => &[],
    }
}

/// `true` if a full-text index with this option has no such shadow table.
fn replaces(option: &str, ending: &str) -> bool {
    match ending {
        "content" => "content".starts_with(option),
        "docsize" => "columnsize".starts_with(option) || option == "matchinfo",
        _ => false,
    }
}

struct VirtualTableClause {
    module: String,
    /// The options, in lower case, with their values.
    options: Vec<(String, String)>,
}

fn declared(sql: &str) -> Option<VirtualTableClause> {
    let tokens = tokens(sql);
    let using = tokens.iter().position(|token| token.is_word("USING"))?;
    let module = tokens.get(using + 1)?.name()?.to_ascii_lowercase();
    let open = using + 2;
    let inside = tokens.get(open + 1..closing(&tokens, open)).unwrap_or_default();
    let options = inside.split(|token| token.is(",")).filter_map(|argument| match argument {
        [name, equals, value @ ..] if equals.is("=") => {
            let value = value.first().and_then(|value| value.name().or_else(|| value.text_value()));
            Some((name.name()?.to_ascii_lowercase(), value.unwrap_or_default()))
        }
        _ => None,
    });
    Some(VirtualTableClause { module, options: options.collect() })
}

#[cfg(test)]
mod tests {
    use crate::source::schema;

    #[test]
    fn only_tables_of_a_module_are_shadows() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE VIRTUAL TABLE map USING rtree(id, a, b); CREATE TABLE map_data(x); \
                 CREATE TABLE notes_content(id INTEGER PRIMARY KEY, body TEXT); \
                 CREATE VIRTUAL TABLE notes USING FTS5(body, content = 'notes_content'); \
                 CREATE TABLE old_config(x); CREATE VIRTUAL TABLE old USING fts4(body); \
                 CREATE VIRTUAL TABLE \"a b\" USING fts5(body, columnsize=0); \
                 CREATE TABLE \"a b_docsize\"(x)",
            )
            .unwrap();
        let schema = schema(&connection).unwrap();
        let names: Vec<&str> = schema.tables.iter().map(|table| table.name.as_str()).collect();
        assert_eq!(names, ["a b_docsize", "map_data", "notes_content", "old_config"]);
        let shadows_of = |name: &str| {
            let owner = schema.others.iter().find(|other| other.name == name).unwrap();
            schema.shadows_of(owner)
        };
        assert_eq!(shadows_of("map"), ["map_node", "map_parent", "map_rowid"]);
        let kept = ["notes_config", "notes_data", "notes_docsize", "notes_idx"];
        assert_eq!(shadows_of("notes"), kept);
        assert_eq!(shadows_of("old").len(), 5);
        assert_eq!(shadows_of("a b").len(), 4);
    }
}
