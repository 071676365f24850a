//! Database of a dashboard command: from flag, environment, crossover.toml or default.

use std::path::Path;

use anyhow::Context as _;
use engine::DatabaseUrl;
use serde::Deserialize;

/// Used where nothing is named.
const DEFAULT: &str = "sqlite://crossover-data/dashboard.db";

/// The file of settings in the working directory.
const SETTINGS_FILE: &str = "crossover.toml";

/// `--database`, the same for every dashboard command.
#[derive(clap::Args)]
pub struct DatabaseArgument {
    /// sqlite://relative.db, sqlite:///absolute.db or postgresql://user@host/database; otherwise
    /// DATABASE_URL, `database` in crossover.toml, sqlite://crossover-data/dashboard.db
    #[arg(long, value_name = "URL", env = "CROSSOVER_DATABASE", hide_env_values = true)]
    database: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct DatabaseSettings {
    database: Option<String>,
}

impl DatabaseArgument {
    /// The database to work on.
    pub fn resolve(&self) -> anyhow::Result<DatabaseUrl> {
        let from_environment = || std::env::var("DATABASE_URL").ok().filter(|url| !url.is_empty());
        let text =
            match self.database.clone().filter(|url| !url.is_empty()).or_else(from_environment) {
                Some(text) => text,
                None => {
                    from_settings(Path::new(SETTINGS_FILE))?.unwrap_or_else(|| DEFAULT.to_owned())
                }
            };
        Ok(text.parse::<DatabaseUrl>()?)
    }
}

fn from_settings(file: &Path) -> anyhow::Result<Option<String>> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", file.display())),
    };
    let settings: DatabaseSettings =
        toml::from_str(&text).with_context(|| format!("in {}", file.display()))?;
    Ok(settings.database)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_file_is_read_if_there_and_refused_if_wrong() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join(SETTINGS_FILE);
        assert_eq!(from_settings(&file).unwrap(), None);
        std::fs::write(&file, "database = \"sqlite://shop.db\"\n").unwrap();
        assert_eq!(from_settings(&file).unwrap().unwrap(), "sqlite://shop.db");
        std::fs::write(&file, "\ndatabase = 7\n").unwrap();
        let error = format!("{:#}", from_settings(&file).unwrap_err());
        assert!(error.contains("crossover.toml") && error.contains("line 2"), "{error}");
        std::fs::write(&file, "databse = \"sqlite://shop.db\"\n").unwrap();
        let error = format!("{:#}", from_settings(&file).unwrap_err());
        assert!(error.contains("databse") && error.contains("`database`"), "{error}");
    }
}
