//! Flags of the way from clients to servers: how far it is, and by what it goes.

use plan::{ConnectionBy, Delay, Plan};

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

/// The way of the laboratory's own clients.
#[derive(clap::Args)]
pub struct ConnectionWay {
    #[command(flatten)]
    distance: DistanceArguments,
    /// How clients reach a PostgreSQL that is started for them: socket (a Unix socket), tcp (on
    /// 127.0.0.1), or both, which are compared [default: socket]
    #[arg(
        long,
        alias = "transport",
        value_name = "WAY",
        value_delimiter = ',',
        env = "CROSSOVER_CONNECTION_BY"
    )]
    connection_by: Vec<ConnectionBy>,
}

impl ConnectionWay {
    pub(super) fn apply(&self, plan: &mut Plan) {
        plan.set_connections(&self.connection_by);
        self.distance.apply(plan);
    }
}
