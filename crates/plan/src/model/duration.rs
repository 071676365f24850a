//! Whole seconds, written `10s`, `3m` or `1h30m` in plans and on the command line.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::model::quantity::written_as_text;

/// A length of time in whole seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seconds(pub u64);

impl Seconds {
    /// As the standard library has it.
    pub fn duration(self) -> Duration {
        Duration::from_secs(self.0)
    }
}

impl FromStr for Seconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        notation::whole_seconds(text).map(Self)
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            seconds if seconds % 3600 == 0 => write!(formatter, "{}h", seconds / 3600),
            seconds if seconds % 60 == 0 => write!(formatter, "{}m", seconds / 60),
            seconds => write!(formatter, "{seconds}s"),
        }
    }
}

written_as_text!(Seconds);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_the_three_units() {
        for (text, seconds) in [("10s", 10), ("3m", 180), ("2h", 7200), ("90s", 90)] {
            let parsed: Seconds = text.parse().unwrap();
            assert_eq!(parsed.0, seconds);
            assert_eq!(parsed.to_string(), text);
        }
        assert_eq!("1h30m".parse(), Ok(Seconds(5_400)));
    }

    #[test]
    fn refuses_what_is_no_duration() {
        for text in ["", "10", "s", "0s", "-3s", "500ms", "1y", "99999999999999999999s"] {
            assert!(text.parse::<Seconds>().is_err(), "{text}");
        }
    }
}
