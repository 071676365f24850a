//! Effects of the same executions on two engines: the tables that they have written to are equal.

use std::collections::BTreeMap;

use notation::thousands;

use crate::error::RunError;
use plan::Levels;
use record::{Finished, Status, Trial, WrittenTable};

/// The first table that is otherwise than after an earlier trial of the same work.
pub(super) fn difference(finished: &Finished, trial: &Trial) -> Option<RunError> {
    let is_same_work = |other: &&Trial| {
        other.status == Status::Ok
            && !other.written.is_empty()
            && have_same_work(finished, &other.levels, &trial.levels)
    };
    let earlier = finished.trials.iter().find(is_same_work)?;
    let (table, what) =
        first_difference((&named(earlier), &earlier.written), (&named(trial), &trial.written))?;
    Some(RunError::WritesDiffer { table, what })
}

fn have_same_work(finished: &Finished, one: &Levels, other: &Levels) -> bool {
    let mut work = finished.run.fixed_work.iter();
    one == other || work.any(|work| work.cells.contains(one) && work.cells.contains(other))
}

fn named(trial: &Trial) -> String {
    format!("{} (trial {})", trial.engine, trial.number)
}

type WrittenTables = BTreeMap<String, WrittenTable>;

fn first_difference(
    (one, ours): (&str, &WrittenTables),
    (other, theirs): (&str, &WrittenTables),
) -> Option<(String, String)> {
    ours.iter().find_map(|(name, a)| {
        let b = theirs.get(name)?;
        if a.rows != b.rows {
            let (a, b) = (thousands(a.rows), thousands(b.rows));
            return Some((name.clone(), format!("{one} has {a} rows, {other} has {b}")));
        }
        let comparable = a.left_out == b.left_out && a.digest.is_some() && b.digest.is_some();
        if !comparable || a.digest == b.digest {
            return None;
        }
        let differs =
            |(column, digest): &(&String, &String)| b.columns.get(*column) != Some(digest);
        let columns: Vec<&str> =
            a.columns.iter().filter(differs).map(|(column, _)| column.as_str()).collect();
        let place = match columns.is_empty() {
            true => "in the pairing of their values".to_owned(),
            false => format!("in {}", columns.join(", ")),
        };
        let rows = thousands(a.rows);
        let what =
            format!("{one} and {other} both have {rows} rows, and their digests differ {place}");
        Some((name.clone(), what))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: u64, digest: &str, columns: [&str; 2], left_out: &[&str]) -> WrittenTables {
        let names = ["a", "b"].map(str::to_owned);
        let table = WrittenTable {
            rows,
            digest: (!digest.is_empty()).then(|| digest.to_owned()),
            columns: names.into_iter().zip(columns.map(str::to_owned)).collect(),
            left_out: left_out.iter().map(|name| (*name).to_owned()).collect(),
        };
        BTreeMap::from([("t".to_owned(), table)])
    }

    #[test]
    fn counts_come_first_and_then_digests_of_both_sides() {
        let found = |a: &WrittenTables, b: &WrittenTables| {
            first_difference(("A", a), ("B", b)).map(|(_, what)| what)
        };
        let a = table(1_000, "x", ["1", "2"], &[]);
        assert_eq!(found(&a, &a), None);
        let fewer = table(999, "y", ["1", "2"], &[]);
        assert_eq!(found(&a, &fewer).unwrap(), "A has 1,000 rows, B has 999");
        let other = table(1_000, "y", ["1", "3"], &[]);
        let said = "A and B both have 1,000 rows, and their digests differ in b";
        assert_eq!(found(&a, &other).unwrap(), said);
        let paired = table(1_000, "y", ["1", "2"], &[]);
        assert!(found(&a, &paired).unwrap().ends_with("differ in the pairing of their values"));
        assert_eq!(found(&a, &table(1_000, "", ["1", "3"], &[])), None);
        assert_eq!(found(&a, &table(1_000, "y", ["1", "3"], &["c"])), None);
    }
}
