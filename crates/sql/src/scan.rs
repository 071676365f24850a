//! Statements of a text and their `:name` parameters, in the dialect of an engine. Strings, quoted
//! names, comments, casts and dollar quotes are left alone.

#[cfg(test)]
mod tests;

use std::iter::Peekable;
use std::str::CharIndices;

/// The dialect whose rules of quoting hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite: also `` `name` `` and `[name]`.
    Sqlite,
    /// PostgreSQL: also `E'\''`, `$tag$...$tag$`, `::type`, comments inside comments.
    Postgres,
    /// MariaDB and MySQL: also `` `name` ``, `\'` in strings, `#` comments.
    Mysql,
}

/// One statement of a text, without its semicolon.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scanned<'a> {
    /// The line of its first word, from 1.
    pub line: usize,
    /// The line where its text begins, perhaps with a comment.
    pub first_line: usize,
    /// The text, cut at its parameters.
    pub pieces: Vec<Piece<'a>>,
    /// Its words outside quotes and comments, in small letters.
    pub words: Vec<String>,
    /// The first parameter in a form of the engine's own, with its line: no value belongs to it.
    pub unnamed: Option<(usize, &'a str)>,
}

/// A part of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    Text(&'a str),
    /// `:name`, without the colon.
    Parameter(&'a str),
}

/// A statement as its engine prepares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// With the engine's own marks for parameters.
    pub sql: String,
    /// The parameters' names in the order in which they are bound.
    pub parameters: Vec<String>,
}

impl Scanned<'_> {
    /// The names of its parameters, each once, in order of appearance.
    pub fn parameters(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for piece in &self.pieces {
            if let Piece::Parameter(name) = piece
                && !names.contains(name)
            {
                names.push(name);
            }
        }
        names
    }

    /// `?1` for SQLite and `$1` for PostgreSQL, the same number for the same name; `?` for MariaDB
    /// and MySQL, which count the marks.
    pub fn render(&self, dialect: Dialect) -> Rendered {
        let names = self.parameters();
        let mut sql = String::new();
        let mut bound = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => sql.push_str(text),
                Piece::Parameter(name) => {
                    let number = 1 + names.iter().position(|known| known == name).unwrap_or(0);
                    match dialect {
                        Dialect::Sqlite => sql.push_str(&format!("?{number}")),
                        Dialect::Postgres => sql.push_str(&format!("${number}")),
                        Dialect::Mysql => {
                            sql.push('?');
                            bound.push((*name).to_owned());
                        }
                    }
                }
            }
        }
        if dialect != Dialect::Mysql {
            bound = names.into_iter().map(str::to_owned).collect();
        }
        Rendered { sql: sql.trim().to_owned(), parameters: bound }
    }

    /// Whether it may change data, judged by its words; what hides in a function it cannot tell.
    pub fn writes(&self) -> bool {
        const READING: [&str; 8] =
            ["select", "values", "table", "with", "show", "explain", "pragma", "describe"];
        let first = self.words.first().map(String::as_str).unwrap_or_default();
        !READING.contains(&first) || self.changes_rows()
    }

    /// `true` if it inserts, changes or deletes rows, by its words.
    pub fn changes_rows(&self) -> bool {
        const WRITING: [&str; 5] = ["insert", "update", "delete", "merge", "replace"];
        let is_writing = |word: &String| WRITING.contains(&word.as_str());
        match self.words.first() {
            Some(first) if first == "with" => self.words.iter().any(is_writing),
            first => first.is_some_and(is_writing),
        }
    }
}

/// Splits `text` at its semicolons; what holds nothing but blanks and comments is left out.
pub fn scan(text: &str, dialect: Dialect) -> Result<Vec<Scanned<'_>>, (usize, String)> {
    let mut scanner = Scanner {
        text,
        dialect,
        characters: text.char_indices().peekable(),
        statements: Vec::new(),
        current: Scanned::default(),
        start: 0,
        piece_start: 0,
        before: None,
    };
    scanner.run()?;
    Ok(scanner.statements)
}

struct Scanner<'a> {
    text: &'a str,
    dialect: Dialect,
    characters: Peekable<CharIndices<'a>>,
    statements: Vec<Scanned<'a>>,
    current: Scanned<'a>,
    /// Where the current statement begins.
    start: usize,
    /// Where the text begins that is in no piece yet.
    piece_start: usize,
    /// The last word if it touches what comes now: the `E` of `E'...'`.
    before: Option<&'a str>,
}

impl<'a> Scanner<'a> {
    fn run(&mut self) -> Result<(), (usize, String)> {
        while let Some((at, character)) = self.characters.next() {
            let word_before = self.before.take();
            match character {
                '\'' => {
                    let escapes = self.dialect == Dialect::Mysql
                        || (self.dialect == Dialect::Postgres
                            && word_before.is_some_and(|word| word.eq_ignore_ascii_case("e")));
                    self.quoted(at, '\'', escapes, "string")?;
                }
                '"' => self.quoted(at, '"', self.dialect == Dialect::Mysql, "quoted name")?,
                '`' if self.dialect != Dialect::Postgres => {
                    self.quoted(at, '`', false, "quoted name")?;
                }
                '[' if self.dialect == Dialect::Sqlite => self.skip_past(at, "]", "name in [ ]")?,
                '-' if self.rest(at).starts_with("--") => self.line_comment(),
                '#' if self.dialect == Dialect::Mysql => self.line_comment(),
                '/' if self.rest(at).starts_with("/*") => self.block_comment(at)?,
                '$' if self.dialect == Dialect::Postgres && word_before.is_none() => {
                    self.dollar(at)?;
                }
                '?' if self.dialect != Dialect::Postgres => self.unnamed(at),
                '@' | '$' if self.dialect == Dialect::Sqlite && word_before.is_none() => {
                    self.unnamed(at);
                }
                ':' => self.colon(at),
                ';' => self.end_statement(at),
                c if is_word_start(c) || c.is_ascii_digit() => self.word(at),
                c if !c.is_whitespace() => self.touch(at),
                _ => {}
            }
        }
        self.end_statement(self.text.len());
        Ok(())
    }

    fn rest(&self, at: usize) -> &'a str {
        self.text.get(at..).unwrap_or_default()
    }

    /// The statement begins here at the latest.
    fn touch(&mut self, at: usize) {
        if self.current.line == 0 {
            self.current.line = self.line_of(at);
        }
    }

    fn line_of(&self, at: usize) -> usize {
        1 + self.text.get(..at).unwrap_or_default().matches('\n').count()
    }

    /// Goes on behind byte `end`.
    fn jump_to(&mut self, end: usize) {
        while self.characters.next_if(|(at, _)| *at < end).is_some() {}
    }

    fn quoted(
        &mut self,
        at: usize,
        quote: char,
        escapes: bool,
        what: &str,
    ) -> Result<(), (usize, String)> {
        self.touch(at);
        // A doubled quote ends one text and begins another, which comes to the same.
        while let Some((_, character)) = self.characters.next() {
            if character == quote {
                return Ok(());
            }
            if escapes && character == '\\' {
                self.characters.next();
            }
        }
        Err((self.line_of(at), format!("this {what} is not closed")))
    }

    fn skip_past(&mut self, at: usize, end: &str, what: &str) -> Result<(), (usize, String)> {
        self.touch(at);
        let found = self.rest(at).find(end);
        let length =
            found.ok_or_else(|| (self.line_of(at), format!("this {what} is not closed")))?;
        self.jump_to(at + length + end.len());
        Ok(())
    }

    fn line_comment(&mut self) {
        while self.characters.next_if(|(_, character)| *character != '\n').is_some() {}
    }

    fn block_comment(&mut self, at: usize) -> Result<(), (usize, String)> {
        let mut depth = 1;
        let mut from = at + 2;
        while depth > 0 {
            let rest = self.rest(from);
            let close = rest.find("*/");
            let open = rest.find("/*").filter(|_| self.dialect == Dialect::Postgres);
            from += match (open, close) {
                (Some(open), Some(close)) if open < close => {
                    depth += 1;
                    open
                }
                (_, Some(close)) => {
                    depth -= 1;
                    close
                }
                (_, None) => {
                    return Err((self.line_of(at), "this comment is not closed".to_owned()));
                }
            } + 2;
        }
        self.jump_to(from);
        Ok(())
    }

    /// `?`, `?1`, `$1`, `$name`, `@name`.
    fn unnamed(&mut self, at: usize) {
        self.touch(at);
        let after = self.rest(at + 1);
        let end = at + 1 + after.find(|c| !is_word_part(c)).unwrap_or(after.len());
        let mark = self.text.get(at..end).unwrap_or_default();
        let line = self.line_of(at);
        if mark.len() > 1 || mark == "?" {
            self.current.unnamed.get_or_insert((line, mark));
        }
        self.jump_to(end);
    }

    /// `$1`, `$tag$ ... $tag$`, or a lone dollar.
    fn dollar(&mut self, at: usize) -> Result<(), (usize, String)> {
        self.touch(at);
        let after = self.rest(at + 1);
        if after.starts_with(|c: char| c.is_ascii_digit()) {
            self.unnamed(at);
            return Ok(());
        }
        let tag = after.split('$').next().unwrap_or_default();
        let closed = after.len() > tag.len();
        let is_tag = tag.chars().enumerate().all(|(index, c)| match index {
            0 => is_word_start(c),
            _ => is_word_part(c),
        });
        if !closed || !is_tag {
            return Ok(());
        }
        let mark = format!("${tag}$");
        let body = at + mark.len();
        let end = self.rest(body).find(&mark).ok_or_else(|| {
            (self.line_of(at), format!("this text between {mark} and {mark} is not closed"))
        })?;
        self.jump_to(body + end + mark.len());
        Ok(())
    }

    /// `:name`; but neither `::type` nor `:=` nor a slice `[1:2]`.
    fn colon(&mut self, at: usize) {
        self.touch(at);
        if self.characters.next_if(|(_, character)| *character == ':').is_some() {
            return;
        }
        let name = word_at(self.rest(at + 1));
        if name.is_empty() {
            return;
        }
        let text = self.text.get(self.piece_start..at).unwrap_or_default();
        if !text.is_empty() {
            self.current.pieces.push(Piece::Text(text));
        }
        self.current.pieces.push(Piece::Parameter(name));
        self.piece_start = at + 1 + name.len();
        self.jump_to(self.piece_start);
    }

    fn word(&mut self, at: usize) {
        self.touch(at);
        let rest = self.rest(at);
        let end = rest.find(|c| !is_word_part(c)).unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or_default();
        self.jump_to(at + end);
        self.current.words.push(word.to_lowercase());
        self.before = Some(word);
    }

    fn end_statement(&mut self, at: usize) {
        let text = self.text.get(self.piece_start..at).unwrap_or_default();
        if !text.is_empty() {
            self.current.pieces.push(Piece::Text(text));
        }
        self.piece_start = at + 1;
        let begun = std::mem::replace(&mut self.start, at + 1);
        let mut statement = std::mem::take(&mut self.current);
        if statement.line > 0 {
            let rest = self.rest(begun);
            statement.first_line = self.line_of(begun + rest.len() - rest.trim_start().len());
            self.statements.push(statement);
        }
    }
}

fn is_word_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn is_word_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The name at the beginning of `text`: ASCII letters, digits, underscores, no digit first.
fn word_at(text: &str) -> &str {
    if !text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return "";
    }
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}
