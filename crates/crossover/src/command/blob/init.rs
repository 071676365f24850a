//! `crossover blob init`.

use std::path::PathBuf;
use std::time::Instant;

use blob::{InitOptions, Initialized, Recipe};
use serde::Serialize;

use crate::flag::{page_size, positive, sqlite_file};
use crate::shared::{CommandOutcome, OutputFormat, Shared};

/// Make a SQLite file with a table of random blobs
///
/// kv(k INTEGER PRIMARY KEY, v BLOB), as kvtest makes it. Sizes are uniform within --size plus or
/// minus --variance; the bytes do not compress. Both follow from the seed, which is kept in the
/// file, so that every later step can check them. An interrupted init leaves nothing behind.
#[derive(clap::Args)]
pub struct Arguments {
    /// The file to be made
    #[arg(env = "CROSSOVER_BLOB_FILE", value_parser = sqlite_file())]
    file: PathBuf,
    /// Number of blobs; k, M and G are understood
    #[arg(long, value_name = "N", default_value = "1000", value_parser = positive,
          env = "CROSSOVER_COUNT")]
    count: u64,
    /// Bytes of a blob; 10k is 10,000, 10KiB 10,240
    #[arg(long, value_name = "BYTES", default_value = "10k", value_parser = notation::number,
          env = "CROSSOVER_SIZE")]
    size: u64,
    /// By how many bytes a blob may be larger or smaller
    #[arg(long, value_name = "BYTES", default_value = "0", value_parser = notation::number,
          env = "CROSSOVER_VARIANCE")]
    variance: u64,
    /// Bytes of a page of the file [default: 4096]
    #[arg(long, alias = "pagesize", value_name = "BYTES", value_parser = page_size,
          env = "CROSSOVER_PAGE_SIZE")]
    page_size: Option<u32>,
    /// Other sizes and bytes for every number
    #[arg(long, value_name = "N", default_value_t = 1, env = "CROSSOVER_SEED")]
    seed: u64,
    /// Replace an older file of blobs
    #[arg(long, env = "CROSSOVER_FORCE")]
    force: bool,
}

#[derive(Serialize)]
struct NewStore<'a> {
    file: String,
    #[serde(flatten)]
    initialized: &'a Initialized,
}

pub fn run(arguments: &Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let recipe = Recipe {
        count: arguments.count,
        blob_bytes: arguments.size,
        variance_bytes: arguments.variance,
        page_bytes: arguments.page_size,
        seed: arguments.seed,
    };
    let options = InitOptions { replace: arguments.force };
    let started = Instant::now();
    let progress = shared.progress("blobs");
    let made = blob::init(&arguments.file, &recipe, &options, &progress, shared.interrupted());
    progress.finish_and_clear();
    let made = made?;
    let file = arguments.file.display().to_string();
    let (size, variance) = (recipe.blob_bytes, recipe.variance_bytes);
    let sizes = match variance {
        0 => notation::thousands(size),
        _ => format!(
            "{} to {}",
            notation::thousands(size - variance),
            notation::thousands(size + variance)
        ),
    };
    shared.say(&format!(
        "{} blobs of {sizes} bytes, seed {}, in {file}: {}; {:.1} s",
        notation::thousands(recipe.count),
        recipe.seed,
        notation::bytes(made.file_bytes),
        started.elapsed().as_secs_f64(),
    ));
    match shared.output_format {
        OutputFormat::Json => shared.print_json(&NewStore { file, initialized: &made })?,
        OutputFormat::Text | OutputFormat::Csv => shared.print(&format!("{file}\n"))?,
    }
    Ok(CommandOutcome::Done)
}
