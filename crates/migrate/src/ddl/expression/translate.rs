//! Translation of a SQLite condition for PostgreSQL, refused if it might not hold for exactly the
//! same rows. The differences in SQL that both accept:
//!
//! - SQLite compares texts byte by byte (PostgreSQL: collation "C"). NOCASE ignores the case of
//!   ASCII letters, which is `lower()` under "C"; LIKE always does so.
//! - SQLite converts a literal by the column's affinity; only literals that need none are taken.
//! - A decimal literal of up to 15 digits names one float and one `numeric` alike.

use super::operand::{OperandKind, Operands, comparable, literal_text};
use super::parse::{Expression, parse};
use crate::source::SourceTable;
use crate::value::TargetField;

/// Translates a condition on the columns of `table`, which get the types in `fields`.
pub fn condition(text: &str, table: &SourceTable, fields: &[TargetField]) -> Option<String> {
    let translator = Translator { operands: Operands { table, fields } };
    translator.condition(&parse(text, table)?)
}

struct Translator<'a> {
    operands: Operands<'a>,
}

impl Translator<'_> {
    fn condition(&self, expression: &Expression) -> Option<String> {
        match expression {
            Expression::And(parts) => {
                let parts: Option<Vec<String>> =
                    parts.iter().map(|part| self.nested(part)).collect();
                Some(parts?.join(" AND "))
            }
            Expression::Or(parts) => {
                let parts: Option<Vec<String>> =
                    parts.iter().map(|part| self.nested(part)).collect();
                Some(parts?.join(" OR "))
            }
            Expression::Not(inner) => Some(format!("NOT ({})", self.condition(inner)?)),
            Expression::Compare(left, operator, right) => self.comparison(left, operator, right),
            Expression::IsNull(operand, negated) => {
                let Expression::Column(column) = **operand else { return None };
                let not = if *negated { "NOT " } else { "" };
                Some(format!("{} IS {not}NULL", self.operands.name(column)))
            }
            Expression::In(operand, list, negated) => self.membership(operand, list, *negated),
            Expression::Between(operand, low, high, negated) => {
                let low = self.comparison(operand, ">=", low)?;
                let high = self.comparison(operand, "<=", high)?;
                let both = format!("{low} AND {high}");
                Some(if *negated { format!("NOT ({both})") } else { both })
            }
            Expression::Like(operand, pattern, escape, negated) => {
                self.likeness(operand, pattern, escape.as_deref(), *negated)
            }
            Expression::Column(column) => {
                let operand = self.operands.column(*column)?;
                (operand.kind == OperandKind::Boolean).then_some(operand.sql)
            }
            Expression::Function(name, arguments) => match (name.as_str(), arguments.as_slice()) {
                // The type ensures this, except for NULL, for which it is unknown.
                ("json_valid", [Expression::Column(column)]) => {
                    let name = self.operands.name(*column);
                    let is_json = self.operands.is_json(*column);
                    is_json.then(|| format!("({name} IS NOT NULL OR NULL)"))
                }
                _ => None,
            },
            Expression::Literal(_) => None,
        }
    }

    /// In brackets where it joins others.
    fn nested(&self, part: &Expression) -> Option<String> {
        let sql = self.condition(part)?;
        let joins =
            matches!(part, Expression::And(_) | Expression::Or(_) | Expression::Between(..));
        Some(if joins { format!("({sql})") } else { sql })
    }

    fn comparison(&self, left: &Expression, operator: &str, right: &Expression) -> Option<String> {
        if let (Expression::Literal(literal), operand) = (left, right)
            && !matches!(operand, Expression::Literal(_))
        {
            let mirrored = match operator {
                "<" => ">",
                "<=" => ">=",
                ">" => "<",
                ">=" => "<=",
                same => same,
            };
            return self.comparison(operand, mirrored, &Expression::Literal(literal.clone()));
        }
        let of_left = self.operands.operand(left)?;
        let (sql, other) = match right {
            Expression::Literal(literal) => {
                (of_left.sql, self.operands.literal(of_left.kind, literal)?)
            }
            _ => {
                let of_right = self.operands.operand(right)?;
                if !comparable(of_left.kind, of_right.kind) {
                    return None;
                }
                (of_left.sql, of_right.sql)
            }
        };
        let ordered = !matches!(operator, "=" | "<>");
        match of_left.kind {
            OperandKind::Boolean if ordered => None,
            OperandKind::Text { .. } if ordered => {
                Some(format!("{sql} COLLATE \"C\" {operator} {other}"))
            }
            _ => Some(format!("{sql} {operator} {other}")),
        }
    }

    fn membership(
        &self,
        operand: &Expression,
        list: &[Expression],
        negated: bool,
    ) -> Option<String> {
        let not = if negated { "NOT " } else { "" };
        let operand = self.operands.operand(operand)?;
        let member = |member: &Expression| match member {
            Expression::Literal(literal) => self.operands.literal(operand.kind, literal),
            _ => None,
        };
        let members: Option<Vec<String>> = list.iter().map(member).collect();
        Some(format!("{} {not}IN ({})", operand.sql, members?.join(", ")))
    }

    fn likeness(
        &self,
        operand: &Expression,
        pattern: &str,
        escape: Option<&str>,
        negated: bool,
    ) -> Option<String> {
        let operand = self.operands.text(operand)?;
        let escape = escape.unwrap_or_default();
        // A letter as escape would change with the pattern's case.
        let one_sign = escape.chars().count() <= 1 && !escape.contains(char::is_alphanumeric);
        let ends_whole = escape.is_empty() || !pattern.ends_with(escape);
        if !one_sign || !ends_whole {
            return None;
        }
        let not = if negated { "NOT " } else { "" };
        let (pattern, escape) =
            (literal_text(&pattern.to_ascii_lowercase())?, literal_text(escape)?);
        Some(format!("lower({operand} COLLATE \"C\") {not}LIKE {pattern} ESCAPE {escape}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::schema;

    fn translate(text: &str) -> Option<String> {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE TABLE t(n INT, name TEXT, \"a b\" BOOLEAN, r REAL, m DECIMAL(8,2), \
                 kind VARCHAR(9) COLLATE NOCASE, payload BLOB, code STRING, j JSON, day DATE)",
            )
            .unwrap();
        let schema = schema(&connection).unwrap();
        let types = [
            "bigint",
            "text",
            "boolean",
            "double precision",
            "numeric(8,2)",
            "varchar(9)",
            "bytea",
            "text",
            "jsonb",
            "date",
        ];
        let field = |name: &str| TargetField {
            postgres_type: name.parse().unwrap(),
            reading: None,
            not_null: false,
            may_convert: false,
        };
        condition(text, &schema.tables[0], &types.map(field))
    }

    #[test]
    fn conditions_with_equal_meaning_are_translated() {
        for (text, expected) in [
            ("n IS NOT NULL", "\"n\" IS NOT NULL"),
            ("N > -3 and name = 'it''s'", "\"n\" > -3 AND \"name\" = 'it''s'"),
            ("\"a b\" = 1", "\"a b\" = true"),
            ("[a b] in (0, 1)", "\"a b\" IN (false, true)"),
            ("\"a b\"", "\"a b\""),
            ("name notnull", "\"name\" IS NOT NULL"),
            ("name > 'x'", "\"name\" COLLATE \"C\" > 'x'"),
            ("n > 0 OR name IS NULL", "\"n\" > 0 OR \"name\" IS NULL"),
            ("(n > 0 OR n = -9) AND NOT t.n = 7", "(\"n\" > 0 OR \"n\" = -9) AND NOT (\"n\" = 7)"),
            ("r = 1", "\"r\" = 1"),
            ("0.5 <= r", "\"r\" >= 0.5"),
            ("m BETWEEN 0 AND 10.25", "\"m\" >= 0 AND \"m\" <= 10.25"),
            ("m < n", "\"m\" < \"n\""),
            ("length(name) <= 10", "length(\"name\") <= 10"),
            ("length(payload) = 16", "octet_length(\"payload\") = 16"),
            ("trim(name) <> ''", "btrim(\"name\") <> ''"),
            ("upper(name) = 'A'", "upper(\"name\" COLLATE \"C\") = 'A'"),
            ("kind IN ('New', 'old')", "lower(\"kind\" COLLATE \"C\") IN ('new', 'old')"),
            ("name LIKE 'A%'", "lower(\"name\" COLLATE \"C\") LIKE 'a%' ESCAPE ''"),
            (
                "name NOT LIKE '!_%' ESCAPE '!'",
                "lower(\"name\" COLLATE \"C\") NOT LIKE '!_%' ESCAPE '!'",
            ),
            ("name <> '\\'", "\"name\" <> E'\\\\'"),
            ("json_valid(j) OR j IS NULL", "(\"j\" IS NOT NULL OR NULL) OR \"j\" IS NULL"),
            ("NOT (json_valid(j) OR n > 1)", "NOT ((\"j\" IS NOT NULL OR NULL) OR \"n\" > 1)"),
        ] {
            assert_eq!(translate(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn conditions_with_doubtful_meaning_are_not_translated() {
        for text in [
            "",
            "n",
            "n = '1'",
            "name = 1",
            "code = '007'",
            "other = 1",
            "name = \"x\"",
            "n < 1 < 2",
            "n > 1 = 0",
            "n + 1 > 0",
            "n IN (SELECT 1)",
            "n IN (1, NULL)",
            "n = NULL",
            "n IS 1",
            "r < n",
            "r = 0.1234567890123456",
            "n = 0x10",
            "day > '2020-01-01'",
            "name GLOB 'a*'",
            "name LIKE 'a' || '%'",
            "name LIKE 'x%' ESCAPE 'x'",
            "name LIKE 'a!' ESCAPE '!'",
            "name = 'x' COLLATE NOCASE",
            "\"a b\" > 0",
            "\"a b\" = 2",
            "json_valid(name)",
            "length(n) = 2",
            "abs(n) > 1",
            "CASE n WHEN 1 THEN 1 END",
            "n > 1)",
        ] {
            assert_eq!(translate(text), None, "{text}");
        }
        let deep = format!("{}n > 1{}", "(".repeat(9999), ")".repeat(9999));
        assert_eq!(translate(&deep), None);
    }
}
