//! Defaults of columns that take numbers from a sequence: the sequences that an expression names, or a
//! function that it calls. No dependency in the catalog leads to them.

use sql::{Token, TokenKind, closing, tokens};
use tokio_postgres::{Client, Row};

use super::matching::MatchedTable;
use crate::Error;
use crate::display::sql_text;

/// Defaults of the tables `$1`, or of their columns' domains, each with the texts of the functions that it
/// calls, apart from PostgreSQL's own and those of extensions, and whether one is volatile.
const DEFAULTS: &str = "\
    SELECT a.attrelid, a.attnum::int, a.attname::text, d.expression, \
        ARRAY(SELECT p.prosrc FROM pg_proc AS p WHERE p.oid = ANY(d.functions)), \
        EXISTS (SELECT FROM pg_proc AS p WHERE p.oid = ANY(d.functions) AND p.provolatile = 'v') \
    FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid \
    LEFT JOIN pg_attrdef AS f ON f.adrelid = a.attrelid AND f.adnum = a.attnum \
    CROSS JOIN LATERAL (SELECT coalesce(pg_get_expr(f.adbin, f.adrelid), \
            pg_get_expr(t.typdefaultbin, 0)) AS expression, \
        ARRAY(SELECT e.refobjid FROM pg_depend AS e \
              WHERE e.refclassid = 'pg_proc'::regclass \
                AND (e.classid, e.objid) IN (('pg_attrdef'::regclass, f.oid), ('pg_type'::regclass, t.oid)) \
                AND NOT EXISTS (SELECT FROM pg_depend AS x WHERE x.classid = 'pg_proc'::regclass \
                                AND x.objid = e.refobjid AND x.deptype = 'e')) AS functions) AS d \
    WHERE a.attrelid = ANY($1) AND a.attnum > 0 AND NOT a.attisdropped \
      AND coalesce(to_jsonb(a) ->> 'attgenerated', '') = '' AND d.expression IS NOT NULL \
      AND (d.functions <> '{}' OR d.expression LIKE '%nextval%')";

/// A default that may take numbers from a sequence.
#[derive(Clone, Debug)]
pub struct ColumnDefault {
    pub table: u32,
    pub number: i32,
    pub column: String,
    /// As the server shows it.
    pub expression: String,
    /// The sequences that it names.
    pub sequences: Vec<u32>,
    /// It asks a sequence, or a function that may do so.
    pub may_number: bool,
}

impl ColumnDefault {
    /// Those of the tables. Needs a transaction.
    pub async fn read_all(client: &Client, matched: &[MatchedTable]) -> Result<Vec<Self>, Error> {
        let tables: Vec<u32> = matched.iter().map(|table| table.oid).collect();
        let failed = Error::postgres("cannot read the target's defaults");
        let mut defaults = Vec::new();
        for row in client.query(DEFAULTS, &[&tables]).await.map_err(failed)? {
            defaults.push(Self::of(client, &row).await?);
        }
        Ok(defaults)
    }

    async fn of(client: &Client, row: &Row) -> Result<Self, Error> {
        let (expression, functions): (String, Vec<String>) = (row.get(3), row.get(4));
        let calls = calls(&expression);
        let asked = !calls.is_empty();
        // What a user's function would do is not known, so that only names in full are looked up.
        let mut names: Vec<String> = match functions.is_empty() {
            true => calls.iter().map(|call| call.argument.to_owned()).collect(),
            false => calls.iter().filter_map(SequenceCall::literal).collect(),
        };
        for text in &functions {
            names.extend(self::calls(text).iter().filter_map(SequenceCall::literal));
        }
        let mut sequences = Vec::new();
        for name in names {
            sequences.extend(oid_of(client, &name).await?);
        }
        Ok(Self {
            table: row.get(0),
            number: row.get(1),
            column: row.get(2),
            may_number: asked || row.get(5),
            expression,
            sequences,
        })
    }

    /// It changes the numbers that the sequence gives.
    pub fn is_computed(&self) -> bool {
        calls(&self.expression).first().is_some_and(|call| !call.is_plain)
    }
}

/// A call of `nextval`.
struct SequenceCall<'a> {
    argument: &'a str,
    tokens: Vec<Token<'a>>,
    /// Its number is the whole value.
    is_plain: bool,
}

impl SequenceCall<'_> {
    /// The text that is its whole argument, apart from casts, as a literal.
    fn literal(&self) -> Option<String> {
        let first = self.tokens.iter().position(|token| !token.is("("))?;
        let text = self.tokens[first].text_value()?;
        self.tokens[first + 1..].iter().all(is_of_cast).then(|| sql_text(&text))
    }
}

fn calls(text: &str) -> Vec<SequenceCall<'_>> {
    let all = tokens(text);
    let begins = |place: &usize| {
        all[*place].is_word("nextval") && all.get(place + 1).is_some_and(|next| next.is("("))
    };
    let call = |place: usize| {
        let (open, close) = (place + 1, closing(&all, place + 1));
        let end = all.get(close)?;
        let before = |token: &Token<'_>| token.is("(") || token.is_word("coalesce");
        Some(SequenceCall {
            argument: &text[all[open].end()..end.start],
            tokens: all[open + 1..close].to_vec(),
            is_plain: all[..place].iter().all(before)
                && all[close..].iter().all(|token| is_of_cast(token) || token.is(",")),
        })
    };
    (0..all.len()).filter(begins).filter_map(call).collect()
}

/// A part of `::type(1, 2)`, or a bracket around a call.
fn is_of_cast(token: &Token<'_>) -> bool {
    match token.kind {
        TokenKind::Symbol => [":", "(", ")"].contains(&token.text),
        kind => kind != TokenKind::Text,
    }
}

/// The relation of this name, an expression without functions of users; `None` if the server finds none.
async fn oid_of(client: &Client, name: &str) -> Result<Option<u32>, Error> {
    let failed = || Error::postgres("cannot read the target's sequences");
    let begin = "SAVEPOINT crossover_name; SET LOCAL transaction_read_only = on";
    client.batch_execute(begin).await.map_err(failed())?;
    let found = client.query_one(&format!("SELECT ({name})::text::regclass::oid"), &[]).await;
    let end = "ROLLBACK TO SAVEPOINT crossover_name; RELEASE SAVEPOINT crossover_name";
    client.batch_execute(end).await.map_err(failed())?;
    Ok(found.ok().and_then(|row| row.get(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_found_with_their_arguments() {
        let found = |text: &str| {
            let calls = calls(text);
            let calls =
                calls.iter().map(|call| (call.argument.to_owned(), call.literal(), call.is_plain));
            calls.collect::<Vec<_>>()
        };
        let literal = "nextval('a'::text)";
        assert_eq!(found(literal), [("'a'::text".to_owned(), Some("'a'".to_owned()), true)]);
        let cast = found("(nextval((('p'::text || 's'::text))::regclass))::numeric(10,0)");
        assert_eq!(cast, [("(('p'::text || 's'::text))::regclass".to_owned(), None, true)]);
        assert!(!found("(- nextval('s'::regclass))")[0].2);
        assert!(!found("(nextval('s'::regclass) + 1)")[0].2);
        assert_eq!(found("SELECT NEXTVAL( '\"s\"' ::regclass)")[0].1.as_deref(), Some("'\"s\"'"));
        assert!(found("'nextval(1)'").is_empty() && found("nextval('s'").is_empty());
    }
}
