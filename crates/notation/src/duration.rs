//! Durations in their written form, on command lines and in plans: `500ms`, `10s`, `1h30m`, `90d`.

use std::time::Duration;

use jiff::fmt::friendly::SpanParser;
use jiff::{Span, SpanRelativeTo};

/// A duration in units of any length, such as `1h30m` or `2 months`.
pub fn span(text: &str) -> Result<Span, String> {
    SpanParser::new().parse_span(text).map_err(|_| refused(text))
}

/// A duration above zero in units that are always equally long: of at most a week, a day of 24 hours.
pub fn duration(text: &str) -> Result<Duration, String> {
    let span = span(text)?;
    let signed =
        span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| refused(text))?;
    match Duration::try_from(signed) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err(refused(text)),
    }
}

/// The same for a value that is kept in whole seconds.
pub fn whole_seconds(text: &str) -> Result<u64, String> {
    let duration = duration(text)?;
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

fn refused(text: &str) -> String {
    format!("`{text}` is not a duration: write 500ms, 10s, 1h30m or 90d")
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
        for wrong in ["", "10", "s", "0s", "-1s", "1y", "2months", "fast", "99999999999999999999d"]
        {
            let error = read(wrong).unwrap_err();
            assert!(error.contains("write 500ms, 10s, 1h30m or 90d"), "{error}");
        }
    }

    #[test]
    fn whole_seconds_refuse_a_fraction_and_say_what_to_write() {
        assert_eq!(whole_seconds("1h30m"), Ok(5_400));
        assert_eq!(whole_seconds("2000ms"), Ok(2));
        let error = whole_seconds("500ms").unwrap_err();
        assert!(error.contains("only whole ones") && error.ends_with("write 1s"), "{error}");
    }
}
