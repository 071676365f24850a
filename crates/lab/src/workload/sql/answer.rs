//! Whole answers, and how two engines' answers to one statement are held against each other.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::script::Script;
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

    /// The same with the columns that `wanted` lets through.
    fn filtered(&self, wanted: impl Fn(&str) -> bool) -> Self {
        let wanted: Vec<bool> = self.columns.iter().map(|name| wanted(name)).collect();
        fn pick<T: Clone>(of: &[T], wanted: &[bool]) -> Vec<T> {
            of.iter()
                .zip(wanted)
                .filter(|(_, is_wanted)| **is_wanted)
                .map(|(one, _)| one.clone())
                .collect()
        }
        Self {
            columns: pick(&self.columns, &wanted),
            rows: self.rows.iter().map(|row| pick(row, &wanted)).collect(),
            affected: self.affected,
        }
    }
}

/// How answers are compared.
#[derive(Clone, Copy)]
pub(crate) struct AnswerRule<'a> {
    pub comparison: &'a ResultComparison,
    pub digits: u8,
}

/// The first difference between two answers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AnswerDifference {
    pub words: String,
    /// The columns in which two rows of one place differ; empty where rows or columns are missing, or
    /// the engines call a column differently.
    pub columns: Vec<String>,
}

impl AnswerDifference {
    fn new(words: String) -> Self {
        Self { words, columns: Vec::new() }
    }
}

/// The first difference between the answers of two engines to a script.
pub(crate) fn difference_of(
    script: &Script,
    (one, ours): (&str, &AnswerTable),
    (other, theirs): (&str, &AnswerTable),
) -> Option<AnswerDifference> {
    let rule = AnswerRule { comparison: &script.comparison, digits: script.digits };
    if script.ignored.is_empty() {
        return difference((one, ours), (other, theirs), rule);
    }
    let [ours, theirs] = [ours, theirs].map(|table| table.filtered(|name| !script.ignores(name)));
    difference((one, &ours), (other, &theirs), rule)
}

/// The first difference between two answers, or `None`. `one` and `other` are the engines' labels with
/// their answers.
pub(crate) fn difference(
    (one, ours): (&str, &AnswerTable),
    (other, theirs): (&str, &AnswerTable),
    AnswerRule { comparison, digits }: AnswerRule<'_>,
) -> Option<AnswerDifference> {
    if *comparison == ResultComparison::None {
        return None;
    }
    if *comparison != ResultComparison::Count && ours.columns.len() != theirs.columns.len() {
        let shown =
            |table: &AnswerTable| format!("{} ({})", table.columns.len(), table.columns.join(", "));
        return Some(AnswerDifference::new(format!(
            "the number of columns differs: {one} has {}, {other} has {}",
            shown(ours),
            shown(theirs)
        )));
    }
    let counts = (ours.count() != theirs.count()).then(|| {
        format!(
            "the number of rows differs: {one} has {}, {other} has {}",
            ours.count(),
            theirs.count()
        )
    });
    if *comparison == ResultComparison::Count {
        return counts.map(AnswerDifference::new);
    }
    let key = match key_columns(ours, comparison) {
        Ok(key) => key,
        Err(why) => return Some(AnswerDifference::new(why)),
    };
    let order = RowOrder::of(ours, theirs, key);
    let sorted = |table| {
        if *comparison == ResultComparison::Ordered { in_order(table) } else { order.sorted(table) }
    };
    let (one, other) = ((one, &sorted(ours)), (other, &sorted(theirs)));
    let columns = (ours.columns.as_slice(), theirs.columns.as_slice());
    let row = first_difference(one, other, columns, &order, digits);
    match (counts, row) {
        (Some(counts), Some(row)) => {
            Some(AnswerDifference { words: format!("{counts}; {}", row.words), ..row })
        }
        (counts, row) => counts.map(AnswerDifference::new).or(row),
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
    (one, ours): (&str, &AnswerRows<'_>),
    (other, theirs): (&str, &AnswerRows<'_>),
    (names, other_names): (&[String], &[String]),
    order: &RowOrder,
    digits: u8,
) -> Option<AnswerDifference> {
    let mut pairs = ours.iter().zip(theirs.iter());
    let at = pairs.position(|(a, b)| !agree(a, b, digits));
    let (at, a, b) = match at {
        Some(at) => (at, ours.get(at), theirs.get(at)),
        None => {
            let at = ours.len().min(theirs.len());
            (at, ours.get(at), theirs.get(at))
        }
    };
    let only = |engine: &str, row: &[AnswerValue]| {
        Some(AnswerDifference::new(format!("only {engine} has the row {}", shown(row))))
    };
    let both = |place: String, a: &[AnswerValue], b: &[AnswerValue]| {
        let values = names.iter().zip(other_names).zip(a.iter().zip(b));
        let differing: Vec<(&String, &String)> =
            values.filter(|(_, (a, b))| !a.agrees(b, digits)).map(|(names, _)| names).collect();
        let words = format!(
            "{place} {one} has {}, {other} has {}: they differ in {}",
            shown(a),
            shown(b),
            differing.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
        );
        let has_one_name = |(name, other): &(&String, &String)| name.eq_ignore_ascii_case(other);
        let columns = match differing.iter().all(has_one_name) {
            true => differing.into_iter().map(|(name, _)| name.clone()).collect(),
            false => Vec::new(),
        };
        Some(AnswerDifference { words, columns })
    };
    match (a, b) {
        (None, None) => None,
        (Some(a), None) => only(one, a),
        (None, Some(b)) => only(other, b),
        (Some(a), Some(b)) if order.has_key() => match order.compare_keys(a, b) {
            Ordering::Less => only(one, a),
            Ordering::Greater => only(other, b),
            Ordering::Equal => both("of one key".to_owned(), a, b),
        },
        (Some(a), Some(b)) => both(format!("first differing row, number {}:", at + 1), a, b),
    }
}

fn agree(a: &[AnswerValue], b: &[AnswerValue], digits: u8) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.agrees(b, digits))
}

/// A row as written in messages.
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
        let rule = AnswerRule { comparison, digits: 15 };
        difference(("A", a), ("B", b), rule).map(|difference| difference.words)
    }

    #[test]
    fn a_column_that_is_ignored_is_left_out() {
        let rule = AnswerRule { comparison: &ResultComparison::Rows, digits: 15 };
        let (a, b) =
            (table(&[(1, "x", 0.5), (2, "y", 1.0)]), table(&[(1, "z", 0.5), (2, "y", 2.0)]));
        let found = difference(("A", &a), ("B", &b), rule).unwrap();
        assert_eq!(found.columns, ["word"]);
        let [a, b] = [a, b].map(|table| table.filtered(|name| name != "word"));
        assert_eq!(difference(("A", &a), ("B", &b), rule).unwrap().columns, ["number"]);
        let [a, b] = [a, b].map(|table| table.filtered(|name| name != "number"));
        assert_eq!(difference(("A", &a), ("B", &b), rule), None);
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
            @r#"first differing row, number 1: A has (1, "x", 0.5), B has (1, "X", 0.5): they differ in word"#);
        let key = ResultComparison::Key(vec!["ID".to_owned()]);
        insta::assert_snapshot!(compared(&a, &b, &key).unwrap(),
            @r#"of one key A has (1, "x", 0.5), B has (1, "X", 0.5): they differ in word"#);
        let shorter = table(&[(3, "z", 0.5)]);
        insta::assert_snapshot!(compared(&a, &shorter, &key).unwrap(),
            @r#"the number of rows differs: A has 2, B has 1; only A has the row (1, "x", 0.5)"#);
        let wrong = ResultComparison::Key(vec!["name".to_owned()]);
        assert!(compared(&a, &b, &wrong).unwrap().contains("there are id, word, number"));
    }

    #[test]
    fn last_digits_do_not_tear_pairs_apart() {
        // Sorted by the second column first, the rows would be in another order.
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
