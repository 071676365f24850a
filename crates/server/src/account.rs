//! Account that servers run as. PostgreSQL refuses root; so as root the privileges of the child are
//! dropped to `postgres` or an account without rights, and it must be able to reach the folders.

use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::Error;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Account {
    /// The account of this program, an ordinary user.
    Own,
    /// Another one, since this program runs as root.
    Other { name: String, user: u32, group: u32 },
}

/// In this order; `postgres` exists wherever a distribution's PostgreSQL was ever installed.
const NAMES: [&str; 2] = ["postgres", "nobody"];

impl Account {
    pub(crate) fn detect() -> Result<Self, Error> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Self::Own);
        }
        let path = Path::new("/etc/passwd");
        let table = std::fs::read_to_string(path).map_err(Error::io("read", path))?;
        NAMES.iter().find_map(|name| find(&table, name)).ok_or(Error::NoAccount)
    }

    /// Makes `command` run as this account, with nothing of our environment and in a process
    /// group of its own: Ctrl-C is for the program, which then stops its servers in order.
    pub(crate) fn prepare(&self, command: &mut Command) {
        command.env_clear().env("LC_ALL", "C").env("TZ", "UTC").env("PATH", "/usr/bin:/bin");
        command.current_dir("/").process_group(0);
        if let Self::Other { user, group, .. } = self {
            // With a user set, std drops the supplementary groups as well.
            command.uid(*user).gid(*group);
        }
    }

    /// Their numbers, where it is not this program's.
    pub(crate) fn user_and_group(&self) -> Option<(u32, u32)> {
        match self {
            Self::Own => None,
            Self::Other { user, group, .. } => Some((*user, *group)),
        }
    }

    /// Hands `path` over to this account.
    pub(crate) fn give(&self, path: &Path) -> Result<(), Error> {
        match self {
            Self::Own => Ok(()),
            Self::Other { user, group, .. } => {
                chown(path, Some(*user), Some(*group)).map_err(Error::io("hand over", path))
            }
        }
    }

    /// Refuses a place that this account cannot pass through to, naming the closed folder.
    pub(crate) fn check_reach(&self, path: &Path, variable: &'static str) -> Result<(), Error> {
        let Self::Other { name, user, group } = self else { return Ok(()) };
        for folder in path.ancestors() {
            let Ok(found) = folder.metadata() else { continue };
            let execute = if found.uid() == *user {
                0o100
            } else if found.gid() == *group {
                0o010
            } else {
                0o001
            };
            if found.is_dir() && found.mode() & execute == 0 {
                return Err(Error::OutOfReach {
                    account: name.clone(),
                    path: path.to_owned(),
                    closed: folder.to_owned(),
                    variable,
                });
            }
        }
        Ok(())
    }
}

/// `name:password:user:group:...`, as in passwd(5).
fn find(table: &str, wanted: &str) -> Option<Account> {
    table.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| *name == wanted)?.to_owned();
        let user = fields.nth(1)?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        Some(Account::Other { name, user, group })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    const TABLE: &str = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65533:n:/:/bin/false\n";

    #[test]
    fn an_account_is_found_by_its_whole_name() {
        let expected = Account::Other { name: "nobody".to_owned(), user: 65534, group: 65533 };
        assert_eq!(find(TABLE, "nobody"), Some(expected));
        assert_eq!(find(TABLE, "postgres"), None);
        assert_eq!(find(TABLE, "nobod"), None);
    }

    #[test]
    fn a_closed_folder_on_the_way_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let closed = directory.path().join("closed");
        let inside = closed.join("inside");
        std::fs::create_dir_all(&inside).unwrap();
        let mode = |path: &Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        mode(directory.path(), 0o755);
        mode(&closed, 0o700);
        // An account that owns nothing here.
        let account =
            Account::Other { name: "someone".to_owned(), user: 4_000_000, group: 4_000_000 };
        match account.check_reach(&inside, "CROSSOVER_DATA_DIR") {
            Err(Error::OutOfReach { closed: named, .. }) => assert_eq!(named, closed),
            other => panic!("{other:?}"),
        }
        mode(&closed, 0o711);
        account.check_reach(&inside, "CROSSOVER_DATA_DIR").unwrap();
    }
}
