//! Refusal of ways to servers, and of pools in between, that cannot be.

use engine::{EngineSpec, PoolMode};

use crate::{CONNECTION_BY, ConnectionBy, Levels, Plan, PlanError};

impl Plan {
    pub(crate) fn check_connections(&self) -> Result<(), PlanError> {
        let acts = |engine: &EngineSpec| ConnectionBy::acts(self.workload, engine);
        let refuse = |message| Err(PlanError::impossible("factors.connection_by", message));
        if self.factors.contains_key(CONNECTION_BY) && !self.engines.iter().any(acts) {
            return refuse(
                "changes nothing: workloads sql and oltp reach a PostgreSQL that Crossover starts \
                 (postgres:18) by socket or tcp, and this plan has none",
            );
        }
        if self.connections()?.len() > 1 && self.shortest_delay()?.is_some() {
            return refuse(
                "clients reach the relay that makes a delay over TCP, whatever is behind it; leave \
                 connection_by or delay_ms out",
            );
        }
        for cell in self.cells() {
            for index in 0..self.engines.len() {
                self.check_pool(&self.engine_at(index, &cell)?, &cell)
                    .map_err(|error| error.of_engine(index))?;
            }
        }
        Ok(())
    }

    /// Refuses a pool that cannot be, or that the clients would wait for without end.
    fn check_pool(&self, engine: &EngineSpec, cell: &Levels) -> Result<(), PlanError> {
        let refuse = |message: String| Err(PlanError::impossible("engines", message));
        let pool =
            engine.pool().map_err(|error| PlanError::impossible("engines", error.to_string()))?;
        let Some(pool) = pool else { return Ok(()) };
        let label = engine.label();
        if !ConnectionBy::has_clients(self.workload) {
            return refuse(format!(
                "{label}: only workloads sql and oltp have pools; leave it out"
            ));
        }
        if !self.steps.is_empty() {
            return refuse(format!(
                "{label}: the settings of steps are those of sessions, which a pool shares; leave \
                 the pool or the steps out"
            ));
        }
        // Those that came by another way are still there.
        let ways = self.connections()?.len();
        let sessions = ways * usize::from(self.load_at(cell, 0)?.clients);
        if pool.mode == PoolMode::Session && sessions > pool.size.into() {
            let of_ways = if ways > 1 { " by socket and by tcp" } else { "" };
            return refuse(format!(
                "{label}: clients{of_ways} keep {sessions} sessions, and this pool has {}: a \
                 larger pool, fewer clients, or pool=transaction:{}",
                pool.size, pool.size
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::Design;
    use crate::tests::of_oltp as plan;

    #[test]
    fn servers_are_reached_both_ways_in_one_start_and_files_once() {
        let factors = "clients = [2]\nconnection_by = [\"socket\", \"tcp\"]";
        let plan = plan(r#"["sqlite", "postgres:18"]"#, factors).unwrap();
        let design = Design::of(&plan);
        let treatments = design.treatments();
        let mut told: Vec<String> = treatments
            .iter()
            .map(|(engine, levels)| format!("{engine} {}", levels["connection_by"]))
            .collect();
        told.sort_unstable();
        assert_eq!(told, ["0 socket", "1 socket", "1 tcp"]);
    }

    #[test]
    fn an_older_plan_of_oltp_says_transport() {
        let text = "title = \"t\"\nworkload = \"oltp\"\nengines = [\"postgres:18\"]\n\
                    trial = { mode = \"steady\", time = \"1s\" }\noltp = { transport = \"tcp\" }\n";
        let plan = crate::read(text, "plan.toml").unwrap();
        assert_eq!(plan.connections().unwrap(), [crate::ConnectionBy::Tcp]);
    }

    #[test]
    fn connections_that_cannot_be_are_refused() {
        let both = "clients = [2]\nconnection_by = [\"socket\", \"tcp\"]";
        for (engines, factors, said) in [
            ("[\"postgres:18\"]", "connection_by = [\"pipe\"]", "by socket or tcp, not `pipe`"),
            ("[\"sqlite\"]", both, "connection_by: changes nothing: workloads sql and oltp"),
            ("[\"mariadb\"]", "connection_by = [\"tcp\"]", "Unix socket only"),
            (
                "[\"postgres:18[pool=session:2]\"]",
                "clients = [1, 4]",
                "clients keep 4 sessions, and this pool has 2",
            ),
            ("[\"postgres:18[pool=session:2]\"]", both, "by tcp keep 4 sessions"),
            ("[\"postgres:18\"]", &format!("{both}\ndelay_ms = [0, 1]"), "leave connection_by"),
            ("[\"postgres:18[pool=transaction]\"]", "clients = [1]", "1 to 1000"),
            ("[\"sqlite[pool=transaction:4]\"]", "clients = [1]", "only PostgreSQL has a pool"),
        ] {
            let refused = plan(engines, factors).unwrap_err().to_string();
            assert!(refused.contains(said), "{engines} {factors}: {refused}");
        }
        let sizes = "clients = [8]\nsize = [2, 4]";
        assert!(plan("[\"postgres:18[pool=transaction:{size}]\"]", sizes).is_ok());
    }
}
