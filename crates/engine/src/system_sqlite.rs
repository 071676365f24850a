//! A SQLite library by what decides its plans: version and compile options.

use serde::{Deserialize, Serialize};

/// A library of this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SystemSqlite {
    /// The way to it: `the loader's, /usr/lib/x86_64-linux-gnu/libsqlite3.so.0`.
    pub origin: String,
    /// As `3.40.1`.
    pub version: String,
    pub source_id: String,
    pub compile_options: Vec<String>,
}

/// Compile options that only one of two libraries has, but for its compiler: those of `ours`, those of
/// `theirs`.
#[must_use]
pub fn differing_options<'o>(
    ours: &'o [String],
    theirs: &'o [String],
) -> (Vec<&'o str>, Vec<&'o str>) {
    let only = |these: &'o [String], others: &[String]| {
        let these = these.iter().filter(|one| !others.contains(one));
        these.filter(|one| !one.starts_with("COMPILER=")).map(String::as_str).collect()
    };
    (only(ours, theirs), only(theirs, ours))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_one_side_are_named_without_the_compiler() {
        let of = |options: &[&str]| options.iter().map(|&one| one.to_owned()).collect::<Vec<_>>();
        let ours = of(&["COMPILER=a", "ENABLE_STAT4", "THREADSAFE=1"]);
        let theirs = of(&["COMPILER=b", "OMIT_LOOKASIDE", "THREADSAFE=1"]);
        let (only_ours, only_theirs) = differing_options(&ours, &theirs);
        assert_eq!((only_ours, only_theirs), (vec!["ENABLE_STAT4"], vec!["OMIT_LOOKASIDE"]));
    }
}
