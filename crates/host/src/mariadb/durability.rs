//! Durability of a committed transaction in InnoDB, by the variables that it reports.

use plan::Durability;

use crate::observe::setting;

pub(crate) fn durability(settings: &[(String, String)]) -> Option<Durability> {
    let value = |name| setting(settings, name);
    let flush = value("innodb_flush_log_at_trx_commit")?;
    let torn_pages_repaired = value("innodb_doublewrite").is_none_or(|value| value != "off");
    let synced = value("innodb_flush_method")
        .is_none_or(|method| !matches!(method.as_str(), "nosync" | "littlesync"));
    Some(match flush.as_str() {
        "0" => Durability::None,
        "1" | "3" if torn_pages_repaired && synced => Durability::SurvivesPowerLoss,
        _ => Durability::SurvivesProgramCrash,
    })
}
