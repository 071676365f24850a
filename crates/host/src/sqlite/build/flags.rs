//! The flags that a build takes: those that change code, and neither files nor the compiler's steps.

use plan::PlanError;

/// Flags that begin with `-f`, and read or write files of their own.
const OF_FILES: [&str; 18] = [
    "-fauto-profile",
    "-fbranch-probabilities",
    "-fcallgraph",
    "-fcompare-debug",
    "-fcoverage",
    "-fcrash-diagnostics",
    "-fcs-profile",
    "-fdump",
    "-fmodules",
    "-fopt-info",
    "-fpass-plugin",
    "-fplugin",
    "-fproc-stat",
    "-fprofile",
    "-fsave",
    "-fstack-usage",
    "-ftest-coverage",
    "-ftime-trace",
];

/// Those that have a value; of others it may be the path of a file.
const WITH_VALUE: [&str; 15] = [
    "-falign-functions",
    "-falign-jumps",
    "-falign-labels",
    "-falign-loops",
    "-fcf-protection",
    "-fexcess-precision",
    "-ffp-contract",
    "-ffp-model",
    "-finline-limit",
    "-flto",
    "-flto-partition",
    "-fsimd-cost-model",
    "-ftls-model",
    "-fvect-cost-model",
    "-fvisibility",
];

const LEVELS: [&str; 9] = ["", "0", "1", "2", "3", "s", "z", "g", "fast"];
const DEBUG_LEVELS: [&str; 6] = ["", "0", "1", "2", "3", "gdb"];

/// Refuses a flag that does more than change code, by its name.
///
/// # Errors
/// A mistake in the plan.
pub(super) fn check_flags(flags: &str) -> Result<(), PlanError> {
    let refused = flags.split_whitespace().find_map(|flag| Some((flag, why_refused(flag)?)));
    let Some((flag, why)) = refused else { return Ok(()) };
    let message = format!(
        "`{flag}` is not taken as a flag of build: it {why}. Write -O0 to -O3, -Os, -march=native, \
         -DNAME=VALUE, -UNAME, -g, and flags that begin with -f or -m and name no file, such as \
         sqlite[build='-O3 -DSQLITE_DIRECT_OVERFLOW_READ']"
    );
    Err(PlanError::impossible("engines", message))
}

fn why_refused(flag: &str) -> Option<&'static str> {
    if OF_FILES.iter().any(|start| flag.starts_with(start)) {
        return Some("reads or writes files beside the library");
    }
    let (name, value) =
        flag.split_once('=').map_or((flag, None), |(name, value)| (name, Some(value)));
    let is_word = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-+._,".contains(&byte))
    };
    let taken = match (flag.get(..2), flag.get(2..).unwrap_or_default()) {
        (Some("-O"), level) => LEVELS.contains(&level),
        (Some("-g"), level) => DEBUG_LEVELS.contains(&level),
        (Some("-D" | "-U"), _) => name.len() > 2,
        (Some("-m"), rest) => !rest.is_empty() && is_word(name) && value.is_none_or(is_word),
        (Some("-f"), "syntax-only") => false,
        (Some("-f"), rest) => match value {
            None => !rest.is_empty() && is_word(name),
            Some(value) if WITH_VALUE.contains(&name) => is_word(value),
            Some(_) => return Some("may name a file"),
        },
        _ => false,
    };
    (!taken).then_some("does more than change code")
}

/// `true` where the code depends on the processor on which it is compiled.
pub(super) fn are_of_this_processor(flags: &str) -> bool {
    flags.split_whitespace().any(|flag| flag.starts_with("-m") && flag.ends_with("=native"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_change_more_than_code_are_refused_by_name() {
        let refused = |flag: &str| {
            let said = check_flags(&format!("-O2 {flag}")).unwrap_err().to_string();
            assert!(said.contains(&format!("`{flag}` is not taken")), "{said}");
            said
        };
        for flag in ["-c", "-o/etc/x", "-Wl,-rpath", "-include", "x.c", "-D", "-save-temps", "-MF"]
        {
            assert!(refused(flag).contains("does more than change code"));
        }
        for flag in ["-dumpdir", "-O9", "-gsplit-dwarf", "-m", "-march=/x", "@x", "-fsyntax-only"] {
            assert!(refused(flag).contains("does more than change code"));
        }
        for flag in ["-fplugin=./x.so", "-fopt-info-all=x", "-fprofile-use", "-fdump-tree-all"] {
            assert!(refused(flag).contains("reads or writes files"));
        }
        assert!(refused("-fno-such-flag=x").contains("may name a file"));
    }

    #[test]
    fn flags_that_change_code_are_taken() {
        for flags in [
            "",
            "-O3 -march=native -mtune=native -mavx2 -flto -DSQLITE_THREADSAFE=0 -UHAVE_ISNAN -g1",
            "-O -Os -Ofast -march=armv8.2-a+crypto -fno-plt -funroll-loops -flto=auto -ggdb -DNAME",
        ] {
            check_flags(flags).unwrap();
        }
        assert!(are_of_this_processor("-O3 -mtune=native") && !are_of_this_processor("-O3"));
    }
}
