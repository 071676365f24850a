//! The flag that says how far servers are from their clients.

use plan::{Delay, Plan};

#[derive(clap::Args)]
pub struct DistanceArguments {
    /// Distances to servers, as delays of a round trip: 0,0.5ms,1ms,5ms. A relay makes them; 0 goes
    /// without one, and SQLite has no distance [default: 0]
    #[arg(long = "delay", value_name = "LIST", value_delimiter = ',', env = "CROSSOVER_DELAY")]
    pub delays: Vec<Delay>,
}

impl DistanceArguments {
    pub(super) fn apply(&self, plan: &mut Plan) {
        plan.set_delays(&self.delays);
    }
}
