//! Probe at the end of an engine's turn: which requests of the mix still use the database, when the
//! application had the whole turn to fill its caches.

use std::time::{Duration, Instant};

use super::answers::Pass;
use super::requests::CellRequest;
use crate::workload::Counters;
use host::{Activity, Sight};
use load::resource::ServerSide;
use record::counter::{PROBED_AT_ENGINE, PROBED_OUT_OF_SIGHT, PROBED_REQUESTS};

/// No request is asked for after that.
const PROBE_AT_MOST: Duration = Duration::from_secs(3);

pub(super) struct ReachProbe<'a> {
    pub pass: Pass<'a>,
    /// None where it cannot be looked at.
    pub activity: Option<Box<dyn Activity>>,
    pub application: ServerSide,
    /// Whether requests may be sent that change data.
    pub writes: bool,
}

impl ReachProbe<'_> {
    /// Sends the requests one by one, those with the largest weights first, and counts their weights.
    pub(super) fn counters(mut self, mut requests: Vec<(CellRequest, u32)>) -> Counters {
        requests.retain(|(request, _)| self.writes || request.only_reads());
        requests.sort_by_key(|(_, weight)| std::cmp::Reverse(*weight));
        let (mut all, mut at_engine, mut hidden) = (0.0, 0.0, 0.0);
        let begun = Instant::now();
        for (request, weight) in requests {
            if begun.elapsed() > PROBE_AT_MOST {
                break;
            }
            // One that fails says nothing of the others.
            let Some(sight) = self.sight_of(&request) else { continue };
            let weight = f64::from(weight);
            all += weight;
            match sight {
                Sight::Used => at_engine += weight,
                Sight::Hidden(_) => hidden += weight,
                Sight::Unused => {}
            }
        }
        let counted =
            [(PROBED_REQUESTS, all), (PROBED_AT_ENGINE, at_engine), (PROBED_OUT_OF_SIGHT, hidden)];
        counted.into_iter().map(|(name, count)| (name.to_owned(), count)).collect()
    }

    /// None where it is not answered.
    fn sight_of(&mut self, request: &CellRequest) -> Option<Sight> {
        let Some(activity) = &mut self.activity else {
            return Some(Sight::Hidden(String::new()));
        };
        activity.begin();
        self.pass.is_answered(request).then(|| activity.sight(&self.application))
    }
}
