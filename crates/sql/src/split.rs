//! A file of several statements as single ones, for commands that measure each by itself.

use crate::scan::{Dialect, Piece, Scanned, scan};

/// One statement of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The line of its first word, from 1.
    pub line: usize,
    /// Its text, without the semicolon.
    pub text: String,
    /// The names of its `:name` parameters, each once.
    pub parameters: Vec<String>,
    /// Whether it may change data.
    pub writes: bool,
}

/// The statements of `text`.
pub fn split(text: &str, dialect: Dialect) -> Result<Vec<Part>, (usize, String)> {
    let part = |one: Scanned<'_>| Part {
        line: one.line,
        text: one
            .pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => (*text).to_owned(),
                Piece::Parameter(name) => format!(":{name}"),
            })
            .collect::<String>()
            .trim()
            .to_owned(),
        parameters: one.parameters().into_iter().map(str::to_owned).collect(),
        writes: one.writes(),
    };
    Ok(scan(text, dialect)?.into_iter().map(part).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_statement_is_a_part_with_its_line_and_parameters() {
        let parts = split("-- slow\nSELECT ':x', :a;\n\nDELETE FROM t;", Dialect::Sqlite).unwrap();
        assert_eq!(parts.len(), 2);
        assert_eq!((parts[0].line, parts[0].text.as_str()), (2, "-- slow\nSELECT ':x', :a"));
        assert_eq!(parts[0].parameters, ["a"]);
        assert_eq!((parts[1].line, parts[1].writes), (4, true));
        assert_eq!(split("SELECT 'a", Dialect::Sqlite).unwrap_err().0, 1);
    }
}
