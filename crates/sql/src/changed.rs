//! Tables that a statement inserts into, updates or deletes from, as its text names them.

use crate::token::{Token, TokenKind, tokens};

/// A table that a statement changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedTable {
    /// Without its schema.
    pub name: String,
    /// The columns that an INSERT names; none where it names none, or the statement is another.
    pub columns: Option<Vec<String>>,
}

/// The tables that `sql` changes; what triggers and foreign keys change besides is not in its text.
pub fn changed_tables(sql: &str) -> Vec<ChangedTable> {
    let tokens = tokens(sql);
    let mut found = Vec::new();
    for place in 0..tokens.len() {
        let Some(after) = target(&tokens, place) else { continue };
        let Some((name, next)) = name_at(&tokens, after) else { continue };
        let inserts = tokens.get(after - 1).is_some_and(|token| token.is_word("into"));
        let columns = inserts.then(|| columns_at(&tokens, next)).flatten();
        let table = ChangedTable { name, columns };
        if !found.contains(&table) {
            found.push(table);
        }
    }
    found
}

/// The place behind INTO, UPDATE or DELETE FROM at `place`, where a table's name stands.
fn target(tokens: &[Token<'_>], place: usize) -> Option<usize> {
    let is = |place: usize, word: &str| tokens.get(place).is_some_and(|one| one.is_word(word));
    let before = |word: &str| place.checked_sub(1).is_some_and(|before| is(before, word));
    if is(place, "into") {
        return Some(place + 1);
    }
    let only = |place: usize| if is(place, "only") { place + 1 } else { place };
    if is(place, "delete") && is(place + 1, "from") {
        return Some(only(place + 2));
    }
    // `ON CONFLICT DO UPDATE`, `FOR UPDATE`, `FOR NO KEY UPDATE`, `ON UPDATE`, and that of MERGE.
    let is_part = ["do", "for", "key", "on", "then"].into_iter().any(before);
    (is(place, "update") && !is_part).then(|| match is(place + 1, "or") {
        true => place + 3,
        false => only(place + 1),
    })
}

/// The last part of the name at `place`, and the place behind it.
fn name_at(tokens: &[Token<'_>], mut place: usize) -> Option<(String, usize)> {
    let mut name = tokens.get(place)?.name()?;
    while tokens.get(place + 1).is_some_and(|token| token.is(".")) {
        place += 2;
        name = tokens.get(place)?.name()?;
    }
    Some((name, place + 1))
}

/// The names in the brackets at `place`, perhaps behind an alias.
fn columns_at(tokens: &[Token<'_>], mut place: usize) -> Option<Vec<String>> {
    if tokens.get(place).is_some_and(|token| token.is_word("as")) {
        place += 2;
    }
    let opens = tokens.get(place)?.is("(");
    let inside = tokens.get(place + 1..).filter(|_| opens)?;
    let first = inside.first()?;
    let reads = ["select", "values", "with"].into_iter().any(|word| first.is_word(word));
    let names = inside.iter().take_while(|token| !token.is(")"));
    let names = names.filter(|token| token.kind != TokenKind::Symbol).filter_map(Token::name);
    (!reads).then(|| names.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(sql: &str) -> Vec<String> {
        changed_tables(sql).into_iter().map(|table| table.name).collect()
    }

    #[test]
    fn tables_are_found_behind_the_words_that_change_them() {
        assert_eq!(names("DELETE FROM orders WHERE id IN (SELECT id FROM old)"), ["orders"]);
        assert_eq!(names("UPDATE OR IGNORE main.\"the queue\" SET a = 1"), ["the queue"]);
        assert_eq!(names("UPDATE ONLY q AS x SET a = 1 FROM r"), ["q"]);
        assert_eq!(
            names("WITH gone AS (DELETE FROM a RETURNING *) INSERT INTO b SELECT * FROM gone"),
            ["a", "b"]
        );
        assert_eq!(names("INSERT INTO t VALUES (1) ON CONFLICT (id) DO UPDATE SET n = 2"), ["t"]);
        assert!(names("SELECT * FROM t FOR UPDATE -- UPDATE t").is_empty());
        assert!(names("INSERT INTO").is_empty());
    }

    #[test]
    fn an_insertion_names_its_columns_or_none() {
        let columns = |sql| changed_tables(sql)[0].columns.clone();
        let named = Some(vec!["a".to_owned(), "B".to_owned()]);
        assert_eq!(columns("INSERT INTO t (a, \"B\") VALUES (1, 2)"), named);
        assert_eq!(columns("INSERT INTO t AS x (a, \"B\") VALUES (1, 2)"), named);
        assert_eq!(columns("INSERT INTO t VALUES (1)"), None);
        assert_eq!(columns("INSERT INTO t (SELECT 1)"), None);
        assert_eq!(columns("DELETE FROM t"), None);
        assert_eq!(columns("INSERT INTO t ("), None);
    }
}
