//! libpq's password file: `host:port:database:user:password`, one line each, `*` for any,
//! `\` before a colon or backslash; used only if no other user may read it.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The place of the file: `PGPASSFILE`, by default `~/.pgpass`.
pub(super) fn path(environment: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    match environment("PGPASSFILE") {
        Some(path) => Some(path.into()),
        None => environment("HOME").map(|home| Path::new(&home).join(".pgpass")),
    }
}

/// The file in use, if it exists but is ignored because others may read it.
pub(super) fn ignored() -> Option<PathBuf> {
    let path = path(&|name| std::env::var(name).ok())?;
    let open_to_others = path.is_file() && !is_private(&path);
    open_to_others.then_some(path)
}

fn is_private(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o077 == 0)
}

/// The password of the first line that matches. A Unix socket's directory counts as `localhost`
/// where it is libpq's default, as in libpq.
pub(super) fn find(
    path: &Path,
    host: &str,
    port: u16,
    database: &str,
    user: &str,
) -> Option<String> {
    if !is_private(path) {
        return None;
    }
    let text = std::fs::read_to_string(path).ok()?;
    let host = if matches!(host, "/tmp" | "/var/run/postgresql") { "localhost" } else { host };
    let port = port.to_string();
    text.lines().find_map(|line| password_of_line(line, [host, &port, database, user]))
}

fn password_of_line(line: &str, wanted: [&str; 4]) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let fields = split(line);
    let (password, names) = fields.split_last()?;
    let matches = names.len() == 4
        && names.iter().zip(wanted).all(|(name, wanted)| name == "*" || name == wanted);
    matches.then(|| password.clone())
}

/// The four names and the password. Only the first four colons separate; escapes are resolved.
fn split(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        let literal = match character {
            ':' if fields.len() < 5 => {
                fields.push(String::new());
                continue;
            }
            '\\' => characters.next().unwrap_or('\\'),
            other => other,
        };
        if let Some(field) = fields.last_mut() {
            field.push(literal);
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_matching_line_wins_and_escapes_are_resolved() {
        let wanted = ["db.example", "5432", "shop", "ann"];
        assert_eq!(password_of_line("*:*:*:ann:a:b", wanted).unwrap(), "a:b");
        assert_eq!(password_of_line(r"db.example:5432:shop:ann:a\:b\\", wanted).unwrap(), r"a:b\");
        assert_eq!(password_of_line("# *:*:*:*:x", wanted), None);
        assert_eq!(password_of_line("other:*:*:*:x", wanted), None);
        assert_eq!(password_of_line("*:*:*:x", wanted), None);
    }

    #[test]
    fn a_file_that_others_may_read_is_ignored() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pgpass");
        std::fs::write(&path, "other:*:*:*:wrong\nlocalhost:*:*:ann:right\n").unwrap();
        let mode = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode));
        mode(0o644).unwrap();
        assert_eq!(find(&path, "localhost", 5432, "shop", "ann"), None);
        mode(0o600).unwrap();
        assert_eq!(find(&path, "/tmp", 5432, "shop", "ann").unwrap(), "right");
    }
}
