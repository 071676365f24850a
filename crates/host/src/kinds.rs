//! Judgement of what an engine reports of itself, by its kind: durability, and the shape of a plan.

use engine::EngineKind;
use plan::Durability;
use xxhash_rust::xxh3::xxh3_64;

use crate::{mariadb, postgres, sqlite};

/// From settings as the engine shows them; [`Durability::Unknown`] where one that decides is not
/// among them.
///
/// Sources: SQLite's `PRAGMA synchronous` and `PRAGMA journal_mode`; PostgreSQL's manual, "Write
/// Ahead Log" settings; MariaDB's manual, "InnoDB System Variables".
#[must_use]
pub fn durability(kind: EngineKind, settings: &[(String, String)]) -> Durability {
    let judged = match kind {
        EngineKind::Sqlite => sqlite::durability(settings),
        EngineKind::Postgres => postgres::durability(settings),
        EngineKind::Mariadb | EngineKind::Mysql => mariadb::durability(settings),
        EngineKind::Http | EngineKind::Dir | EngineKind::Tree | EngineKind::SqliteDir => None,
    };
    judged.unwrap_or_default()
}

/// The shape of a plan as sixteen hexadecimal digits: two plans are one if they differ in nothing but
/// estimates, times and the values that the statement was asked with. `text` is PostgreSQL's text
/// format, SQLite's EXPLAIN QUERY PLAN indented by depth, MariaDB's and MySQL's JSON.
#[must_use]
pub fn plan_hash(kind: EngineKind, text: &str) -> String {
    let shape = match kind {
        EngineKind::Postgres => postgres::shape(text),
        EngineKind::Sqlite => sqlite::shape(text),
        EngineKind::Mariadb | EngineKind::Mysql => mariadb::shape(text),
        EngineKind::Http | EngineKind::Dir | EngineKind::Tree | EngineKind::SqliteDir => {
            text.to_owned()
        }
    };
    format!("{:016x}", xxh3_64(shape.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(kind: EngineKind, settings: &[(&str, &str)]) -> Durability {
        let settings: Vec<(String, String)> =
            settings.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        durability(kind, &settings)
    }

    #[test]
    fn each_engine_is_judged_by_its_own_settings() {
        use Durability::{None, SurvivesPowerLoss, SurvivesProgramCrash, Unknown};
        for (journal, synchronous, expected) in [
            ("wal", "2", SurvivesPowerLoss),
            ("delete", "FULL", SurvivesPowerLoss),
            ("delete", "1", SurvivesProgramCrash),
            ("wal", "NORMAL", SurvivesProgramCrash),
            ("wal", "0", SurvivesProgramCrash),
            ("memory", "2", None),
        ] {
            let settings = [("journal_mode", journal), ("synchronous", synchronous)];
            assert_eq!(judged(EngineKind::Sqlite, &settings), expected, "{settings:?}");
        }
        assert_eq!(judged(EngineKind::Sqlite, &[("journal_mode", "wal")]), Unknown);
        for (fsync, commit, pages, expected) in [
            ("on", "on", "on", SurvivesPowerLoss),
            ("on", "local", "on", SurvivesPowerLoss),
            ("off", "on", "on", SurvivesProgramCrash),
            ("on", "on", "off", SurvivesProgramCrash),
            ("on", "off", "on", None),
        ] {
            let settings =
                [("fsync", fsync), ("synchronous_commit", commit), ("full_page_writes", pages)];
            assert_eq!(judged(EngineKind::Postgres, &settings), expected, "{settings:?}");
        }
        for (flush, doublewrite, expected) in [
            ("1", "ON", SurvivesPowerLoss),
            ("1", "OFF", SurvivesProgramCrash),
            ("2", "ON", SurvivesProgramCrash),
            ("0", "ON", None),
        ] {
            let settings =
                [("innodb_flush_log_at_trx_commit", flush), ("innodb_doublewrite", doublewrite)];
            assert_eq!(judged(EngineKind::Mariadb, &settings), expected, "{settings:?}");
        }
    }

    const INDEX: &str = "\
Limit  (cost=0.43..8.45 rows=1 width=8)
  ->  Index Scan using traffic_2_pkey on traffic  (cost=0.43..8.45 rows=1 width=8)
        Index Cond: ((day >= 18628) AND (day <= 18634))
        Filter: (name = 'it''s 7'::text)";

    #[test]
    fn values_estimates_and_times_do_not_matter() {
        let other = INDEX
            .replace("18628", "-3")
            .replace("18634", "$1")
            .replace("it''s 7", "")
            .replace("rows=1 ", "rows=900 ")
            .replace("8.45", "12345.67");
        assert_eq!(plan_hash(EngineKind::Postgres, INDEX), plan_hash(EngineKind::Postgres, &other));
        let analysed = INDEX.replace("width=8)", "width=8) (actual time=0.1..0.2 rows=1 loops=1)")
            + "\n        Rows Removed by Filter: 3\nPlanning Time: 1.2 ms\nJIT:\n  Functions: 3";
        assert_eq!(
            plan_hash(EngineKind::Postgres, INDEX),
            plan_hash(EngineKind::Postgres, &analysed)
        );
    }

    #[test]
    fn nodes_indexes_conditions_and_workers_matter() {
        let hash = plan_hash(EngineKind::Postgres, INDEX);
        for (part, other) in [
            ("Index Scan using traffic_2_pkey on", "Seq Scan on"),
            ("traffic_2_pkey", "traffic_3_pkey"),
            ("day >= ", "country >= "),
        ] {
            assert_ne!(
                hash,
                plan_hash(EngineKind::Postgres, &INDEX.replace(part, other)),
                "{part}"
            );
        }
        let gather = |workers| format!("Gather  (cost=1..2 rows=1)\n  Workers Planned: {workers}");
        assert_ne!(
            plan_hash(EngineKind::Postgres, &gather(1)),
            plan_hash(EngineKind::Postgres, &gather(2))
        );
    }

    #[test]
    fn plans_of_mariadb_are_compared_without_their_estimates() {
        let plan = |rows: u32, key: &str, value: &str| {
            format!(
                r#"{{"query_block":{{"cost":{rows},"table":{{"key":"{key}","rows":{rows},
                   "attached_condition":"t.a > {value}"}}}}}}"#
            )
        };
        let hash = plan_hash(EngineKind::Mariadb, &plan(10, "a", "7"));
        assert_eq!(hash, plan_hash(EngineKind::Mariadb, &plan(99, "a", "'x'")));
        assert_ne!(hash, plan_hash(EngineKind::Mariadb, &plan(10, "b", "7")));
    }
}
