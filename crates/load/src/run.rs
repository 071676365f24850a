//! One trial over HTTP: its threads are started together, their samples put together.

use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::thread;

use crate::http::{PreparedRequest, Target};
use crate::offer::Offer;
use crate::options::check;
use crate::threads::in_threads;
use crate::trial::HttpTrial;
use crate::walk::Walkers;
use crate::{Expected, LoadError, TrialSample, closed, open};
use plan::LoadOptions;

/// Runs one trial. `weights` and `expected` go with `requests` one by one.
pub fn run(
    target: &Target,
    requests: &[PreparedRequest],
    weights: &[u32],
    expected: &[Expected],
    options: &LoadOptions,
    interrupted: &AtomicBool,
) -> Result<TrialSample, LoadError> {
    check_lists(requests, weights, expected)?;
    check(options)?;
    let first = vec![OnceLock::new(); requests.len()];
    let trial = HttpTrial { target, options, requests, expected, first, interrupted };
    let Some(offer) = Offer::of(options) else { return run_closed(&trial, weights) };
    // In a thread of its own, whose processors may be chosen.
    let mut samples = in_threads(0..1_u16, "arrivals", None, |_, gate| {
        gate.wait_for_all(options.client_cpus.as_deref(), || ())?;
        open::run(&trial, weights, offer)
    })?;
    samples.pop().unwrap_or(Err(LoadError::Interrupted))
}

/// As many threads as the clients have processors, at most one per client: more would only make
/// the kernel choose between them.
fn run_closed(trial: &HttpTrial<'_>, weights: &[u32]) -> Result<TrialSample, LoadError> {
    let processors = match &trial.options.client_cpus {
        Some(cpus) => cpus.len(),
        None => thread::available_parallelism().map_or(1, usize::from),
    };
    let threads = trial.options.clients.min(u16::try_from(processors.max(1)).unwrap_or(u16::MAX));
    let walkers = Walkers::new(trial.options, weights);
    let recorded = in_threads(0..threads, "clients", None, |number, gate| {
        closed::run(trial, &walkers, (number, threads), gate)
    })?;
    Ok(TrialSample::assemble(recorded.into_iter().collect::<Result<_, _>>()?))
}

fn check_lists(
    requests: &[PreparedRequest],
    weights: &[u32],
    expected: &[Expected],
) -> Result<(), LoadError> {
    let refuse = |reason: String| Err(LoadError::InvalidLoad(reason));
    if requests.len() != weights.len() || requests.len() != expected.len() {
        return refuse(format!(
            "{} requests, {} weights and {} expected answers: there must be as many of each",
            requests.len(),
            weights.len(),
            expected.len()
        ));
    }
    if requests.len() > usize::from(u16::MAX) {
        return refuse(format!("{} requests are more than 65,535", requests.len()));
    }
    if weights.iter().all(|&weight| weight == 0) {
        return refuse("no request with a weight above 0".to_owned());
    }
    Ok(())
}
