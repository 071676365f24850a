//! Workload `oltp`: transactions on tables of our own making. `[oltp]` at one cell; engines that cannot
//! do it are refused before anything is started.

use std::collections::BTreeSet;

use engine::{EngineKind, EngineSource, EngineSpec, KindProperties};

use super::{Operation, WorkloadRules};
use crate::ConnectionUse;
use crate::oltp::{CharacterSet, Collation, ENGINE_KEYS, LOAD_FACTORS, Mix, START_FACTORS, level};
use crate::{
    Application, Checkpoints, ConnectionBy, Data, Level, Levels, LoadModel, Oltp, Plan, PlanError,
    Scale, TrialSettings, WorkloadKind,
};

/// The kinds of engine that can have common settings: all but a server of the user's.
fn kinds_with_settings() -> impl Iterator<Item = &'static str> {
    let has_settings = |kind: &EngineKind| {
        let properties = kind.properties();
        properties.runs_oltp && !properties.is_named_by_url
    };
    EngineKind::ALL.iter().copied().filter(has_settings).map(EngineKind::name)
}

/// Sustained trials last at least so long: at a checkpoint every 30 s, the shortest interval that
/// PostgreSQL takes, two of them end in it.
const SUSTAINED_SECONDS_MIN: u64 = 90;

pub(super) struct OltpRules<'p>(pub &'p Plan);

impl WorkloadRules for OltpRules<'_> {
    fn operations(&self) -> Vec<Operation> {
        vec![Operation::only(WorkloadKind::Oltp)]
    }

    fn own_key(&self) -> Option<&'static str> {
        self.0.oltp.as_ref().map(|_| "oltp")
    }

    fn only_reads(&self) -> bool {
        self.0.mixes().is_ok_and(|mixes| mixes.into_iter().all(|mix| !mix.writes()))
    }

    fn texts(&self) -> Vec<(String, String)> {
        let acting = LOAD_FACTORS.iter().filter(|name| self.0.factors.contains_key(**name));
        acting.map(|name| (format!("oltp.{name}"), format!("{{{name}}}"))).collect()
    }

    fn start_texts(&self) -> Vec<String> {
        START_FACTORS.map(|name| format!("{{{name}}}")).to_vec()
    }

    fn own_data(&self) -> Option<String> {
        self.0.oltp.as_ref().map(|oltp| format!("{oltp:?}"))
    }

    fn waits_per_operation(&self, levels: &Levels) -> u64 {
        self.0.oltp_at(levels).map_or(1, |oltp| oltp.mix.statements().max(1))
    }
}

impl Plan {
    /// Checks what the types cannot say; the number of clients becomes the x axis.
    pub(super) fn resolve_oltp(&mut self) -> Result<(), PlanError> {
        let oltp = self.oltp.get_or_insert_default();
        let is_known = |kind: &str| kinds_with_settings().any(|known| known == kind);
        if let Some(kind) = oltp.settings.keys().find(|kind| !is_known(kind)) {
            let suggestion = engine::nearest(kind, kinds_with_settings());
            let message = format!("there is no kind of engine `{kind}`{suggestion}");
            return Err(PlanError::impossible(&format!("oltp.settings.{kind}"), message));
        }
        let nothing_swept = self.factors.values().all(|factor| factor.swept.is_none());
        if let Some(clients) = self.factors.get_mut("clients")
            && nothing_swept
            && clients.levels.len() > 1
        {
            clients.swept = Some(Scale::Log);
        }
        self.refuse_oltp_keys()?;
        for name in LOAD_FACTORS.iter().chain(&START_FACTORS) {
            for level in self.factors.get(*name).into_iter().flat_map(|factor| &factor.levels) {
                let levels = Levels::from([((*name).to_owned(), level.clone())]);
                self.oltp_at(&levels).map_err(|error| match error {
                    PlanError::Impossible { message, .. } => {
                        PlanError::impossible(&self.level_key(name, level), message)
                    }
                    other => other,
                })?;
            }
        }
        self.oltp_at(&Levels::new())?;
        let first = self.base();
        (0..self.engines.len()).try_for_each(|index| {
            let checked = self.check_oltp_engine(&self.engine_at(index, &first)?);
            checked.map_err(|error| error.of_engine(index))
        })
    }

    /// Keys that have no effect here, and kinds of load that there are not.
    fn refuse_oltp_keys(&self) -> Result<(), PlanError> {
        let closed = self.load.model == LoadModel::Closed
            && self.load.think_time.is_none()
            && !self.factors.contains_key("think_time");
        let sustained =
            self.oltp.as_ref().and_then(|oltp| oltp.checkpoints) == Some(Checkpoints::Sustained);
        let time = match self.trial {
            TrialSettings::Steady { time } => Some(time.0),
            TrialSettings::Passes { .. } => None,
        };
        let wrong = [
            (
                !closed,
                "load",
                "clients of workload oltp never pause: closed load without think time",
            ),
            (
                self.load.connection != ConnectionUse::PerClient,
                "load.connection",
                "clients of workload oltp keep their connection: write \"per_client\"",
            ),
            (
                time.is_none(),
                "trial.mode",
                "write mode = \"steady\": transactions are counted in time",
            ),
            (
                self.data != Data::Present,
                "data",
                "workload oltp fills its own tables; leave it out",
            ),
            (
                self.application != Application::default(),
                "application",
                "workload oltp speaks to engines itself; leave it out",
            ),
            (
                sustained && time.is_some_and(|time| time < SUSTAINED_SECONDS_MIN),
                "oltp.checkpoints",
                "sustained needs trials of at least 90s, in which two checkpoints end",
            ),
        ];
        match wrong.into_iter().find(|(wrong, ..)| *wrong) {
            Some((_, key, message)) => Err(PlanError::impossible(key, message)),
            None => Ok(()),
        }
    }

    /// Engines that the workload cannot be done on as asked for; `engine` is one whose placeholders
    /// are filled in.
    pub fn check_oltp_engine(&self, engine: &EngineSpec) -> Result<(), PlanError> {
        let refuse = |message: String| Err(PlanError::impossible("engines", message));
        let (kind, label) = (engine.source.kind(), engine.label());
        if matches!(engine.source, EngineSource::SqliteFile(_)) {
            return refuse(format!("{label} is yours, and rows are written; name sqlite"));
        }
        if !kind.properties().runs_oltp {
            return refuse(format!(
                "{label} cannot be measured by workload oltp; there are sqlite, postgres, mariadb \
                 and URLs of PostgreSQL, MariaDB and MySQL"
            ));
        }
        let is_tcp = self.connection_by(&self.base())? == ConnectionBy::Tcp;
        if is_tcp && kind.properties().listens_on_socket_alone {
            return refuse(format!("{label} is reached by a Unix socket only; give its URL"));
        }
        for name in ENGINE_KEYS {
            if engine.settings.get(name).is_some() && self.factors.contains_key(name) {
                return refuse(format!(
                    "{label} has {name} in its brackets, and a factor varies it: keep one of them"
                ));
            }
            for oltp in self.oltp_with(engine, name)? {
                self.check_texts(engine, &oltp)?;
            }
        }
        Ok(())
    }

    /// `[oltp]` at `levels`.
    pub fn oltp_at(&self, levels: &Levels) -> Result<Oltp, PlanError> {
        let mut oltp = self.oltp.clone().unwrap_or_default();
        level(levels, "mix", &mut oltp.mix)?;
        level(levels, "distribution", &mut oltp.distribution)?;
        level(levels, "tables", &mut oltp.tables)?;
        level(levels, "table_size", &mut oltp.table_size)?;
        oltp.take_texts(levels)?;
        for (name, number) in [("tables", oltp.tables), ("table_size", oltp.table_size)] {
            if number == 0 {
                return Err(PlanError::impossible(&format!("oltp.{name}"), "is 0"));
            }
        }
        Ok(oltp)
    }

    /// The same for one engine, whose brackets stand above it.
    pub fn oltp_of(&self, engine: &EngineSpec, levels: &Levels) -> Result<Oltp, PlanError> {
        let mut oltp = self.oltp_at(levels)?;
        let own = engine.settings.iter().filter(|(key, _)| ENGINE_KEYS.contains(key));
        let own = own.map(|(key, value)| (key.to_owned(), Level::Text(value.to_owned())));
        oltp.take_texts(&own.collect()).map_err(|error| match error {
            PlanError::Impossible { message, .. } => {
                PlanError::impossible("engines", format!("{}: {message}", engine.label()))
            }
            other => other,
        })?;
        Ok(oltp)
    }

    /// Every mix that is measured.
    pub fn mixes(&self) -> Result<BTreeSet<Mix>, PlanError> {
        let of = |level: &Level| {
            let levels = Levels::from([("mix".to_owned(), level.clone())]);
            Ok(self.oltp_at(&levels)?.mix)
        };
        match self.factors.get("mix") {
            Some(factor) => factor.levels.iter().map(of).collect(),
            None => Ok(BTreeSet::from([self.oltp_at(&Levels::new())?.mix])),
        }
    }

    /// `[oltp]` of an engine at every level of one factor, or the table itself without a factor.
    pub fn oltp_with(&self, engine: &EngineSpec, name: &str) -> Result<Vec<Oltp>, PlanError> {
        let at =
            |level: &Level| self.oltp_of(engine, &Levels::from([(name.to_owned(), level.clone())]));
        match self.factors.get(name) {
            Some(factor) => factor.levels.iter().map(at).collect(),
            None => Ok(vec![self.oltp_of(engine, &Levels::new())?]),
        }
    }

    /// Texts that an engine does not store, that its clients do not send, or that only one mix
    /// compares.
    fn check_texts(&self, engine: &EngineSpec, oltp: &Oltp) -> Result<(), PlanError> {
        let label = engine.label();
        let refuse = |message: String| Err(PlanError::impossible("engines", message));
        let KindProperties { stores_utf16, collates_by_language, .. } =
            engine.source.kind().properties();
        let (stored, sent) = (oltp.character_set, oltp.client_character_set);
        let by_language = oltp.collation == Collation::Language;
        let is_stored = match stored {
            CharacterSet::Utf16 => stores_utf16,
            CharacterSet::Latin2 => !stores_utf16,
            CharacterSet::Utf8 => true,
        };
        if !is_stored {
            return refuse(format!(
                "{label} does not store {}; utf16 is SQLite's, latin2 that of the others",
                stored.name()
            ));
        }
        if sent == CharacterSet::Utf16 || (sent == CharacterSet::Latin2 && stores_utf16) {
            return refuse(format!(
                "clients of {label} do not send {}; they send utf8, and latin2 to servers",
                sent.name()
            ));
        }
        if by_language && !collates_by_language {
            return refuse(format!(
                "{label} orders texts by their bytes alone: collation bytes, or other engines"
            ));
        }
        match self.mixes()?.into_iter().find(|mix| *mix != Mix::Encoding) {
            Some(mix) if stored != CharacterSet::Utf8 || by_language => refuse(format!(
                "{label}: character sets and collations are compared by mix encoding, not by {mix}"
            )),
            _ => Ok(()),
        }
    }
}
