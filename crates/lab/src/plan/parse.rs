//! From TOML text to a checked, resolved plan; mistakes are named with line and column.

use std::path::Path;

use engine::{EngineSource, EngineSpec};

use super::placeholder::names_in;
use super::{Data, Factor, Level, Plan, PlanError, Request, WorkloadKind, days_of};

/// Reads a plan. `name` is the file's name for messages.
///
/// # Errors
/// [`PlanError`] with the place of the mistake.
pub fn read(text: &str, name: &str) -> Result<Plan, PlanError> {
    parse(text, name)?.resolved()
}

/// Reads a plan and the files beside it as they are written, so that something can be changed
/// before it is resolved.
///
/// # Errors
/// [`PlanError::Malformed`] with the place of the mistake; a file that cannot be read.
pub fn parse(text: &str, name: &str) -> Result<Plan, PlanError> {
    let mut plan: Plan = toml::from_str(text).map_err(|error| malformed(text, name, &error))?;
    for statement in &mut plan.statements {
        statement.read_files(Path::new(name).parent())?;
    }
    if let Some(source) = &mut plan.request_source {
        source.lies_beside(Path::new(name));
    }
    Ok(plan)
}

fn malformed(text: &str, name: &str, error: &toml::de::Error) -> PlanError {
    let place = match error.span() {
        Some(span) => {
            let before = text.get(..span.start).unwrap_or(text);
            let line = before.matches('\n').count() + 1;
            let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
            format!("{name}, line {line}, column {column}")
        }
        None => name.to_owned(),
    };
    PlanError::Malformed { place, message: with_suggestion(error.message()) }
}

/// Adds the nearest known key to serde's "unknown field `x`, expected one of `a`, `b`".
fn with_suggestion(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let plain = message.starts_with("unknown ") && !message.contains("did you mean");
    let unknown = plain.then(|| quoted.next()).flatten();
    let nearest = unknown.map(|unknown| engine::nearest(unknown, quoted));
    format!("{message}{}", nearest.unwrap_or_default())
}

impl Plan {
    /// Checks what the types cannot say and fills in what is left open: periods become days,
    /// requests get names.
    ///
    /// # Errors
    /// [`PlanError::Impossible`] with the key.
    pub fn resolved(mut self) -> Result<Self, PlanError> {
        fn impossible(key: &str, message: impl Into<String>) -> PlanError {
            PlanError::impossible(key, message)
        }
        if self.engines.is_empty() {
            return Err(impossible("engines", "names none; write engines = [\"sqlite\"]"));
        }
        for (index, engine) in self.engines.iter().enumerate() {
            if self.engines.iter().take(index).any(|other| other.label() == engine.label()) {
                let message = format!("{} is named twice; give one a label", engine.label());
                return Err(impossible("engines", message));
            }
        }
        if self.replicates == 0 {
            return Err(impossible(
                "replicates",
                "is 0; at least one block is needed, 5 for intervals",
            ));
        }
        if let Data::File(path) = &self.data
            && names_in(&path.display().to_string()).next().is_none()
            && !path.is_file()
        {
            let message = format!("there is no file {}; name a SQLite file", path.display());
            return Err(impossible("data", message));
        }
        self.read_request_source()?;
        if self.workload == WorkloadKind::Http && self.requests.is_empty() {
            return Err(impossible("request", "there is none; write [[request]] and path = \"/\""));
        }
        self.requests.iter_mut().try_for_each(Request::resolve)?;
        let runs_already = |engine: &EngineSpec| matches!(engine.source, EngineSource::HttpUrl(_));
        if self.workload == WorkloadKind::Http
            && self.application.start.is_empty()
            && let Some(engine) = self.engines.iter().find(|engine| !runs_already(engine))
        {
            let message = format!(
                "is missing for {engine}: give the command that serves, \
                 or name applications that run already by their http:// URLs"
            );
            return Err(impossible("application.start", message));
        }
        match self.workload {
            WorkloadKind::Oltp => self.resolve_oltp()?,
            _ if self.oltp.is_some() => {
                return Err(impossible("oltp", "belongs to workload = \"oltp\""));
            }
            WorkloadKind::Sql => self.check_statements()?,
            _ => {}
        }
        self.have_data_moved();
        let key = |name: &str| match name {
            "server_cpus" => self.server_cpus.is_some(),
            "server_memory" => self.server_memory.is_some(),
            _ => false,
        };
        if let Some(name) = self.factors.keys().find(|name| key(name)) {
            return Err(impossible(name, "is a factor too; write it once"));
        }
        self.resolve_factors()?;
        self.resolve_blob()?;
        self.check_load()?;
        self.check_placeholders()?;
        Ok(self)
    }

    /// Data that no command moves into a managed server is moved there by our own migration.
    fn have_data_moved(&mut self) {
        let is_copied = matches!(self.workload, WorkloadKind::Http | WorkloadKind::Sql);
        if is_copied && self.data != Data::Present && self.application.prepare.is_empty() {
            let migrate = ["{crossover}", "migrate", "{data}", "{database_url}"];
            self.application.prepare = vec![migrate.map(str::to_owned).to_vec()];
        }
    }

    /// Adds the requests of a list or a log; what was left out of it belongs to the conditions.
    fn read_request_source(&mut self) -> Result<(), PlanError> {
        if let Some(source) = self.request_source.take() {
            let (requests, said) = source.read()?;
            self.requests.extend(requests);
            if !self.conditions.is_empty() {
                self.conditions.push_str("; ");
            }
            self.conditions.push_str(&said);
        }
        Ok(())
    }

    fn resolve_factors(&mut self) -> Result<(), PlanError> {
        let start = self.start_day().map(str::to_owned);
        for (name, factor) in &mut self.factors {
            if name == "days"
                && let Some(start) = &start
            {
                resolve_periods(factor, start)?;
            }
            check_factor(name, factor)?;
        }
        let swept: Vec<_> = self
            .factors
            .iter()
            .filter(|(_, f)| f.swept.is_some())
            .map(|(n, _)| n.clone())
            .collect();
        if swept.len() > 1 {
            let message = format!(
                "{} are both swept; only one factor can be the x axis",
                swept.join(" and ")
            );
            return Err(PlanError::impossible("factors", message));
        }
        Ok(())
    }
}

/// Replaces `week` by 7 and keeps the word as the level's label.
fn resolve_periods(factor: &mut Factor, start: &str) -> Result<(), PlanError> {
    if factor.labels.is_empty() {
        factor.labels = factor
            .levels
            .iter()
            .map(|level| match level {
                Level::Number(1.0) => "1 day".to_owned(),
                Level::Number(days) => format!("{days} days"),
                Level::Text(text) => match text.strip_suffix('d') {
                    Some("1") => "1 day".to_owned(),
                    Some(days) if days.parse::<u32>().is_ok() => format!("{days} days"),
                    _ => text.clone(),
                },
            })
            .collect();
    }
    for level in &mut factor.levels {
        if let Level::Text(period) = level {
            *level = Level::Number(days_of(period, start)?.into());
        }
    }
    Ok(())
}

fn check_factor(name: &str, factor: &Factor) -> Result<(), PlanError> {
    let impossible =
        |message: String| Err(PlanError::impossible(&format!("factors.{name}"), message));
    if factor.levels.is_empty() {
        return impossible("has no levels".to_owned());
    }
    for (index, level) in factor.levels.iter().enumerate() {
        if factor.levels.iter().take(index).any(|other| other == level) {
            return impossible(format!("has the level {level} twice"));
        }
        if factor.swept.is_some() && level.number().is_none() {
            return impossible(format!("is swept, and `{level}` is no number"));
        }
        let positive = level.number().is_none_or(|number| number.is_finite() && number > 0.0);
        if factor.swept == Some(super::Scale::Log) && !positive {
            return impossible(format!("{level} has no place on a logarithmic axis"));
        }
        let count = level.number().filter(|n| n.fract() == 0.0 && (1.0..=65_535.0).contains(n));
        if name == "clients" && count.is_none() {
            return impossible(format!("`{level}` is no number of clients from 1 to 65535"));
        }
    }
    if !factor.labels.is_empty() && factor.labels.len() != factor.levels.len() {
        return impossible("has not as many labels as levels".to_owned());
    }
    if factor.alone && factor.swept.is_some() {
        return impossible("cannot be both swept and alone".to_owned());
    }
    if factor.bisect && factor.swept.is_none() {
        return impossible("bisect needs swept = \"log\" or \"linear\"".to_owned());
    }
    Ok(())
}
