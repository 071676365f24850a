//! Clients of an engine that lives in their process: processes, or threads of one.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use engine::{EngineKind, EngineSpec};

use crate::{Level, Levels, LoadModel, Plan, PlanError, WorkloadKind, clients};

/// The most clients that are processes.
pub const PROCESSES_MAX: u16 = 64;

/// The factor that says it.
pub const CLIENTS_AS: &str = "clients_as";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientsAs {
    /// As the workers of gunicorn, puma and PHP-FPM.
    Processes,
    /// As in Go, Node and most of Rust: locks are taken once for all.
    Threads,
}

impl ClientsAs {
    pub const ALL: [Self; 2] = [Self::Processes, Self::Threads];

    pub fn name(self) -> &'static str {
        match self {
            Self::Processes => "processes",
            Self::Threads => "threads",
        }
    }

    /// `true` where the engine runs in the process of its client, and the laboratory makes clients.
    pub(crate) fn acts(workload: WorkloadKind, kind: EngineKind) -> bool {
        let kind = kind.properties();
        matches!(workload, WorkloadKind::Sql | WorkloadKind::Oltp)
            && kind.is_embedded
            && !kind.has_files
    }
}

/// The library that a line of SQLite is measured by, in a process of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SqliteOrigin {
    BuiltIn,
    /// A shared library by its path.
    Library(PathBuf),
    /// The bundled source, compiled with these flags.
    Build(String),
}

impl fmt::Display for ClientsAs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for ClientsAs {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = Self::ALL.into_iter().find(|one| one.name() == text);
        named.ok_or_else(|| format!("clients are processes or threads, not `{text}`"))
    }
}

impl Plan {
    /// The SQLite of one of the plan's engines; none where it is the one that is built in and every
    /// other line's is too.
    pub fn sqlite_of(&self, engine: &EngineSpec) -> Option<SqliteOrigin> {
        let takes_library = engine.source.kind().properties().takes_library;
        match (engine.own("library"), engine.own("build")) {
            (Some(path), _) => Some(SqliteOrigin::Library(path.into())),
            (None, Some(flags)) => Some(SqliteOrigin::Build(flags.to_owned())),
            (None, None) => {
                (takes_library && self.names_library()).then_some(SqliteOrigin::BuiltIn)
            }
        }
    }

    fn names_library(&self) -> bool {
        let names =
            |engine: &EngineSpec| engine.own("library").or_else(|| engine.own("build")).is_some();
        self.engines.iter().any(names)
    }

    /// Clients of an embedded engine at `levels`; threads where the plan does not say it. A library of
    /// the user's needs processes.
    pub fn clients_as(&self, levels: &Levels) -> Result<ClientsAs, PlanError> {
        match levels.get(CLIENTS_AS) {
            None if self.names_library() => Ok(ClientsAs::Processes),
            None => Ok(ClientsAs::Threads),
            Some(level) => level.to_string().parse().map_err(|message| {
                PlanError::impossible(&self.level_key(CLIENTS_AS, level), message)
            }),
        }
    }

    /// Measures embedded engines with clients of each of these forms. With none named it is both,
    /// where a plan has several clients: no answer shall rest on one form alone.
    pub fn set_clients_as(&mut self, named: &[ClientsAs]) {
        let several = |level: &Level| level.number().is_some_and(|number| number > 1.0);
        let clients = self.factors.get("clients");
        let has_several = clients.is_some_and(|clients| clients.levels.iter().any(several));
        let acts = |kind| ClientsAs::acts(self.workload, kind);
        let is_embedded = self.engines.iter().any(|engine| acts(engine.source.kind()));
        let forms = match (named, has_several && is_embedded) {
            ([], false) => {
                self.factors.remove(CLIENTS_AS);
                return;
            }
            ([], true) if self.names_library() => &[ClientsAs::Processes],
            ([], true) => ClientsAs::ALL.as_slice(),
            (named, _) => named,
        };
        let levels = forms.iter().map(|form| Level::Text(form.name().to_owned()));
        self.factors.insert(CLIENTS_AS.to_owned(), crate::Factor::new(levels.collect()));
    }

    pub(crate) fn check_clients_as(&self) -> Result<(), PlanError> {
        let takes_library = matches!(self.workload, WorkloadKind::Sql | WorkloadKind::Oltp);
        if self.names_library() && !takes_library {
            let message = "sqlite[library=PATH] and sqlite[build=FLAGS] are measured by workloads sql \
                           and oltp alone (bench sql, bench oltp, try)";
            return Err(PlanError::impossible("engines", message));
        }
        let has_both =
            |engine: &EngineSpec| engine.own("library").is_some() && engine.own("build").is_some();
        if let Some(index) = self.engines.iter().position(has_both) {
            let message = "library and build each name the SQLite of this line; leave one out";
            return Err(PlanError::impossible(&format!("engines.{index}"), message));
        }
        let Some(factor) = self.factors.get(CLIENTS_AS) else { return Ok(()) };
        let mut has_processes = false;
        for level in &factor.levels {
            let levels = Levels::from([(CLIENTS_AS.to_owned(), level.clone())]);
            let form = self.clients_as(&levels)?;
            has_processes |= form == ClientsAs::Processes;
            if form == ClientsAs::Threads && self.names_library() {
                let message = "two libraries of SQLite in one process drop each other's locks: with \
                               sqlite[library=PATH] and sqlite[build=FLAGS] clients are processes";
                return Err(PlanError::impossible("factors.clients_as", message));
            }
        }
        if has_processes && self.load.model == LoadModel::Open {
            let message = "clients that are processes are of closed load; write [\"threads\"], or leave \
                           the rate out";
            return Err(PlanError::impossible("factors.clients_as", message));
        }
        let counts = self.factors.get("clients").into_iter().flat_map(|clients| &clients.levels);
        let at = |level: &Level| clients(&Levels::from([("clients".to_owned(), level.clone())]));
        let most = counts.map(at).max().unwrap_or(1);
        if has_processes && most > PROCESSES_MAX {
            let message = format!(
                "{most} clients are more than the {PROCESSES_MAX} that can be processes; use fewer, or \
                 --clients-as threads"
            );
            return Err(PlanError::impossible("factors.clients", message));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::Design;
    use crate::tests::of_oltp as plan;

    #[test]
    fn sqlite_alone_is_measured_both_ways_and_one_client_once() {
        let factors = "clients = [1, 4]\nclients_as = [\"processes\", \"threads\"]";
        let plan = plan(r#"["sqlite", "postgres:18"]"#, factors).unwrap();
        let design = Design::of(&plan);
        let told: Vec<(usize, String)> = design
            .treatments()
            .iter()
            .map(|(engine, levels)| {
                (*engine, format!("{} {}", levels["clients"], levels["clients_as"]))
            })
            .collect();
        let expected = [
            (0, "1 processes"),
            (0, "4 processes"),
            (0, "4 threads"),
            (1, "1 processes"),
            (1, "4 processes"),
        ];
        let mut told: Vec<(usize, &str)> =
            told.iter().map(|(engine, text)| (*engine, text.as_str())).collect();
        told.sort_unstable();
        assert_eq!(told, expected);
    }

    #[test]
    fn a_form_that_is_not_and_too_many_processes_are_refused() {
        let refused =
            |engines: &str, factors: &str| plan(engines, factors).unwrap_err().to_string();
        let said = refused(r#"["sqlite"]"#, "clients = [2]\nclients_as = [\"fibers\"]");
        assert!(said.contains("clients are processes or threads, not `fibers`"), "{said}");
        let said = refused(r#"["sqlite"]"#, "clients = [65]\nclients_as = [\"processes\"]");
        assert!(said.contains("65 clients are more than the 64"), "{said}");
        let said = refused(r#"["postgres:18"]"#, "clients = [2]\nclients_as = [\"processes\"]");
        assert!(said.contains("factors.clients_as: changes nothing"), "{said}");
        assert!(plan(r#"["sqlite"]"#, "clients = [65]\nclients_as = [\"threads\"]").is_ok());
    }
}
