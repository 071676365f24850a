//! Data for the dashboard's experiment: the reference dataset, generated once and kept, or a
//! file of the user's.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use dashboard::generate::{Generate, generate};
use engine::DatabaseUrl;
use server::Locations;

use crate::shared::Shared;

/// Which reference dataset.
#[derive(Clone, Copy, Debug)]
pub struct ReferenceData {
    /// Multiplies articles and rows.
    pub scale: f64,
}

/// The file of a reference dataset; generated where it is not there yet.
pub fn reference(
    data: ReferenceData,
    locations: &Locations,
    shared: &Shared,
) -> anyhow::Result<PathBuf> {
    let options = Generate::scaled(data.scale);
    let folder = locations.data.join("datasets");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let path = folder.join(format!("reference-{}-seed-{}.db", data.scale, options.seed));
    if path.is_file() {
        return Ok(path);
    }
    shared.say(&format!("generating the reference dataset once, kept as {}", path.display()));
    let progress = shared.progress("rows");
    let target = DatabaseUrl::Sqlite(path.clone());
    let runtime = shared.runtime().handle();
    generate(&target, &options, runtime, &progress, shared.interrupted())?;
    progress.finish_and_clear();
    Ok(path)
}

/// The blog with most articles in a dashboard's SQLite file.
pub fn largest_blog(path: &Path) -> anyhow::Result<String> {
    let connection = engine::sqlite::open_read_only(path)?;
    let statement = "SELECT blogs.name FROM articles JOIN blogs ON blogs.id = articles.blog_id \
                     GROUP BY blogs.id ORDER BY count(*) DESC, blogs.name LIMIT 1";
    connection.query_row(statement, [], |row| row.get(0)).with_context(|| {
        format!(
            "{} holds no dashboard with articles; fill one with `crossover dashboard generate`",
            path.display()
        )
    })
}
