//! Load of a plan at one cell.

use crate::{Level, Levels, LoadModel, LoadOptions, Mode, Plan, PlanError, TrialSettings, clients};

impl Plan {
    /// Load on the cell `levels`.
    pub fn load_at(&self, levels: &Levels, seed: u64) -> Result<LoadOptions, PlanError> {
        let open = self.load.model == LoadModel::Open;
        let clients = match open {
            true => self
                .load
                .connections_max
                .unwrap_or_else(|| self.workload.properties().connections_max),
            false => clients(levels),
        };
        Ok(LoadOptions {
            clients,
            mode: match &self.trial {
                TrialSettings::Passes { passes } => Mode::Passes(*passes),
                TrialSettings::Steady { time } if open => Mode::Open {
                    time: time.duration(),
                    per_second: self.rate_at(levels)?,
                    arrivals: self.load.arrivals.unwrap_or_default(),
                },
                TrialSettings::Steady { time } => {
                    Mode::Steady { time: time.duration(), minimum_rounds: 1 }
                }
            },
            think_time: self.think_time_at(levels)?,
            connection: self.load.connection,
            seed,
            left_out: self.operations_at(levels).iter().map(|one| one.weight == 0).collect(),
            timeout: self.load.timeout(),
            client_cpus: self.client_cpus.clone(),
        })
    }

    /// Refuses keys of one model in the other.
    pub(crate) fn check_load(&self) -> Result<(), PlanError> {
        self.check_clients_as()?;
        self.check_delay()?;
        let load = &self.load;
        let has = |name: &str| self.factors.contains_key(name);
        let wrong = match load.model {
            LoadModel::Closed => [
                (load.rate.is_some(), "load.rate"),
                (has("rate"), "factors.rate"),
                (load.arrivals.is_some(), "load.arrivals"),
                (load.connections_max.is_some(), "load.connections_max"),
            ],
            LoadModel::Open => [
                (load.think_time.is_some(), "load.think_time"),
                (has("think_time"), "factors.think_time"),
                (has("clients"), "factors.clients"),
                (false, ""),
            ],
        };
        if let Some((_, key)) = wrong.into_iter().find(|(given, _)| *given) {
            let message = match load.model {
                LoadModel::Closed => {
                    "belongs to open load; write model = \"open\" under [load], or leave it out"
                }
                LoadModel::Open => {
                    "belongs to closed load; open load has rate and connections_max instead"
                }
            };
            return Err(PlanError::impossible(key, message));
        }
        if load.connections_max == Some(0) {
            return Err(PlanError::impossible(
                "load.connections_max",
                "is 0; at least 1 is needed",
            ));
        }
        if load.model == LoadModel::Open && matches!(self.trial, TrialSettings::Passes { .. }) {
            let message = "is \"passes\", and open load lasts a time; write mode = \"steady\"";
            return Err(PlanError::impossible("trial.mode", message));
        }
        let levels = |name: &str| {
            let levels = self.factors.get(name).map(|factor| factor.levels.clone());
            let at = |level: Level| Levels::from([(name.to_owned(), level)]);
            levels.unwrap_or_default().into_iter().map(at).collect::<Vec<_>>()
        };
        let rates = levels("rate");
        let pauses = levels("think_time");
        for cell in rates.iter().chain(&pauses) {
            self.load_at(cell, 0)?;
        }
        if rates.is_empty() {
            self.load_at(&Levels::new(), 0)?;
        }
        Ok(())
    }
}
