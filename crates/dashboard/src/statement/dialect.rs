//! Differences between the engines in a statement: calendar, collation, the order of joins.

use sea_query::{Expr, ExprTrait as _, Func, IntoTableRef, SelectStatement};

use crate::database::SqlDialect;

/// An inner join. In SQLite it is written CROSS JOIN, which joins in the order written
/// (<https://www.sqlite.org/optoverview.html>, section 7.5): the facts of the period first, then
/// their articles. Without ANALYZE it would begin with the articles of a blog instead, and read
/// the whole period again for each of them.
pub(super) fn join(
    select: &mut SelectStatement,
    table: impl IntoTableRef,
    on: Expr,
    dialect: SqlDialect,
) {
    match dialect {
        SqlDialect::Sqlite => select.cross_join(table).and_where(on),
        SqlDialect::Postgres => select.inner_join(table, on),
    };
}

/// Text in the order of its bytes, whatever the database's collation; SQLite's default is that.
pub(super) fn by_bytes(text: Expr, dialect: SqlDialect) -> Expr {
    match dialect {
        SqlDialect::Sqlite => text,
        SqlDialect::Postgres => Expr::cust_with_expr(r#"$1 COLLATE "C""#, text),
    }
}

/// A part of the calendar that both engines' date functions know.
#[derive(Debug, Clone, Copy)]
pub(super) enum Span {
    /// Written `2021-01`.
    Month,
    /// Written `2021`.
    Year,
}

impl Span {
    /// The expression to group by, and the key that is written out. PostgreSQL's `to_char` costs
    /// as much as all the rest of a statement if it is called for each fact; so the facts are
    /// grouped by `date_trunc`, and only the groups are written out.
    pub(super) fn of(self, day: Expr, dialect: SqlDialect) -> (Expr, Expr) {
        match dialect {
            SqlDialect::Sqlite => (self.strftime(day.clone()), self.strftime(day)),
            SqlDialect::Postgres => {
                let first_moment = self.date_trunc(day);
                (first_moment.clone(), self.to_char(first_moment))
            }
        }
    }

    fn strftime(self, day: Expr) -> Expr {
        let format = match self {
            Self::Month => "'%Y-%m'",
            Self::Year => "'%Y'",
        };
        let seconds = day.mul(constant("86400"));
        function("strftime", [constant(format), seconds, constant("'unixepoch'")])
    }

    fn date_trunc(self, day: Expr) -> Expr {
        let unit = match self {
            Self::Month => "'month'",
            Self::Year => "'year'",
        };
        // As a timestamp without time zone: as a date it would become one of the session's zone.
        let moment = constant("DATE '1970-01-01'").add(day).cast_as("timestamp");
        function("date_trunc", [constant(unit), moment])
    }

    fn to_char(self, moment: Expr) -> Expr {
        let format = match self {
            Self::Month => "'YYYY-MM'",
            Self::Year => "'YYYY'",
        };
        function("to_char", [moment, constant(format)])
    }
}

fn function<const N: usize>(name: &'static str, arguments: [Expr; N]) -> Expr {
    Func::cust(name).args(arguments).into()
}

/// A constant in the text itself: as a bound value it would be another parameter in
/// GROUP BY than in SELECT, and PostgreSQL could not see that both are the same expression.
pub(super) fn constant(text: &'static str) -> Expr {
    Expr::cust(text)
}
