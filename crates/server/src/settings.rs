//! Check of settings before a start, by the server program itself: `postgres -C NAME` reads the
//! settings as a start would and ends. An unknown one is named with its nearest
//! neighbour, since PostgreSQL would otherwise only refuse to start.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use engine::nearest;
use tokio_postgres::Client;

use crate::account::Account;
use crate::locations::{Locations, random_name, set_mode};
use crate::{Error, Release};

/// Settings that Crossover gives itself, and why.
const RESERVED: [(&str, &str); 8] = [
    ("listen_addresses", "servers listen on a Unix socket; ask for TCP with --tcp"),
    ("port", "servers listen on a Unix socket; ask for TCP with --tcp"),
    ("unix_socket_directories", "each server has a socket folder of its own"),
    ("unix_socket_permissions", "each server has a socket folder of its own"),
    ("data_directory", "keep data elsewhere with CROSSOVER_DATA_DIR"),
    ("config_file", "settings are given in brackets"),
    ("hba_file", "who may connect follows from --tcp"),
    ("logging_collector", "the log is the file server.log beside the data"),
];

/// Settings whose value names libraries, each of which may bring settings of its own.
const PRELOAD: [&str; 3] =
    ["shared_preload_libraries", "session_preload_libraries", "local_preload_libraries"];

/// Refuses the first setting that `release` does not have or whose value it does not take.
pub(crate) fn check(
    locations: &Locations,
    release: &Release,
    settings: &[(String, String)],
    account: &Account,
) -> Result<(), Error> {
    for (name, _) in settings {
        let name = name.to_lowercase();
        if let Some((_, reason)) = RESERVED.iter().find(|(reserved, _)| *reserved == name) {
            return Err(Error::ReservedSetting { name, reason });
        }
        check_extension(release, settings, &name)?;
    }
    if settings.is_empty() {
        return Ok(());
    }
    let folder = locations.create_runtime_folder(&random_name()?)?;
    let checked = ask_each(release, settings, account, &folder);
    let _ = std::fs::remove_dir_all(&folder);
    checked
}

/// Settings by name and value.
pub(crate) type Known = Vec<(String, String)>;

/// Those of the `common` settings that `release` has, without those that are in its `own` ones,
/// and the names of those that it does not have. A value that it does not take is refused.
pub(crate) fn known(
    locations: &Locations,
    release: &Release,
    own: &[(String, String)],
    common: Vec<(String, String)>,
    account: &Account,
) -> Result<(Known, Vec<String>), Error> {
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for (name, value) in common {
        if own.iter().any(|(other, _)| other.eq_ignore_ascii_case(&name)) {
            continue;
        }
        let one = [(name, value)];
        match check(locations, release, &one, account) {
            Ok(()) => known.extend(one),
            Err(Error::UnknownSetting { name, .. }) => unknown.push(name),
            Err(error) => return Err(error),
        }
    }
    Ok((known, unknown))
}

/// `extension.name` is taken by PostgreSQL whatever it is; here its library must be loaded too.
fn check_extension(
    release: &Release,
    settings: &[(String, String)],
    name: &str,
) -> Result<(), Error> {
    let Some((extension, _)) = name.split_once('.') else { return Ok(()) };
    let is_preload = |name: &str| PRELOAD.contains(&name.to_lowercase().as_str());
    let loaded = settings
        .iter()
        .filter(|(name, _)| is_preload(name))
        .any(|(_, libraries)| libraries.split(',').any(|library| library.trim() == extension));
    if loaded {
        return Ok(());
    }
    Err(Error::UnknownSetting {
        name: name.to_owned(),
        version: release.version.to_string(),
        suggestion: format!(": to load the extension, add shared_preload_libraries={extension}"),
    })
}

fn ask_each(
    release: &Release,
    settings: &[(String, String)],
    account: &Account,
    folder: &Path,
) -> Result<(), Error> {
    // The program reads its folder's configuration before its arguments.
    let configuration = folder.join("postgresql.conf");
    std::fs::write(&configuration, "").map_err(Error::io("write", &configuration))?;
    set_mode(&configuration, 0o644)?;
    set_mode(folder, 0o755)?;
    for (name, value) in settings.iter().filter(|(name, _)| !name.contains('.')) {
        let assignment = format!("{name}={value}");
        let folder = folder.as_os_str().to_owned();
        let arguments =
            ["-D".into(), folder, "-C".into(), name.into(), "-c".into(), assignment.into()];
        let output = run(release, account, &arguments)?;
        if !output.status.success() {
            return Err(explain(release, account, name, value, &output));
        }
    }
    Ok(())
}

fn run(
    release: &Release,
    account: &Account,
    arguments: &[std::ffi::OsString],
) -> Result<Output, Error> {
    let program = release.binaries.join("postgres");
    let mut command = Command::new(&program);
    account.prepare(&mut command);
    command.args(arguments).stdin(Stdio::null()).output().map_err(Error::io("run", &program))
}

fn explain(
    release: &Release,
    account: &Account,
    name: &str,
    value: &str,
    output: &Output,
) -> Error {
    let text = String::from_utf8_lossy(&output.stderr);
    let version = release.version.to_string();
    if text.contains("unrecognized configuration parameter") {
        let known = run(release, account, &["--describe-config".into()]);
        let known = known.map_or_else(|_| Vec::new(), |output| output.stdout);
        let known = String::from_utf8_lossy(&known);
        // One setting per line, tab-separated, its name first.
        let names = known.lines().filter_map(|line| line.split('\t').next());
        let suggestion = nearest(name, names);
        return Error::UnknownSetting { name: name.to_owned(), version, suggestion };
    }
    let reason = text
        .lines()
        .filter_map(|line| line.split_once(": ").map(|(_, message)| message.trim()))
        .collect::<Vec<_>>()
        .join("; ");
    let (name, value) = (name.to_owned(), value.to_owned());
    Error::BadSetting { name, value, version, reason }
}

/// Reads the settings back from the running server, in the order given.
pub(crate) async fn read_back(
    client: &Client,
    version: &str,
    settings: &[(String, String)],
) -> Result<Vec<(String, String)>, Error> {
    let mut values = Vec::new();
    for (name, _) in settings {
        let sql = "SELECT current_setting(name) FROM pg_settings WHERE lower(name) = lower($1)";
        match client.query_opt(sql, &[name]).await? {
            Some(row) => values.push((name.clone(), row.get(0))),
            None => {
                let names = client.query("SELECT name FROM pg_settings", &[]).await?;
                let names: Vec<String> = names.iter().map(|row| row.get(0)).collect();
                return Err(Error::UnknownSetting {
                    name: name.clone(),
                    version: version.to_owned(),
                    suggestion: nearest(name, names.iter().map(String::as_str)),
                });
            }
        }
    }
    Ok(values)
}
