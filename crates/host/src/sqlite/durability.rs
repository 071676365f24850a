//! Durability of a committed transaction in SQLite, by the pragmas that it reports.

use plan::Durability;

use crate::observe::setting;

pub(crate) fn durability(settings: &[(String, String)]) -> Option<Durability> {
    let value = |name| setting(settings, name);
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
