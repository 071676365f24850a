//! Choice of a framework: `--framework NAME|none|auto`.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Framework, RecognisedFramework};
use crate::source::schema::SourceSchema;

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, Eq)]
#[serde(try_from = "String", into = "String")]
pub enum FrameworkChoice {
    /// As its tables tell.
    #[default]
    Auto,
    /// The file is taken for one without.
    None,
    Named(Framework),
}

impl FrameworkChoice {
    pub fn is_none(self) -> bool {
        self == Self::None
    }

    /// Puts the choice in the place of what the tables of a file tell.
    pub fn apply(self, schema: &mut SourceSchema) {
        match self {
            Self::Auto => {}
            Self::None => {
                schema.frameworks.clear();
                schema.without_presets = true;
            }
            Self::Named(framework) => {
                schema.frameworks.retain(|each| each.framework == framework);
                if schema.frameworks.is_empty() {
                    schema.frameworks.push(RecognisedFramework { framework, tables: Vec::new() });
                }
            }
        }
    }
}

impl FromStr for FrameworkChoice {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        match written.to_ascii_lowercase().as_str() {
            "auto" => Ok(Self::Auto),
            "none" => Ok(Self::None),
            name => {
                let found = Framework::all().find(|each| each.key() == name);
                found.map(Self::Named).ok_or_else(|| {
                    let names: Vec<&str> = Framework::all().map(Framework::key).collect();
                    format!("unknown framework; use auto, none, {}", names.join(", "))
                })
            }
        }
    }
}

impl TryFrom<String> for FrameworkChoice {
    type Error = String;

    fn try_from(written: String) -> Result<Self, String> {
        written.parse()
    }
}

impl Display for FrameworkChoice {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Auto => "auto",
            Self::None => "none",
            Self::Named(framework) => framework.key(),
        })
    }
}

impl From<FrameworkChoice> for String {
    fn from(choice: FrameworkChoice) -> Self {
        choice.to_string()
    }
}
