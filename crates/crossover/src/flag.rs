//! Values of flags that several commands read: numbers with their bounds, durations, a scale, SQLite files,
//! engines.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::builder::{PathBufValueParser, TypedValueParser};
use engine::EngineSpec;

/// Reads the path of a SQLite file, also written `sqlite:PATH` or `sqlite://PATH`.
pub fn sqlite_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(|path| engine::sqlite_path(&path))
}

/// Reads the size of the reference dataset.
pub fn scale(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(scale) if scale.is_finite() && scale > 0.0 => Ok(scale),
        _ => Err("write a number above 0, such as 0.1".to_owned()),
    }
}

/// A whole number, such as `500K`, in the type that the flag has.
pub fn count<Number: TryFrom<u64>>(text: &str) -> Result<Number, String> {
    notation::number(text)?.try_into().map_err(|_| "that is too many".to_owned())
}

/// The same of at least 1.
pub fn positive(text: &str) -> Result<u64, String> {
    Ok(non_zero::<NonZeroU64>(text)?.get())
}

/// The same in a type that has no zero.
pub fn non_zero<Number: TryFrom<NonZeroU64>>(text: &str) -> Result<Number, String> {
    let number = NonZeroU64::new(count(text)?).ok_or("it must be at least 1")?;
    number.try_into().map_err(|_| "that is too many".to_owned())
}

pub fn page_size(text: &str) -> Result<u32, String> {
    match u32::try_from(notation::number(text)?) {
        Ok(page) if (512..=65536).contains(&page) && page.is_power_of_two() => Ok(page),
        _ => Err("write a power of two from 512 to 65536".to_owned()),
    }
}

/// Longest wait; `None` for `off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit(pub Option<Duration>);

/// A duration, or `off`.
pub fn limit(text: &str) -> Result<Limit, String> {
    match text {
        "off" => Ok(Limit(None)),
        text => {
            let duration = notation::duration(text).map_err(|error| format!("{error}, or off"));
            Ok(Limit(Some(duration?)))
        }
    }
}

/// The engines in a word of a flag, or in its environment variable: spaces outside brackets separate them.
#[derive(Debug, Clone)]
pub struct EngineList(Vec<EngineSpec>);

impl EngineList {
    /// Those of all words.
    pub fn all(lists: &[Self]) -> Vec<EngineSpec> {
        lists.iter().flat_map(|list| list.0.clone()).collect()
    }
}

impl FromStr for EngineList {
    type Err = engine::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (mut depth, mut quoted) = (0usize, false);
        let separates = |c: char| {
            match c {
                '\'' => quoted = depth > 0 && !quoted,
                '[' if !quoted => depth += 1,
                ']' if !quoted => depth = depth.saturating_sub(1),
                _ => {}
            }
            c == ' ' && depth == 0
        };
        let words = text.split(separates).filter(|word| !word.is_empty());
        let engines: Vec<EngineSpec> = words.map(str::parse).collect::<Result<_, _>>()?;
        // What has no word is refused as an engine is.
        if engines.is_empty() { Ok(Self(vec![text.parse()?])) } else { Ok(Self(engines)) }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::command::CommandLine;

    #[test]
    fn a_scale_is_a_positive_number() {
        assert_eq!(scale("0.1"), Ok(0.1));
        for wrong in ["0", "-1", "nan", "inf", "a tenth"] {
            assert!(scale(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn bounds_are_named() {
        assert!(positive("0").unwrap_err().contains("at least 1"));
        assert!(count::<u32>("5G").unwrap_err().contains("too many"));
        assert_eq!(page_size("64KiB"), Ok(65536));
        for wrong in ["0", "1000", "256", "131072"] {
            assert!(page_size(wrong).unwrap_err().contains("power of two"), "{wrong}");
        }
        assert_eq!(limit("off"), Ok(Limit(None)));
        assert!(limit("soon").unwrap_err().ends_with("90d, or off"));
    }

    #[test]
    fn a_space_in_brackets_separates_no_engines() {
        let list = |text: &str| text.parse::<EngineList>().map(|list| list.0.len());
        let built = "sqlite[build='-O3 -DSQLITE_X=1'] postgres:18";
        assert_eq!(list(built).unwrap(), 2);
        assert_eq!(list("sqlite:/a/it's.db  sqlite postgres:18").unwrap(), 3);
        for wrong in ["", " ", "sqlite postgers", "sqlite[build='-O3 -D"] {
            assert!(list(wrong).is_err(), "{wrong}");
        }
    }

    /// The parser's answer to `crossover {words}={value}`.
    fn parsed(words: &str, value: &str) -> Result<(), String> {
        let words = format!("crossover {words}={value}");
        let parsed = CommandLine::try_parse_from(words.split(' '));
        parsed.map(drop).map_err(|error| error.to_string())
    }

    #[test]
    fn every_duration_is_written_alike() {
        let in_seconds = [
            "try a.db --budget",
            "demo --time",
            "bench plan.toml --budget",
            "bench sql --on sqlite:a.db --sql a.sql --time",
            "bench oltp --on sqlite --warm-up",
            "bench blob --on sqlite --time",
        ];
        let any =
            ["dashboard serve --query-limit", "dashboard key add me --expires", "runs --since"];
        for words in in_seconds.into_iter().chain(any) {
            for value in ["10s", "3m", "1h30m", "90d", "2000ms"] {
                assert_eq!(parsed(words, value), Ok(()), "{words}={value}");
            }
            assert!(parsed(words, "soon").is_err(), "{words}");
        }
        for words in any {
            assert_eq!(parsed(words, "500ms"), Ok(()), "{words}");
        }
        for words in in_seconds {
            let error = parsed(words, "500ms").unwrap_err();
            assert!(error.contains("only whole ones count: write 1s"), "{words}: {error}");
        }
    }

    #[test]
    fn every_count_and_size_is_written_alike() {
        for words in [
            "blob init a.db --count",
            "blob init a.db --size",
            "blob init a.db --variance",
            "blob run a.db --count",
            "blob run a.db --mmap",
            "bench blob --on sqlite --count",
            "bench blob --on sqlite --sizes",
            "bench blob --on sqlite --total",
            "bench oltp --on sqlite --table-size",
            "bench plan.toml --server-memory",
            "dashboard generate --rows",
            "dashboard generate --articles",
            "migrate a.db postgresql://localhost/a --part-bytes",
        ] {
            for value in ["1000000", "500k", "500K", "2M", "64MiB", "64mib", "1GB"] {
                assert_eq!(parsed(words, value), Ok(()), "{words}={value}");
            }
            for wrong in ["much", "1.5M", "-1", "1Ki"] {
                assert!(parsed(words, wrong).is_err(), "{words}={wrong}");
            }
        }
    }
}
