//! `[application]`: the commands by which the laboratory knows the software under test.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The application under test: commands, each a list of words, with placeholders.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Application {
    /// Run once per engine and data: they fill the engine's database. Not run for `sqlite`, which
    /// gets a copy of the data file, nor for an engine given by URL, which is never written to.
    pub prepare: Vec<Vec<String>>,
    /// The command that serves. A word that is just `{settings}` becomes `--set key=value` for each
    /// setting of an engine that the application, not a server, has to apply.
    pub start: Vec<String>,
    /// Its environment, beside that of this program.
    pub environment: BTreeMap<String, String>,
    /// A path that answers 200 once the application is ready; empty: `/`.
    pub ready: String,
}
