//! Reach of the values of a statement that changes data: whether it finds something to do when they
//! come again. Found out by executing it, and rolled back.

use super::SqlSubject;
use crate::error::RunError;
use crate::workload::KeyReach;
use crate::workload::sql::client::{Control, SqlError, SqlSession, all_steps};
use crate::workload::sql::entry::StatementEntry;
use crate::workload::sql::supply::Supply;
use crate::workload::sql::value::AnswerValue;
use plan::Levels;

/// The most sets that are tried until one has an effect.
const TRIED_SETS_MAX: u64 = 100;

impl SqlSubject<'_> {
    /// The reach of each statement that writes at `levels`.
    pub(super) fn reaches_at(&mut self, levels: &Levels) -> Result<Vec<KeyReach>, RunError> {
        let (cell, mix) = (self.cell(levels)?, self.site.plan.operations_at(levels));
        let (target, pool) = self.at(levels)?;
        let mut session = self.pooled(target, pool)?;
        let mut reaches = Vec::new();
        for (operation, entry) in cell.iter().enumerate() {
            let is_done = mix.get(operation).is_some_and(|one| one.weight > 0);
            let Some(supply) = entry.supply.as_ref().filter(|_| is_done) else { continue };
            let probed = self.stoppable(target, || reach(session.as_mut(), entry, supply));
            let (executions, keyed) = probed.map_err(|error| {
                let (label, name) = (self.label(), &entry.script.name);
                error.at(&format!("{label}, {name}"))
            })?;
            reaches.push(KeyReach { operation, executions, keyed });
        }
        pool.lock().insert(0, Some(session));
        Ok(reaches)
    }
}

/// The number of executions that the values suffice for, none where they may come again; and whether
/// one parameter alone chooses what is changed.
fn reach(
    session: &mut dyn SqlSession,
    entry: &StatementEntry,
    supply: &Supply,
) -> Result<(Option<u64>, bool), SqlError> {
    if !entry.script.changes_rows() {
        return Ok((None, false));
    }
    session.prepare(&entry.script)?;
    let mut effect = |sets: &[&[AnswerValue]]| last_effect(session, entry, sets);
    let Some((number, first)) = effective(supply, &mut effect)? else { return Ok((None, false)) };
    if effect(&[&first, &first])? {
        return Ok((None, false));
    }
    // A row that the plan gives as a whole is its own key.
    if supply.lengths().len() != first.len() {
        return Ok((Some(supply.sets()), true));
    }
    let second = supply.set(number + 1);
    let mut shortest: Option<u64> = None;
    for (column, length) in supply.lengths().into_iter().enumerate().filter(|(_, it)| *it > 1) {
        let mut mixed = second.clone();
        if let (Some(place), Some(value)) = (mixed.get_mut(column), first.get(column)) {
            *place = value.clone();
        }
        if effect(&[&mixed])? && !effect(&[&first, &mixed])? {
            shortest = Some(shortest.map_or(length, |known| known.min(length)));
        }
    }
    Ok((shortest.or(Some(supply.sets())), shortest.is_some()))
}

/// The first set that changes a row of the unchanged data, with its number.
fn effective(
    supply: &Supply,
    effect: &mut impl FnMut(&[&[AnswerValue]]) -> Result<bool, SqlError>,
) -> Result<Option<(u64, Vec<AnswerValue>)>, SqlError> {
    for number in 0..supply.sets().min(TRIED_SETS_MAX) {
        let set = supply.set(number);
        if effect(&[&set])? {
            return Ok(Some((number, set)));
        }
    }
    Ok(None)
}

/// Whether the last of these executions changes a row; one that the engine refuses changes none.
fn last_effect(
    session: &mut dyn SqlSession,
    entry: &StatementEntry,
    sets: &[&[AnswerValue]],
) -> Result<bool, SqlError> {
    session.control(Control::Begin { locks: true })?;
    let mut changed = false;
    for values in sets {
        match all_steps(session, &entry.script, values) {
            Ok(seen) => changed = seen.changed_rows > 0,
            Err(error) if error.ends_connection() => return Err(error),
            Err(_) => {
                changed = false;
                break;
            }
        }
    }
    session.control(Control::Rollback)?;
    Ok(changed)
}
