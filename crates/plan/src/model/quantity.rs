//! Quantities of a plan: sizes of memory, percentages, and bounds of a response.

use std::fmt;
use std::str::FromStr;

/// A number of bytes above zero, written `1GiB`, `512MiB` or `2GB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes(pub u64);

/// A share, written `3%`: 0.03.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Percent(pub f64);

/// `< 200`, `> 100` or `< 1%`: what a response must be for the run to pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    Below(f64),
    Above(f64),
}

impl Bound {
    /// Whether `value` keeps to it.
    pub fn holds(self, value: f64) -> bool {
        match self {
            Self::Below(bound) => value < bound,
            Self::Above(bound) => value > bound,
        }
    }
}

/// Units in which a size is printed exactly.
const UNITS: [(&str, u64); 6] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
];

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match notation::number(text)? {
            0 => Err(format!("`{text}` is nothing: write 1GiB or 512MiB")),
            bytes => Ok(Self(bytes)),
        }
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = UNITS.iter().filter(|(_, factor)| self.0.is_multiple_of(*factor));
        match whole.max_by_key(|(_, factor)| *factor) {
            Some((unit, factor)) => write!(formatter, "{}{unit}", self.0 / factor),
            None => write!(formatter, "{}", self.0),
        }
    }
}

impl FromStr for Percent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
        match number {
            Some(number) if (0.0..=100.0).contains(&number) => Ok(Self(number / 100.0)),
            _ => Err(format!("`{text}` is not a percentage: write 3%")),
        }
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Through a rounding that takes back what dividing by 100 did to the last digit.
        write!(formatter, "{}%", (self.0 * 1e8).round() / 1e6)
    }
}

impl FromStr for Bound {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |rest: &str| {
            let share = rest.trim().strip_suffix('%');
            let number: f64 = share.unwrap_or(rest).trim().parse().ok()?;
            let number = if share.is_some() { number / 100.0 } else { number };
            number.is_finite().then_some(number)
        };
        let text = text.trim();
        let below = text.strip_prefix('<').and_then(number).map(Self::Below);
        let above = text.strip_prefix('>').and_then(number).map(Self::Above);
        below
            .or(above)
            .ok_or_else(|| format!("`{text}` is not a bound: write \"< 200\" or \"> 50\""))
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Below(bound) => write!(formatter, "< {bound}"),
            Self::Above(bound) => write!(formatter, "> {bound}"),
        }
    }
}

/// Text to value and back, for serde.
macro_rules! written_as_text {
    ($($name:ty),*) => {$(
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                engine::from_text(deserializer)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    )*};
}

pub(crate) use written_as_text;

written_as_text!(Bytes, Percent, Bound);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_reads_back() {
        for text in ["1GiB", "512MiB", "2GB", "100kB", "1001"] {
            assert_eq!(text.parse::<Bytes>().unwrap().to_string(), text);
        }
        for text in ["3%", "0.5%", "12.25%"] {
            assert_eq!(text.parse::<Percent>().unwrap().to_string(), text);
        }
        assert_eq!("<200".parse::<Bound>().unwrap().to_string(), "< 200");
        assert_eq!("< 1%".parse::<Bound>().unwrap(), Bound::Below(0.01));
    }

    #[test]
    fn what_is_no_quantity_is_refused_with_an_example() {
        insta::assert_snapshot!(
            [
                "much".parse::<Bytes>().unwrap_err(),
                "0MiB".parse::<Bytes>().unwrap_err(),
                "3TiB".parse::<Bytes>().unwrap_err(),
                "3".parse::<Percent>().unwrap_err(),
                "-1%".parse::<Percent>().unwrap_err(),
                "= 3".parse::<Bound>().unwrap_err(),
            ].join("\n"),
            @r#"
        `much` is not a whole number: write 10000, 500K (500,000), 2M or 64MiB (67,108,864)
        `0MiB` is nothing: write 1GiB or 512MiB
        `3TiB` has the unknown unit `TiB`: write K, M or G (thousands), KiB, MiB or GiB (1,024s)
        `3` is not a percentage: write 3%
        `-1%` is not a percentage: write 3%
        `= 3` is not a bound: write "< 200" or "> 50"
        "#
        );
    }
}
