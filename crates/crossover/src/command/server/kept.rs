//! Data that Crossover keeps on this disk, and its removal: data directories of servers, generated
//! datasets, the places of tries that were kept. Fetched releases are listed only.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use engine::VersionRequest;
use serde::Serialize;
use server::Locations;

use crate::shared::{CommandOutcome, OutputFormat, Shared, Usage};

/// `crossover server remove`
#[derive(clap::Args)]
pub struct RemoveArguments {
    /// Names as in `server list`, a release (18, postgres:18) for its data directories, `datasets`,
    /// or `all`
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

/// One thing that is kept.
#[derive(Serialize)]
struct KeptData {
    kind: KeptKind,
    name: String,
    version: Option<String>,
    bytes: Option<u64>,
    folder: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
enum KeptKind {
    Fetched,
    Installed,
    Data,
    Dataset,
    Try,
}

impl KeptKind {
    fn name(self) -> &'static str {
        self.into()
    }

    /// Releases are a cache; everything else is data that a command made.
    fn is_data(self) -> bool {
        matches!(self, Self::Data | Self::Dataset | Self::Try)
    }
}

/// Prints everything with its size.
pub fn list(locations: &Locations, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let rows = all(locations);
    // For programs the number, under a name with its unit.
    let (size_header, write_size): (_, fn(u64) -> String) = match shared.output_format {
        OutputFormat::Csv => ("bytes", |bytes| bytes.to_string()),
        _ => ("size", |bytes| notation::bytes(bytes)),
    };
    shared.print_rows(["kind", "name", "release", size_header, "folder"], &rows, |row| {
        [
            row.kind.name().to_owned(),
            row.name.clone(),
            row.version.clone().unwrap_or_default(),
            row.bytes.map(write_size).unwrap_or_default(),
            row.folder.display().to_string(),
        ]
    })?;
    Ok(CommandOutcome::Done)
}

fn all(locations: &Locations) -> Vec<KeptData> {
    let release = |kind, engine: &str, version: String, folder: PathBuf, bytes| KeptData {
        kind,
        name: format!("{engine}:{version}"),
        version: Some(version),
        bytes,
        folder,
    };
    let fetched = server::fetched_releases(locations).into_iter().map(|version| {
        let folder = locations.cache.join("postgres").join(version.to_string());
        let bytes = server::size_on_disk(&folder);
        release(KeptKind::Fetched, "postgres", version.to_string(), folder, Some(bytes))
    });
    let mariadb = server::fetched_mariadb_releases(locations).into_iter();
    let mariadb = mariadb.map(|(version, folder)| {
        let bytes = server::size_on_disk(&folder);
        release(KeptKind::Fetched, "mariadb", version.to_owned(), folder, Some(bytes))
    });
    let installed = server::installed_releases().into_iter();
    let installed = installed.map(|found| {
        let version = found.version.to_string();
        release(KeptKind::Installed, "postgres", version, found.binaries, None)
    });
    let data = server::data_directories(locations).into_iter().map(|data| KeptData {
        kind: KeptKind::Data,
        name: data.name,
        version: Some(data.version.to_string()),
        bytes: Some(data.bytes),
        folder: data.folder,
    });
    let inside = |folder: &str, kind: KeptKind| entries(&locations.data.join(folder), kind);
    let mut rows: Vec<KeptData> = fetched.chain(mariadb).chain(installed).chain(data).collect();
    rows.extend(inside("datasets", KeptKind::Dataset));
    rows.extend(inside("try", KeptKind::Try));
    rows
}

/// The datasets, which are files, or the tries, which are folders.
fn entries(folder: &Path, kind: KeptKind) -> Vec<KeptData> {
    let found = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut kept: Vec<KeptData> = found
        .filter_map(|entry| {
            let (path, metadata) = (entry.path(), entry.metadata().ok()?);
            let is_it = match kind {
                KeptKind::Dataset => path.extension().is_some_and(|extension| extension == "db"),
                _ => metadata.is_dir(),
            };
            is_it.then(|| KeptData {
                kind,
                name: entry.file_name().to_string_lossy().into_owned(),
                version: None,
                bytes: Some(match metadata.is_dir() {
                    true => server::size_on_disk(&path),
                    false => metadata.len(),
                }),
                folder: path,
            })
        })
        .collect();
    kept.sort_by(|a, b| a.name.cmp(&b.name));
    kept
}

/// Removes what is named, after asking. What is in use stays, and is an error.
pub fn remove(
    locations: &Locations,
    arguments: &RemoveArguments,
    shared: &Shared,
) -> anyhow::Result<CommandOutcome> {
    let mut chosen: Vec<KeptData> = Vec::new();
    let data = || all(locations).into_iter().filter(|kept| kept.kind.is_data());
    for name in &arguments.names {
        let found: Vec<KeptData> = data().filter(|kept| matches_name(kept, name)).collect();
        if found.is_empty() && name != "all" {
            let known: Vec<String> = data().map(|kept| kept.name).collect();
            let known = if known.is_empty() { "nothing".to_owned() } else { known.join(", ") };
            return Err(
                Usage(format!("`{name}` names nothing that is kept; there is {known}")).into()
            );
        }
        for kept in found {
            if !chosen.iter().any(|known| known.folder == kept.folder) {
                chosen.push(kept);
            }
        }
    }
    let shown: Vec<String> = chosen
        .iter()
        .map(|kept| {
            format!("{} ({})", kept.folder.display(), notation::bytes(kept.bytes.unwrap_or(0)))
        })
        .collect();
    if chosen.is_empty() {
        shared.say("nothing is kept");
        return Ok(CommandOutcome::Done);
    }
    if !arguments.yes && !shared.confirm(&shown, "Remove all of it?")? {
        shared.say("Nothing was removed.");
        return Ok(CommandOutcome::Done);
    }
    for kept in chosen {
        remove_one(locations, &kept)?;
        shared.print(&format!("{}\n", kept.folder.display()))?;
    }
    Ok(CommandOutcome::Done)
}

fn matches_name(kept: &KeptData, name: &str) -> bool {
    if name == "all" || kept.name == name || (name == "datasets" && kept.kind == KeptKind::Dataset)
    {
        return true;
    }
    let release = name.strip_prefix("postgres:").unwrap_or(name);
    let wanted = release.parse::<VersionRequest>().ok();
    let exact = kept.version.as_ref().and_then(|version| version.parse().ok());
    wanted.zip(exact).is_some_and(|(wanted, exact)| wanted.matches(&exact))
}

fn remove_one(locations: &Locations, kept: &KeptData) -> anyhow::Result<()> {
    let path = &kept.folder;
    let busy = |what: &str| {
        anyhow::anyhow!("{} stays: {what}; wait until it ends, then remove it", path.display())
    };
    match kept.kind {
        KeptKind::Data => server::remove_data_directory(locations, &kept.name)?,
        KeptKind::Try => {
            anyhow::ensure!(!is_locked(&path.join("owner.lock")), busy("a try is under way in it"));
            std::fs::remove_dir_all(path)
                .with_context(|| format!("cannot remove {}", path.display()))?;
        }
        _ => {
            anyhow::ensure!(!is_run_under_way(locations), busy("an experiment is under way"));
            std::fs::remove_file(path)
                .with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    Ok(())
}

/// Whether a run holds its folder for copies.
fn is_run_under_way(locations: &Locations) -> bool {
    let scratch = std::fs::read_dir(locations.data.join("scratch")).into_iter().flatten().flatten();
    scratch.map(|entry| entry.path().join("owner.lock")).any(|lock| is_locked(&lock))
}

fn is_locked(path: &Path) -> bool {
    File::open(path)
        .is_ok_and(|file| matches!(file.try_lock(), Err(std::fs::TryLockError::WouldBlock)))
}
