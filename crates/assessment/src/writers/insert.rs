//! An INSERT statement by its tokens: its table, the columns that it gives, and the values of its rows.

use migrate::{Rowid, SourceSchema, SourceTable};
use sql::{Token, TokenKind, closing};

/// An INSERT of rows of values without a rule for conflicts.
pub(super) struct Insert<'a> {
    pub table: &'a SourceTable,
    /// The columns that it gives, in its order.
    columns: Vec<usize>,
    /// Of each row the first and last token of each value; no row where a query gives them.
    pub rows: Vec<Vec<(usize, usize)>>,
}

impl<'a> Insert<'a> {
    pub fn read(all: &[Token<'_>], schema: &'a SourceSchema) -> Option<Self> {
        // OR IGNORE, OR REPLACE and ON CONFLICT say what becomes of the same value.
        let begins = |place: usize, word: &str| all.get(place).is_some_and(|one| one.is_word(word));
        if !begins(0, "insert") || !begins(1, "into") || has_conflict_rule(all) {
            return None;
        }
        let table = schema.table(&all.get(2)?.name()?)?;
        let mut place = 3;
        let columns = match all.get(place)?.is("(") {
            true => {
                let end = closing(all, place);
                let names = all[place + 1..end].iter().filter_map(Token::name);
                place = end + 1;
                names.map(|name| table.column(&name)).collect::<Option<Vec<usize>>>()?
            }
            false => (0..table.columns.len()).collect(),
        };
        let mut rows = Vec::new();
        if all.get(place)?.is_word("values") {
            place += 1;
            while all.get(place).is_some_and(|token| token.is("(")) {
                let end = closing(all, place);
                rows.push(values(all, place, end));
                place = end + 1;
                place += usize::from(all.get(place).is_some_and(|token| token.is(",")));
            }
        }
        Some(Self { table, columns, rows })
    }

    /// The unique keys of which it gives all columns.
    pub fn given_keys(&self) -> Vec<Vec<usize>> {
        let table = self.table;
        let own = match table.rowid {
            Rowid::Alias(column) => vec![column],
            _ => table.primary_key.clone(),
        };
        let unique = table.indexes.iter().filter(|index| index.unique);
        let mut keys: Vec<Vec<usize>> =
            unique.filter_map(|index| index.columns()).chain([own]).collect();
        keys.retain(|key| !key.is_empty() && key.iter().all(|own| self.columns.contains(own)));
        keys
    }

    /// A column's value, where it is one token.
    fn only_token<'t>(
        &self,
        column: usize,
        row: &[(usize, usize)],
        all: &[Token<'t>],
    ) -> Option<Token<'t>> {
        let place = self.columns.iter().position(|own| *own == column)?;
        let (first, last) = *row.get(place)?;
        all.get(first).filter(|_| first == last).copied()
    }

    pub fn is_null(&self, column: usize, row: &[(usize, usize)], all: &[Token<'_>]) -> bool {
        self.only_token(column, row, all).is_some_and(|token| token.is_word("null"))
    }

    /// A column's value that may be another one, with its column: a literal or parameter that neither
    /// refers to another row nor is under a CHECK.
    pub fn free_value<'t>(
        &self,
        column: usize,
        row: &[(usize, usize)],
        all: &[Token<'t>],
    ) -> Option<(usize, Token<'t>)> {
        let table = self.table;
        let name = &table.columns.get(column)?.name;
        let refers = table.foreign_keys.iter().any(|key| key.columns.contains(&column));
        let is_checked = table.checks.iter().any(|one| one.expression.contains(name.as_str()));
        let token = self.only_token(column, row, all)?;
        // A number or text is no UUID for PostgreSQL.
        let is_uuid = table.columns[column].declared_type.eq_ignore_ascii_case("uuid");
        let is_value = !is_uuid
            && matches!(token.kind, TokenKind::Parameter | TokenKind::Text | TokenKind::Number);
        (is_value && !refers && !is_checked).then_some((column, token))
    }
}

fn has_conflict_rule(all: &[Token<'_>]) -> bool {
    all.windows(2).any(|pair| pair[0].is_word("on") && pair[1].is_word("conflict"))
}

/// The first and last token of each value between two brackets.
fn values(all: &[Token<'_>], open: usize, close: usize) -> Vec<(usize, usize)> {
    let (mut found, mut first, mut place) = (Vec::new(), open + 1, open + 1);
    while place < close {
        if all[place].is("(") {
            place = closing(all, place);
        } else if all[place].is(",") {
            found.push((first, place - 1));
            first = place + 1;
        }
        place += 1;
    }
    if first < close {
        found.push((first, close - 1));
    }
    found
}
