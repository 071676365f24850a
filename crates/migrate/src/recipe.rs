//! Migration file: `crossover migrate FILE.toml`, or a load file of pgloader. Nothing in it is
//! ignored: an unknown key or clause is refused by its name.

mod pgloader;

use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};

use engine::PostgresUrl;
use serde::Deserialize;

use crate::Error;
use crate::ddl::NocaseRule;
use crate::mapping::{IntegerRule, MapRule, MapRules, TypeChoice, TypeRule};
use crate::source::{FrameworkChoice, Naming, Selection};
use crate::transfer::{MigrateOptions, SeededRows};

/// A migration as a file describes it.
#[derive(Clone, Debug)]
pub struct MigrationRecipe {
    pub source: PathBuf,
    /// The PostgreSQL database, unless the command line names it.
    pub target: Option<PostgresUrl>,
    pub options: MigrateOptions,
    /// Create the database if it does not exist.
    pub create_database: bool,
    /// Lost rules do not count as findings.
    pub accept_losses: bool,
    /// Tables are made although the application makes them by itself.
    pub make_tables: bool,
    /// Notes on clauses without an effect here.
    pub notices: Vec<String>,
}

impl MigrationRecipe {
    /// `true` for names of migration files: `.toml`, or `.load` of pgloader.
    pub fn is_one(path: &Path) -> bool {
        path.extension().is_some_and(|ending| ending == "toml" || ending == "load")
    }

    /// Reads a migration file. Paths in it are relative to its folder.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let wrong = |reason: String| Error::Recipe { path: path.to_owned(), reason };
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut recipe = if path.extension().is_some_and(|ending| ending == "load") {
            pgloader::parse(&text).map_err(wrong)?
        } else {
            let written: RecipeFile =
                toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
            written.recipe().map_err(wrong)?
        };
        recipe.source = folder.join(engine::sqlite_path(&recipe.source));
        let reject_file = recipe.options.reject_file.take();
        recipe.options.reject_file = reject_file.map(|file| folder.join(file));
        Ok(recipe)
    }
}

/// Keys of the TOML file, named as on the command line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecipeFile {
    source: PathBuf,
    target: Option<String>,
    #[serde(default)]
    data_only: bool,
    #[serde(default)]
    replace: bool,
    #[serde(default)]
    on_seeded: SeededRows,
    verify: Option<bool>,
    #[serde(default)]
    dry_run: bool,
    #[serde(default)]
    create_database: bool,
    #[serde(default)]
    accept_losses: bool,
    #[serde(default)]
    framework: FrameworkChoice,
    #[serde(default)]
    make_tables: bool,
    schema: Option<String>,
    #[serde(default)]
    types: TypeRule,
    #[serde(default)]
    integers: IntegerRule,
    #[serde(default)]
    names: NameRule,
    #[serde(default)]
    rename: BTreeMap<String, String>,
    workers: Option<NonZeroU16>,
    #[serde(default)]
    schema_only: bool,
    #[serde(default)]
    nocase: NocaseRule,
    #[serde(default)]
    on_error: RowErrorPolicy,
    reject_file: Option<PathBuf>,
    part_bytes: Option<u64>,
    reconnects: Option<u32>,
    #[serde(default)]
    tables: Vec<String>,
    #[serde(default)]
    exclude: Vec<String>,
    #[serde(default)]
    skip_index: Vec<String>,
    #[serde(default)]
    map: toml::map::Map<String, toml::Value>,
}

#[derive(Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum NameRule {
    #[default]
    Keep,
    Lower,
}

#[derive(Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RowErrorPolicy {
    #[default]
    Stop,
    Reject,
}

impl RecipeFile {
    fn recipe(self) -> Result<MigrationRecipe, String> {
        let target = self.target.map(|url| url.parse::<PostgresUrl>()).transpose();
        let mut rules = Vec::new();
        for (column, to) in &self.map {
            let to = to.as_str().ok_or(format!("map: the type of {column} is not a text"))?;
            // A reading alone has no type before it.
            let joint = if to.starts_with("using ") { " " } else { "=" };
            let rule = format!("{column}{joint}{to}").parse::<MapRule>();
            let rule = rule.map_err(|error| error.to_string())?;
            rules.push(rule);
        }
        if self.schema_only && (self.data_only || self.on_error == RowErrorPolicy::Reject) {
            return Err("schema_only goes with neither data_only nor on_error".to_owned());
        }
        if self.reject_file.is_some() && self.on_error == RowErrorPolicy::Stop {
            return Err("reject_file is for on_error = \"reject\"".to_owned());
        }
        if self.make_tables && self.data_only {
            return Err("make_tables and data_only exclude each other".to_owned());
        }
        let reject_file = (self.on_error == RowErrorPolicy::Reject)
            .then(|| self.reject_file.unwrap_or_else(|| default_reject_file(&self.source)));
        let renames = self.rename.iter().map(|(old, new)| format!("{old}={new}").parse());
        let renames = renames.collect::<Result<_, Error>>().map_err(|error| error.to_string())?;
        let default = MigrateOptions::default();
        let mut options = MigrateOptions {
            data_only: self.data_only,
            rules: MapRules(rules),
            types: TypeChoice { rule: self.types, integers: self.integers },
            selection: Selection {
                tables: self.tables,
                excluded: self.exclude,
                skipped_indexes: self.skip_index,
                framework: self.framework,
                naming: Naming { lower: self.names == NameRule::Lower, renames },
            },
            schema: self.schema,
            verify: self.verify.unwrap_or(true),
            replace: self.replace,
            keep_seeded: false,
            schema_only: self.schema_only,
            workers: self.workers.map(NonZeroU16::get),
            nocase: self.nocase,
            dry_run: self.dry_run,
            reject_file,
            part_bytes: self.part_bytes.unwrap_or(default.part_bytes),
            resume: false,
            add_again: false,
            reconnects: self.reconnects.unwrap_or(default.reconnects),
        };
        let seeded = self.on_seeded.apply(&mut options);
        seeded.map_err(|problem| format!("on_seeded {problem}"))?;
        Ok(MigrationRecipe {
            source: self.source,
            target: target.map_err(|error| format!("target: {error}"))?,
            options,
            create_database: self.create_database,
            accept_losses: self.accept_losses,
            make_tables: self.make_tables,
            notices: Vec::new(),
        })
    }
}

/// The reject file unless one is named.
pub fn default_reject_file(source: &Path) -> PathBuf {
    let mut name = source.as_os_str().to_owned();
    name.push(".rejects.jsonl");
    PathBuf::from(name)
}
