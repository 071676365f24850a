//! A condition of SQLite as PostgreSQL writes it, or nothing if it would not surely hold for exactly
//! the same rows. What makes the difference in SQL that both accept:
//!
//! - SQLite compares texts byte by byte (PostgreSQL: collation "C"), by NOCASE without regard to the
//!   case of ASCII letters, which is `lower()` under "C"; LIKE is always of that kind.
//! - SQLite converts a literal by the column's affinity; only literals that need none are taken.
//! - A decimal literal of up to 15 digits names one float and one `numeric` alike.

use super::parse::{Expression, Literal, parse};
use crate::copy::{EXACT_IN_DOUBLE, Field};
use crate::inspect::{Affinity, Table, quoted};
use crate::mapping::PostgresType;

/// Digits of a decimal number that any 64-bit float keeps.
const EXACT_DIGITS: usize = 15;

/// Translates a condition on the columns of `table`, which get the types in `fields`.
pub fn condition(text: &str, table: &Table, fields: &[Field]) -> Option<String> {
    let translator = Translator { table, fields };
    translator.condition(&parse(text, table)?)
}

struct Translator<'a> {
    table: &'a Table,
    fields: &'a [Field],
}

/// What can be compared with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Integer,
    Numeric,
    Double,
    Boolean,
    Text { ignores_case: bool },
}

/// A value that is compared.
struct Operand {
    sql: String,
    kind: Kind,
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
            // What a type ensures is true of NULL too here, which NOT would turn round.
            Expression::Not(inner) if has_function(inner) => None,
            Expression::Not(inner) => Some(format!("NOT ({})", self.condition(inner)?)),
            Expression::Compare(left, operator, right) => self.comparison(left, operator, right),
            Expression::IsNull(operand, negated) => {
                let Expression::Column(column) = **operand else { return None };
                let not = if *negated { "NOT " } else { "" };
                Some(format!("{} IS {not}NULL", self.name(column)))
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
                let operand = self.column(*column)?;
                (operand.kind == Kind::Boolean).then_some(operand.sql)
            }
            Expression::Function(name, arguments) => match (name.as_str(), arguments.as_slice()) {
                // What the type ensures.
                ("json_valid", [Expression::Column(column)])
                    if matches!(
                        self.fields[*column].postgres_type,
                        PostgresType::Json | PostgresType::Jsonb
                    ) =>
                {
                    Some("true".to_owned())
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
        let of_left = self.operand(left)?;
        let (sql, other) = match right {
            Expression::Literal(literal) => (of_left.sql, self.literal(of_left.kind, literal)?),
            _ => {
                let of_right = self.operand(right)?;
                if !comparable(of_left.kind, of_right.kind) {
                    return None;
                }
                (of_left.sql, of_right.sql)
            }
        };
        let ordered = !matches!(operator, "=" | "<>");
        match of_left.kind {
            Kind::Boolean if ordered => None,
            Kind::Text { .. } if ordered => Some(format!("{sql} COLLATE \"C\" {operator} {other}")),
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
        let operand = self.operand(operand)?;
        let member = |member: &Expression| match member {
            Expression::Literal(literal) => self.literal(operand.kind, literal),
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

    fn name(&self, column: usize) -> String {
        quoted(&self.table.columns[column].name)
    }

    fn operand(&self, expression: &Expression) -> Option<Operand> {
        match expression {
            Expression::Column(column) => self.column(*column),
            Expression::Function(name, arguments) => {
                let [argument] = arguments.as_slice() else { return None };
                self.function(name, argument)
            }
            _ => None,
        }
    }

    fn column(&self, position: usize) -> Option<Operand> {
        let (column, field) = (&self.table.columns[position], &self.fields[position]);
        let is_number =
            matches!(column.affinity, Affinity::Integer | Affinity::Numeric | Affinity::Real);
        let kind = match &field.postgres_type {
            postgres_type if postgres_type.is_integer() && is_number => Kind::Integer,
            PostgresType::Numeric(_) if is_number => Kind::Numeric,
            PostgresType::DoublePrecision if is_number => Kind::Double,
            PostgresType::Boolean if is_number => Kind::Boolean,
            postgres_type if postgres_type.is_text() && column.affinity == Affinity::Text => {
                match column.collation.as_deref() {
                    None => Kind::Text { ignores_case: false },
                    Some("NOCASE") => Kind::Text { ignores_case: true },
                    Some(_) => return None,
                }
            }
            _ => return None,
        };
        let name = self.name(position);
        let sql = match kind {
            Kind::Text { ignores_case: true } => format!("lower({name} COLLATE \"C\")"),
            _ => name,
        };
        Some(Operand { sql, kind })
    }

    /// A column of texts, whatever its collation.
    fn text(&self, expression: &Expression) -> Option<String> {
        let Expression::Column(position) = expression else { return None };
        let (column, field) = (&self.table.columns[*position], &self.fields[*position]);
        let is_text = field.postgres_type.is_text() && column.affinity == Affinity::Text;
        is_text.then(|| self.name(*position))
    }

    fn function(&self, name: &str, argument: &Expression) -> Option<Operand> {
        let exact = Kind::Text { ignores_case: false };
        if name == "length"
            && let Expression::Column(position) = argument
            && self.fields[*position].postgres_type == PostgresType::Bytea
        {
            let sql = format!("octet_length({})", self.name(*position));
            return Some(Operand { sql, kind: Kind::Integer });
        }
        let text = self.text(argument)?;
        let (sql, kind) = match name {
            "length" => (format!("length({text})"), Kind::Integer),
            "lower" | "upper" => (format!("{name}({text} COLLATE \"C\")"), exact),
            "trim" => (format!("btrim({text})"), exact),
            "ltrim" | "rtrim" => (format!("{name}({text})"), exact),
            _ => return None,
        };
        Some(Operand { sql, kind })
    }

    /// A literal that is compared with an operand of this kind.
    fn literal(&self, kind: Kind, literal: &Literal) -> Option<String> {
        match (kind, literal) {
            (Kind::Boolean, Literal::Integer(number @ (0 | 1))) => Some((*number == 1).to_string()),
            (Kind::Boolean, Literal::Boolean(value)) => Some(value.to_string()),
            (Kind::Integer | Kind::Numeric | Kind::Double, Literal::Boolean(value)) => {
                Some(u8::from(*value).to_string())
            }
            (Kind::Integer | Kind::Numeric, Literal::Integer(number)) => Some(number.to_string()),
            (Kind::Double, Literal::Integer(number))
                if number.unsigned_abs() <= EXACT_IN_DOUBLE =>
            {
                Some(number.to_string())
            }
            (Kind::Integer | Kind::Numeric | Kind::Double, Literal::Decimal(written)) => {
                let digits = written.bytes().filter(u8::is_ascii_digit).count();
                (digits <= EXACT_DIGITS).then(|| written.clone())
            }
            (Kind::Text { ignores_case: false }, Literal::Text(text)) => literal_text(text),
            (Kind::Text { ignores_case: true }, Literal::Text(text)) => {
                literal_text(&text.to_ascii_lowercase())
            }
            _ => None,
        }
    }
}

/// Whether a function stands as a condition somewhere in it.
fn has_function(condition: &Expression) -> bool {
    match condition {
        Expression::Function(..) => true,
        Expression::Not(inner) => has_function(inner),
        Expression::And(parts) | Expression::Or(parts) => parts.iter().any(has_function),
        _ => false,
    }
}

fn comparable(left: Kind, right: Kind) -> bool {
    left == right
        || matches!((left, right), (Kind::Integer, Kind::Numeric) | (Kind::Numeric, Kind::Integer))
}

/// A text as a literal of PostgreSQL, whatever `standard_conforming_strings` says.
fn literal_text(text: &str) -> Option<String> {
    if text.contains('\0') {
        return None;
    }
    let doubled = text.replace('\'', "''");
    Some(match doubled.contains('\\') {
        true => format!("E'{}'", doubled.replace('\\', "\\\\")),
        false => format!("'{doubled}'"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::schema;

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
        let field = |name: &str| Field {
            postgres_type: name.parse().unwrap(),
            reading: None,
            not_null: false,
        };
        condition(text, &schema.tables[0], &types.map(field))
    }

    #[test]
    fn what_surely_means_the_same_is_translated() {
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
            ("json_valid(j) OR j IS NULL", "true OR \"j\" IS NULL"),
        ] {
            assert_eq!(translate(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_might_not_is_left_to_people() {
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
            "NOT (json_valid(j) OR n > 1)",
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
