//! Tables of workload `oltp` on one server: a database for each family in a managed cluster, or all
//! in the user's database.

use ::oltp::OltpTarget;
use engine::{EngineSpec, PostgresUrl};
use plan::oltp::{Schema, TableOptions};
use server::PostgresServer;

use crate::error::RunError;
use crate::workload::oltp::{of_engine, schema_name};
use host::postgres::{Administration, MAINTENANCE};
use host::{DeployError, Site, Template};

pub(super) struct Databases<'a> {
    site: &'a Site<'a>,
    label: String,
    /// Of a managed server, or of the user's database.
    pub server: Administration<'a>,
    is_managed: bool,
}

impl<'a> Databases<'a> {
    pub(super) fn managed(
        site: &'a Site<'a>,
        engine: &EngineSpec,
        server: &PostgresServer,
    ) -> Self {
        let server = Administration::new(site, engine, server.url(MAINTENANCE));
        Self { site, label: engine.label(), server, is_managed: true }
    }

    pub(super) fn yours(site: &'a Site<'a>, engine: &EngineSpec, url: &PostgresUrl) -> Self {
        let address = url.with_session_settings(engine.engine_settings());
        let server = Administration::new(site, engine, address);
        Self { site, label: engine.label(), server, is_managed: false }
    }

    /// The database of a family of tables.
    pub(super) fn of(&self, schema: Schema) -> Administration<'a> {
        match self.is_managed {
            true => self.server.of(&database_of(schema)),
            false => self.server.clone(),
        }
    }

    pub(super) fn target(&self, schema: Schema) -> OltpTarget {
        target(self.of(schema).address)
    }

    /// Whether the tables exist in every database, filled with the plan's options.
    pub(super) fn hold(&self, tables: &[TableOptions]) -> Result<bool, RunError> {
        let databases = self.server.databases()?;
        for one in tables {
            if !databases.contains(&database_of(one.schema)) || !self.has(one)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(super) fn has(&self, tables: &TableOptions) -> Result<bool, RunError> {
        let found = ::oltp::find(&self.target(tables.schema), tables.schema);
        Ok(found.map_err(|error| of_engine(&self.label, error))?.as_ref() == Some(tables))
    }

    /// Makes and fills the databases that are not whole, and marks the data directory as whole.
    pub(super) fn fill_all(
        &self,
        tables: &[TableOptions],
        server: &PostgresServer,
    ) -> Result<(), RunError> {
        let databases = self.server.databases()?;
        let mut note = String::new();
        for one in tables {
            let name = database_of(one.schema);
            if !databases.contains(&name) {
                self.server.run(&[format!("CREATE DATABASE {name}")])?;
            }
            if !self.has(one)? {
                self.fill(one)?;
            }
            // Best done now: an insert-triggered vacuum would come in the middle of a trial, and
            // only in releases that have it. The extension is not in every folder of programs.
            let database = self.of(one.schema);
            database.run(&["VACUUM (FREEZE, ANALYZE)"])?;
            let _ = database.run(&["CREATE EXTENSION IF NOT EXISTS pg_prewarm"]);
            note.push_str(&format!("{name}: {}\n", database.contents()?));
        }
        Ok(server.mark_data_ready(&note).map_err(DeployError::from)?)
    }

    /// The contents of a family of tables when it was filled; of now, in a data directory that was
    /// filled for another family or before contents were noted.
    pub(super) fn template(
        &self,
        schema: Schema,
        server: &PostgresServer,
    ) -> Result<Template<String>, RunError> {
        let place = database_of(schema);
        let note = server.data_note().map_err(DeployError::from)?;
        let mut lines = note.lines().filter_map(|line| line.split_once(": "));
        let contents = match lines.find(|(name, _)| *name == place) {
            Some((_, contents)) => contents.to_owned(),
            None => self.of(schema).contents()?,
        };
        Ok(Template { place, contents })
    }

    pub(super) fn fill(&self, tables: &TableOptions) -> Result<(), RunError> {
        let label = &self.label;
        let progress = |done: u64, all: u64| {
            self.site.progress.set_message(format!("filling {label}: {done} of {all} rows"));
        };
        ::oltp::fill(&self.target(tables.schema), tables, &progress, self.site.interrupted)
            .map_err(|error| of_engine(label, error))
    }
}

pub(super) fn database_of(schema: Schema) -> String {
    format!("oltp_{}", schema_name(schema))
}

/// Settings of sessions are in the address.
pub(super) fn target(url: PostgresUrl) -> OltpTarget {
    OltpTarget::Postgres { url, session: Vec::new(), behind_pool: None }
}
