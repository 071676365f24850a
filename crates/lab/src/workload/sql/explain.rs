//! Plans of the statements that are measured, as the engine chooses them for sessions like the clients'.

use std::sync::Arc;

use super::client::SqlSession;
use super::entry::StatementEntry;
use super::load::{Pool, warm};
use super::subject::SqlSubject;
use super::target::SqlTarget;
use host::plan_hash;
use plan::Levels;
use record::{CapturedPlan, OperationPlan};

impl<'a> SqlSubject<'a> {
    /// The plans of the statements of `cell` that are executed at `levels`.
    pub(super) fn plans_of(
        &self,
        levels: &Levels,
        mut cell: Vec<Arc<StatementEntry>>,
    ) -> Vec<OperationPlan> {
        let mix = self.site.plan.operations_at(levels);
        cell.retain(|entry| mix.get(entry.script.operation).is_some_and(|one| one.weight > 0));
        let Ok(at) = self.at(levels) else { return Vec::new() };
        let mut session = self.session_for_plans(at, &cell);
        let (kind, pool) = (at.0.kind(), at.1);
        let captured = |entry: &Arc<StatementEntry>| OperationPlan {
            operation: entry.script.name.clone(),
            plan: match plan_of(&mut session, entry) {
                Ok(text) => CapturedPlan::Observed { hash: plan_hash(kind, &text), text },
                Err(why) => CapturedPlan::NotObservable { why },
            },
        };
        let plans = cell.iter().map(captured).collect();
        if let Ok(session) = session
            && !at.0.is_pooled()
        {
            pool.lock().insert(0, Some(session));
        }
        plans
    }

    /// A session of a client, or a new one, whose plans are those of the trials: PostgreSQL may
    /// plan a statement otherwise when it has executed it often.
    fn session_for_plans(
        &self,
        (target, pool): (&SqlTarget, &Pool<'a>),
        cell: &[Arc<StatementEntry>],
    ) -> Result<Box<dyn SqlSession + Send + 'a>, String> {
        // A pool knows prepared statements by other names.
        let session = match target.is_pooled() {
            true => self.open(target),
            false => self.pooled(target, pool),
        };
        let mut session = session.map_err(|error| error.to_string())?;
        let warmed = self.stoppable(target, || warm(session.as_mut(), cell.iter()));
        warmed.map(|()| session).map_err(|error| error.to_string())
    }
}

/// The plans of all steps of a script, with the first set of values.
fn plan_of(
    session: &mut Result<Box<dyn SqlSession + Send + '_>, String>,
    entry: &StatementEntry,
) -> Result<String, String> {
    let session = session.as_mut().map_err(|why| why.clone())?;
    let values = entry.deck.first().map(Vec::as_slice).unwrap_or_default();
    let steps = 0..entry.script.steps.len();
    let plans = steps.map(|step| session.explain(&entry.script, step, values));
    let plans: Result<Vec<String>, _> = plans.collect();
    plans.map(|plans| plans.join("\n\n")).map_err(|error| error.to_string())
}
