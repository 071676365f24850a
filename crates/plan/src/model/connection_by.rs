//! The way of clients to a server that Crossover starts: its Unix socket or TCP.

use std::fmt;
use std::str::FromStr;

use engine::EngineSpec;
use serde::{Deserialize, Serialize};

use crate::WorkloadKind;

/// The factor that says it.
pub const CONNECTION_BY: &str = "connection_by";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionBy {
    #[default]
    Socket,
    /// TCP on 127.0.0.1: PostgreSQL.
    Tcp,
}

impl ConnectionBy {
    pub const ALL: [Self; 2] = [Self::Socket, Self::Tcp];

    pub fn name(self) -> &'static str {
        match self {
            Self::Socket => "socket",
            Self::Tcp => "tcp",
        }
    }

    /// `true` where clients of the laboratory speak to a server that it starts and that has both.
    pub fn acts(workload: WorkloadKind, engine: &EngineSpec) -> bool {
        let kind = engine.source.kind().properties();
        Self::has_clients(workload)
            && !engine.source.is_yours()
            && !kind.is_embedded
            && !kind.listens_on_socket_alone
    }

    /// `true` of workloads whose clients are the laboratory's own.
    pub fn has_clients(workload: WorkloadKind) -> bool {
        matches!(workload, WorkloadKind::Sql | WorkloadKind::Oltp)
    }
}

impl fmt::Display for ConnectionBy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for ConnectionBy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = Self::ALL.into_iter().find(|one| one.name() == text);
        named.ok_or_else(|| format!("a connection is by socket or tcp, not `{text}`"))
    }
}
