//! Plans of the statements behind each request: the application runs a second time, as a role whose
//! statements PostgreSQL explains in its log, and is sent one request after another, untimed.

use std::collections::HashMap;

use engine::{EngineKind, EngineSpec, PostgresUrl};

use super::REQUEST_TIMEOUT;
use super::application::start_on;
use super::requests::CellRequest;
use host::postgres::{PostgresDatabase, auto_explain};
use host::process::ChildApplication;
use host::{Database, Site};
use load::http::{Connection, Target};
use plan::Levels;
use record::{CapturedPlan, OperationPlan};

/// The second copy of the application. Dropping it stops it and removes the role.
pub(super) struct Explainer<'a> {
    site: &'a Site<'a>,
    /// Taken when it is stopped, which has to come before the role goes.
    application: Option<ChildApplication>,
    target: Target,
    database: PostgresUrl,
    log: auto_explain::ServerLog,
    label: String,
    /// By [`CellRequest::key`]: cells that differ in their clients alone send the same requests.
    known: HashMap<String, Result<String, String>>,
}

impl<'a> Explainer<'a> {
    /// Starts it; or says why plans cannot be observed.
    pub(super) fn start(
        site: &'a Site<'a>,
        engine: &EngineSpec,
        levels: &Levels,
        database: &Database,
    ) -> Result<Self, String> {
        let Some(postgres) = PostgresDatabase::of(database) else {
            let why = "SQLite tells a plan only to the connection that asks, and the application \
                       holds it";
            return Err(why.to_owned());
        };
        let Some(server) = postgres.server() else {
            return Err("the server is not one that Crossover started".to_owned());
        };
        let (url, log) = (postgres.url.clone(), server.log_path());
        site.progress.set_message(format!("asking {} for its plans", engine.label()));
        let tcp = postgres.tcp();
        let password = tcp.as_ref().and_then(PostgresUrl::password);
        site.runtime
            .block_on(async {
                let client = connect::postgres::connect(&url).await?;
                Ok::<_, connect::Error>(auto_explain::create_role(&client, password).await?)
            })
            .map_err(|error| error.to_string())?;
        let role = postgres.address_of(auto_explain::ROLE);
        let started = start_on(site, engine, levels, &role, "explain");
        let (application, target, _) = started.map_err(|error| error.to_string())?;
        let log = auto_explain::ServerLog::open(&log).map_err(|error| error.to_string())?;
        let label = engine.label();
        let known = HashMap::new();
        Ok(Self { site, application: Some(application), target, database: url, log, label, known })
    }

    /// The plans of every statement behind one request, in their order.
    fn plan(&mut self, request: &CellRequest) -> Result<String, String> {
        let key = request.key();
        if let Some(plan) = self.known.get(&key) {
            return plan.clone();
        }
        let message = format!("asking {} for its plans: {}", self.label, request.name);
        self.site.progress.set_message(message);
        let plan = self.observe(request);
        self.known.insert(key, plan.clone());
        plan
    }

    fn observe(&mut self, request: &CellRequest) -> Result<String, String> {
        if !request.only_reads() {
            return Err("it may write, and is only sent where that is measured".to_owned());
        }
        let prepared = request.prepared(&self.target).map_err(|error| error.to_string())?;
        let ask = || {
            Connection::open(&self.target, REQUEST_TIMEOUT, self.site.interrupted)?.fetch(&prepared)
        };
        // The first statements of a new connection do not belong to the request.
        ask().map_err(|error| error.to_string())?;
        let failed = |error: std::io::Error| format!("the server's log: {error}");
        self.log.plans().map_err(failed)?;
        ask().map_err(|error| error.to_string())?;
        let plans = self.log.plans().map_err(failed)?;
        if plans.is_empty() {
            return Err("the application asked the server nothing for it".to_owned());
        }
        Ok(plans.join("\n\n"))
    }
}

impl Drop for Explainer<'_> {
    fn drop(&mut self) {
        self.application.take();
        // A role that cannot be removed does no harm: nothing else connects as it.
        let _ = self.site.runtime.block_on(async {
            let client = connect::postgres::connect(&self.database).await?;
            Ok::<_, connect::Error>(auto_explain::drop_role(&client).await?)
        });
    }
}

/// The plan of each request of a cell.
pub(super) fn of_cell(
    cell: &[CellRequest],
    explainer: &mut Result<Explainer<'_>, String>,
) -> Vec<OperationPlan> {
    let captured = |request: &CellRequest| {
        let plan = match explainer {
            Ok(explainer) => explainer.plan(request),
            Err(why) => Err(why.clone()),
        };
        let plan = match plan {
            Ok(text) => {
                CapturedPlan::Observed { hash: host::plan_hash(EngineKind::Postgres, &text), text }
            }
            Err(why) => CapturedPlan::NotObservable { why },
        };
        OperationPlan { operation: request.name.clone(), plan }
    };
    cell.iter().map(captured).collect()
}
