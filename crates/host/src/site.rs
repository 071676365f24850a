//! Site of a run: what all its deployments share, and the commands of its plan with their
//! placeholders filled in.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use engine::EngineSpec;
use indicatif::ProgressBar;
use load::resource::MemoryGroup;
use plan::{Levels, Placeholders, Plan, expand};
use server::Locations;

use crate::address::Address;
use crate::dataset::{Datasets, KeptDataset};
use crate::error::DeployError;
use crate::filling::filling;
use crate::one_off::OneOff;
use crate::options::HostOptions;
use crate::process::{ApplicationOptions, run_to_end};

/// State that every deployment of a run shares.
pub struct Site<'a> {
    pub plan: &'a Plan,
    /// The files that engines are filled from.
    pub datasets: &'a Datasets,
    /// A folder for the run's copies of SQLite files.
    pub scratch: &'a Path,
    /// Where the application's output goes.
    pub logs: &'a Path,
    /// A key that clients and application share for this run; never recorded.
    pub secret: &'a str,
    pub program: &'a Path,
    pub locations: &'a Locations,
    pub runtime: &'a tokio::runtime::Handle,
    /// Shown while servers are fetched and filled.
    pub progress: &'a ProgressBar,
    /// Shows the user a line, which stays on the screen.
    pub say: &'a dyn Fn(&str),
    /// The user asked to stop.
    pub interrupted: &'a AtomicBool,
    /// Work that later deployments do not repeat.
    pub one_off: &'a OneOff,
    /// Where the server side's memory is limited. The deploying thread is inside this group.
    pub memory: Option<&'a MemoryGroup>,
}

impl Site<'_> {
    #[must_use]
    pub fn options(&self) -> HostOptions<'_> {
        let Self { locations, runtime, progress, interrupted, .. } = self;
        HostOptions { locations, runtime, progress, interrupted }
    }

    /// The SQLite file with the data at `levels`.
    pub fn dataset(&self, levels: &Levels) -> Option<&KeptDataset> {
        self.datasets.at(self.plan, levels)
    }

    /// Names what a server is filled with at `levels`.
    pub(crate) fn filling(
        &self,
        engine: &EngineSpec,
        levels: &Levels,
    ) -> Result<String, DeployError> {
        let nothing = self.plan.workload.properties().data_name;
        let data = self.dataset(levels).map_or(nothing, |data| data.digest.as_str());
        let values = self.plan.placeholders(levels)?;
        Ok(filling(data, engine, &self.plan.application.prepare, &values))
    }

    /// Runs the plan's commands that fill the database at `address`.
    pub(crate) fn prepare(
        &self,
        engine: &EngineSpec,
        levels: &Levels,
        address: &Address,
    ) -> Result<(), DeployError> {
        self.progress.set_message(format!("filling {}", engine.label()));
        let values = self.placeholders(engine, levels, Some(address), "")?;
        for words in &self.plan.application.prepare {
            let command = self.command(words, engine, levels, "prepare", &values)?;
            run_to_end(&command, self.interrupted)?;
        }
        self.dataset(levels).map_or(Ok(()), KeptDataset::check_unchanged)
    }

    /// A command of the plan, its placeholders filled in.
    pub fn command(
        &self,
        words: &[String],
        engine: &EngineSpec,
        levels: &Levels,
        purpose: &str,
        values: &Placeholders,
    ) -> Result<ApplicationOptions, DeployError> {
        let mut expanded = Vec::new();
        for word in words {
            if word == "{settings}" {
                // A managed server has its settings from its start, a foreign one from its URL.
                if engine.source.kind().properties().is_embedded {
                    for (key, value) in engine.engine_settings() {
                        expanded.extend(["--set".to_owned(), format!("{key}={value}")]);
                    }
                }
            } else {
                expanded.push(expand(word, "application", values)?);
            }
        }
        let mut environment = Vec::new();
        for (name, value) in &self.plan.application.environment {
            environment.push((name.clone(), expand(value, "application.environment", values)?));
        }
        Ok(ApplicationOptions {
            name: format!("{purpose}-{}", file_name(&engine.label())),
            command: expanded,
            environment,
            directory: self.plan.application.directory.clone(),
            log_directory: self.logs.to_owned(),
            cpus: self.plan.server_cpus_at(levels)?,
            account: None,
        })
    }

    /// Every placeholder of a command or an environment.
    pub fn placeholders(
        &self,
        engine: &EngineSpec,
        levels: &Levels,
        address: Option<&Address>,
        listen: &str,
    ) -> Result<Placeholders, DeployError> {
        let mut values = self.plan.placeholders(levels)?;
        values.entry("design".to_owned()).or_insert_with(|| "daily".to_owned());
        if let Some(design) = engine.own("design") {
            values.insert("design".to_owned(), design.to_owned());
        }
        values.extend(address.map(Address::placeholders).unwrap_or_default());
        if let Some(data) = self.dataset(levels) {
            values.insert("data".to_owned(), data.path.display().to_string());
        }
        let (host, port) = listen.rsplit_once(':').unwrap_or_default();
        for (name, value) in [
            ("crossover", self.program.display().to_string()),
            ("engine", engine.label()),
            ("listen", listen.to_owned()),
            ("host", host.to_owned()),
            ("port", port.to_owned()),
            ("secret", self.secret.to_owned()),
        ] {
            values.insert(name.to_owned(), value);
        }
        Ok(values)
    }
}

/// A label as a file name.
pub(crate) fn file_name(label: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    label.chars().map(plain).collect()
}
