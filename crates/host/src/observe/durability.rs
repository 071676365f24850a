//! Durability of a committed transaction, judged from the settings that the engine itself reports.

use engine::EngineKind;
use plan::Durability;

/// From settings as the engine shows them; [`Durability::Unknown`] where one that decides is not
/// among them.
///
/// Sources: SQLite's `PRAGMA synchronous` and `PRAGMA journal_mode`; PostgreSQL's manual, "Write
/// Ahead Log" settings; MariaDB's manual, "InnoDB System Variables".
#[must_use]
pub fn durability(kind: EngineKind, settings: &[(String, String)]) -> Durability {
    let value = |name: &str| {
        let found = settings.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.to_ascii_lowercase())
    };
    let judged = match kind {
        EngineKind::Sqlite => sqlite(value),
        EngineKind::Postgres => postgres(value),
        EngineKind::Mariadb | EngineKind::Mysql => innodb(value),
        EngineKind::Http | EngineKind::Dir | EngineKind::Tree | EngineKind::SqliteDir => None,
    };
    judged.unwrap_or_default()
}

fn sqlite(value: impl Fn(&str) -> Option<String>) -> Option<Durability> {
    let journal = value("journal_mode")?;
    if matches!(journal.as_str(), "off" | "memory") {
        // A program that ends in the middle of a transaction leaves the file damaged.
        return Some(Durability::None);
    }
    Some(match value("synchronous")?.as_str() {
        // NORMAL syncs a write-ahead log at checkpoints only; with a rollback journal the manual
        // names a small chance of damage (<https://www.sqlite.org/pragma.html#pragma_synchronous>).
        "0" | "off" | "1" | "normal" => Durability::SurvivesProgramCrash,
        "2" | "full" | "3" | "extra" => Durability::SurvivesPowerLoss,
        _ => return None,
    })
}

fn postgres(value: impl Fn(&str) -> Option<String>) -> Option<Durability> {
    let (fsync, commit) = (value("fsync")?, value("synchronous_commit")?);
    let whole_pages = value("full_page_writes")?;
    Some(if commit == "off" {
        // The last commits are in the server's memory only.
        Durability::None
    } else if fsync == "on" && whole_pages == "on" {
        Durability::SurvivesPowerLoss
    } else {
        Durability::SurvivesProgramCrash
    })
}

fn innodb(value: impl Fn(&str) -> Option<String>) -> Option<Durability> {
    let flush = value("innodb_flush_log_at_trx_commit")?;
    let torn_pages_mended = value("innodb_doublewrite").is_none_or(|value| value != "off");
    let synced = value("innodb_flush_method")
        .is_none_or(|method| !matches!(method.as_str(), "nosync" | "littlesync"));
    Some(match flush.as_str() {
        "0" => Durability::None,
        "1" | "3" if torn_pages_mended && synced => Durability::SurvivesPowerLoss,
        _ => Durability::SurvivesProgramCrash,
    })
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
}
