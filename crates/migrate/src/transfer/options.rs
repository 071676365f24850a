//! Options of a migration; saved in the target with its steps.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::audit::AuditOptions;
use crate::ddl::NocaseRule;
use crate::mapping::{MapRules, TypeChoice};
use crate::source::{PART_BYTES, Selection, readers};

/// Default number of attempts to reconnect: one and a half minutes, in which a server restarts.
pub(super) const RECONNECTS: u32 = 8;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MigrateOptions {
    /// Load into tables that exist instead of creating them.
    pub data_only: bool,
    pub rules: MapRules,
    pub types: TypeChoice,
    pub selection: Selection,
    /// The target's schema; the first of its search path unless given.
    pub schema: Option<String>,
    /// Verify the result before it is published.
    pub verify: bool,
    /// Existing rows are deleted; tables that would be created are dropped first.
    pub replace: bool,
    /// Existing tables that hold other rows keep them, and those of the source stay behind.
    #[serde(default)]
    pub keep_seeded: bool,
    /// Make tables, keys and indexes, and move no rows.
    pub schema_only: bool,
    /// Connections at most; one for each core, at most four, unless given. Not saved with the
    /// migration.
    #[serde(skip)]
    pub workers: Option<u16>,
    /// The form of COLLATE NOCASE in tables that are created.
    #[serde(default)]
    pub nocase: NocaseRule,
    /// Undo everything at the end.
    pub dry_run: bool,
    /// Keep refused rows in this file and move the rest, instead of stopping.
    pub reject_file: Option<PathBuf>,
    /// Approximate bytes of the source in one part: the most that an interruption costs.
    pub part_bytes: u64,
    /// Resume an unfinished migration, if there is one; its own options apply then.
    pub resume: bool,
    /// Add rows of a reject file also where equal ones exist.
    #[serde(skip)]
    pub add_again: bool,
    /// Attempts to reconnect after a lost connection; not saved with the migration.
    #[serde(skip)]
    pub reconnects: u32,
}

impl Default for MigrateOptions {
    fn default() -> Self {
        Self {
            data_only: false,
            rules: MapRules::default(),
            types: TypeChoice::default(),
            selection: Selection::default(),
            schema: None,
            verify: true,
            replace: false,
            keep_seeded: false,
            schema_only: false,
            workers: None,
            nocase: NocaseRule::None,
            dry_run: false,
            reject_file: None,
            part_bytes: PART_BYTES,
            resume: false,
            add_again: false,
            reconnects: RECONNECTS,
        }
    }
}

impl MigrateOptions {
    /// Connections to either side.
    pub(super) fn connections(&self) -> usize {
        self.workers.map_or_else(readers, usize::from)
    }

    /// The flags of a verification of the same values and tables.
    pub fn flags(&self) -> Vec<String> {
        let (rules, selection) = (self.rules.clone(), self.selection.clone());
        let schema = self.schema.clone();
        AuditOptions { rules, selection, schema, ..AuditOptions::default() }.flags()
    }
}

/// The way with rows that existing tables hold already.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SeededRows {
    #[default]
    Fail,
    Keep,
    Replace,
}

impl SeededRows {
    /// Sets the options of a migration into existing tables.
    ///
    /// # Errors
    /// In words, where the migration makes its tables.
    pub fn apply(self, options: &mut MigrateOptions) -> Result<(), String> {
        if self != Self::Fail && !options.data_only {
            return Err("is for data only: tables that are made hold no rows before".to_owned());
        }
        options.keep_seeded = self == Self::Keep;
        options.replace |= self == Self::Replace;
        Ok(())
    }
}
