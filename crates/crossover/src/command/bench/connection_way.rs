//! The flag that says how clients reach a server that is started for them.

use plan::{ConnectionBy, Plan};

#[derive(clap::Args)]
pub struct ConnectionWay {
    /// How clients reach a PostgreSQL that is started for them: socket (a Unix socket), tcp (on
    /// 127.0.0.1), or both, which are compared [default: socket]
    #[arg(long, value_name = "WAY", value_delimiter = ',', env = "CROSSOVER_CONNECTION_BY")]
    connection_by: Vec<ConnectionBy>,
}

impl ConnectionWay {
    pub(super) fn apply(&self, plan: &mut Plan) {
        plan.set_connections(&self.connection_by);
    }
}
