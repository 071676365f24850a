//! Parser from TOML text to a checked, resolved plan; mistakes are named with line and column.

use std::path::Path;

use notation::counted;

use crate::model::application::migration;
use crate::model::placeholder::names_in;
use crate::{
    Data, Factor, Level, Plan, PlanError, ResponseVariable, TransactionBegin, WorkloadKind,
    days_of, place, toml_message,
};

/// Reads a plan. `name` is the file's name for messages.
pub fn read(text: &str, name: &str) -> Result<Plan, PlanError> {
    let plan = parse(text, name)?.resolved();
    plan.map_err(|error| error.located(text, name).unwrap_or(error))
}

/// Reads a plan and the files beside it as written, so that something can be changed
/// before it is resolved.
pub fn parse(text: &str, name: &str) -> Result<Plan, PlanError> {
    let mut plan: Plan = toml::from_str(text).map_err(|error| malformed(text, name, &error))?;
    for (index, statement) in plan.statements.iter_mut().enumerate() {
        statement.read_files(Path::new(name).parent()).map_err(|message| {
            let key = format!("statement.{index}.file");
            let error = PlanError::impossible(&key, message);
            error.located(text, name).unwrap_or(error)
        })?;
    }
    if let Some(source) = &mut plan.request_source {
        source.resolve_paths_from(Path::new(name));
    }
    Ok(plan)
}

fn malformed(text: &str, name: &str, error: &toml::de::Error) -> PlanError {
    let span = error.span().unwrap_or_default();
    let place = place::of_byte(text, name, span.start);
    let found = text.get(span).unwrap_or_default();
    PlanError::Malformed { place, message: toml_message::of_serde(error.message(), found) }
}

impl Plan {
    /// Checks what the types cannot say and fills in what is left open: periods become days,
    /// requests get names.
    pub fn resolved(mut self) -> Result<Self, PlanError> {
        self.check_engines()?;
        if self.replicates == 0 {
            let message = "is 0; at least one block is needed, 5 for intervals";
            return Err(PlanError::impossible("replicates", message));
        }
        for (key, share) in
            [("precision", self.precision), ("equivalent_within", Some(self.equivalent_within))]
        {
            if share.is_some_and(|share| share.0 == 0.0) {
                let message = "is 0%; no number of blocks shows that";
                return Err(PlanError::impossible(key, message));
            }
        }
        self.check_data()?;
        self.check_own_response()?;
        self.refuse_foreign_keys()?;
        self.read_request_source()?;
        self.check_bounds()?;
        self.resolve_workload()?;
        self.resolve_steps()?;
        self.default_prepare_to_migrate();
        let key = |name: &str| match name {
            "server_cpus" => self.server_cpus.is_some(),
            "server_memory" => self.server_memory.is_some(),
            _ => false,
        };
        if let Some(name) = self.factors.keys().find(|name| key(name)) {
            return Err(PlanError::impossible(name, "is a factor too; write it once"));
        }
        self.resolve_factors()?;
        self.check_server_memory()?;
        self.read_statement_versions()?;
        self.rules().check()?;
        self.check_regression()?;
        self.check_load()?;
        self.check_connections()?;
        self.check_placeholders()?;
        self.rules().check_commands()?;
        self.check_size()?;
        Ok(self)
    }

    fn check_engines(&self) -> Result<(), PlanError> {
        if self.engines.is_empty() {
            let message = "names none; write engines = [\"sqlite\"]";
            return Err(PlanError::impossible("engines", message));
        }
        for (index, engine) in self.engines.iter().enumerate() {
            if self.engines.iter().take(index).any(|other| other.label() == engine.label()) {
                let message = format!("{} is named twice; give one a label", engine.label());
                return Err(PlanError::impossible(&format!("engines.{index}"), message));
            }
            let begin = TransactionBegin::of_engine(engine)?;
            if begin.is_some() && self.workload != WorkloadKind::Sql {
                let message = format!("{}: begin is of the workload sql", engine.label());
                return Err(PlanError::impossible(&format!("engines.{index}"), message));
            }
        }
        Ok(())
    }

    fn check_own_response(&self) -> Result<(), PlanError> {
        let usual = Some(self.workload.properties().response);
        match self.own_response {
            None => Ok(()),
            own if own == usual => Ok(()),
            Some(ResponseVariable::TransactionsPerSecond) if self.workload == WorkloadKind::Sql => {
                Ok(())
            }
            Some(ResponseVariable::RequestsPerSecond) if self.workload == WorkloadKind::Http => {
                Ok(())
            }
            Some(other) => {
                let message = format!(
                    "{} is not measured so by this workload; leave it out (workload sql takes \
                     transactions_per_second, http requests_per_second)",
                    other.name()
                );
                Err(PlanError::impossible("response", message))
            }
        }
    }

    fn check_data(&self) -> Result<(), PlanError> {
        match &self.data {
            Data::File(path)
                if names_in(&path.display().to_string()).next().is_none() && !path.is_file() =>
            {
                let message = format!("there is no file {}; name a SQLite file", path.display());
                Err(PlanError::impossible("data", message))
            }
            _ => Ok(()),
        }
    }

    /// Data that no command moves into a managed server is moved there by our own migration.
    fn default_prepare_to_migrate(&mut self) {
        if self.workload.properties().copies_data
            && self.data != Data::Present
            && self.application.prepare.is_empty()
        {
            self.application.prepare = vec![migration()];
        }
    }

    /// Adds the requests of a list or a log; what was left out of it belongs to the conditions.
    fn read_request_source(&mut self) -> Result<(), PlanError> {
        if let Some(source) = self.request_source.take() {
            let (requests, said) = source.read()?;
            self.fit_rounds |= source.from_log.is_some();
            self.requests.extend(requests);
            self.add_condition(&said);
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
        if let [first, second, ..] = &swept[..] {
            let message = format!("{first} is swept too; only one factor can be the x axis");
            return Err(PlanError::impossible(&format!("factors.{second}"), message));
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
    for (index, level) in factor.levels.iter_mut().enumerate() {
        if let Level::Text(period) = level {
            let days = days_of(period, start).map_err(|error| match error {
                PlanError::Impossible { key, message } if key == "days" => {
                    PlanError::impossible(&format!("factors.days.levels.{index}"), message)
                }
                other => other,
            })?;
            *level = Level::Number(days.into());
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
    for (index, label) in factor.labels.iter().enumerate() {
        if factor.labels.iter().take(index).any(|other| other == label) {
            let key = format!("factors.{name}.labels.{index}");
            let message = format!("two levels are called {label}; give one another label");
            return Err(PlanError::impossible(&key, message));
        }
    }
    for (index, level) in factor.levels.iter().enumerate() {
        let key = format!("factors.{name}.levels.{index}");
        let impossible = |message: String| Err(PlanError::impossible(&key, message));
        if factor.levels.iter().take(index).any(|other| other == level) {
            return impossible(format!("has the level {level} twice"));
        }
        if factor.swept.is_some() && level.number().is_none() {
            return impossible(format!("is swept, and `{level}` is not a number"));
        }
        let positive = level.number().is_none_or(|number| number.is_finite() && number > 0.0);
        if factor.swept == Some(super::Scale::Log) && !positive {
            return impossible(format!("{level} has no place on a logarithmic axis"));
        }
        let count = level.number().filter(|n| n.fract() == 0.0 && (1.0..=65_535.0).contains(n));
        if name == "clients" && count.is_none() {
            return impossible(format!("`{level}` is not a number of clients from 1 to 65535"));
        }
    }
    let (labels, levels) = (factor.labels.len(), factor.levels.len());
    if labels > 0 && labels != levels {
        let message = format!("{} for {}", counted(labels, "label"), counted(levels, "level"));
        return Err(PlanError::impossible(&format!("factors.{name}.labels"), message));
    }
    if factor.alone && factor.swept.is_some() {
        let key = format!("factors.{name}.alone");
        return Err(PlanError::impossible(&key, "a factor cannot be both swept and alone"));
    }
    if factor.bisect && factor.swept.is_none() {
        return impossible("bisect needs swept = \"log\" or \"linear\"".to_owned());
    }
    Ok(())
}
