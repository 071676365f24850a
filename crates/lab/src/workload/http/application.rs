//! The application under test, started by the plan's command on an engine's database, or already
//! running at a URL. The laboratory knows it by the plan's commands only, so ours is measured
//! exactly as a stranger's is.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use engine::EngineSpec;

use host::process::{ChildApplication, ProcessError, ReadyQuestion, run_to_end};
use host::{Address, DeployError, Site};
use load::http::{Connection, PreparedRequest, Target};
use plan::Levels;
use plan::expand;
use record::EngineRecord;

/// An application that is not ready by then is given up.
const READY_TIMEOUT: Duration = Duration::from_secs(60);
/// A path that the plan names is ready when it is answered well.
const READY_BELOW: u16 = 400;
/// Where it names none, any answer of `/` will do that is not the server's own failure: many
/// applications want a key there, or have no such page.
const ANSWERED_BELOW: u16 = 500;
/// How often a remote application is asked whether it is ready.
const ASK_EVERY: Duration = Duration::from_millis(100);

/// Starts the application on the database at `address` and waits until it answers.
pub(super) fn start_application(
    site: &Site<'_>,
    engine: &EngineSpec,
    levels: &Levels,
    address: &Address,
    record: &mut EngineRecord,
) -> Result<(ChildApplication, Target), DeployError> {
    let (application, target, ready) = start_on(site, engine, levels, address, "serve")?;
    note_self_report(record, &target, &ready, site.interrupted)?;
    Ok((application, target))
}

/// Starts it for `purpose` on the database at `address`; also the path by which it was found
/// ready.
pub(super) fn start_on(
    site: &Site<'_>,
    engine: &EngineSpec,
    levels: &Levels,
    address: &Address,
    purpose: &str,
) -> Result<(ChildApplication, Target, String), DeployError> {
    let words = &site.plan.application.start;
    let port = server::free_port(None).map_err(ProcessError::NoPort)?;
    let listen = format!("127.0.0.1:{port}");
    let values = site.placeholders(engine, levels, Some(address), &listen)?;
    let start = site.command(words, engine, levels, purpose, &values)?;
    let (ready, below) = ready_path(site, &values)?;
    let target = Target::listening(&listen)?;
    let application = ChildApplication::start(&start)?;
    let ready_below = (ready.as_str(), below);
    let (say, interrupted) = (site.say, site.interrupted);
    application.wait_until_answering(&target, ready_below, READY_TIMEOUT, say, interrupted)?;
    Ok((application, target, ready))
}

/// Waits for the application that runs at `url`.
pub(super) fn find_application(
    site: &Site<'_>,
    engine: &EngineSpec,
    levels: &Levels,
    url: &str,
) -> Result<(EngineRecord, Target), DeployError> {
    let target = Target::trusting(url, site.plan.application.ca_file.as_deref())?;
    let (ready, below) = ready_path(site, &site.placeholders(engine, levels, None, "")?)?;
    wait_until_answering(site, &target, (&ready, below))?;
    let version = "an application known by its URL".to_owned();
    let mut record = EngineRecord { name: engine.label(), version, ..Default::default() };
    note_self_report(&mut record, &target, &ready, site.interrupted)?;
    Ok((record, target))
}

/// The path that tells whether the application is ready, and the status that does not.
fn ready_path(
    site: &Site<'_>,
    values: &BTreeMap<String, String>,
) -> Result<(String, u16), DeployError> {
    Ok(match site.plan.application.ready.as_str() {
        "" => ("/".to_owned(), ANSWERED_BELOW),
        path => (expand(path, "application.ready", values)?, READY_BELOW),
    })
}

/// Runs the commands of the plan that switch an application over, or back.
pub(super) fn switch(
    site: &Site<'_>,
    commands: &[Vec<String>],
    purpose: &str,
    engine: &EngineSpec,
    levels: &Levels,
    address: Option<&Address>,
    interrupted: &AtomicBool,
) -> Result<(), DeployError> {
    let values = site.placeholders(engine, levels, address, "")?;
    for words in commands {
        let command = site.command(words, engine, levels, purpose, &values)?;
        run_to_end(&command, interrupted)?;
    }
    Ok(())
}

/// Waits until GET of a path is answered with a status below a bound.
fn wait_until_answering(
    site: &Site<'_>,
    target: &Target,
    path_and_below: (&str, u16),
) -> Result<(), DeployError> {
    let (say, interrupted) = (site.say, site.interrupted);
    let question = ReadyQuestion::new(target, path_and_below, READY_TIMEOUT, say, interrupted)?;
    let deadline = Instant::now() + READY_TIMEOUT;
    while let Err(last) = question.ask() {
        if interrupted.load(Ordering::Relaxed) {
            return Err(ProcessError::Interrupted.into());
        }
        if Instant::now() >= deadline {
            let (name, tail) = (target.base_url().to_owned(), String::new());
            return Err(ProcessError::NotReady { name, timeout: READY_TIMEOUT, last, tail }.into());
        }
        thread::sleep(ASK_EVERY);
    }
    Ok(())
}

/// An application may answer its ready path with JSON that names its engine and settings, as
/// `crossover dashboard serve` does at `/healthz`: only it knows what its library really did.
fn note_self_report(
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
