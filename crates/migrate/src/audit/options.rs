//! Options of an audit.

use crate::ddl::{MadeFor, NocaseRule};
use crate::display::{flag, shell_word};
use crate::mapping::{IntegerRule, MapRules, TypeChoice, TypeRule};
use crate::source::{FrameworkChoice, Selection};
use crate::target::TargetCatalog;

#[derive(Clone, Debug, Default)]
pub struct AuditOptions {
    pub rules: MapRules,
    pub types: TypeChoice,
    pub selection: Selection,
    /// The schema of the proposed tables; `public` unless named.
    pub schema: Option<String>,
    /// Audit against these existing tables instead of the declared types. Their constraints,
    /// foreign keys included, are audited by [`crate::audit_target_constraints`].
    pub target: Option<TargetCatalog>,
    /// The target's release (`server_version_num`), if it is known.
    pub server_version: Option<i32>,
    /// The form of COLLATE NOCASE in the proposed tables.
    pub nocase: NocaseRule,
}

impl AuditOptions {
    pub fn made_for(&self) -> MadeFor {
        let current = MadeFor::default();
        let server_version = self.server_version.unwrap_or(current.server_version);
        MadeFor { server_version, nocase: self.nocase }
    }

    pub(crate) fn flags(&self) -> Vec<String> {
        let rules = self.rules.0.iter().map(|rule| flag("--map", &String::from(rule.clone())));
        let Selection { tables, excluded, skipped_indexes, framework, naming } = &self.selection;
        let is_chosen = *framework != FrameworkChoice::Auto;
        let framework = is_chosen.then(|| format!("--framework {framework}"));
        let named =
            [("--table", tables), ("--exclude", excluded), ("--skip-index", skipped_indexes)];
        let named = named.iter().flat_map(|(name, values)| {
            values.iter().map(move |value| format!("{name} {}", shell_word(value)))
        });
        let schema = self.schema.iter().map(|schema| format!("--schema {}", shell_word(schema)));
        let integers: &'static str = self.types.integers.into();
        let is_named = self.types.integers != IntegerRule::default();
        let integers = is_named.then(|| format!("--integers {integers}"));
        let by_values = self.types.rule == TypeRule::ByValues;
        let types = by_values.then(|| "--types values".to_owned());
        let nocase = self.nocase.name().map(|name| format!("--nocase {name}"));
        rules
            .chain(types)
            .chain(integers)
            .chain(named)
            .chain(naming.flags())
            .chain(schema)
            .chain(nocase)
            .chain(framework)
            .collect()
    }
}
