//! A copy of a database with a step's statements carried out, made once and kept in the server's data
//! directory.

use engine::PostgresUrl;
use plan::PlanError;

use super::administration::Administration;
use super::copy::{copy_statements, drop_statements};
use crate::error::DeployError;

/// Databases of steps begin with it.
const PREFIX: &str = "crossover_step_";
/// A copy that is not finished.
const MAKING: &str = "crossover_step_making";

impl Administration<'_> {
    /// The database at this address with `statements` carried out on top of it; where it is. `version`
    /// is the server's.
    pub fn changed_copy(
        &self,
        version: &str,
        statements: &[String],
    ) -> Result<PostgresUrl, DeployError> {
        let previous = self.address.database().unwrap_or_default().to_owned();
        let text = format!("{previous} {statements:?}");
        let name = format!("{PREFIX}{:016x}", xxhash_rust::xxh3::xxh3_64(text.as_bytes()));
        let server = self.of_server();
        if !server.databases()?.contains(&name) {
            server.run(&copy_statements(version, &previous, MAKING))?;
            let making = self.of(MAKING);
            for statement in statements {
                making.run(&[statement]).map_err(|error| refused(statement, error))?;
            }
            server.run(&[format!("ALTER DATABASE {MAKING} RENAME TO {name}")])?;
        }
        Ok(self.address.with_database(&name))
    }

    /// Removes the databases of steps that no `wanted` address leads to.
    pub fn drop_other_steps(&self, wanted: &[PostgresUrl]) -> Result<(), DeployError> {
        let server = self.of_server();
        let is_wanted = |name: &str| wanted.iter().any(|address| address.database() == Some(name));
        for name in server.databases()? {
            if name.starts_with(PREFIX) && !is_wanted(&name) {
                server.run(&drop_statements(&name))?;
            }
        }
        Ok(())
    }
}

fn refused(statement: &str, error: DeployError) -> DeployError {
    match error {
        DeployError::Statement { engine, source } => {
            let message = format!("{engine} refuses `{statement}`: {source}");
            PlanError::impossible("step", message).into()
        }
        other => other,
    }
}
