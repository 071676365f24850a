//! The statements that transactions are made of: their text in each dialect, and which values
//! they take. Those of sysbench have its words.

use plan::oltp::MixStatement;

pub(crate) const RANGE_ROWS: u32 = 100;

/// The source of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Draw {
    /// A key, by the load's distribution.
    Key,
    SameKey,
    /// The last key of the range that begins with the key drawn last.
    RangeEnd,
    /// A value of `k`, by the load's distribution.
    K,
    /// The end of a range of 100 from the last `K` on.
    KEnd,
    /// A new `c`.
    C,
    /// A new `pad`.
    Pad,
    /// The `pad` with which the row of the last key was filled.
    PadOfKey,
    /// A customer of [`plan::oltp::Schema::Orders`].
    Customer,
    Town,
    /// The postal code of the town drawn last.
    PostalCode,
    /// A short text of a skewed length.
    VariableName,
    /// A text of a skewed length.
    VariableBody,
    /// The lowest key of this client's share that it has not deleted.
    Oldest,
    Line,
}

impl Draw {
    /// Whether it draws a number, not a text.
    pub(crate) fn is_number(self) -> bool {
        !matches!(
            self,
            Self::C
                | Self::Pad
                | Self::PadOfKey
                | Self::Town
                | Self::VariableName
                | Self::VariableBody
                | Self::Line
        )
    }
}

/// How an engine writes parameters and a few words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EngineDialect {
    Postgres,
    Sqlite,
    Mysql,
}

/// A statement as an engine executes it.
pub(crate) trait ExecutedStatement {
    /// The values of its parameters, in order.
    fn draws(self) -> &'static [Draw];
    /// Whether it goes to the same table as the statement before it.
    fn stays_on_table(self) -> bool;
    /// Its text for one table, from 1. `writes`: the transaction does.
    fn sql(self, dialect: EngineDialect, table: u32, writes: bool) -> String;
}

impl ExecutedStatement for MixStatement {
    fn draws(self) -> &'static [Draw] {
        match self {
            Self::Begin | Self::Commit => &[],
            Self::PointSelect | Self::IndexUpdate | Self::Delete => &[Draw::Key],
            Self::SimpleRange | Self::SumRange | Self::OrderRange | Self::DistinctRange => {
                &[Draw::Key, Draw::RangeEnd]
            }
            Self::NonIndexUpdate => &[Draw::C, Draw::Key],
            Self::InsertAgain => &[Draw::SameKey, Draw::K, Draw::C, Draw::PadOfKey],
            Self::InsertNew => &[Draw::K, Draw::C, Draw::Pad],
            Self::ByIndex | Self::OrderByIndex => &[Draw::K],
            Self::CountIndexRange => &[Draw::K, Draw::KEnd],
            Self::OrderWithItems | Self::SelectVariable | Self::SelectText => &[Draw::Key],
            Self::OrdersOfCustomer => &[Draw::Customer],
            Self::MisledJoin => &[Draw::Town, Draw::PostalCode],
            Self::LongestOfRange | Self::OrderText => &[Draw::Key, Draw::RangeEnd],
            Self::ReplaceVariable => &[Draw::VariableName, Draw::VariableBody, Draw::Key],
            Self::DeleteOldest => &[Draw::Oldest],
            Self::ReplaceText => &[Draw::Line, Draw::Key],
        }
    }

    fn stays_on_table(self) -> bool {
        self == Self::InsertAgain
    }

    fn sql(self, dialect: EngineDialect, table: u32, writes: bool) -> String {
        let text = match self {
            Self::Begin if dialect == EngineDialect::Sqlite && writes => "BEGIN IMMEDIATE",
            Self::Begin => "BEGIN",
            Self::Commit => "COMMIT",
            Self::PointSelect => "SELECT c FROM sbtest# WHERE id=?",
            Self::SimpleRange => "SELECT c FROM sbtest# WHERE id BETWEEN ? AND ?",
            Self::SumRange => "SELECT SUM(k) FROM sbtest# WHERE id BETWEEN ? AND ?",
            Self::OrderRange => "SELECT c FROM sbtest# WHERE id BETWEEN ? AND ? ORDER BY c",
            Self::DistinctRange => {
                "SELECT DISTINCT c FROM sbtest# WHERE id BETWEEN ? AND ? ORDER BY c"
            }
            Self::IndexUpdate => "UPDATE sbtest# SET k=k+1 WHERE id=?",
            Self::NonIndexUpdate => "UPDATE sbtest# SET c=? WHERE id=?",
            Self::Delete | Self::DeleteOldest => "DELETE FROM sbtest# WHERE id=?",
            Self::InsertAgain => "INSERT INTO sbtest# (id, k, c, pad) VALUES (?, ?, ?, ?)",
            Self::InsertNew => "INSERT INTO sbtest# (k, c, pad) VALUES (?, ?, ?)",
            Self::ByIndex => "SELECT c FROM sbtest# WHERE k=? ORDER BY id LIMIT 10",
            Self::CountIndexRange => "SELECT COUNT(*) FROM sbtest# WHERE k BETWEEN ? AND ?",
            Self::OrderByIndex => "SELECT id, k, c FROM sbtest# WHERE k>=? ORDER BY k LIMIT 10",
            Self::OrderWithItems => {
                "SELECT c.name, c.town, o.day, i.product, i.quantity, i.price_cents \
                 FROM sborder o JOIN sbcustomer c ON c.id=o.customer_id \
                 JOIN sbitem i ON i.order_id=o.id WHERE o.id=? ORDER BY i.id"
            }
            Self::OrdersOfCustomer => {
                "SELECT o.id, o.day, SUM(i.quantity*i.price_cents) \
                 FROM sbcustomer c JOIN sborder o ON o.customer_id=c.id \
                 JOIN sbitem i ON i.order_id=o.id WHERE c.id=? \
                 GROUP BY o.id, o.day ORDER BY o.day DESC, o.id LIMIT 10"
            }
            Self::MisledJoin => {
                "SELECT COUNT(*), SUM(i.quantity*i.price_cents) \
                 FROM sbcustomer c JOIN sborder o ON o.customer_id=c.id \
                 JOIN sbitem i ON i.order_id=o.id WHERE c.town=? AND c.postal_code=?"
            }
            Self::SelectVariable => "SELECT name, body FROM sbvariable WHERE id=?",
            Self::LongestOfRange => {
                "SELECT MAX(LENGTH(body)) FROM sbvariable WHERE id BETWEEN ? AND ?"
            }
            Self::ReplaceVariable => "UPDATE sbvariable SET name=?, body=? WHERE id=?",
            Self::SelectText => "SELECT name, line FROM sbtext WHERE id=?",
            Self::OrderText => "SELECT name FROM sbtext WHERE id BETWEEN ? AND ? ORDER BY name",
            Self::ReplaceText => "UPDATE sbtext SET line=? WHERE id=?",
        };
        let text = text.replace('#', &table.to_string());
        match dialect {
            EngineDialect::Postgres => numbered(&text),
            EngineDialect::Sqlite | EngineDialect::Mysql => text,
        }
    }
}

/// `?`, `?` as `$1`, `$2`.
fn numbered(text: &str) -> String {
    let mut parts = text.split('?');
    let mut sql = parts.next().unwrap_or_default().to_owned();
    for (index, part) in parts.enumerate() {
        sql.push_str(&format!("${}{part}", index + 1));
    }
    sql
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::oltp::Mix;

    #[test]
    fn every_statement_takes_as_many_values_as_it_has_parameters() {
        for step in Mix::ALL.iter().flat_map(|mix| mix.steps()) {
            let sql = step.statement.sql(EngineDialect::Mysql, 1, true);
            let parameters = sql.matches('?').count();
            assert_eq!(parameters, step.statement.draws().len(), "{sql}");
        }
    }

    #[test]
    fn dialects_differ_in_parameters_and_in_begin_of_writes() {
        let range = MixStatement::SimpleRange;
        let postgres = "SELECT c FROM sbtest3 WHERE id BETWEEN $1 AND $2";
        assert_eq!(range.sql(EngineDialect::Postgres, 3, false), postgres);
        assert_eq!(MixStatement::Begin.sql(EngineDialect::Sqlite, 1, true), "BEGIN IMMEDIATE");
        assert_eq!(MixStatement::Begin.sql(EngineDialect::Sqlite, 1, false), "BEGIN");
        assert_eq!(MixStatement::Begin.sql(EngineDialect::Mysql, 1, true), "BEGIN");
    }
}
