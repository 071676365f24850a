//! Whole seconds, written `10s`, `3m` or `2h` in plans and on the command line.

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
        let wrong = || format!("`{text}` is not a duration: write 10s, 3m or 2h");
        let split = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
        let (number, unit) = text.split_at(split);
        let factor = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 3600,
            _ => return Err(wrong()),
        };
        let number: u64 = number.parse().map_err(|_| wrong())?;
        match number.checked_mul(factor) {
            Some(seconds) if seconds > 0 => Ok(Self(seconds)),
            _ => Err(wrong()),
        }
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
    }

    #[test]
    fn refuses_what_is_no_duration() {
        for text in ["", "10", "s", "0s", "-3s", "3 m", "1d", "99999999999999999999s"] {
            assert!(text.parse::<Seconds>().is_err(), "{text}");
        }
    }
}
