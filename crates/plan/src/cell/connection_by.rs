//! The way of clients to the servers of a plan at one cell.

use crate::{CONNECTION_BY, ConnectionBy, Factor, Level, Levels, Plan, PlanError};

impl Plan {
    /// How clients at `levels` connect; by Unix socket where the plan does not say it.
    pub fn connection_by(&self, levels: &Levels) -> Result<ConnectionBy, PlanError> {
        match levels.get(CONNECTION_BY) {
            None => Ok(self.oltp.as_ref().map(|oltp| oltp.connection_by).unwrap_or_default()),
            Some(level) => level.to_string().parse().map_err(|message| {
                PlanError::impossible(&self.level_key(CONNECTION_BY, level), message)
            }),
        }
    }

    /// Every way in which clients connect, in the order of the plan.
    pub fn connections(&self) -> Result<Vec<ConnectionBy>, PlanError> {
        let Some(factor) = self.factors.get(CONNECTION_BY) else {
            return Ok(vec![self.connection_by(&Levels::new())?]);
        };
        let at = |level: &Level| {
            self.connection_by(&Levels::from([(CONNECTION_BY.to_owned(), level.clone())]))
        };
        factor.levels.iter().map(at).collect()
    }

    /// Measures servers of Crossover's by each of these ways; with none named as the plan says.
    pub fn set_connections(&mut self, named: &[ConnectionBy]) {
        if named.is_empty() {
            return;
        }
        let levels = named.iter().map(|way| Level::Text(way.name().to_owned()));
        self.factors.insert(CONNECTION_BY.to_owned(), Factor::new(levels.collect()));
    }
}
