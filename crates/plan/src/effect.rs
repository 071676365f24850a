//! Effects of factors on a plan: a factor acts where its `{placeholder}` stands, or by its name.
//! From that follow the starts of an engine, and the treatments that are one and the same.

use std::collections::BTreeSet;

use engine::EngineSpec;

use crate::Levels;
use crate::available_cpus;
use crate::placeholder::names_in;
use crate::{Bytes, FORMS_OF_ADDRESSES, Level, Plan, PlanError, STEP, expand};

/// Factors that act on the load by their name.
const LOAD_FACTORS: [&str; 3] = ["clients", "rate", "think_time"];
/// Factors that act on the processes of the server side by their name.
const SERVER_FACTORS: [&str; 2] = ["server_cpus", "server_memory"];

/// The cell at which `engine` is measured for `cell`: factors that have no effect on this engine
/// stand at their first level. Two cells with the same canonical levels are one treatment.
pub fn canonical_levels(plan: &Plan, engine: &EngineSpec, cell: &Levels) -> Levels {
    let mut acting = plan.global_names();
    acting.extend(plan.names_of_engine(engine));
    let canonical = cell.iter().map(|(name, level)| {
        let first = plan.factors.get(name).and_then(|factor| factor.levels.first());
        let level = match name.as_str() {
            STEP => plan.acting_step(engine.source.kind(), level),
            _ if acting.contains(name) => level.clone(),
            _ => first.unwrap_or(level).clone(),
        };
        (name.clone(), level)
    });
    canonical.collect()
}

/// The levels worth telling of a treatment: of factors that act on `engine`, and of those varied
/// alone the one that is not at its first level.
pub fn distinguishing_levels(plan: &Plan, engine: &EngineSpec, levels: &Levels) -> Levels {
    let mut acting = plan.global_names();
    acting.extend(plan.names_of_engine(engine));
    let told =
        levels.iter().filter(|(name, level)| acting.contains(*name) && !plan.is_base(name, level));
    told.map(|(name, level)| (name.clone(), level.clone())).collect()
}

impl Plan {
    /// Whether this is the first level of a factor that varies alone, which goes without saying.
    pub fn is_base(&self, name: &str, level: &Level) -> bool {
        let factor = self.factors.get(name).filter(|factor| factor.alone);
        factor.is_some_and(|factor| factor.levels.first() == Some(level))
    }

    /// The levels of the factors for which an engine is started again.
    pub fn deployment_levels(&self, cell: &Levels) -> Levels {
        let names = self.deployment_names();
        let levels = cell.iter().filter(|(name, _)| names.contains(*name));
        levels.map(|(name, level)| (name.clone(), level.clone())).collect()
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
                    return Err(wrong(&format!("is no number from 1 to {}", available.len())));
                }
                Ok(available.get(..wanted).map(<[usize]>::to_vec))
            }
            Level::Text(list) => {
                let cpus: Result<Vec<usize>, _> =
                    list.split(',').map(|cpu| cpu.trim().parse()).collect();
                cpus.map(Some).map_err(|_| wrong("is no list of processors"))
            }
        }
    }

    /// The memory of the server side at `levels`: of the factor, otherwise of the plan.
    pub fn server_memory_at(&self, levels: &Levels) -> Result<Option<Bytes>, PlanError> {
        match levels.get("server_memory") {
            None => Ok(self.server_memory),
            Some(Level::Text(text)) if text == "all" => Ok(None),
            Some(level) => level.to_string().parse().map(Some).map_err(|message: String| {
                let message = format!("{message}, or all for no limit");
                PlanError::impossible(&self.level_key("server_memory", level), message)
            }),
        }
    }

    /// The name of an engine's start in run.json: the label of its line, and those levels of the
    /// deployment that are not the plan's first ones.
    pub fn start_name(&self, label: &str, levels: &Levels) -> String {
        let base = self.base();
        let changed = levels.iter().filter(|(name, level)| base.get(*name) != Some(level));
        let changed: Vec<String> = changed.map(|(name, level)| format!("{name}={level}")).collect();
        if changed.is_empty() {
            label.to_owned()
        } else {
            format!("{label} ({})", changed.join(", "))
        }
    }

    /// The levels that decide which data an engine holds, as `rows=1000 `; empty where all hold the
    /// same.
    pub fn data_scope(&self, levels: &Levels) -> String {
        let prepare = self.application.prepare.iter().flatten().map(String::as_str);
        let mut names: BTreeSet<String> = self
            .data
            .texts()
            .map(|(_, text)| text)
            .chain(prepare)
            .flat_map(names_in)
            .map(str::to_owned)
            .collect();
        for text in self.rules().data_texts() {
            names.extend(names_in(&text).map(str::to_owned));
        }
        let told = levels.iter().filter(|(name, _)| names.contains(*name));
        told.map(|(name, level)| format!("{name}={level} ")).collect()
    }

    /// Names that act on every engine.
    fn global_names(&self) -> BTreeSet<String> {
        let mut names = self.names_of_deployment();
        for (_, text) in self.rules().texts() {
            names.extend(self.names_with_parts(&text));
        }
        names.extend(LOAD_FACTORS.map(str::to_owned));
        names.insert(STEP.to_owned());
        names
    }

    /// Names that act on the start of every engine.
    fn names_of_deployment(&self) -> BTreeSet<String> {
        let mut names: BTreeSet<String> = SERVER_FACTORS.map(str::to_owned).into();
        for (_, text) in self.data.texts().chain(self.application.texts()) {
            names.extend(self.names_with_parts(text));
        }
        for text in self.rules().start_texts() {
            names.extend(self.names_with_parts(&text));
        }
        names
    }

    /// Names for which some engine is started again.
    fn deployment_names(&self) -> BTreeSet<String> {
        let mut names = self.names_of_deployment();
        names.extend(self.engines.iter().flat_map(|engine| self.names_of_engine(engine)));
        names
    }

    /// Names that act on this engine alone.
    fn names_of_engine(&self, engine: &EngineSpec) -> Vec<String> {
        let mut names: Vec<String> = names_in(&engine.to_string()).map(str::to_owned).collect();
        for text in self.rules().start_texts_of(engine.source.kind()) {
            names.extend(names_in(&text).map(str::to_owned));
        }
        names
    }

    /// The names in `text`; `{end}` is made of `{start}` and `{days}`.
    fn names_with_parts(&self, text: &str) -> BTreeSet<String> {
        let mut names: BTreeSet<String> = names_in(text).map(str::to_owned).collect();
        if names.contains("end") {
            names.extend(["start", "days"].map(str::to_owned));
        }
        names
    }

    /// Refuses factors that change nothing, and placeholders that nothing fills in.
    pub(crate) fn check_placeholders(&self) -> Result<(), PlanError> {
        let mut acting = self.global_names();
        acting.extend(self.deployment_names());
        if let Some(name) = self.factors.keys().find(|name| !acting.contains(*name)) {
            let message = format!(
                "changes nothing: no {{{name}}} stands in an engine, command, request or statement"
            );
            return Err(PlanError::impossible(&format!("factors.{name}"), message));
        }
        let first = self.base();
        let mut values = self.placeholders(&first)?;
        for index in 0..self.engines.len() {
            self.engine_at(index, &first)?;
        }
        values.insert("secret".to_owned(), String::new());
        values.insert("key".to_owned(), String::new());
        for (key, text) in self.rules().texts() {
            expand(&text, &key, &values)?;
        }
        for name in ["crossover", "path"] {
            values.insert(name.to_owned(), String::new());
        }
        for (key, text) in self.data.texts() {
            expand(text, &key, &values)?;
        }
        for name in crate::application::PLACEHOLDERS.into_iter().chain(FORMS_OF_ADDRESSES) {
            values.insert(name.to_owned(), String::new());
        }
        for (key, text) in self.application.texts() {
            expand(text, &key, &values)?;
        }
        Ok(())
    }

    /// The first level of every factor.
    pub fn base(&self) -> Levels {
        let firsts = self.factors.iter();
        firsts
            .filter_map(|(name, factor)| Some((name.clone(), factor.levels.first()?.clone())))
            .collect()
    }
}
