//! Durations in their written form, on command lines and in plans: `500ms`, `10s`, `1h30m`, `90d`.

use std::time::Duration;

use jiff::fmt::friendly::SpanParser;
use jiff::{Span, SpanRelativeTo};

/// Ends of refusals.
const EXAMPLES: &str = "500ms, 10s, 1h30m or 90d";
const EXAMPLES_IN_SECONDS: &str = "10s, 1h30m or 90d";

/// A duration in units of any length, such as `1h30m` or `2 months`.
pub fn span(text: &str) -> Result<Span, String> {
    parsed(text, EXAMPLES)
}

/// A duration above zero in units that are always equally long: of at most a week, a day of 24 hours.
pub fn duration(text: &str) -> Result<Duration, String> {
    above_zero(text, EXAMPLES)
}

/// The same for a value that is kept in whole seconds.
pub fn whole_seconds(text: &str) -> Result<u64, String> {
    let duration = above_zero(text, EXAMPLES_IN_SECONDS)?;
    match duration.subsec_nanos() {
        0 => Ok(duration.as_secs()),
        _ => {
            let seconds = duration.as_secs() + 1;
            Err(format!(
                "`{text}` is a fraction of a second, and only whole ones count: write {seconds}s"
            ))
        }
    }
}

fn above_zero(text: &str, examples: &str) -> Result<Duration, String> {
    let refused = |why: &str| format!("`{text}` {why}: write {examples}");
    let span = parsed(text, examples)?;
    if !span.is_positive() {
        return Err(refused("is not above zero"));
    }
    let signed = span.to_duration(SpanRelativeTo::days_are_24_hours());
    let signed = signed.map_err(|_| refused("has units that differ in length"))?;
    Duration::try_from(signed).map_err(|_| refused("is not above zero"))
}

fn parsed(text: &str, examples: &str) -> Result<Span, String> {
    let parser = SpanParser::new();
    parser.parse_span(text).map_err(|_| {
        // Of the same form with smaller numbers it is one.
        let small: String =
            text.split_inclusive(|c: char| !c.is_ascii_digit()).map(one_digit).collect();
        let why =
            if parser.parse_span(&small).is_ok() { "is too large" } else { "is not a duration" };
        format!("`{text}` {why}: write {examples}")
    })
}

/// Digits and what follows them, with one digit.
fn one_digit(part: &str) -> String {
    let end = part.trim_start_matches(|c: char| c.is_ascii_digit());
    if end.len() < part.len() { format!("1{end}") } else { end.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_may_be_combined() {
        let read = |text: &str| duration(text).map(|duration| duration.as_millis());
        assert_eq!(read("500ms"), Ok(500));
        assert_eq!(read("10s"), Ok(10_000));
        assert_eq!(read("1h30m"), Ok(5_400_000));
        assert_eq!(read("1h 30m"), Ok(5_400_000));
        assert_eq!(read("90d"), Ok(90 * 86_400_000));
        assert_eq!(read("1.5s"), Ok(1_500));
    }

    #[test]
    fn a_refused_duration_says_what_is_wrong_with_it() {
        let refused = [
            (vec!["", "10", "s", "fast", "5S"], "is not a duration"),
            (vec!["0s", "0ms", "-1s"], "is not above zero"),
            (vec!["99999999999999999999d", "9999999999999s"], "is too large"),
            (vec!["1y", "2months"], "has units that differ in length"),
        ];
        for (texts, why) in refused {
            for text in texts {
                let expected = format!("`{text}` {why}: write 500ms, 10s, 1h30m or 90d");
                assert_eq!(duration(text), Err(expected));
            }
        }
    }

    #[test]
    fn whole_seconds_refuse_a_fraction_and_say_what_to_write() {
        assert_eq!(whole_seconds("1h30m"), Ok(5_400));
        assert_eq!(whole_seconds("2000ms"), Ok(2));
        assert!(whole_seconds("5S").unwrap_err().ends_with("write 10s, 1h30m or 90d"));
        let error = whole_seconds("500ms").unwrap_err();
        assert!(error.contains("only whole ones") && error.ends_with("write 1s"), "{error}");
    }
}
