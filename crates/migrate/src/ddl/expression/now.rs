//! Current moment as SQLite's defaults write it, and its equal in PostgreSQL.

use crate::value::PostgresType;
use sql::{TokenKind, tokens};

/// UTC, as SQLite has it.
const UTC: &str = "(now() AT TIME ZONE 'UTC')";
/// Seconds since 1970, with their fraction.
const EPOCH: &str = "extract(epoch FROM now())";

/// A default that is the current moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Now {
    form: NowForm,
    /// In the time zone of the machine, which PostgreSQL's session may not share.
    pub is_local: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum NowForm {
    /// A text of this pattern of `to_char`, made of these parts of a moment.
    Written {
        pattern: String,
        date: bool,
        time: bool,
    },
    Seconds,
    Milliseconds,
    JulianDay,
}

/// Other ways to write numbers of now, without blanks and outer brackets.
const NUMBERS: [(&str, NowForm); 11] = [
    ("strftime('%s','now')", NowForm::Seconds),
    ("cast(strftime('%s','now')asinteger)", NowForm::Seconds),
    ("cast(strftime('%s','now')asint)", NowForm::Seconds),
    ("unixepoch()", NowForm::Seconds),
    ("unixepoch('now')", NowForm::Seconds),
    ("strftime('%s','now')*1000", NowForm::Milliseconds),
    ("unixepoch()*1000", NowForm::Milliseconds),
    ("cast(unixepoch('subsec')*1000asinteger)", NowForm::Milliseconds),
    ("cast(unixepoch('subsecond')*1000asinteger)", NowForm::Milliseconds),
    ("julianday('now')", NowForm::JulianDay),
    ("julianday()", NowForm::JulianDay),
];

/// Reads a default; `None` if it is none of the usual ways to write the current moment.
pub fn now(default: &str) -> Option<Now> {
    let written = without_blanks(default);
    if let Some((_, form)) = NUMBERS.iter().find(|(known, _)| *known == written) {
        return Some(Now { form: form.clone(), is_local: false });
    }
    let is_local = written.ends_with("'now','localtime')");
    let plain = written.replace(",'localtime')", ")");
    let format = match plain.as_str() {
        "current_timestamp" | "datetime('now')" | "datetime()" => "%Y-%m-%d %H:%M:%S".to_owned(),
        "current_date" | "date('now')" | "date()" => "%Y-%m-%d".to_owned(),
        "current_time" | "time('now')" | "time()" => "%H:%M:%S".to_owned(),
        _ => {
            let tokens = tokens(default);
            let format = tokens.iter().find_map(|token| token.text_value())?;
            let quoted = format!("strftime('{}','now')", format.replace('\'', "''"));
            (plain == quoted).then_some(format)?
        }
    };
    Some(Now { form: written_form(&format)?, is_local })
}

/// A default with the blanks between its tokens, its outer brackets and the case of its words gone.
pub fn without_blanks(default: &str) -> String {
    let tokens = tokens(default);
    let parts = tokens.iter().map(|token| match token.kind {
        TokenKind::Word => token.text.to_ascii_lowercase(),
        _ => token.text.to_owned(),
    });
    let written = parts.collect::<String>();
    let inner = written.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let balanced = |text: &&str| !text.contains(['(', ')']) || text.ends_with(')');
    inner.filter(balanced).map_or(written.clone(), str::to_owned)
}

/// The pattern of `to_char` for a format of `strftime`.
fn written_form(format: &str) -> Option<NowForm> {
    let (mut pattern, mut plain) = (String::new(), String::new());
    let (mut date, mut time) = (false, false);
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            plain.push(character);
            continue;
        }
        let (part, of_date) = match characters.next()? {
            'Y' => ("YYYY", true),
            'm' => ("MM", true),
            'd' => ("DD", true),
            'j' => ("DDD", true),
            'H' => ("HH24", false),
            'M' => ("MI", false),
            'S' => ("SS", false),
            'f' => ("SS.MS", false),
            _ => return None,
        };
        date |= of_date;
        time |= !of_date;
        pattern.push_str(&literal_part(&plain)?);
        plain.clear();
        pattern.push_str(part);
    }
    pattern.push_str(&literal_part(&plain)?);
    Some(NowForm::Written { pattern, date, time })
}

/// Letters would be read as a pattern.
fn literal_part(plain: &str) -> Option<String> {
    match plain {
        _ if plain.contains(['"', '\\', '\'']) => None,
        _ if plain.contains(char::is_alphanumeric) => Some(format!("\"{plain}\"")),
        _ => Some(plain.to_owned()),
    }
}

impl Now {
    /// The moment as a value of this type, if it has one.
    pub fn expression(&self, postgres_type: &PostgresType) -> Option<String> {
        let base = if self.is_local { "localtimestamp" } else { UTC };
        let number = match &self.form {
            NowForm::Written { pattern, date, time } => {
                return written(base, pattern, (*date, *time), self.is_local, postgres_type);
            }
            NowForm::Seconds => format!("floor({EPOCH})::bigint"),
            NowForm::Milliseconds => format!("floor({EPOCH} * 1000)::bigint"),
            NowForm::JulianDay => format!("{EPOCH} / 86400.0 + 2440587.5"),
        };
        let is_whole = self.form != NowForm::JulianDay;
        match postgres_type {
            PostgresType::BigInt => is_whole.then_some(number),
            // Until 2038.
            PostgresType::Integer => (self.form == NowForm::Seconds).then_some(number),
            PostgresType::DoublePrecision | PostgresType::Numeric(None) => Some(number),
            PostgresType::Text | PostgresType::Varchar(None) if is_whole => {
                Some(format!("({number})::text"))
            }
            _ => None,
        }
    }
}

/// A text of a moment, or the moment itself where the column holds moments.
fn written(
    base: &str,
    pattern: &str,
    (date, time): (bool, bool),
    is_local: bool,
    postgres_type: &PostgresType,
) -> Option<String> {
    match postgres_type {
        PostgresType::Timestamp(_) if date && time => Some(base.to_owned()),
        PostgresType::Timestamp(_) | PostgresType::Date if date => Some(format!("{base}::date")),
        PostgresType::TimestampTz(_) if is_local => None,
        PostgresType::TimestampTz(_) if date && time => Some("now()".to_owned()),
        PostgresType::TimestampTz(_) if date => {
            Some(format!("{base}::date::timestamp AT TIME ZONE 'UTC'"))
        }
        PostgresType::Time(_) if time => Some(format!("{base}::time")),
        PostgresType::Text | PostgresType::Citext | PostgresType::Varchar(None) => {
            Some(format!("to_char({base}, '{pattern}')"))
        }
        // HH24 and DDD are the only parts that are written shorter than they are named.
        PostgresType::Varchar(Some(length)) | PostgresType::Char(length)
            if pattern.chars().count() <= *length as usize =>
        {
            Some(format!("to_char({base}, '{pattern}')"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_ways_to_write_now_are_known() {
        let of = |default: &str, postgres_type: &str| {
            now(default)?.expression(&postgres_type.parse().unwrap())
        };
        let seconds = "floor(extract(epoch FROM now()))::bigint";
        for (default, postgres_type, expected) in [
            ("strftime( '%s', 'now' )", "bigint", Some(seconds)),
            ("(UNIXEPOCH())", "integer", Some(seconds)),
            ("unixepoch()", "boolean", None),
            ("CURRENT_TIMESTAMP", "timestamptz", Some("now()")),
            ("CURRENT_TIMESTAMP", "bigint", None),
            ("CURRENT_TIME", "timestamp", None),
            ("datetime('now')", "timestamp", Some(UTC)),
            ("datetime('now','localtime')", "timestamp", Some("localtimestamp")),
            ("CURRENT_DATE", "text", Some("to_char((now() AT TIME ZONE 'UTC'), 'YYYY-MM-DD')")),
            (
                "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')",
                "text",
                Some("to_char((now() AT TIME ZONE 'UTC'), 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"),
            ),
            ("strftime('%Y', 'now')", "bigint", None),
            ("strftime('%W', 'now')", "text", None),
            ("CURRENT_TIMESTAMP", "varchar(10)", None),
            ("abs(-1)", "bigint", None),
            ("datetime('now', '+1 day')", "timestamp", None),
        ] {
            assert_eq!(of(default, postgres_type).as_deref(), expected, "{default}");
        }
        assert!(now("time('now', 'localtime')").unwrap().is_local);
    }
}
