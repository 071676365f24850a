//! Room for the sockets and files of many clients: the limit on open files is 1,024 on most
//! systems, and may be raised by the process itself up to another.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::Error;

/// A connection of SQLite has the database, its log and the log's index open.
const FILES_PER_CLIENT: u64 = 3;
/// For everything else that the program does.
const OTHER_FILES: u64 = 200;

/// Raises the limit of open files where it is too low for `clients`.
pub(super) fn make_room(clients: u16) -> Result<(), Error> {
    let wanted = u64::from(clients) * FILES_PER_CLIENT + OTHER_FILES;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= wanted) {
        return Ok(());
    }
    let current = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
    // A limit that cannot be raised may still be enough: a connection has one socket, by which it
    // works and by which it is hung up.
    let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(current), ..limit });
    let needed = u64::from(clients) * 2 + OTHER_FILES;
    if raised.is_ok() && current >= needed {
        return Ok(());
    }
    let allowed = limit.maximum.or(limit.current).unwrap_or_default();
    Err(Error::Options(format!(
        "{clients} clients need {needed} open files, and this program may have {allowed}: raise \
         the limit (ulimit -n) or ask for fewer clients"
    )))
}
