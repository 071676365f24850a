//! Effects of factors: a factor acts where its `{placeholder}` stands, or by its name.

use std::collections::BTreeSet;

use engine::EngineSpec;

use crate::model::application::PLACEHOLDERS;
use crate::model::placeholder::names_in;
use crate::{
    CLIENTS_AS, CONNECTION_BY, ClientsAs, ConnectionBy, DATA_FOLDER, DELAY_MS, FORMS_OF_ADDRESSES,
    Levels, Plan, PlanError, STEP, delay_acts, expand,
};

/// Factors that act on the load by their name.
const LOAD_FACTORS: [&str; 3] = ["clients", "rate", "think_time"];
/// Factors that act on the server side by their name: its processes, the place of its data.
const SERVER_FACTORS: [&str; 3] = ["server_cpus", "server_memory", DATA_FOLDER];

/// Names of factors by where they act.
#[derive(Clone, Debug)]
pub(super) struct ActingNames {
    /// On every engine.
    pub everywhere: BTreeSet<String>,
    /// On this engine alone, in the order of the plan.
    pub by_engine: Vec<BTreeSet<String>>,
    /// Those whose levels need a start of some engine.
    pub starts: BTreeSet<String>,
}

impl ActingNames {
    pub(super) fn of(plan: &Plan) -> Self {
        let deployment = plan.names_of_deployment();
        let mut by_engine: Vec<BTreeSet<String>> =
            plan.engines.iter().map(|engine| plan.names_of_engine(engine)).collect();
        let mut everywhere = deployment.clone();
        for (_, text) in plan.rules().texts() {
            everywhere.extend(names_with_parts(&text));
        }
        everywhere.extend(LOAD_FACTORS.map(str::to_owned));
        everywhere.insert(STEP.to_owned());
        let starts = deployment.into_iter().chain(by_engine.iter().flatten().cloned()).collect();
        for (names, engine) in by_engine.iter_mut().zip(&plan.engines) {
            if ClientsAs::acts(plan.workload, engine.source.kind()) {
                names.insert(CLIENTS_AS.to_owned());
            }
            if ConnectionBy::acts(plan.workload, engine) {
                names.insert(CONNECTION_BY.to_owned());
            }
        }
        Self { everywhere, by_engine, starts }
    }
}

impl Plan {
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

    /// Names that act on the start of every engine.
    fn names_of_deployment(&self) -> BTreeSet<String> {
        let mut names: BTreeSet<String> = SERVER_FACTORS.map(str::to_owned).into();
        for (_, text) in self.data.texts().chain(self.application.texts()) {
            names.extend(names_with_parts(text));
        }
        for text in self.rules().start_texts() {
            names.extend(names_with_parts(&text));
        }
        names
    }

    fn names_of_engine(&self, engine: &EngineSpec) -> BTreeSet<String> {
        let mut names: BTreeSet<String> =
            names_in(&engine.to_string()).map(str::to_owned).collect();
        for text in self.rules().start_texts_of(engine.source.kind()) {
            names.extend(names_in(&text).map(str::to_owned));
        }
        if delay_acts(self.workload, engine.source.kind()) {
            names.insert(DELAY_MS.to_owned());
        }
        names
    }

    /// Refuses factors that change nothing, and placeholders that nothing fills in.
    pub(crate) fn check_placeholders(&self) -> Result<(), PlanError> {
        let names = ActingNames::of(self);
        let by_engine = names.by_engine.iter().flatten();
        let acting: BTreeSet<_> =
            names.everywhere.iter().chain(&names.starts).chain(by_engine).collect();
        if let Some(name) = self.factors.keys().find(|name| !acting.contains(name)) {
            let message = format!(
                "changes nothing: no {{{name}}} is in an engine, command, request or statement"
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
        for name in PLACEHOLDERS.into_iter().chain(FORMS_OF_ADDRESSES) {
            values.insert(name.to_owned(), String::new());
        }
        for (key, text) in self.application.texts() {
            expand(text, &key, &values)?;
        }
        Ok(())
    }
}

/// The names in `text`; `{end}` is made of `{start}` and `{days}`.
fn names_with_parts(text: &str) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = names_in(text).map(str::to_owned).collect();
    if names.contains("end") {
        names.extend(["start", "days"].map(str::to_owned));
    }
    names
}
