//! Estimate of the time that tables take beside the trials, printed before a run. The speed of this
//! machine is unknown by then, so that the rates are assumed, and printed too.

use std::collections::BTreeSet;

use plan::oltp::TableOptions;

use super::{DataTime, planned_schemas};
use plan::PlannedTrial;
use plan::{Plan, PlanError, Seconds};

/// Rows that are made, indexed, analysed and compared once with their expected contents.
const FILLED_PER_SECOND: u64 = 50_000;
/// Rows that are copied, read into memory and, when the trial is over, compared.
const RESTORED_PER_SECOND: u64 = 200_000;

/// Time for filling every engine's tables once, and for a copy for every trial that writes.
pub(super) fn data_time(plan: &Plan, trials: &[PlannedTrial]) -> Result<DataTime, PlanError> {
    let schemas = planned_schemas(plan)?;
    let mut known = BTreeSet::new();
    let (mut filled, mut restored) = (0, 0);
    for trial in trials {
        let oltp = plan.oltp_at(&trial.levels)?;
        let tables: Vec<TableOptions> =
            schemas.iter().map(|schema| oltp.table_options(*schema)).collect();
        if known.insert(format!("{} {tables:?}", trial.engine)) {
            filled += tables.iter().map(::oltp::total_rows).sum::<u64>();
        }
        if oltp.mix.writes() {
            let rows = ::oltp::total_rows(&oltp.table_options(oltp.mix.schema()));
            let engine = plan.engines.get(trial.engine);
            // On a server of the user's nothing is copied.
            match engine.is_some_and(|engine| engine.source.is_yours()) {
                true => filled += rows,
                false => restored += rows,
            }
        }
    }
    let seconds = filled.div_ceil(FILLED_PER_SECOND) + restored.div_ceil(RESTORED_PER_SECOND);
    let sentence = format!(
        "{} to fill tables and to restore and check those that trials write to, if \
         {FILLED_PER_SECOND} rows are filled and {RESTORED_PER_SECOND} restored per second \
         (assumed; tables kept from earlier runs are not filled again, long texts take longer)",
        Seconds(seconds)
    );
    Ok(DataTime { seconds, sentence })
}

#[cfg(test)]
mod tests {
    use crate::preview::Preview;

    fn expected(rows: u32, mix: &str) -> Preview {
        let text = format!(
            "title = \"t\"\nworkload = \"oltp\"\nengines = [\"postgres:18\", \"sqlite\"]\n\
             replicates = 1\n[oltp]\ntable_size = {rows}\nmix = \"{mix}\"\n\
             [trial]\nmode = \"steady\"\ntime = \"10s\"\n[factors]\nclients = [1, 2]\n"
        );
        Preview::of(&plan::read(&text, "plan.toml").unwrap()).unwrap()
    }

    #[test]
    fn large_tables_take_longer_and_what_is_assumed_is_said() {
        let seconds = |rows, mix| expected(rows, mix).assumed_seconds.unwrap();
        // Both engines are filled; four trials are restored.
        let filled = 2 * 10_000_000 / super::FILLED_PER_SECOND;
        let restored = 4 * 10_000_000 / super::RESTORED_PER_SECOND;
        let small = seconds(1, "read_only");
        assert!((filled - 2..=filled).contains(&(seconds(10_000_000, "read_only") - small)));
        let written = seconds(10_000_000, "read_write") - seconds(10_000_000, "read_only");
        assert_eq!(written, restored);
        let said = expected(10_000_000, "read_write").duration_in_words();
        assert!(said.contains("10m to fill tables") && said.contains("assumed"), "{said}");
    }
}
