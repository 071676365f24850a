//! Plan at one cell: its placeholders, its load, its transactions.

use std::collections::BTreeSet;
use std::time::Duration;

use ::load::{LoadOptions, Mode};
use ::oltp::Mix;
use engine::EngineSpec;

use crate::load_model::{CLIENTS_MAX, CONNECTIONS_MAX};
use crate::oltp::{ENGINE_KEYS, level};
use crate::{
    Level, Levels, LoadModel, Oltp, Pause, Placeholders, Plan, PlanError, TrialSettings,
    WorkloadKind, clients, last_day,
};

impl Plan {
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

    /// Load on the cell `levels`.
    pub fn load_at(&self, levels: &Levels, seed: u64) -> Result<LoadOptions, PlanError> {
        let open = self.load.model == LoadModel::Open;
        let clients = match open {
            true => self.load.connections_max.unwrap_or(match self.workload {
                WorkloadKind::Http => CONNECTIONS_MAX,
                WorkloadKind::Sql | WorkloadKind::Blob | WorkloadKind::Oltp => CLIENTS_MAX,
            }),
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
            timeout: self.load.timeout(),
            client_cpus: self.client_cpus.clone(),
        })
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

    fn think_time_at(&self, levels: &Levels) -> Result<Duration, PlanError> {
        match levels.get("think_time") {
            Some(level) => {
                level.to_string().parse().map(|Pause(time)| time).map_err(|message: String| {
                    PlanError::impossible(&self.level_key("think_time", level), message)
                })
            }
            None => Ok(self.load.think_time.map_or(Duration::ZERO, |Pause(time)| time)),
        }
    }

    /// Refuses keys of one model in the other.
    pub(crate) fn check_load(&self) -> Result<(), PlanError> {
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

impl Plan {
    /// `[oltp]` at `levels`.
    pub fn oltp_at(&self, levels: &Levels) -> Result<Oltp, PlanError> {
        let mut oltp = self.oltp.clone().unwrap_or_default();
        level(levels, "mix", &mut oltp.mix)?;
        level(levels, "distribution", &mut oltp.distribution)?;
        level(levels, "tables", &mut oltp.tables)?;
        level(levels, "table_size", &mut oltp.table_size)?;
        oltp.take_texts(levels)?;
        for (name, number) in [("tables", oltp.tables), ("table_size", oltp.table_size)] {
            if number == 0 {
                return Err(PlanError::impossible(&format!("oltp.{name}"), "is 0"));
            }
        }
        Ok(oltp)
    }

    /// The same for one engine, whose brackets stand above it.
    pub fn oltp_of(&self, engine: &EngineSpec, levels: &Levels) -> Result<Oltp, PlanError> {
        let mut oltp = self.oltp_at(levels)?;
        let own = engine.settings.iter().filter(|(key, _)| ENGINE_KEYS.contains(key));
        let own = own.map(|(key, value)| (key.to_owned(), Level::Text(value.to_owned())));
        oltp.take_texts(&own.collect()).map_err(|error| match error {
            PlanError::Impossible { message, .. } => {
                PlanError::impossible("engines", format!("{}: {message}", engine.label()))
            }
            other => other,
        })?;
        Ok(oltp)
    }

    /// Every mix that is measured.
    pub fn mixes(&self) -> Result<BTreeSet<Mix>, PlanError> {
        let of = |level: &Level| {
            let levels = Levels::from([("mix".to_owned(), level.clone())]);
            Ok(self.oltp_at(&levels)?.mix)
        };
        match self.factors.get("mix") {
            Some(factor) => factor.levels.iter().map(of).collect(),
            None => Ok(BTreeSet::from([self.oltp_at(&Levels::new())?.mix])),
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
