//! Functions that have the same value on both engines, for every value of their arguments.

use super::operand::{EXACT, Operand, OperandKind, literal_text};
use super::parse::{Expression, Literal};
use super::planned::PlannedTable;
use crate::value::PostgresType;

impl PlannedTable<'_> {
    pub fn function(&self, name: &str, arguments: &[Expression]) -> Option<Operand> {
        if let ("length", [Expression::Column(position)]) = (name, arguments)
            && self.fields[*position].postgres_type == PostgresType::Bytea
        {
            let sql = format!("octet_length({})", self.name(*position));
            return Some(Operand::computed(sql, OperandKind::Integer));
        }
        match (name, arguments) {
            ("coalesce", [_, _, ..]) | ("ifnull", [_, _]) => self.first_not_null(arguments),
            ("printf" | "format", [Expression::Literal(Literal::Text(format)), values @ ..]) => {
                self.formatted(format, values)
            }
            ("substr" | "substring", [text, bounds @ ..]) => self.part_of_text(text, bounds),
            ("abs", [number]) => self.absolute(number),
            (_, [text]) => {
                let text = self.text(text)?;
                Some(match name {
                    "length" => Operand::computed(format!("length({text})"), OperandKind::Integer),
                    "lower" | "upper" => {
                        Operand::computed(format!("{name}({text} COLLATE \"C\")"), EXACT)
                    }
                    "trim" => Operand::computed(format!("btrim({text})"), EXACT),
                    "ltrim" | "rtrim" => Operand::computed(format!("{name}({text})"), EXACT),
                    _ => return None,
                })
            }
            _ => None,
        }
    }

    /// `coalesce` of values of one kind.
    fn first_not_null(&self, arguments: &[Expression]) -> Option<Operand> {
        let first = arguments.iter().find(|each| !matches!(each, Expression::Literal(_)))?;
        let kind = self.value(first)?.kind;
        let like = Operand::computed(String::new(), kind);
        let written = arguments.iter().map(|argument| match argument {
            // It would make a number with a fraction of all.
            Expression::Literal(Literal::Decimal(_)) if kind == OperandKind::Integer => None,
            Expression::Literal(literal) => self.literal(&like, literal),
            _ => self.value(argument).filter(|each| each.kind == kind).map(|each| each.sql),
        });
        let written = written.collect::<Option<Vec<String>>>()?;
        Some(Operand::computed(format!("coalesce({})", written.join(", ")), kind))
    }

    /// Texts and whole numbers, joined by `||`: other numbers are written differently.
    pub fn joined(&self, parts: &[Expression]) -> Option<Operand> {
        let written = parts.iter().map(|part| match part {
            Expression::Literal(Literal::Text(text)) => literal_text(text),
            Expression::Literal(Literal::Integer(number)) => literal_text(&number.to_string()),
            _ => self.value(part)?.as_text(),
        });
        let written = written.collect::<Option<Vec<String>>>()?;
        Some(Operand::computed(format!("({})", written.join(" || ")), EXACT))
    }

    /// `substr` from a place that is counted from the start.
    fn part_of_text(&self, text: &Expression, bounds: &[Expression]) -> Option<Operand> {
        let numbers = bounds.iter().map(|bound| match bound {
            Expression::Literal(Literal::Integer(number)) => i32::try_from(*number).ok(),
            _ => None,
        });
        let numbers = numbers.collect::<Option<Vec<i32>>>()?;
        let text = self.text(text)?;
        let sql = match numbers[..] {
            [from] if from > 0 => format!("substr({text}, {from})"),
            // Releases before 14 refuse an end beyond their integers; it is beyond every text too.
            [from, length] if from > 0 && length >= 0 && from.checked_add(length).is_none() => {
                format!("substr({text}, {from})")
            }
            [from, length] if from > 0 && length >= 0 => {
                format!("substr({text}, {from}, {length})")
            }
            _ => return None,
        };
        Some(Operand::computed(sql, EXACT))
    }

    fn absolute(&self, number: &Expression) -> Option<Operand> {
        let Operand { sql, kind, .. } = self.value(number)?;
        let is_short = |position: &usize| {
            let postgres_type = &self.fields[*position].postgres_type;
            matches!(postgres_type, PostgresType::SmallInt | PostgresType::Integer)
        };
        let sql = match (kind, number) {
            // The least number of a shorter type has no positive equal in it.
            (OperandKind::Integer, Expression::Column(position)) if is_short(position) => {
                format!("abs({sql}::bigint)")
            }
            (OperandKind::Integer | OperandKind::Numeric | OperandKind::Double, _) => {
                format!("abs({sql})")
            }
            _ => return None,
        };
        Some(Operand::computed(sql, kind))
    }

    /// `printf` of `%s`, `%d` and `%%`, in which NULL is the empty text or 0. PostgreSQL's `format`
    /// depends on settings, so that no index or generated column takes it.
    fn formatted(&self, format: &str, values: &[Expression]) -> Option<Operand> {
        let (mut parts, mut plain) = (Vec::new(), String::new());
        let (mut signs, mut values) = (format.chars(), values.iter());
        while let Some(sign) = signs.next() {
            let value = match sign {
                '%' => match signs.next()? {
                    's' => format!("coalesce({}, '')", self.value(values.next()?)?.as_text()?),
                    'd' => {
                        let number = self.value(values.next()?)?;
                        let whole = number.kind == OperandKind::Integer;
                        whole.then(|| format!("coalesce({}, 0)::text", number.sql))?
                    }
                    '%' => {
                        plain.push('%');
                        continue;
                    }
                    _ => return None,
                },
                other => {
                    plain.push(other);
                    continue;
                }
            };
            if !plain.is_empty() {
                parts.push(literal_text(&plain)?);
                plain.clear();
            }
            parts.push(value);
        }
        if parts.is_empty() || values.next().is_some() {
            return None;
        }
        if !plain.is_empty() {
            parts.push(literal_text(&plain)?);
        }
        Some(Operand::computed(format!("({})", parts.join(" || ")), EXACT))
    }
}
