//! Parser of the SQLite expressions that translation understands. Precedence is SQLite's
//! (<https://sqlite.org/lang_expr.html>); a chain such as `a < b < c` is refused.

use crate::source::SourceTable;
use sql::{Token, TokenKind, tokens};

/// Deeper nesting is not translated.
const DEEPEST: usize = 50;

#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A column, by its position.
    Column(usize),
    Literal(Literal),
    /// A function by its name in lower case.
    Function(String, Vec<Self>),
    Not(Box<Self>),
    And(Vec<Self>),
    Or(Vec<Self>),
    /// A comparison by `=`, `<>`, `<`, `<=`, `>`, `>=`.
    Compare(Box<Self>, &'static str, Box<Self>),
    /// `IS NULL`; `true` for `IS NOT NULL`
    IsNull(Box<Self>, bool),
    /// `IN (...)`; `true` for `NOT IN`
    In(Box<Self>, Vec<Self>, bool),
    /// `BETWEEN low AND high`; `true` for `NOT BETWEEN`
    Between(Box<Self>, Box<Self>, Box<Self>, bool),
    /// `LIKE pattern ESCAPE character`; `true` for `NOT LIKE`
    Like(Box<Self>, String, Option<String>, bool),
    /// `GLOB pattern`; `true` for `NOT GLOB`
    Glob(Box<Self>, String, bool),
    /// `IS`, which is true of two NULLs; `true` for `IS NOT`
    Is(Box<Self>, Box<Self>, bool),
    /// Texts joined by `||`.
    Joined(Vec<Self>),
}

impl Expression {
    /// The positions of the columns in it.
    pub fn columns(&self) -> Vec<usize> {
        let of_all = |parts: &[Self]| parts.iter().flat_map(Self::columns).collect();
        match self {
            Self::Column(column) => vec![*column],
            Self::Literal(_) => Vec::new(),
            Self::Function(_, parts) | Self::And(parts) | Self::Or(parts) | Self::Joined(parts) => {
                of_all(parts)
            }
            Self::Not(part)
            | Self::IsNull(part, _)
            | Self::Like(part, ..)
            | Self::Glob(part, ..) => part.columns(),
            Self::Compare(left, _, right) | Self::Is(left, right, _) => {
                [left.columns(), right.columns()].concat()
            }
            Self::In(part, list, _) => [part.columns(), of_all(list)].concat(),
            Self::Between(part, low, high, _) => {
                [part.columns(), low.columns(), high.columns()].concat()
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// A whole number within 64 bits.
    Integer(i64),
    /// Any other number, as written.
    Decimal(String),
    Text(String),
    Boolean(bool),
}

const OPERATORS: [(&str, &str); 8] = [
    ("=", "="),
    ("==", "="),
    ("<>", "<>"),
    ("!=", "<>"),
    ("<=", "<="),
    (">=", ">="),
    ("<", "<"),
    (">", ">"),
];

/// Reads an expression over the columns of `table`; `None` if anything in it is not understood.
pub fn parse(text: &str, table: &SourceTable) -> Option<Expression> {
    let mut parser = Parser { tokens: tokens(text), place: 0, table, depth: 0 };
    let expression = parser.either()?;
    (parser.place == parser.tokens.len()).then_some(expression)
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    place: usize,
    table: &'a SourceTable,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&Token<'a>> {
        self.tokens.get(self.place)
    }

    fn next(&mut self) -> Option<Token<'a>> {
        self.place += 1;
        self.tokens.get(self.place - 1).copied()
    }

    fn accept(&mut self, symbol: &str) -> bool {
        let found = self.peek().is_some_and(|token| token.is(symbol));
        self.place += usize::from(found);
        found
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let found = self.peek().is_some_and(|token| token.is_word(word));
        self.place += usize::from(found);
        found
    }

    /// All of these words, or none.
    fn accept_words(&mut self, words: &[&str]) -> bool {
        let start = self.place;
        let all = words.iter().all(|word| self.accept_word(word));
        if !all {
            self.place = start;
        }
        all
    }

    fn either(&mut self) -> Option<Expression> {
        let mut parts = vec![self.both()?];
        while self.accept_word("OR") {
            parts.push(self.both()?);
        }
        if parts.len() == 1 { parts.pop() } else { Some(Expression::Or(parts)) }
    }

    fn both(&mut self) -> Option<Expression> {
        let mut parts = vec![self.negation()?];
        while self.accept_word("AND") {
            parts.push(self.negation()?);
        }
        if parts.len() == 1 { parts.pop() } else { Some(Expression::And(parts)) }
    }

    fn negation(&mut self) -> Option<Expression> {
        let mut negated = false;
        while self.accept_word("NOT") {
            negated = !negated;
        }
        let inner = self.test()?;
        Some(if negated { Expression::Not(Box::new(inner)) } else { inner })
    }

    /// An operand with at most one test of it.
    fn test(&mut self) -> Option<Expression> {
        let operand = self.operand()?;
        let boxed = Box::new(operand.clone());
        if self.accept_word("ISNULL") || self.accept_words(&["IS", "NULL"]) {
            return Some(Expression::IsNull(boxed, false));
        }
        if self.accept_word("NOTNULL")
            || self.accept_words(&["IS", "NOT", "NULL"])
            || self.accept_words(&["NOT", "NULL"])
        {
            return Some(Expression::IsNull(boxed, true));
        }
        if self.accept_word("IS") {
            let negated = self.accept_word("NOT");
            let differs = self.accept_words(&["DISTINCT", "FROM"]);
            let other = Box::new(self.operand()?);
            return Some(Expression::Is(boxed, other, negated != differs));
        }
        let negated = self.accept_word("NOT");
        if self.accept_word("IN") {
            return Some(Expression::In(boxed, self.list()?, negated));
        }
        if self.accept_word("BETWEEN") {
            let low = Box::new(self.operand()?);
            let high = self.accept_word("AND").then(|| self.operand())??;
            return Some(Expression::Between(boxed, low, Box::new(high), negated));
        }
        if self.accept_word("LIKE") {
            let pattern = self.next()?.text_value()?;
            let escape = match self.accept_word("ESCAPE") {
                true => Some(self.next()?.text_value()?),
                false => None,
            };
            return Some(Expression::Like(boxed, pattern, escape, negated));
        }
        if self.accept_word("GLOB") {
            return Some(Expression::Glob(boxed, self.next()?.text_value()?, negated));
        }
        if negated {
            return None;
        }
        for (written, operator) in OPERATORS {
            if self.accept(written) {
                return Some(Expression::Compare(boxed, operator, Box::new(self.operand()?)));
            }
        }
        Some(operand)
    }

    /// Expressions in brackets, separated by commas.
    fn list(&mut self) -> Option<Vec<Expression>> {
        if !self.accept("(") {
            return None;
        }
        let mut members = Vec::new();
        loop {
            members.push(self.operand()?);
            if self.accept(")") {
                return Some(members);
            }
            if !self.accept(",") {
                return None;
            }
        }
    }

    fn operand(&mut self) -> Option<Expression> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let first = self.primary()?;
        let mut parts = vec![first];
        while self.accept("||") {
            parts.push(self.primary()?);
        }
        self.depth -= 1;
        if parts.len() == 1 { parts.pop() } else { Some(Expression::Joined(parts)) }
    }

    fn primary(&mut self) -> Option<Expression> {
        if self.accept("(") {
            let inner = self.either()?;
            return self.accept(")").then_some(inner);
        }
        let negative = self.accept("-");
        if negative || self.accept("+") {
            return number(self.next()?, negative);
        }
        let token = self.next()?;
        match token.kind {
            TokenKind::Number => number(token, false),
            TokenKind::Text => token.text_value().map(|text| literal(Literal::Text(text))),
            TokenKind::Word if self.peek().is_some_and(|next| next.is("(")) => {
                let arguments = self.list()?;
                Some(Expression::Function(token.text.to_ascii_lowercase(), arguments))
            }
            TokenKind::Word | TokenKind::Quoted => self.column(&token),
            TokenKind::Blob | TokenKind::Parameter | TokenKind::Symbol => None,
        }
    }

    /// A column, perhaps with its table's name before it.
    fn column(&mut self, token: &Token<'_>) -> Option<Expression> {
        let mut name = token.name()?;
        if self.accept(".") {
            if !name.eq_ignore_ascii_case(&self.table.name) {
                return None;
            }
            name = self.next()?.name()?;
        }
        if let Some(column) = self.table.column(&name) {
            return Some(Expression::Column(column));
        }
        match token.kind == TokenKind::Word {
            true if name.eq_ignore_ascii_case("TRUE") => Some(literal(Literal::Boolean(true))),
            true if name.eq_ignore_ascii_case("FALSE") => Some(literal(Literal::Boolean(false))),
            _ => None,
        }
    }
}

fn literal(literal: Literal) -> Expression {
    Expression::Literal(literal)
}

fn number(token: Token<'_>, negative: bool) -> Option<Expression> {
    if token.kind != TokenKind::Number {
        return None;
    }
    let sign = if negative { "-" } else { "" };
    numeric(&format!("{sign}{}", token.text)).map(literal)
}

/// A number without an exponent.
pub fn numeric(written: &str) -> Option<Literal> {
    if let Ok(number) = written.parse::<i64>() {
        return Some(Literal::Integer(number));
    }
    let digits = written.strip_prefix('-').unwrap_or(written);
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    (plain && written.parse::<f64>().is_ok()).then(|| Literal::Decimal(written.to_owned()))
}
