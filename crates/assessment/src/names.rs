//! QuotedNames on both engines. SQLite takes `Orders`, `orders` and `ORDERS` for the same table;
//! PostgreSQL folds what is not quoted to lower case, and a moved table keeps its name exactly. So
//! names of the schema are quoted as declared, which both engines understand.

use std::collections::HashMap;

use migrate::SourceSchema;

use sql::{Token, TokenKind, rewritten};

/// Words of the grammar that may be names of columns too: as a word they are left alone.
const GRAMMAR: &str = " \
    all and any as asc between both by case cast check collate column constraint cross \
    current current_date current_time current_timestamp default desc distinct else end \
    escape except exclude exists explain false filter first following for foreign from full \
    glob group groups having in index indexed inner interval intersect into is isnull join \
    key last lateral left like limit match materialized natural no not nothing notnull null \
    nulls offset on or order others outer over partition plan preceding primary query range \
    recursive regexp replace right row rows select set some table then ties to true \
    unbounded union unique using values view when where window with without ";

/// Whether a name, in lower case, is a keyword of SQLite too.
pub fn is_grammar(name: &str) -> bool {
    GRAMMAR.contains(&format!(" {name} "))
}

/// How the schema's tables and columns are declared.
pub struct QuotedNames {
    /// By lower case; none where two declarations differ.
    declared: HashMap<String, Option<String>>,
}

impl QuotedNames {
    /// The names of a schema.
    pub fn of(schema: &SourceSchema) -> Self {
        let mut declared: HashMap<String, Option<String>> = HashMap::new();
        for table in &schema.tables {
            let columns = table.columns.iter().map(|column| &column.name);
            for name in std::iter::once(&table.name).chain(columns) {
                declared
                    .entry(name.to_lowercase())
                    .and_modify(|known| *known = known.take().filter(|known| known == name))
                    .or_insert_with(|| Some(name.clone()));
            }
        }
        Self { declared }
    }

    /// `sql` with every name of the schema written as PostgreSQL needs it.
    pub fn quoted(&self, sql: &str) -> String {
        rewritten(sql, |token, next| {
            let called = next.is_some_and(|next| next.is("("));
            self.one(token, called)
        })
    }

    /// The token as it has to be, where it must change.
    fn one(&self, token: &Token<'_>, called: bool) -> Option<String> {
        let written = token.name()?;
        let lower = written.to_lowercase();
        let declared = self.declared.get(&lower);
        match token.kind {
            TokenKind::Word => {
                let in_grammar = GRAMMAR.contains(&format!(" {lower} "));
                let declared = declared?.as_deref().filter(|_| !in_grammar && !called)?;
                (declared != lower).then(|| quote(declared))
            }
            // Backticks and brackets are SQLite's; its quoted names ignore case too.
            _ => match declared {
                Some(Some(declared)) => Some(quote(declared)),
                _ if token.text.starts_with('"') => None,
                _ => Some(quote(&written)),
            },
        }
    }
}

fn quote(name: &str) -> String {
    connect::sqlite::quote_identifier(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(sql: &str) -> QuotedNames {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        connection.execute_batch(sql).unwrap();
        QuotedNames::of(&migrate::schema(&connection).unwrap())
    }

    #[test]
    fn names_are_quoted_as_declared_and_nothing_else_is() {
        let names = names(
            "CREATE TABLE Orders(OrderId INTEGER, \"Order Date\" TEXT, total, \"Desc\", \
             \"Count\"); CREATE TABLE items(orderid, Total)",
        );
        for (sql, expected) in [
            (
                "select orders.[order date] from ORDERS where `TOTAL` > 'Orders'",
                "select \"Orders\".\"Order Date\" from \"Orders\" where \"TOTAL\" > 'Orders'",
            ),
            ("SELECT count(*), Count FROM Orders ORDER BY 1 DESC -- Orders", {
                "SELECT count(*), \"Count\" FROM \"Orders\" ORDER BY 1 DESC -- Orders"
            }),
            // Declared in two ways: the writer has to say which.
            ("SELECT OrderId, Total FROM items", "SELECT OrderId, Total FROM items"),
            ("SELECT \"desc\" AS \"My Name\" FROM x", "SELECT \"Desc\" AS \"My Name\" FROM x"),
        ] {
            assert_eq!(names.quoted(sql), expected);
        }
    }
}
