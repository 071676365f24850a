//! The factor `data_folder`: at each of its levels copies of SQLite files and data directories of
//! servers lie in another folder, for file systems to be compared.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use engine::EngineSpec;
use host::{KeptDataset, durability};
use plan::{DATA_FOLDER, Durability, Levels, Plan, PlanError};
use record::environment::file_system_of;
use record::{EngineRecord, Run};
use server::Locations;

use super::scratch::Scratch;
use crate::error::RunError;
use crate::workload::Subject;

/// Places of the data by the folders that the plan names; empty without the factor.
pub(super) struct DataPlaces(BTreeMap<PathBuf, DataPlace>);

/// One of these folders.
pub(super) struct DataPlace {
    pub(super) locations: Locations,
    scratch: Scratch,
    /// Looked at once: what is there already takes no further room.
    room_was_checked: Cell<bool>,
}

impl DataPlaces {
    pub(super) fn create(plan: &Plan, locations: &Locations) -> Result<Self, RunError> {
        let place = |folder: PathBuf| {
            let scratch = Scratch::create(&folder)?;
            let locations = Locations { data: folder.clone(), ..locations.clone() };
            Ok((folder, DataPlace { locations, scratch, room_was_checked: Cell::new(false) }))
        };
        plan.data_folders().map(place).collect::<Result<_, RunError>>().map(Self)
    }

    pub(super) fn at(&self, levels: &Levels) -> Option<&DataPlace> {
        self.0.get(&plan::data_folder_at(levels)?)
    }
}

impl DataPlace {
    pub(super) fn scratch(&self) -> &Path {
        &self.scratch.path
    }

    /// Refuses a file system that has no room for a copy of the data.
    pub(super) fn check_room(&self, data: Option<&KeptDataset>) -> Result<(), RunError> {
        if self.room_was_checked.replace(true) {
            return Ok(());
        }
        let folder = &self.locations.data;
        let Some(needed) = data.and_then(|data| data.path.metadata().ok()).map(|data| data.len())
        else {
            return Ok(());
        };
        let Ok(found) = rustix::fs::statvfs(folder) else { return Ok(()) };
        let free = found.f_bavail.saturating_mul(found.f_frsize);
        if free >= needed {
            return Ok(());
        }
        let message = format!(
            "{} has {} free, and a copy of the data takes {}: make room there",
            folder.display(),
            notation::bytes(free),
            notation::bytes(needed)
        );
        Err(PlanError::impossible(KEY, message).into())
    }

    fn setting(&self) -> (String, String) {
        setting(&self.locations.data)
    }
}

/// The setting of an engine's record: folder, file system, device and mount options, read back.
fn setting(folder: &Path) -> (String, String) {
    let found = file_system_of(folder).unwrap_or_else(|| "unknown file system".to_owned());
    (DATA_FOLDER.to_owned(), format!("{}: {found}", folder.display()))
}

/// The first folder whose file system is another one than in the trials of a run before; a folder that
/// is no longer mounted is one on the file system above.
pub(super) fn difference(plan: &Plan, run: &Run) -> Option<String> {
    let recorded: Vec<&(String, String)> =
        run.engines.values().flat_map(|engine| &engine.settings).collect();
    let is_other = |folder: &PathBuf| {
        let now = setting(folder);
        let of_folder = format!("{}: ", folder.display());
        let is_its = |one: &&&(String, String)| one.0 == now.0 && one.1.starts_with(&of_folder);
        recorded.iter().filter(is_its).any(|one| **one != now)
    };
    plan.data_folders()
        .find(is_other)
        .map(|folder| format!("the file system of {}", folder.display()))
}

/// The record of an engine that has started, with the place of its data.
pub(super) fn started(
    subject: &dyn Subject,
    spec: &EngineSpec,
    place: Option<&DataPlace>,
) -> EngineRecord {
    let mut record = subject.engine().clone();
    record.settings.extend(place.map(DataPlace::setting));
    if record.durability == Durability::Unknown {
        record.durability = durability(spec.source.kind(), &record.settings);
    }
    record
}

const KEY: &str = "factors.data_folder";

/// Refuses folders that cannot hold data, and engines whose data lie elsewhere. `warn` hears of
/// folders between which no difference of file systems can show.
pub(super) fn check(plan: &Plan, warn: &dyn Fn(&str)) -> Result<(), RunError> {
    let impossible = |message: String| -> Result<(), RunError> {
        Err(PlanError::impossible(KEY, message).into())
    };
    let mut devices: BTreeMap<u64, PathBuf> = BTreeMap::new();
    for folder in plan.data_folders() {
        let shown = folder.display();
        let Ok(found) = folder.metadata() else {
            return impossible(format!("there is no folder {shown}: make or mount it first"));
        };
        if !folder.is_absolute() || !found.is_dir() {
            return impossible(format!(
                "{shown} is not a folder by its whole path: write /mnt/ext4"
            ));
        }
        // Tried, since rights tell nothing of a mount that is read-only, and root has all of them.
        let trial = folder.join(format!(".crossover-{}", std::process::id()));
        let written = std::fs::File::create_new(&trial).and_then(|_| std::fs::remove_file(&trial));
        if let Err(error) = written {
            return impossible(format!(
                "nothing can be written in {shown} ({error}): mount it for writing, or chown it to \
                 the user who runs this"
            ));
        }
        if let Some(other) = devices.insert(found.dev(), folder.clone()) {
            let found = file_system_of(&folder).unwrap_or_default();
            warn(&format!(
                "{} and {shown} lie on one file system ({found}): a difference between them is none \
                 of file systems",
                other.display()
            ));
        }
    }
    let elsewhere = plan.engines.iter().find(|engine| engine.source.is_yours());
    match elsewhere.filter(|_| !devices.is_empty()) {
        None => Ok(()),
        Some(engine) => impossible(format!(
            "the data of {} stay where they are: leave this engine out, or name one whose data \
             Crossover makes (sqlite, postgres:18)",
            engine.label()
        )),
    }
}
