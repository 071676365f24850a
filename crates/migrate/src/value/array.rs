//! Arrays from documents of JSON, in PostgreSQL's binary form: dimensions, then the elements in their own
//! forms. Source of the format: array_recv in src/backend/utils/adt/arrayfuncs.c.

use rusqlite::types::ValueRef;

use super::conversion::Conversions;
use super::encode::{FieldSink, TargetField, encode as encode_field, large, unreadable, utf8};
use super::json::{JsonDocument, json_fault};
use super::postgres_type::PostgresType;
use super::unfit::{StorageClass, Unfit};

/// PostgreSQL's limit.
const MOST_DIMENSIONS: usize = 6;

/// Writes an array of such elements; all arrays at one depth have one length.
pub fn encode(
    element: &PostgresType,
    element_oid: u32,
    may_convert: bool,
    value: ValueRef<'_>,
    out: &mut impl FieldSink,
) -> Result<Conversions, Unfit> {
    let ValueRef::Text(bytes) = value else { return Err(unreadable(value)) };
    let text = utf8(bytes)?;
    if let Some(fault) = json_fault(text) {
        return Err(Unfit::Json(fault));
    }
    let document = JsonDocument { rest: text }.skip_blanks();
    if !document.rest.starts_with('[') {
        return Err(unreadable(value));
    }
    let field =
        TargetField { postgres_type: element.clone(), reading: None, not_null: false, may_convert };
    let mut array = ArrayBytes {
        field,
        lengths: Vec::new(),
        has_null: false,
        elements: Vec::new(),
        conversions: Conversions::NONE,
    };
    array.add(document, 0)?;
    array.write(element_oid, out)?;
    Ok(array.conversions)
}

struct ArrayBytes {
    field: TargetField,
    /// Of each dimension.
    lengths: Vec<i32>,
    has_null: bool,
    elements: Vec<u8>,
    conversions: Conversions,
}

impl ArrayBytes {
    /// Adds the array with which `document` begins. Returns what comes after it.
    fn add<'a>(
        &mut self,
        document: JsonDocument<'a>,
        depth: usize,
    ) -> Result<JsonDocument<'a>, Unfit> {
        let is_first = self.lengths.len() == depth;
        if depth == MOST_DIMENSIONS || (is_first && !self.elements.is_empty()) {
            return Err(Unfit::Ragged);
        }
        if is_first {
            self.lengths.push(0);
        }
        let broken = Unfit::Unreadable(StorageClass::Text);
        let mut length = 0_i32;
        let mut inside = document.after("[").ok_or(broken)?;
        let rest = loop {
            match inside.closed("]").ok_or(broken)? {
                Ok(rest) => break rest,
                Err(next) => {
                    let next = next.skip_blanks();
                    let is_array = next.rest.starts_with('[');
                    inside = match is_array && !self.has_documents() {
                        true => self.add(next, depth + 1)?,
                        false if self.lengths.len() > depth + 1 => return Err(Unfit::Ragged),
                        false => self.add_element(next)?,
                    };
                    length = length.checked_add(1).ok_or(Unfit::TooLarge)?;
                }
            }
        };
        if is_first {
            self.lengths[depth] = length;
        } else if self.lengths[depth] != length {
            return Err(Unfit::Ragged);
        }
        Ok(rest)
    }

    /// Inner arrays are elements then.
    fn has_documents(&self) -> bool {
        matches!(self.field.postgres_type, PostgresType::Json | PostgresType::Jsonb)
    }

    fn add_element<'a>(&mut self, document: JsonDocument<'a>) -> Result<JsonDocument<'a>, Unfit> {
        let broken = Unfit::Unreadable(StorageClass::Text);
        let (written, rest) = document.written().ok_or(broken)?;
        let string;
        let value = match written {
            "null" => ValueRef::Null,
            _ if self.has_documents() => ValueRef::Text(written.as_bytes()),
            "true" if self.field.postgres_type == PostgresType::Boolean => ValueRef::Integer(1),
            "false" if self.field.postgres_type == PostgresType::Boolean => ValueRef::Integer(0),
            _ if written.starts_with('"') => {
                (string, _) = JsonDocument { rest: written }.string().ok_or(broken)?;
                ValueRef::Text(string.as_bytes())
            }
            _ => self.number(written).ok_or(broken)?,
        };
        self.has_null |= matches!(value, ValueRef::Null);
        self.conversions =
            self.conversions.and(encode_field(&self.field, value, &mut self.elements)?);
        Ok(rest)
    }

    /// A number as SQLite would hold it. Decimals and texts keep all their digits, and so do numbers that
    /// a REAL cannot hold, which the element's type then judges as written.
    fn number<'a>(&self, written: &'a str) -> Option<ValueRef<'a>> {
        let own = &self.field.postgres_type;
        let keeps_digits =
            own.takes_texts() || matches!(own, PostgresType::Numeric(_) | PostgresType::Money(_));
        let as_written = ValueRef::Text(written.as_bytes());
        if keeps_digits {
            return written.parse::<f64>().ok().map(|_| as_written);
        }
        let is_whole = !written.contains(['.', 'e', 'E']);
        match (written.parse::<i64>(), written.parse::<f64>()) {
            (Ok(number), _) => Some(ValueRef::Integer(number)),
            (Err(_), Ok(number)) if number.is_finite() && !is_whole => Some(ValueRef::Real(number)),
            (Err(_), number) => number.ok().map(|_| as_written),
        }
    }

    fn write(&self, oid: u32, out: &mut impl FieldSink) -> Result<(), Unfit> {
        // An empty array has no dimension.
        let lengths = match self.elements.is_empty() {
            true if self.lengths.len() > 1 => return Err(Unfit::Ragged),
            true => &[][..],
            false => &self.lengths[..],
        };
        let mut bytes = (lengths.len() as i32).to_be_bytes().to_vec();
        bytes.extend_from_slice(&i32::from(self.has_null).to_be_bytes());
        bytes.extend_from_slice(&oid.to_be_bytes());
        for length in lengths {
            bytes.extend_from_slice(&length.to_be_bytes());
            bytes.extend_from_slice(&1_i32.to_be_bytes());
        }
        bytes.extend_from_slice(&self.elements);
        large(out, &bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lengths of the dimensions, and the bytes of the elements.
    fn read(element: &str, text: &str) -> Result<(Vec<i32>, Vec<u8>), Unfit> {
        let mut out = Vec::new();
        let element = element.parse().unwrap();
        encode(&element, 0, true, ValueRef::Text(text.as_bytes()), &mut out)?;
        let word = |at: usize| i32::from_be_bytes(out[at..at + 4].try_into().unwrap());
        let dimensions = word(4) as usize;
        let lengths = (0..dimensions).map(|place| word(16 + 8 * place)).collect();
        Ok((lengths, out[16 + 8 * dimensions..].to_vec()))
    }

    #[test]
    fn dimensions_and_elements_of_documents() {
        let text = |text: &str| [&(text.len() as i32).to_be_bytes(), text.as_bytes()].concat();
        let null = (-1_i32).to_be_bytes().to_vec();
        assert_eq!(read("integer", "[]"), Ok((vec![], vec![])));
        let elements = [text("a"), null, text("é\"]")].concat();
        assert_eq!(read("text", r#" ["a", null ,"\u00e9\"]" ] "#), Ok((vec![3], elements)));
        let (lengths, elements) = read("smallint", "[[1,2,3],[4,5,6]]").unwrap();
        assert_eq!((lengths, elements.len()), (vec![2, 3], 36));
        let (lengths, elements) = read("json", r#"[{"a": [1, 2]}, [3]]"#).unwrap();
        assert_eq!(
            (lengths, elements),
            (vec![2], [text(r#"{"a": [1, 2]}"#), text("[3]")].concat())
        );
        assert_eq!(read("boolean", "[true, 0]").unwrap().0, [2]);
        let written = ["99999999999999999999", "1.10", "1E+2"].map(text).concat();
        assert_eq!(read("text", "[99999999999999999999, 1.10, 1E+2]"), Ok((vec![3], written)));
    }

    #[test]
    fn other_documents_are_refused() {
        for text in [
            "[[1,2],[3]]",
            "[1,[2]]",
            "[[1],2]",
            "[null,[1]]",
            "[[]]",
            "[[],[]]",
            "[[[[[[[1]]]]]]]",
        ] {
            assert_eq!(read("integer", text), Err(Unfit::Ragged), "{text}");
        }
        assert_eq!(read("integer", "[1.5]"), Err(Unfit::Fraction));
        assert_eq!(read("smallint", "[40000]"), Err(Unfit::OutOfRange));
        for text in ["[1e400]", "[99999999999999999999]", "[9007199254740993]"] {
            assert!(read("double precision", text).is_err(), "{text}");
        }
        assert!(matches!(read("integer", "[1"), Err(Unfit::Json(_))));
        for (element, text) in
            [("integer", "{}"), ("integer", "1"), ("text", "[true]"), ("text", "[{}]")]
        {
            assert_eq!(read(element, text), Err(Unfit::Unreadable(StorageClass::Text)), "{text}");
        }
    }
}
