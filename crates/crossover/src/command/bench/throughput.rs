//! `--throughput`: engines are compared by what they do in a second, at numbers of clients and at those
//! between which they cross.

use plan::{Factor, Level, Plan, ResponseVariable, Scale, WorkloadKind};

/// Numbers of clients where the user names none.
const CLIENTS: [u16; 3] = [1, 4, 16];

#[derive(clap::Args)]
pub struct ThroughputArguments {
    /// Compare what the engines do in a second instead of response times: up to how many clients does
    /// which one more? Where they cross, numbers of clients between are measured too
    /// [clients by default: 1,4,16]
    #[arg(long, env = "CROSSOVER_THROUGHPUT")]
    throughput: bool,
}

impl ThroughputArguments {
    /// Sets the plan's numbers of clients, and its response.
    pub(super) fn apply(&self, plan: &mut Plan, clients: &[u16]) {
        let usual = if self.throughput { &CLIENTS[..] } else { &CLIENTS[..1] };
        let clients = if clients.is_empty() { usual } else { clients };
        let mut levels: Vec<Level> =
            clients.iter().map(|clients| Level::Number((*clients).into())).collect();
        levels.dedup();
        let mut factor = Factor::new(levels);
        if self.throughput {
            factor.swept = Some(Scale::Log);
            factor.bisect = factor.levels.len() > 1;
            plan.own_response = Some(match plan.workload {
                WorkloadKind::Http => ResponseVariable::RequestsPerSecond,
                _ => ResponseVariable::TransactionsPerSecond,
            });
        }
        plan.factors.insert("clients".to_owned(), factor);
    }
}
