//! Durability of a committed transaction in PostgreSQL, by the settings that it reports.

use plan::Durability;

use crate::observe::setting;

pub(crate) fn durability(settings: &[(String, String)]) -> Option<Durability> {
    let value = |name| setting(settings, name);
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
