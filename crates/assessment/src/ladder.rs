//! The steps of a try: the file unchanged, ANALYZE, the indexes, the settings; PostgreSQL gets the same
//! indexes and settings of its own. A step is left out only where it changes no plan and no setting.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::{EngineKind, EngineSpec};
use notation::counted;
use plan::{Step, StepChanges};

use crate::pilot::PilotResult;
use crate::tuning::{Tuning, memory_bytes};

pub const UNCHANGED: &str = "unchanged";
const ANALYZE: &str = "ANALYZE";
const SETTINGS: &str = "settings";

/// Factor by which a step must be better than the last one in the pilot.
const CLEARLY: f64 = 1.3;

/// Memory for a sort or a hash table of one query in PostgreSQL: 4 MB by default.
const WORK_MEM: &str = "64MB";

/// The steps, and the pilot's times at them.
#[derive(Clone, Debug, Default)]
pub struct Ladder {
    pub steps: Vec<Step>,
    /// By engine of the plan, then by step: a result for each statement. A step that does not change an
    /// engine has none.
    pub results: Vec<Vec<Option<Vec<PilotResult>>>>,
}

impl Ladder {
    /// The unchanged file alone.
    pub fn of_unchanged() -> Self {
        Self { steps: vec![named(UNCHANGED)], results: Vec::new() }
    }

    /// The steps that `tuning` asks for, with its times of SQLite; `unchanged` are those before. Those that
    /// change PostgreSQL only are left out where SQLite `is_alone`.
    pub fn of(
        tuning: &Tuning,
        unchanged: Vec<PilotResult>,
        is_alone: bool,
    ) -> (Self, Vec<Option<Vec<PilotResult>>>) {
        let mut steps = vec![named(UNCHANGED)];
        let mut results = vec![Some(unchanged)];
        if !tuning.plans_changed_by_analyze.is_empty() {
            let sqlite = statements(vec![ANALYZE.to_owned()]);
            steps.push(Step { sqlite, ..named(ANALYZE) });
            results.push(Some(tuning.analyzed.clone()));
        }
        if !tuning.indexes.is_empty() {
            let all = tuning.indexes.iter().map(|index| index.sql.clone());
            let analyze = std::iter::once(ANALYZE.to_owned());
            let portable = tuning.indexes.iter().filter(|index| index.is_portable);
            steps.push(Step {
                name: counted(tuning.indexes.len(), "index"),
                sqlite: statements(all.chain(analyze).collect()),
                postgres: statements(portable.map(|index| index.sql.clone()).collect()),
            });
            results.push(Some(tuning.indexed.clone()));
        }
        let sqlite = sqlite_settings(tuning);
        let is_set = !sqlite.is_empty();
        if is_set || !is_alone {
            steps.push(Step { sqlite, postgres: postgres_settings(), ..named(SETTINGS) });
            results.push(is_set.then(|| tuning.set.clone()));
        }
        (Self { steps, results: Vec::new() }, results)
    }

    /// The step of each engine at which the pilot's times are least, by label: of a log weighted by its
    /// executions, otherwise by the ratios of times. The last one, unless another is clearly better.
    pub fn best(
        &self,
        engines: &[EngineSpec],
        executions: &[Option<u64>],
    ) -> BTreeMap<String, String> {
        let mut best = BTreeMap::new();
        for (engine, results) in engines.iter().zip(&self.results) {
            let measured = results.iter().enumerate();
            let scored = measured
                .filter_map(|(step, results)| Some((step, score(results.as_ref()?, executions)?)));
            let scored: Vec<(usize, f64)> = scored.collect();
            let Some((last, of_last)) = scored.last() else { continue };
            let least = scored.iter().min_by(|(_, a), (_, b)| a.total_cmp(b));
            let better = least.filter(|(_, score)| score * CLEARLY < *of_last);
            let step = better.map_or(*last, |(step, _)| *step);
            best.insert(engine.label(), self.steps[step].name.clone());
        }
        best
    }
}

fn named(name: &str) -> Step {
    Step { name: name.to_owned(), ..Step::default() }
}

fn statements(statements: Vec<String>) -> StepChanges {
    StepChanges { statements, settings: BTreeMap::new() }
}

fn sqlite_settings(tuning: &Tuning) -> StepChanges {
    let wal = tuning.journal_becomes_wal.then(|| "PRAGMA journal_mode = wal".to_owned());
    let cache = tuning.cache_kib.map(|kib| ("cache_size".to_owned(), format!("-{kib}")));
    StepChanges { statements: wal.into_iter().collect(), settings: cache.into_iter().collect() }
}

/// Settings that a session may have: the shared buffers keep their size.
fn postgres_settings() -> StepChanges {
    let cached_mib = memory_bytes() / (1 << 20) / 2;
    let settings = [
        ("work_mem".to_owned(), WORK_MEM.to_owned()),
        ("effective_cache_size".to_owned(), format!("{cached_mib}MB")),
    ];
    StepChanges { statements: Vec::new(), settings: settings.into() }
}

/// The settings of a step for PostgreSQL, as a connection takes them.
pub fn session_settings(steps: &[Step], up_to: usize) -> BTreeMap<String, String> {
    let changes = steps.iter().take(up_to + 1).filter_map(|one| one.changes(EngineKind::Postgres));
    changes.flat_map(|changes| changes.settings.clone()).collect()
}

/// Total seconds of a log, or the geometric mean of the statements' seconds.
fn score(results: &[PilotResult], executions: &[Option<u64>]) -> Option<f64> {
    let has_log = executions.iter().any(Option::is_some);
    let (mut score, mut statements) = (0.0, 0.0);
    for (result, executions) in results.iter().zip(executions) {
        let seconds = match result {
            PilotResult::Took(time) => time.max(&Duration::from_micros(1)).as_secs_f64(),
            PilotResult::TooSlow(limit) => limit.as_secs_f64(),
            PilotResult::Refused(_) => continue,
        };
        score += match (has_log, executions) {
            (true, executions) => executions.unwrap_or(0) as f64 * seconds,
            (false, _) => seconds.ln(),
        };
        statements += 1.0;
    }
    match (has_log, statements > 0.0) {
        (_, false) => None,
        (true, true) => Some(score),
        (false, true) => Some(f64::exp(score / statements)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn took(ms: &[u64]) -> Vec<PilotResult> {
        ms.iter().map(|ms| PilotResult::Took(Duration::from_millis(*ms))).collect()
    }

    fn tuning() -> Tuning {
        let index = |name: &str, is_portable| crate::tuning::NewIndex {
            name: name.to_owned(),
            sql: format!("CREATE INDEX {name} ON t(a)"),
            bytes: 1,
            used_by: vec!["s".to_owned()],
            is_portable,
        };
        Tuning {
            plans_changed_by_analyze: vec!["s".to_owned()],
            indexes: vec![index("a", true), index("b", false)],
            cache_kib: Some(65_536),
            analyzed: took(&[90]),
            indexed: took(&[2]),
            set: took(&[1]),
            ..Tuning::default()
        }
    }

    #[test]
    fn both_engines_get_the_same_indexes_and_settings_of_their_own() {
        let (ladder, _) = Ladder::of(&tuning(), took(&[100]), false);
        let names: Vec<&str> = ladder.steps.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(names, ["unchanged", "ANALYZE", "2 indexes", "settings"]);
        assert_eq!(ladder.steps[2].sqlite.statements.len(), 3);
        assert_eq!(ladder.steps[2].postgres.statements, ["CREATE INDEX a ON t(a)"]);
        assert_eq!(ladder.steps[3].sqlite.settings["cache_size"], "-65536");
        assert_eq!(ladder.steps[3].postgres.settings["work_mem"], "64MB");
    }

    #[test]
    fn a_step_that_changes_nothing_is_left_out() {
        let (ladder, results) = Ladder::of(&Tuning::default(), took(&[100]), false);
        let names: Vec<&str> = ladder.steps.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(names, ["unchanged", "settings"]);
        assert!(results[1].is_none(), "no setting changes SQLite");
        let (alone, results) = Ladder::of(&Tuning::default(), took(&[100]), true);
        assert_eq!((alone.steps.len(), results.len()), (1, 1));
    }

    #[test]
    fn the_best_step_of_each_engine_is_the_pilots() {
        let (mut ladder, of_sqlite) = Ladder::of(&tuning(), took(&[100]), false);
        let of_postgres = vec![Some(took(&[7])), None, Some(took(&[3])), Some(took(&[4]))];
        ladder.results = vec![of_sqlite, of_postgres];
        let engines = ["sqlite", "postgres:18"].map(|name| name.parse().unwrap());
        let best = ladder.best(&engines, &[None]);
        assert_eq!(best["sqlite"], "settings");
        assert_eq!(best["postgres:18"], "2 indexes");
    }
}
