//! `crossover blob export`.

use std::path::PathBuf;
use std::time::Instant;

use blob::{BlobForm, BlobTarget, ExportOptions, Exported};
use serde::Serialize;

use crate::flag::sqlite_file;
use crate::shared::{CommandOutcome, OutputFormat, Shared};

/// Write the blobs of a SQLite file into files of their own
///
/// The files are called 000001 and so on, in a tree 00/00/01 with at most 100 entries in a folder,
/// as kvtest calls them. The folder appears when it is whole, with a file crossover-blobs.json that
/// marks it; nothing is ever overwritten or deleted that export did not write.
#[derive(clap::Args)]
pub struct Arguments {
    /// The SQLite file
    #[arg(env = "CROSSOVER_BLOB_FILE", value_parser = sqlite_file())]
    file: PathBuf,
    /// The folder to be made
    #[arg(env = "CROSSOVER_BLOB_FOLDER")]
    folder: PathBuf,
    /// A tree of folders instead of one
    #[arg(long, env = "CROSSOVER_TREE")]
    tree: bool,
    /// Also make a small database of the files' names here, for run --names
    #[arg(long, value_name = "FILE", env = "CROSSOVER_NAMES")]
    names: Option<PathBuf>,
    /// Replace an older export in the same place
    #[arg(long, env = "CROSSOVER_FORCE")]
    force: bool,
}

#[derive(Serialize)]
struct ExportedBlobs<'a> {
    folder: String,
    form: BlobForm,
    #[serde(flatten)]
    exported: &'a Exported,
}

pub fn run(arguments: &Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let form = if arguments.tree { BlobForm::Tree } else { BlobForm::Folder };
    let options = ExportOptions { form, replace: arguments.force };
    let started = Instant::now();
    let progress = shared.progress("files");
    let (file, folder) = (&arguments.file, &arguments.folder);
    let exported = blob::export(file, folder, &options, &progress, shared.interrupted());
    progress.finish_and_clear();
    let exported = exported?;
    shared.say(&format!(
        "{} files, {}, in the {} {}; {:.1} s",
        notation::thousands(exported.files),
        notation::bytes(exported.bytes),
        form.name(),
        folder.display(),
        started.elapsed().as_secs_f64(),
    ));
    if let Some(names) = &arguments.names {
        let named = blob::write_names(&BlobTarget::open(folder)?, names)?;
        shared.say(&format!("their {} names in {}", notation::thousands(named), names.display()));
    }
    let folder = folder.display().to_string();
    match shared.output_format {
        OutputFormat::Json => {
            shared.print_json(&ExportedBlobs { folder, form, exported: &exported })?;
        }
        OutputFormat::Text | OutputFormat::Csv => shared.print(&format!("{folder}\n"))?,
    }
    Ok(CommandOutcome::Done)
}
