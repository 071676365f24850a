//! Where kvtest comes from: the source package of sqlite3 by the ordinary client of Debian, with
//! lists and caches of its own, so that nothing of the system's is changed.

use std::fs;
use std::path::Path;
use std::process::Command;

use testing::bundled_sqlite::{BundledSqlite, compile_c, run};

use crate::case::Tool;

/// The programs to compare, ours first; or why that cannot be.
pub fn tools(folder: &Path) -> Result<Vec<Tool>, String> {
    let source = folder.join("kvtest.c");
    if !source.exists() {
        fetch(folder, &source)?;
    }
    let library = BundledSqlite::find()?;
    let kvtest = folder.join("kvtest-ours");
    library.compile(&source, &kvtest)?;
    let version = rusqlite::version();
    println!("kvtest linked with {}, SQLite {version}", library.archive.display());
    let mut tools = vec![Tool::Ours, Tool::Kvtest(kvtest)];
    let distribution = folder.join("kvtest-distribution");
    match compile_c(&source, &distribution, &["-lsqlite3"]) {
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
