//! Where kvtest comes from: the source package of sqlite3 by the ordinary client of Debian, with
//! lists and caches of its own, so that nothing of the system's is changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::case::Tool;

/// The programs to compare, ours first; or why that cannot be.
pub fn tools(folder: &Path) -> Result<Vec<Tool>, String> {
    let source = folder.join("kvtest.c");
    if !source.exists() {
        fetch(folder, &source)?;
    }
    let library = our_library()?;
    let kvtest = folder.join("kvtest-ours");
    let header = format!("-I{}", library.include.display());
    let archive = library.archive.display().to_string();
    let words = [header.as_str(), &archive, "-lm", "-lpthread", "-ldl"];
    compile(&source, &kvtest, &words)?;
    let version = rusqlite::version();
    println!("kvtest linked with {archive}, SQLite {version}");
    let mut tools = vec![Tool::Ours, Tool::Kvtest(kvtest)];
    let distribution = folder.join("kvtest-distribution");
    match compile(&source, &distribution, &["-lsqlite3"]) {
        Ok(()) => tools.push(Tool::Distribution(distribution)),
        Err(_) => println!("the distribution's SQLite is missing: apt-get install libsqlite3-dev"),
    }
    Ok(tools)
}

/// `test/kvtest.c` of Debian's source package.
fn fetch(folder: &Path, source: &Path) -> Result<(), String> {
    let private = folder.join("apt");
    for below in ["parts", "lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(private.join(below)).map_err(|error| error.to_string())?;
    }
    write_sources(&private)?;
    let option = |name: &str, below: &str| format!("{name}={}", private.join(below).display());
    let options = [
        "Dir::Etc::SourceList=/dev/null".to_owned(),
        option("Dir::Etc::SourceParts", "parts"),
        option("Dir::State::Lists", "lists"),
        option("Dir::Cache", "cache"),
        "APT::Sandbox::User=root".to_owned(),
    ];
    let apt = |words: &[&str]| {
        let options = options.iter().flat_map(|option| ["-o", option]);
        let mut command = Command::new("apt-get");
        run(command.args(options).args(words).current_dir(folder))
    };
    apt(&["update"])?;
    apt(&["source", "--download-only", "sqlite3"])?;
    let archive = fs::read_dir(folder)
        .map_err(|error| error.to_string())?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("sqlite3_") && name.contains(".orig.tar.")
        })
        .ok_or("the source package of sqlite3 has no .orig.tar")?;
    let unpacked = Command::new("tar")
        .args(["--extract", "--to-stdout", "--wildcards", "*/test/kvtest.c", "--file"])
        .arg(&archive)
        .output()
        .map_err(|error| format!("tar: {error}"))?;
    if unpacked.stdout.is_empty() {
        return Err(format!("{} has no test/kvtest.c", archive.display()));
    }
    fs::write(source, unpacked.stdout).map_err(|error| error.to_string())
}

/// The system's own places, asked for sources instead of programs.
fn write_sources(private: &Path) -> Result<(), String> {
    let mut found = false;
    let folder = Path::new("/etc/apt/sources.list.d");
    let entries =
        fs::read_dir(folder).map_err(|_| "this is no Debian: kvtest.c comes from there")?;
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.file_name().is_none_or(|name| name != "debian.sources") {
            continue;
        }
        let text = fs::read_to_string(&path).map_err(|error| error.to_string())?;
        let line = |line: &str| match line.strip_prefix("Types:") {
            Some(_) => "Types: deb-src\n".to_owned(),
            None => format!("{line}\n"),
        };
        let text: String = text.lines().map(line).collect();
        fs::write(private.join("parts/debian.sources"), text).map_err(|error| error.to_string())?;
        found = true;
    }
    if let Ok(text) = fs::read_to_string("/etc/apt/sources.list") {
        let lines = text.lines().filter_map(|line| line.strip_prefix("deb "));
        let text: String = lines.map(|rest| format!("deb-src {rest}\n")).collect();
        found |= !text.is_empty();
        fs::write(private.join("parts/list.list"), text).map_err(|error| error.to_string())?;
    }
    if found {
        Ok(())
    } else {
        Err("apt knows no place that Debian's sources come from".to_owned())
    }
}

struct Library {
    archive: PathBuf,
    include: PathBuf,
}

/// The library that cargo built for this very program, and its header: the newest among those of
/// this profile.
fn our_library() -> Result<Library, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let builds = program.ancestors().nth(2).ok_or("this program lies in no folder")?.join("build");
    let newest = fs::read_dir(&builds)
        .map_err(|error| format!("{}: {error}", builds.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("libsqlite3-sys-"))
        })
        .filter_map(|path| {
            let archive = path.join("out/libsqlite3.a");
            let made = archive.metadata().ok()?.modified().ok()?;
            Some((made, path, archive))
        })
        .max();
    let (_, build, archive) = newest.ok_or("cargo's build of libsqlite3-sys is not there")?;
    let told = fs::read_to_string(build.join("output")).map_err(|error| error.to_string())?;
    let include = told.lines().find_map(|line| line.strip_prefix("cargo:include="));
    let include = include.ok_or("libsqlite3-sys does not say where its header is")?;
    Ok(Library { archive, include: include.into() })
}

fn compile(source: &Path, program: &Path, words: &[&str]) -> Result<(), String> {
    let mut command = Command::new("cc");
    run(command.arg("-O2").arg("-o").arg(program).arg(source).args(words))
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(format!("{command:?}: {}", told.lines().last().unwrap_or_default()))
}
