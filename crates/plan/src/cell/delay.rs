//! Distance between an application and its database server: a delay of each round trip.

use std::str::FromStr;
use std::time::Duration;

use engine::EngineKind;

use crate::{Factor, Level, Levels, Plan, PlanError, Scale, WorkloadKind};

/// The factor that says it, in milliseconds per round trip.
pub const DELAY_MS: &str = "delay_ms";

/// The longest delay: a connection with TLS and a password takes seven round trips, and clients give it
/// up after 10 s.
const DELAY_MS_MAX: f64 = 1_000.0;

/// A delay as a flag has it: `0`, `500us`, `0.5ms`, `1s`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delay {
    ms: f64,
}

impl Delay {
    pub fn ms(self) -> f64 {
        self.ms
    }

    pub fn duration(self) -> Duration {
        Duration::from_secs_f64(self.ms / 1_000.0)
    }
}

impl FromStr for Delay {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a delay; write 0, 500us, 0.5ms or 1s");
        let units = [("us", 0.001), ("ms", 1.0), ("s", 1_000.0)];
        let found = units.iter().find_map(|(unit, ms)| Some((text.strip_suffix(unit)?, *ms)));
        let (number, unit_ms) = match found {
            Some(found) => found,
            None if text == "0" => (text, 1.0),
            None => return Err(wrong()),
        };
        let number: f64 = number.trim().parse().map_err(|_| wrong())?;
        let ms = number * unit_ms;
        refusal(ms).map_or(Ok(Self { ms }), Err)
    }
}

/// The reason why a relay cannot delay by `ms`.
fn refusal(ms: f64) -> Option<String> {
    match ms {
        0.0..=DELAY_MS_MAX => None,
        _ => Some(format!(
            "a delay of {ms} ms is not between 0 and {DELAY_MS_MAX} ms: a connection takes up to seven \
             round trips, and clients give it up after 10 s"
        )),
    }
}

/// `true` where a network can lie between the engine and its clients, and the laboratory makes the
/// connections or hands out the address.
pub(crate) fn delay_acts(workload: WorkloadKind, kind: EngineKind) -> bool {
    let kind = kind.properties();
    !matches!(workload, WorkloadKind::Blob) && !kind.is_embedded && !kind.is_application
}

impl Plan {
    /// The delay of a round trip between clients and server at `levels`; zero is without a relay.
    pub fn delay_at(&self, levels: &Levels) -> Result<Duration, PlanError> {
        let Some(level) = levels.get(DELAY_MS) else { return Ok(Duration::ZERO) };
        let refuse =
            |message: String| Err(PlanError::impossible(&self.level_key(DELAY_MS, level), message));
        let Some(ms) = level.number() else {
            return refuse(format!("`{level}` is not a number of milliseconds"));
        };
        match refusal(ms) {
            None => Ok(Duration::from_secs_f64(ms / 1_000.0)),
            Some(message) => refuse(message),
        }
    }

    /// The shortest delay of the plan's that needs a relay; none without one.
    pub fn shortest_delay(&self) -> Result<Option<Duration>, PlanError> {
        let levels = self.factors.get(DELAY_MS).into_iter().flat_map(|factor| &factor.levels);
        let at =
            |level: &Level| self.delay_at(&Levels::from([(DELAY_MS.to_owned(), level.clone())]));
        let delays = levels.map(at).collect::<Result<Vec<_>, _>>()?;
        Ok(delays.into_iter().filter(|delay| !delay.is_zero()).min())
    }

    /// Measures servers at each of these distances. They are the x axis where nothing else with
    /// several levels is, and bisected for the place where the lines cross.
    pub fn set_delays(&mut self, delays: &[Delay]) {
        if delays.is_empty() {
            return;
        }
        let levels: Vec<Level> = delays.iter().map(|delay| Level::Number(delay.ms)).collect();
        for factor in self.factors.values_mut().filter(|factor| factor.levels.len() == 1) {
            factor.swept = None;
            factor.bisect = false;
        }
        let is_axis = levels.len() > 1 && self.swept().is_none();
        let swept = is_axis.then_some(Scale::Linear);
        let factor = Factor { swept, bisect: is_axis, ..Factor::new(levels) };
        self.factors.insert(DELAY_MS.to_owned(), factor);
    }

    pub(crate) fn check_delay(&self) -> Result<(), PlanError> {
        if !self.factors.contains_key(DELAY_MS) {
            return Ok(());
        }
        self.shortest_delay()?;
        let acts = |kind| delay_acts(self.workload, kind);
        match self.engines.iter().any(|engine| acts(engine.source.kind())) {
            true => Ok(()),
            false => {
                let message = "no engine of this plan is reached over a network: SQLite has no \
                               distance, and an application that is named by its URL connects by \
                               itself; name a server too, as in --on postgres:18";
                Err(PlanError::impossible("factors.delay_ms", message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Design;

    fn plan(engines: &str, delays: &str) -> Result<crate::Plan, crate::PlanError> {
        let text = format!(
            "title = \"t\"\nworkload = \"oltp\"\nengines = {engines}\n\
             trial = {{ mode = \"steady\", time = \"1s\" }}\n[factors]\nclients = [1]\n\
             delay_ms = {delays}\n"
        );
        crate::read(&text, "plan.toml")
    }

    #[test]
    fn sqlite_is_measured_once_and_servers_at_every_distance() {
        let delays = "{ levels = [0, 0.5, 5], swept = \"linear\", bisect = true }";
        let plan = plan(r#"["sqlite", "postgres:18"]"#, delays).unwrap();
        let design = Design::of(&plan);
        let told = design.treatments().iter();
        let mut told: Vec<String> =
            told.map(|(engine, levels)| format!("{engine} {}", levels["delay_ms"])).collect();
        told.sort_unstable();
        assert_eq!(told, ["0 0", "1 0", "1 0.5", "1 5"]);
    }

    #[test]
    fn a_distance_that_cannot_be_is_refused_with_its_place() {
        let refused = |engines: &str, delays: &str| plan(engines, delays).unwrap_err().to_string();
        let both = r#"["sqlite", "postgres:18"]"#;
        let said = refused(both, "[0, -1]");
        assert!(said.contains("line 7, column 16: factors.delay_ms"), "{said}");
        assert!(said.contains("-1 ms is not between 0 and 1000 ms"), "{said}");
        assert!(refused(both, "[1001]").contains("1001 ms is not between"));
        assert!(refused(both, "[\"near\"]").contains("`near` is not a number of milliseconds"));
        assert!(refused(r#"["sqlite"]"#, "[0, 1]").contains("SQLite has no distance"));
    }

    #[test]
    fn flags_have_units_and_zero_has_none() {
        let read = |text: &str| text.parse::<super::Delay>().map(|delay| delay.ms);
        for (text, ms) in [("0", 0.0), ("500us", 0.5), ("0.5ms", 0.5), ("1s", 1_000.0)] {
            assert_eq!(read(text), Ok(ms), "{text}");
        }
        for text in ["1", "", "ms", "-1ms", "2s", "NaNms"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
