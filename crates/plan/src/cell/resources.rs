//! Processors and memory of the server side at one cell.

use std::path::PathBuf;

use crate::{Bytes, Level, Levels, Plan, PlanError, available_cpus};

/// The factor whose levels are folders for the data that Crossover makes.
pub const DATA_FOLDER: &str = "data_folder";

/// With less neither PostgreSQL starts, nor this program on its way to it.
pub const SERVER_MEMORY_BYTES_MIN: u64 = 32 << 20;

/// The folder of the data at `levels`, where the factor is in the plan.
#[must_use]
pub fn data_folder_at(levels: &Levels) -> Option<PathBuf> {
    levels.get(DATA_FOLDER).map(|level| level.to_string().into())
}

impl Plan {
    /// All folders that the factor `data_folder` names.
    pub fn data_folders(&self) -> impl Iterator<Item = PathBuf> {
        let factor = self.factors.get(DATA_FOLDER).into_iter();
        factor.flat_map(|factor| &factor.levels).map(|level| level.to_string().into())
    }

    /// The processors of the server side at `levels`: of the factor, otherwise of the plan.
    pub fn server_cpus_at(&self, levels: &Levels) -> Result<Option<Vec<usize>>, PlanError> {
        let Some(level) = levels.get("server_cpus") else { return Ok(self.server_cpus.clone()) };
        let wrong = |reason: &str| {
            let message =
                format!("`{level}` {reason}; write a number such as 1 or a list as \"0,1\"");
            PlanError::impossible(&self.level_key("server_cpus", level), message)
        };
        match level {
            Level::Number(count) => {
                let available = available_cpus();
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "checked"
                )]
                let wanted = *count as usize;
                if count.fract() != 0.0 || wanted == 0 || wanted > available.len() {
                    return Err(wrong(&format!("is not a number from 1 to {}", available.len())));
                }
                Ok(available.get(..wanted).map(<[usize]>::to_vec))
            }
            Level::Text(list) => {
                let cpus: Result<Vec<usize>, _> =
                    list.split(',').map(|cpu| cpu.trim().parse()).collect();
                cpus.map(Some).map_err(|_| wrong("is not a list of processors"))
            }
        }
    }

    /// Refuses a limit in which no server starts.
    pub(crate) fn check_server_memory(&self) -> Result<(), PlanError> {
        self.server_memory_at(&Levels::new())?;
        let factor = self.factors.get("server_memory").into_iter();
        for level in factor.flat_map(|factor| &factor.levels) {
            self.server_memory_at(&Levels::from([("server_memory".to_owned(), level.clone())]))?;
        }
        Ok(())
    }

    /// The memory of the server side at `levels`: of the factor, otherwise of the plan.
    pub fn server_memory_at(&self, levels: &Levels) -> Result<Option<Bytes>, PlanError> {
        let (key, limit) = match levels.get("server_memory") {
            None => ("server_memory".to_owned(), self.server_memory),
            Some(Level::Text(text)) if text == "all" => return Ok(None),
            Some(level) => {
                let key = self.level_key("server_memory", level);
                let limit = level.to_string().parse().map_err(|message: String| {
                    PlanError::impossible(&key, format!("{message}, or all for no limit"))
                })?;
                (key, Some(limit))
            }
        };
        match limit {
            Some(limit) if limit.0 < SERVER_MEMORY_BYTES_MIN => {
                let least = Bytes(SERVER_MEMORY_BYTES_MIN);
                let message =
                    format!("{limit} is less than a server needs to start: at least {least}");
                Err(PlanError::impossible(&key, message))
            }
            limit => Ok(limit),
        }
    }
}
