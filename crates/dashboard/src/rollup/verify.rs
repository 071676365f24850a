//! Verification of the totals: each is summed from the facts once more, by statements that share
//! nothing with those that made it, and compared.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;

use super::calendar::Grain;
use super::definition::{KEPT, TotalsKind, grain_number};
use super::page::{self, TotalSums};
use super::{CommandWork, Error, exists, statements};
use crate::database::CommandTransaction;
use crate::query::{Day, Period};
use crate::schema::{DataVersion, version_row};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TotalsVerification {
    pub totals: u64,
    /// The first difference of each page; none where all is right.
    pub differences: Vec<TotalsDifference>,
}

/// A total that is not what the facts add up to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TotalsDifference {
    /// The page: the kind of its totals and its span.
    pub page: String,
    pub problem: String,
}

type TotalsByKey = HashMap<(i32, i32), TotalSums>;

pub(super) fn verify(
    transaction: &CommandTransaction<'_>,
    work: CommandWork<'_>,
) -> Result<TotalsVerification, Error> {
    let mut version = DataVersion::default();
    transaction.rows(version_row(transaction.dialect()), &[], |row| {
        version = DataVersion::from_row(row)?;
        Ok::<_, Error>(())
    })?;
    if version.totals.is_none() || !exists(transaction)? {
        return Err(Error::Missing);
    }
    let mut found = TotalsVerification::default();
    if !version.agrees() {
        let problem = "the data was changed since the totals were made".to_owned();
        found.differences.push(TotalsDifference { page: "all".to_owned(), problem });
    }
    let mut days = BTreeSet::new();
    transaction.rows("SELECT DISTINCT day FROM traffic", &[], |row| {
        days.insert(row.small(0)?);
        Ok::<_, Error>(())
    })?;
    for (kind, grain) in KEPT {
        work.progress.set_message(format!("proving {kind:?} by {grain:?}"));
        let mut spans = BTreeSet::new();
        for span in days.iter().filter_map(|day| grain.span(Day::from_number(*day)?)) {
            work.go_on()?;
            if spans.insert(span.start().number()) {
                compare(transaction, kind, grain, span, &mut found)?;
            }
        }
        superfluous(transaction, (kind, grain), &spans, &mut found)?;
    }
    Ok(found)
}

/// Notes the first difference between a page and the facts.
fn compare(
    transaction: &CommandTransaction<'_>,
    kind: TotalsKind,
    grain: Grain,
    span: Period,
    found: &mut TotalsVerification,
) -> Result<(), Error> {
    let ends = [span.start().number().into(), span.end().number().into()];
    let mut expected = TotalsByKey::new();
    transaction.rows(&statements::from_facts(kind), &ends, |row| {
        let metrics = [row.integer(3)?, row.integer(4)?, row.integer(5)?];
        let sums = TotalSums { facts: row.integer(2)?, metrics };
        expected.insert((row.small(0)?, row.small(1)?), sums);
        Ok::<_, Error>(())
    })?;
    found.totals += expected.len() as u64;
    let start = span.start().number();
    let values = [kind.number().into(), grain_number(grain).into(), start.into(), start.into()];
    let mut stored = TotalsByKey::new();
    let mut readable = true;
    transaction.rows(statements::PAGES, &values, |row| {
        let page = row.bytes(1)?;
        readable = page::each(page, |key, sums| {
            stored.insert(key, *sums);
        })
        .is_ok();
        Ok::<_, Error>(())
    })?;
    let wrong = expected.iter().find(|(key, sums)| stored.get(*key) != Some(sums));
    let more = || stored.iter().find(|(key, _)| !expected.contains_key(*key));
    let problem = match wrong.or_else(more) {
        _ if !readable => Some("it is damaged".to_owned()),
        Some((key, _)) => {
            let (facts, page) = (expected.get(key), stored.get(key));
            Some(format!("for {key:?} the facts give {facts:?}, the page has {page:?}"))
        }
        None => None,
    };
    found.differences.extend(problem.map(|problem| TotalsDifference {
        page: format!("{kind:?}, {grain:?} of {}", span.start()),
        problem,
    }));
    Ok(())
}

/// Notes pages of spans without facts.
fn superfluous(
    transaction: &CommandTransaction<'_>,
    (kind, grain): (TotalsKind, Grain),
    spans: &BTreeSet<i32>,
    found: &mut TotalsVerification,
) -> Result<(), Error> {
    let (first, last) = (i32::MIN.into(), i32::MAX.into());
    let values = [kind.number().into(), grain_number(grain).into(), first, last];
    transaction.rows(statements::PAGES, &values, |row| {
        let start = row.small(0)?;
        if !spans.contains(&start) {
            let shown = Day::from_number(start)
                .map_or_else(|| format!("day {start}"), |day| day.to_string());
            let page = format!("{kind:?}, {grain:?} of {shown}");
            let problem = "there are no facts for it".to_owned();
            found.differences.push(TotalsDifference { page, problem });
        }
        Ok::<_, Error>(())
    })?;
    Ok(())
}
