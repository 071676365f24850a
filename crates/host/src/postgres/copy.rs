//! Statements that copy a database for a trial, on every release.

use connect::postgres::quote_identifier;

/// The first release that copies a database through its log unless told otherwise.
const COPIES_THROUGH_LOG: u32 = 15;

/// Puts a copy of `template` in place of the last one. By files on every release: from 15 on the
/// default writes the copy to the log, which would leave another state of the log than in older
/// releases.
pub(super) fn copy_statements(version: &str, template: &str, copy: &str) -> Vec<String> {
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    let by_files = major >= Some(COPIES_THROUGH_LOG);
    let strategy = if by_files { " STRATEGY file_copy" } else { "" };
    let [from, to] = [template, copy].map(quote_identifier);
    let mut statements = drop_statements(copy).to_vec();
    statements.push(format!("CREATE DATABASE {to} TEMPLATE {from}{strategy}"));
    // A copy has the tables of its template, but not its settings (ALTER DATABASE ... SET).
    statements.push(format!(
        "INSERT INTO pg_db_role_setting \
         SELECT copy.oid, setrole, setconfig FROM pg_db_role_setting, pg_database copy \
          WHERE copy.datname = '{copy}' AND setdatabase = \
                (SELECT oid FROM pg_database WHERE datname = '{}')",
        template.replace('\'', "''")
    ));
    statements
}

/// Sessions of clients that are gone may still be about to end.
pub(super) fn drop_statements(copy: &str) -> [String; 2] {
    [
        format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{copy}'"),
        format!("DROP DATABASE IF EXISTS {}", quote_identifier(copy)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_release_copies_by_files() {
        let create = |version| copy_statements(version, "shop", "trial")[2].clone();
        assert_eq!(create("14.19"), "CREATE DATABASE \"trial\" TEMPLATE \"shop\"");
        let by_files = "CREATE DATABASE \"trial\" TEMPLATE \"shop\" STRATEGY file_copy";
        assert_eq!((create("15.2").as_str(), create("18").as_str()), (by_files, by_files));
    }
}
