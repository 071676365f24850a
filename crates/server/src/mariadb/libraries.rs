//! Shared libraries that a server's program needs and this machine may lack.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Error;

/// The folder in which a fetched release has libraries of its own.
pub(super) fn folder_of_libraries(base: &Path) -> Option<PathBuf> {
    Some(base.join("libs")).filter(|folder| folder.is_dir())
}

/// Refuses a program whose libraries are not all there, and names Debian's packages with them.
/// `ldd` runs in the program's own environment; a machine without it is believed.
pub(super) fn check_libraries(program: &Path, mut ldd: Command) -> Result<(), Error> {
    let Ok(output) = ldd.arg(program).stdin(Stdio::null()).output() else { return Ok(()) };
    let libraries = missing(&String::from_utf8_lossy(&output.stdout));
    if libraries.is_empty() {
        return Ok(());
    }
    let packages = libraries.iter().map(|library| package_of(library)).collect();
    Err(Error::MissingLibraries { program: program.display().to_string(), libraries, packages })
}

/// The libraries that ldd has not found: `libaio.so.1 => not found`.
fn missing(answer: &str) -> Vec<String> {
    let lines = answer.lines().filter_map(|line| line.trim().strip_suffix(" => not found"));
    lines.map(str::to_owned).collect()
}

/// Debian's name for the package of a library follows from the library's: `libaio1` has
/// `libaio.so.1`, `liblz4-1` has `liblz4.so.1`.
fn package_of(library: &str) -> String {
    let (name, number) = library.split_once(".so.").unwrap_or((library, ""));
    let hyphen = if name.ends_with(|last: char| last.is_ascii_digit()) { "-" } else { "" };
    format!("{name}{hyphen}{number}").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_libraries_are_named_with_their_packages() {
        let answer = "\tlinux-vdso.so.1 (0x7ff)\n\tlibaio.so.1 => not found\n\tlibc.so.6 => \
                      /lib/libc.so.6 (0x7f0)\n\tliblz4.so.1 => not found\n";
        let found = missing(answer);
        assert_eq!(found, ["libaio.so.1", "liblz4.so.1"]);
        assert_eq!(package_of(&found[0]), "libaio1");
        assert_eq!(package_of(&found[1]), "liblz4-1");
        assert_eq!(package_of("libstdc++.so.6"), "libstdc++6");
    }
}
