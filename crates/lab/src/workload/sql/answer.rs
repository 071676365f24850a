//! Whole answers, and how two engines' answers to one statement are held against each other.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::value::AnswerValue;
use plan::ResultComparison;

/// Rows of one statement. Of a statement that returns nothing, `affected` counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct AnswerTable {
    /// Names of the columns; engines may call the same expression differently.
    pub columns: Vec<String>,
    /// The rows in their order.
    pub rows: Vec<Vec<AnswerValue>>,
    pub affected: u64,
}

impl AnswerTable {
    pub(crate) fn count(&self) -> u64 {
        if self.columns.is_empty() { self.affected } else { self.rows.len() as u64 }
    }
}

/// The first difference between the answers of two engines, in words, or `None`. `one` and `other`
/// are the engines' labels with their answers.
pub(crate) fn difference(
    (one, ours): (&str, &AnswerTable),
    (other, theirs): (&str, &AnswerTable),
    comparison: &ResultComparison,
    digits: u8,
) -> Option<String> {
    if *comparison == ResultComparison::None {
        return None;
    }
    if *comparison != ResultComparison::Count && ours.columns.len() != theirs.columns.len() {
        let shown =
            |table: &AnswerTable| format!("{} ({})", table.columns.len(), table.columns.join(", "));
        return Some(format!(
            "the number of columns differs: {one} has {}, {other} has {}",
            shown(ours),
            shown(theirs)
        ));
    }
    let counts = (ours.count() != theirs.count()).then(|| {
        format!(
            "the number of rows differs: {one} has {}, {other} has {}",
            ours.count(),
            theirs.count()
        )
    });
    if *comparison == ResultComparison::Count {
        return counts;
    }
    let key = match key_columns(ours, comparison) {
        Ok(key) => key,
        Err(why) => return Some(why),
    };
    let order = RowOrder::of(ours, theirs, key);
    let sorted = |table| {
        if *comparison == ResultComparison::Ordered { in_order(table) } else { order.sorted(table) }
    };
    let row = first_difference(one, &sorted(ours), other, &sorted(theirs), &order, digits);
    match (counts, row) {
        (Some(counts), Some(row)) => Some(format!("{counts}; {row}")),
        (counts, row) => counts.or(row),
    }
}

type AnswerRows<'t> = Vec<&'t [AnswerValue]>;

fn in_order(table: &AnswerTable) -> AnswerRows<'_> {
    table.rows.iter().map(Vec::as_slice).collect()
}

fn key_columns(table: &AnswerTable, comparison: &ResultComparison) -> Result<Vec<usize>, String> {
    let ResultComparison::Key(names) = comparison else { return Ok(Vec::new()) };
    let place = |name: &String| {
        let found = table.columns.iter().position(|column| column.eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            format!(
                "answer = {{ key = [...] }} names the column {name}; there are {}",
                table.columns.join(", ")
            )
        })
    };
    names.iter().map(place).collect()
}

fn first_difference(
    one: &str,
    ours: &AnswerRows<'_>,
    other: &str,
    theirs: &AnswerRows<'_>,
    order: &RowOrder,
    digits: u8,
) -> Option<String> {
    let mut pairs = ours.iter().zip(theirs.iter());
    let at = pairs.position(|(a, b)| !agree(a, b, digits));
    let (at, a, b) = match at {
        Some(at) => (at, ours.get(at), theirs.get(at)),
        None => {
            let at = ours.len().min(theirs.len());
            (at, ours.get(at), theirs.get(at))
        }
    };
    let only =
        |engine: &str, row: &[AnswerValue]| format!("only {engine} has the row {}", shown(row));
    match (a, b) {
        (None, None) => None,
        (Some(a), None) => Some(only(one, a)),
        (None, Some(b)) => Some(only(other, b)),
        (Some(a), Some(b)) if order.has_key() => Some(match order.compare_keys(a, b) {
            Ordering::Less => only(one, a),
            Ordering::Greater => only(other, b),
            Ordering::Equal => {
                format!("of one key {one} has {}, {other} has {}", shown(a), shown(b))
            }
        }),
        (Some(a), Some(b)) => Some(format!(
            "first differing row, number {}: {one} has {}, {other} has {}",
            at + 1,
            shown(a),
            shown(b)
        )),
    }
}

fn agree(a: &[AnswerValue], b: &[AnswerValue], digits: u8) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.agrees(b, digits))
}

/// A row as it stands in messages.
pub(crate) fn shown(row: &[AnswerValue]) -> String {
    let values: Vec<String> = row.iter().map(ToString::to_string).collect();
    format!("({})", values.join(", "))
}

/// In which order columns decide where a row stands: the key's, then those of exact values, then
/// those with fractions, whose last digits may differ and must not tear a pair of rows apart.
struct RowOrder {
    columns: Vec<usize>,
    key: usize,
}

impl RowOrder {
    fn of(ours: &AnswerTable, theirs: &AnswerTable, key: Vec<usize>) -> Self {
        let inexact = |column: usize| {
            let mut rows = ours.rows.iter().chain(&theirs.rows);
            rows.any(|row| matches!(row.get(column), Some(AnswerValue::Double(_))))
        };
        let key_length = key.len();
        let mut columns = key;
        let (inexact, exact): (Vec<usize>, Vec<usize>) = (0..ours.columns.len())
            .filter(|column| !columns.contains(column))
            .partition(|column| inexact(*column));
        columns.extend(exact);
        columns.extend(inexact);
        Self { columns, key: key_length }
    }

    fn has_key(&self) -> bool {
        self.key > 0
    }

    fn sorted<'t>(&self, table: &'t AnswerTable) -> AnswerRows<'t> {
        let mut rows = in_order(table);
        rows.sort_by(|a, b| compare(&self.columns, a, b));
        rows
    }

    fn compare_keys(&self, a: &[AnswerValue], b: &[AnswerValue]) -> Ordering {
        compare(self.columns.get(..self.key).unwrap_or_default(), a, b)
    }
}

fn compare(columns: &[usize], a: &[AnswerValue], b: &[AnswerValue]) -> Ordering {
    let by = |column: &usize| match (a.get(*column), b.get(*column)) {
        (Some(a), Some(b)) => a.order(b),
        _ => Ordering::Equal,
    };
    columns.iter().map(by).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(i64, &str, f64)]) -> AnswerTable {
        let row = |(id, word, number): &(i64, &str, f64)| {
            vec![AnswerValue::Integer(*id), AnswerValue::text(word), AnswerValue::number(*number)]
        };
        let columns = ["id", "word", "number"].map(str::to_owned).to_vec();
        AnswerTable { columns, rows: rows.iter().map(row).collect(), affected: 0 }
    }

    fn compared(a: &AnswerTable, b: &AnswerTable, comparison: &ResultComparison) -> Option<String> {
        difference(("A", a), ("B", b), comparison, 15)
    }

    #[test]
    fn rows_are_a_multiset_unless_their_order_counts() {
        let a = table(&[(1, "x", 0.1 + 0.2), (2, "y", 1.0), (2, "y", 1.0)]);
        let b = table(&[(2, "y", 1.0), (1, "x", 0.3), (2, "y", 1.0)]);
        assert_eq!(compared(&a, &b, &ResultComparison::Rows), None);
        let said = compared(&a, &b, &ResultComparison::Ordered).unwrap();
        assert!(said.starts_with("first differing row, number 1: A has (1, \"x\", 0.3"), "{said}");
        let c = table(&[(2, "y", 1.0), (1, "x", 0.3), (1, "x", 0.3)]);
        assert!(compared(&a, &c, &ResultComparison::Rows).is_some());
        assert_eq!(compared(&a, &c, &ResultComparison::Count), None);
    }

    #[test]
    fn a_difference_shows_the_first_row_of_both_sides() {
        let a = table(&[(1, "x", 0.5), (3, "z", 0.5)]);
        let b = table(&[(3, "z", 0.5), (1, "X", 0.5)]);
        insta::assert_snapshot!(compared(&a, &b, &ResultComparison::Rows).unwrap(),
            @r#"first differing row, number 1: A has (1, "x", 0.5), B has (1, "X", 0.5)"#);
        let key = ResultComparison::Key(vec!["ID".to_owned()]);
        insta::assert_snapshot!(compared(&a, &b, &key).unwrap(),
            @r#"of one key A has (1, "x", 0.5), B has (1, "X", 0.5)"#);
        let shorter = table(&[(3, "z", 0.5)]);
        insta::assert_snapshot!(compared(&a, &shorter, &key).unwrap(),
            @r#"the number of rows differs: A has 2, B has 1; only A has the row (1, "x", 0.5)"#);
        let wrong = ResultComparison::Key(vec!["name".to_owned()]);
        assert!(compared(&a, &b, &wrong).unwrap().contains("there are id, word, number"));
    }

    #[test]
    fn last_digits_do_not_tear_pairs_apart() {
        // Sorted by the second column first, the rows would stand in another order.
        let pair = |x: f64, y: f64| AnswerTable {
            columns: vec!["sum".to_owned(), "name".to_owned()],
            rows: vec![
                vec![AnswerValue::Double(x), AnswerValue::text("a")],
                vec![AnswerValue::Double(y), AnswerValue::text("b")],
            ],
            affected: 0,
        };
        let (low, high) = (0.1 + 0.2 - 1e-16, 0.1 + 0.2);
        assert_eq!(compared(&pair(low, high), &pair(high, low), &ResultComparison::Rows), None);
    }
}
