//! The flag that says whether clients of SQLite are processes or threads.

use plan::{ClientsAs, Plan};

#[derive(clap::Args)]
pub struct ClientForm {
    /// Clients of SQLite: processes (as workers of gunicorn, puma, PHP-FPM), threads of one (as in Go,
    /// Node, Rust), or both [default: both, where there are several clients]
    #[arg(long, value_name = "FORM", value_delimiter = ',', env = "CROSSOVER_CLIENTS_AS")]
    clients_as: Vec<ClientsAs>,
}

impl ClientForm {
    pub(super) fn apply(&self, plan: &mut Plan) {
        plan.set_clients_as(&self.clients_as);
    }
}
