//! The bundled source of SQLite, compiled into a shared library by the system's compiler, with flags of
//! the user's; kept by source, flags and compiler.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::thread;

use sha2::{Digest as _, Sha256};

use crate::error::DeployError;
use crate::options::HostOptions;
use crate::process::ProcessError;
use plan::PlanError;

static SOURCE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sqlite3.c.zst"));

const COMPILER: &str = "cc";

/// The flags of the library that the program is linked with: those of libsqlite3-sys in the optimised
/// build, ...
const DEFAULT_FLAGS: &str = "-O3 -ffunction-sections -fdata-sections \
    -DSQLITE_CORE -DSQLITE_DEFAULT_FOREIGN_KEYS=1 -DSQLITE_ENABLE_API_ARMOR \
    -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_ENABLE_FTS3 \
    -DSQLITE_ENABLE_FTS3_PARENTHESIS -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_JSON1 \
    -DSQLITE_ENABLE_LOAD_EXTENSION=1 -DSQLITE_ENABLE_RTREE -DSQLITE_ENABLE_STAT4 \
    -DSQLITE_SOUNDEX -DSQLITE_THREADSAFE=1 -DSQLITE_USE_URI -DHAVE_USLEEP=1 -DHAVE_ISNAN \
    -D_POSIX_THREAD_SAFE_FUNCTIONS -DHAVE_LOCALTIME_R";

/// ... and those that the workspace adds to them.
const ADDED_FLAGS: Option<&str> = option_env!("LIBSQLITE3_FLAGS");

/// Calls inside the library stay direct, as in a program that SQLite is linked into.
const LIBRARY_FLAGS: &str = "-w -x c - -shared -fPIC -fno-semantic-interposition -Wl,-Bsymbolic";

const LINKED: &str = "-lm -lpthread -ldl";

/// The beginnings of flags that change code, and neither files nor steps of the compiler.
const TAKEN: [&str; 6] = ["-O", "-m", "-f", "-D", "-U", "-g"];

/// ... except those that load code into the compiler or write further files.
const REFUSED: [&str; 7] = [
    "-fplugin",
    "-fdump",
    "-fprofile",
    "-fsave",
    "-fcallgraph",
    "-ftest-coverage",
    "-fsyntax-only",
];

/// The library that `flags` make of the bundled source; compiled unless it is kept already.
///
/// # Errors
/// When a flag is refused, by us or by the compiler, there is no compiler, or the cache folder cannot
/// be written to.
pub fn build(flags: &str, options: &HostOptions<'_>) -> Result<PathBuf, DeployError> {
    check_flags(flags)?;
    let all = [DEFAULT_FLAGS, ADDED_FLAGS.unwrap_or_default(), flags].join(" ");
    let name = name_of(&all, &compiler_version()?);
    let folder = options.locations.cache.join("sqlite");
    let path = folder.join(&name);
    if path.is_file() {
        return Ok(path);
    }
    let io = |source| DeployError::Io { path: path.clone(), source };
    std::fs::create_dir_all(&folder).map_err(io)?;
    options.progress.set_message(format!("compiling SQLite with {flags}"));
    let unfinished = folder.join(format!("{name}.{}.tmp", std::process::id()));
    let compiled = compile(&all, &unfinished).map_err(|failed| match failed {
        Failed::Io(source) => io(source),
        Failed::Compiler(_) if options.interrupted.load(Ordering::Relaxed) => {
            ProcessError::Interrupted.into()
        }
        Failed::Compiler(said) => DeployError::NotCompiled { flags: flags.to_owned(), said },
    });
    let published = compiled.and_then(|()| whole_file::publish(&unfinished, &path).map_err(io));
    if published.is_err() {
        // An interrupted compiler may have left a part of it.
        let _ = std::fs::remove_file(&unfinished);
    }
    published.map(|()| path)
}

fn check_flags(flags: &str) -> Result<(), PlanError> {
    let Some(refused) = flags.split_whitespace().find(|flag| !is_taken(flag)) else {
        return Ok(());
    };
    let message = format!(
        "`{refused}` is not taken as a flag of build: write -O2, -march=native, -DNAME=VALUE, -UNAME, \
         -g or one that begins with -f, such as sqlite[build='-O3 -DSQLITE_DIRECT_OVERFLOW_READ']"
    );
    Err(PlanError::impossible("engines", message))
}

fn is_taken(flag: &str) -> bool {
    let begins = |starts: &[&str]| starts.iter().any(|start| flag.starts_with(start));
    let lacks_name = flag.len() == 2 && begins(&["-D", "-U"]);
    begins(&TAKEN) && !begins(&REFUSED) && !lacks_name
}

fn compiler_version() -> Result<String, DeployError> {
    let output = Command::new(COMPILER).arg("--version").output();
    let output = output.map_err(|_| DeployError::NoCompiler)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn name_of(flags: &str, compiler: &str) -> String {
    let mut digest = Sha256::new();
    for part in [SOURCE, flags.as_bytes(), LIBRARY_FLAGS.as_bytes(), compiler.as_bytes()] {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    let digest = hex::encode(digest.finalize());
    format!("libsqlite3-{}.so", digest.get(..16).unwrap_or(&digest))
}

enum Failed {
    Io(std::io::Error),
    /// The last lines that the compiler wrote.
    Compiler(String),
}

fn compile(flags: &str, target: &Path) -> Result<(), Failed> {
    const LINES_SHOWN: usize = 5;
    let source = zstd::decode_all(SOURCE).map_err(Failed::Io)?;
    let mut compiler = Command::new(COMPILER)
        .args(flags.split_whitespace())
        .args(LIBRARY_FLAGS.split_whitespace())
        .arg("-o")
        .arg(target)
        .args(LINKED.split_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(Failed::Io)?;
    let input = compiler.stdin.take();
    let output = thread::scope(|scope| {
        // A compiler that refuses a flag reads nothing, and says why.
        scope.spawn(move || input.map(|mut input| input.write_all(&source)));
        compiler.wait_with_output()
    });
    let output = output.map_err(Failed::Io)?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = said.lines().collect();
    let last = lines.get(lines.len().saturating_sub(LINES_SHOWN)..).unwrap_or_default();
    Err(Failed::Compiler(last.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_change_more_than_code_are_refused_by_name() {
        let refused = |flags: &str| check_flags(flags).unwrap_err().to_string();
        for flag in ["-c", "-o/etc/x", "-Wl,-rpath", "-include", "x.c", "-D", "-fplugin=./x.so"] {
            let said = refused(&format!("-O2 {flag}"));
            assert!(said.contains(&format!("`{flag}` is not taken")), "{said}");
        }
        check_flags("-O3 -march=native -flto -DSQLITE_THREADSAFE=0 -UHAVE_ISNAN -g1").unwrap();
        check_flags("").unwrap();
    }

    #[test]
    fn flags_and_compiler_have_libraries_of_their_own() {
        assert_eq!(name_of("-O2", "cc 12"), name_of("-O2", "cc 12"));
        assert_ne!(name_of("-O2", "cc 12"), name_of("-O3", "cc 12"));
        assert_ne!(name_of("-O2", "cc 12"), name_of("-O2", "cc 13"));
    }
}
