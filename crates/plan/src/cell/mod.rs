//! Plan at one cell, a level of each factor: placeholders filled in, engines, resources of the server
//! side, steps.

mod clients_as;
mod connection_by;
mod delay;
mod resources;
mod steps;

use std::time::Duration;

use engine::EngineSpec;
use serde::{Deserialize, Serialize};

use crate::{Level, Levels, Pause, Placeholders, Plan, PlanError, clients, expand, last_day};

pub use clients_as::{CLIENTS_AS, ClientsAs, PROCESSES_MAX, SqliteOrigin};
pub(crate) use delay::delay_acts;
pub use delay::{DELAY_MS, Delay};
pub use resources::{DATA_FOLDER, SERVER_MEMORY_BYTES_MIN, data_folder_at};

/// Blocks over one set of cells: first the plan's levels, later those that bisection adds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema, Deserialize)]
pub struct Round {
    /// One level of each factor. Engines that some factors do not change share treatments.
    pub cells: Vec<Levels>,
    /// The number of blocks; it grows while a precision is being reached.
    #[serde(default)]
    pub blocks: usize,
}

impl Plan {
    /// The round that a run begins with.
    pub fn first_round(&self) -> Round {
        Round { cells: self.cells(), blocks: self.first_blocks() }
    }

    /// The first level of every factor.
    pub fn base(&self) -> Levels {
        let firsts = self.factors.iter();
        firsts
            .filter_map(|(name, factor)| Some((name.clone(), factor.levels.first()?.clone())))
            .collect()
    }

    /// Whether this is the first level of a factor that varies alone, which goes without saying.
    pub fn is_base(&self, name: &str, level: &Level) -> bool {
        let factor = self.factors.get(name).filter(|factor| factor.alone);
        factor.is_some_and(|factor| factor.levels.first() == Some(level))
    }

    /// Every combination of the plan's levels; of the factors that are varied alone, one at a time.
    pub fn cells(&self) -> Vec<Levels> {
        let mut bases = vec![Levels::new()];
        for (name, factor) in self.factors.iter().filter(|(_, factor)| factor.alone) {
            let Some((first, others)) = factor.levels.split_first() else { continue };
            let changed = bases.first().cloned().unwrap_or_default();
            for cell in &mut bases {
                cell.insert(name.clone(), first.clone());
            }
            for level in others {
                let mut cell = changed.clone();
                cell.insert(name.clone(), level.clone());
                bases.push(cell);
            }
        }
        // The first stands for the base, which every variation is completed from.
        let base = bases.first().cloned().unwrap_or_default();
        let mut cells: Vec<Levels> =
            bases.into_iter().map(|cell| base.clone().into_iter().chain(cell).collect()).collect();
        for (name, factor) in self.factors.iter().filter(|(_, factor)| !factor.alone) {
            cells = cells
                .iter()
                .flat_map(|cell| {
                    factor.levels.iter().map(|level| {
                        let mut cell = cell.clone();
                        cell.insert(name.clone(), level.clone());
                        cell
                    })
                })
                .collect();
        }
        cells
    }

    /// Constants, the factors at `levels`, and `{end}` where there are `{start}` and `{days}`.
    pub fn placeholders(&self, levels: &Levels) -> Result<Placeholders, PlanError> {
        let mut values = self.constants.clone();
        for (name, level) in levels {
            values.insert(name.clone(), level.to_string());
        }
        let days = levels.get("days").and_then(Level::number);
        if let (Some(start), Some(days)) = (values.get("start"), days) {
            let end = last_day(start, days)?;
            values.insert("end".to_owned(), end);
        }
        Ok(values)
    }

    /// Engine number `index` with its placeholders filled in, under the label of its line.
    pub fn engine_at(&self, index: usize, levels: &Levels) -> Result<EngineSpec, PlanError> {
        let Some(template) = self.engines.get(index) else {
            return Err(PlanError::impossible("engines", format!("has no engine {index}")));
        };
        let values = self.placeholders(levels)?;
        let filled = template
            .map_texts(|text| expand(text, "engines", &values).map_err(|error| error.to_string()));
        let key = format!("engines.{index}");
        let mut engine = filled.map_err(|message| {
            let message = message.strip_prefix("engines: ").unwrap_or(&message).to_owned();
            PlanError::impossible(&key, message)
        })?;
        // A label is a name of the line: the same at every level.
        engine
            .settings
            .set("label", &template.label())
            .map_err(|message| PlanError::impossible(&key, message))?;
        Ok(engine)
    }

    /// The key of one level of a factor.
    pub(crate) fn level_key(&self, name: &str, level: &Level) -> String {
        let factor = self.factors.get(name);
        let index = factor.and_then(|factor| factor.levels.iter().position(|one| one == level));
        index.map_or(format!("factors.{name}"), |index| format!("factors.{name}.levels.{index}"))
    }

    pub(crate) fn rate_at(&self, levels: &Levels) -> Result<f64, PlanError> {
        let rate = match levels.get("rate") {
            Some(level) => level.number(),
            None => self.load.rate,
        };
        rate.filter(|rate| rate.is_finite() && *rate > 0.0).ok_or_else(|| {
            let message = "open load needs requests per second above 0: rate = 50";
            PlanError::impossible("load.rate", message)
        })
    }

    pub(crate) fn think_time_at(&self, levels: &Levels) -> Result<Duration, PlanError> {
        match levels.get("think_time") {
            Some(level) => {
                level.to_string().parse().map(|Pause(time)| time).map_err(|message: String| {
                    PlanError::impossible(&self.level_key("think_time", level), message)
                })
            }
            None => Ok(self.load.think_time.map_or(Duration::ZERO, |Pause(time)| time)),
        }
    }

    /// The most clients that any trial has.
    pub fn most_clients(&self) -> u16 {
        let levels = self.factors.get("clients").map(|factor| factor.levels.as_slice());
        let clients = levels
            .unwrap_or_default()
            .iter()
            .map(|level| clients(&Levels::from([("clients".to_owned(), level.clone())])));
        clients.max().unwrap_or(1)
    }
}
