//! Translation of a SQLite condition for PostgreSQL, refused if it might not hold for exactly the
//! same rows. The differences in SQL that both accept:
//!
//! - SQLite compares texts byte by byte (PostgreSQL: collation "C"). NOCASE ignores the case of
//!   ASCII letters, which is `lower()` under "C"; LIKE always does so.
//! - SQLite converts a literal by the column's affinity; only literals that need none are taken.
//! - A decimal literal of up to 15 digits names one float and one `numeric` alike.

use super::glob::regular_expression;
use super::operand::{Operand, OperandKind, comparable, literal_text};
use super::parse::{Expression, Literal};
use super::planned::PlannedTable;

/// First release with IS JSON (`server_version_num`).
const IS_JSON_SINCE: i32 = 160_000;

impl PlannedTable<'_> {
    pub fn condition(&self, expression: &Expression) -> Option<String> {
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
                let not = if *negated { "NOT " } else { "" };
                let sql = match **operand {
                    Expression::Column(column) => self.name(column),
                    _ => self.value(operand)?.sql,
                };
                Some(format!("{sql} IS {not}NULL"))
            }
            Expression::In(operand, list, negated) => self.membership(operand, list, *negated),
            Expression::Between(operand, low, high, negated) => {
                let low = self.comparison(operand, ">=", low)?;
                let high = self.comparison(operand, "<=", high)?;
                let both = format!("{low} AND {high}");
                Some(if *negated { format!("NOT ({both})") } else { both })
            }
            Expression::Glob(operand, pattern, negated) => {
                let (text, pattern) = (self.text(operand)?, regular_expression(pattern)?);
                let operator = if *negated { "!~" } else { "~" };
                Some(format!("{text} COLLATE \"C\" {operator} {}", literal_text(&pattern)?))
            }
            Expression::Is(left, right, negated) => self.identity(left, right, *negated),
            Expression::Like(operand, pattern, escape, negated) => {
                self.likeness(operand, pattern, escape.as_deref(), *negated)
            }
            Expression::Column(column) => {
                let operand = self.column(*column)?;
                (operand.kind == OperandKind::Boolean).then_some(operand.sql)
            }
            Expression::Function(name, arguments) => match (name.as_str(), arguments.as_slice()) {
                ("json_valid", [value]) => self.json_validity(value),
                _ => None,
            },
            Expression::Literal(_) | Expression::Joined(_) => None,
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
        let left = self.operand(left)?;
        let other = self.compared_with(&left, right)?;
        let sql = left.sql;
        let ordered = !matches!(operator, "=" | "<>");
        match left.kind {
            OperandKind::Boolean if ordered => None,
            OperandKind::Text { .. } if ordered => {
                Some(format!("{sql} COLLATE \"C\" {operator} {other}"))
            }
            _ => Some(format!("{sql} {operator} {other}")),
        }
    }

    /// The other side of a comparison.
    fn compared_with(&self, left: &Operand, right: &Expression) -> Option<String> {
        if let Expression::Literal(literal) = right {
            return self.literal(left, literal);
        }
        let right = self.operand(right)?;
        comparable(left.kind, right.kind).then_some(right.sql)
    }

    /// `x IS y`. `IS TRUE` is a test of its own, which only a boolean passes alike.
    fn identity(&self, left: &Expression, right: &Expression, negated: bool) -> Option<String> {
        let left = self.operand(left)?;
        let of_truth = matches!(right, Expression::Literal(Literal::Boolean(_)));
        if of_truth && left.kind != OperandKind::Boolean {
            return None;
        }
        let right = self.compared_with(&left, right)?;
        let not = if negated { "" } else { "NOT " };
        Some(format!("{} IS {not}DISTINCT FROM {right}", left.sql))
    }

    fn json_validity(&self, value: &Expression) -> Option<String> {
        if let Expression::Column(column) = value
            && self.is_json(*column)
        {
            // The type ensures this, except for NULL, for which it is unknown.
            return Some(format!("({} IS NOT NULL OR NULL)", self.name(*column)));
        }
        let text = self.text(value).filter(|_| self.made_for.server_version >= IS_JSON_SINCE)?;
        Some(format!("{text} IS JSON"))
    }

    fn membership(
        &self,
        operand: &Expression,
        list: &[Expression],
        negated: bool,
    ) -> Option<String> {
        let not = if negated { "NOT " } else { "" };
        let operand = self.operand(operand)?;
        let member = |member: &Expression| match member {
            Expression::Literal(literal) => self.literal(&operand, literal),
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
        let operand = self.text(operand)?;
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
    use super::super::planned::MadeFor;
    use super::*;
    use crate::source::{SourceCheck, schema};
    use crate::value::TargetField;

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
        let fields = types.map(field);
        let table = &schema.tables[0];
        let check = SourceCheck { name: None, expression: text.to_owned() };
        PlannedTable { table, fields: &fields, made_for: MadeFor::default() }.check(&check)
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
            ("n >= '0' AND m < '1.5'", "\"n\" >= 0 AND \"m\" < 1.5"),
            ("name IS NOT 'x'", "\"name\" IS DISTINCT FROM 'x'"),
            ("json_valid(name)", "\"name\" IS JSON"),
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
            "n = '1x'",
            "length(name) = '1'",
            "n IS TRUE",
            "substr(name, 0) = 'a'",
            "substr(name, -1) = 'a'",
            "substr(name, n) = 'a'",
            "r || 'x' = 'y'",
            "printf('%5d', n) = '1'",
            "printf('%d', name) = '1'",
            "printf('%s', r) = '1'",
            "coalesce(n, 'x') = 1",
            "coalesce(n, 0.5) = 1",
            "round(r, 2) = 1",
            "kind IS name",
            "day IS date(day)",
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
            "r < n",
            "r = 0.1234567890123456",
            "n = 0x10",
            "day > '2020-01-01'",
            "name GLOB name",
            "name LIKE 'a' || '%'",
            "name LIKE 'x%' ESCAPE 'x'",
            "name LIKE 'a!' ESCAPE '!'",
            "name = 'x' COLLATE NOCASE",
            "\"a b\" > 0",
            "\"a b\" = 2",
            "json_valid(payload)",
            "length(n) = 2",
            "abs(name) > 1",
            "CASE n WHEN 1 THEN 1 END",
            "n > 1)",
        ] {
            assert_eq!(translate(text), None, "{text}");
        }
        let deep = format!("{}n > 1{}", "(".repeat(9999), ")".repeat(9999));
        assert_eq!(translate(&deep), None);
    }
}
