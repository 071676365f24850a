//! The application under test, started by the plan's command on an engine's database. The
//! laboratory knows it by that command only, so ours is measured exactly as a stranger's is.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::EngineSpec;

use crate::deployment::{Database, DeployError, Site};
use crate::http::{Connection, PreparedRequest, Target};
use crate::plan::expand;
use crate::process::{Application, free_port};
use crate::record::EngineRecord;
use crate::schedule::Levels;

/// An application that is not ready by then is given up.
const READY_TIMEOUT: Duration = Duration::from_secs(60);

impl Site<'_> {
    /// Starts the application on `database` and waits until it answers.
    pub(super) fn start_application(
        &self,
        engine: &EngineSpec,
        levels: &Levels,
        database: &mut Database,
    ) -> Result<(Application, Target), DeployError> {
        let listen = format!("127.0.0.1:{}", free_port()?);
        let values = self.placeholders(engine, levels, &database.url, &listen)?;
        let words = &self.plan.application.start;
        let start = self.command(words, engine, levels, "serve", &values)?;
        let ready = match self.plan.application.ready.as_str() {
            "" => "/".to_owned(),
            path => expand(path, "application.ready", &values)?,
        };
        let target = Target::listening(&listen)?;
        let application = Application::start(&start)?;
        application.wait_until_answering(&target, &ready, READY_TIMEOUT, self.interrupted)?;
        note_what_it_says(&mut database.record, &target, &ready, self.interrupted)?;
        Ok((application, target))
    }
}

/// An application may answer its ready path with JSON that names its engine and settings, as
/// `crossover dashboard serve` does at `/healthz`: only it knows what its library really did.
fn note_what_it_says(
    record: &mut EngineRecord,
    target: &Target,
    path: &str,
    interrupted: &AtomicBool,
) -> Result<(), DeployError> {
    #[derive(serde::Deserialize)]
    struct Says {
        engine: Option<String>,
        #[serde(default)]
        settings: BTreeMap<String, String>,
    }
    let request = PreparedRequest::get(target, "ready", path, &[])?;
    let body = Connection::open(target, READY_TIMEOUT, interrupted)?.fetch(&request)?.body;
    let Ok(says) = serde_json::from_slice::<Says>(&body) else { return Ok(()) };
    if let Some(engine) = says.engine {
        record.version = engine;
    }
    for (name, value) in says.settings {
        record.settings.retain(|(known, _)| *known != name);
        record.settings.push((name, value));
    }
    Ok(())
}
