//! The system's compiler by its version, the processor that `native` stands for, and one compilation.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use super::SOURCE;
use crate::error::DeployError;

const COMPILER: &str = "cc";

/// Calls inside the library stay direct, as in a program that SQLite is linked into.
pub(super) const LIBRARY_FLAGS: &str =
    "-w -x c - -shared -fPIC -fno-semantic-interposition -Wl,-Bsymbolic";

const LINKED: &str = "-lm -lpthread -ldl";

/// The lines of /proc/cpuinfo that say for what code is compiled.
const OF_PROCESSOR: [&str; 12] = [
    "vendor_id",
    "cpu family",
    "model",
    "model name",
    "stepping",
    "flags",
    "CPU implementer",
    "CPU architecture",
    "CPU variant",
    "CPU part",
    "Features",
    "isa",
];

/// The whole answer of `cc --version`.
///
/// # Errors
/// When there is no compiler.
pub(super) fn version() -> Result<String, DeployError> {
    let output = Command::new(COMPILER).arg("--version").output();
    let output = output.map_err(|_| DeployError::NoCompiler)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The processor by its name, and all that code for it depends on.
pub(super) struct Processor {
    pub name: String,
    pub facts: String,
}

impl Processor {
    pub(super) fn of_this_machine() -> Self {
        Self::read(&std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
    }

    /// The first one of `text`: what else it says of it changes from time to time.
    fn read(text: &str) -> Self {
        let pairs = text.lines().take_while(|line| !line.is_empty());
        let pairs = pairs.filter_map(|line| line.split_once(':'));
        let facts: Vec<(&str, &str)> = pairs
            .map(|(name, value)| (name.trim(), value.trim()))
            .filter(|(name, _)| OF_PROCESSOR.contains(name))
            .collect();
        let of =
            |wanted: &str| facts.iter().find(|(name, _)| *name == wanted).map(|(_, value)| *value);
        let part = || Some(format!("{} part {}", of("CPU implementer")?, of("CPU part")?));
        let name = of("model name").map(str::to_owned).or_else(part);
        let facts = facts.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
        Self { name: name.unwrap_or_else(|| "unknown".to_owned()), facts }
    }
}

pub(super) enum Failed {
    Io(std::io::Error),
    /// The last lines that the compiler wrote.
    Compiler(String),
}

/// Compiles the library `name` in `folder`, which takes whatever else the compiler writes.
pub(super) fn compile(flags: &str, folder: &Path, name: &str) -> Result<(), Failed> {
    const LINES_SHOWN: usize = 5;
    let source = zstd::decode_all(SOURCE).map_err(Failed::Io)?;
    let mut compiler = Command::new(COMPILER)
        .args(flags.split_whitespace())
        .args(LIBRARY_FLAGS.split_whitespace())
        .args(["-o", name])
        .args(LINKED.split_whitespace())
        .current_dir(folder)
        .env("TMPDIR", folder)
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
    fn a_processor_is_known_by_model_and_flags() {
        let text = |clock: &str, flags: &str| {
            format!(
                "processor\t: 0\nmodel name\t: Fast 9\ncpu MHz\t\t: {clock}\nflags\t\t: {flags}\n\n\
                 processor\t: 1\nflags\t\t: none\n"
            )
        };
        let of = |clock: &str, flags: &str| Processor::read(&text(clock, flags));
        assert_eq!(of("800", "sse avx").facts, of("4200", "sse avx").facts);
        assert_ne!(of("800", "sse avx").facts, of("800", "sse").facts);
        assert_eq!(of("800", "sse").name, "Fast 9");
        let arm =
            "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(Processor::read(arm).name, "0x41 part 0xd0c");
    }
}
