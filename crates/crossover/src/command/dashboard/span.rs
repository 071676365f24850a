//! Lengths of time on the command line: `500ms`, `10s`, `3m`, `2h`, `90d`.

use std::time::Duration;

pub fn span(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a length of time: write 500ms, 10s, 3m, 2h or 90d");
    let split = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
    let (number, unit) = text.split_at(split);
    let milliseconds: u64 = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    match number.checked_mul(milliseconds) {
        Some(milliseconds) if milliseconds > 0 => Ok(Duration::from_millis(milliseconds)),
        _ => Err(wrong()),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit(pub Option<Duration>);

/// A length of time, or `off`.
pub fn limit(text: &str) -> Result<Limit, String> {
    match text {
        "off" => Ok(Limit(None)),
        text => span(text).map(Some).map(Limit).map_err(|error| format!("{error}, or off")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_have_a_unit_and_are_longer_than_nothing() {
        assert_eq!(span("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(span("90d"), Ok(Duration::from_secs(90 * 24 * 60 * 60)));
        assert_eq!(limit("off"), Ok(Limit(None)));
        assert_eq!(limit("10s"), Ok(Limit(Some(Duration::from_secs(10)))));
        for text in ["", "10", "s", "0s", "-1s", "1.5s", "10 s", "99999999999999999999d", "1w"] {
            assert!(span(text).is_err(), "{text}");
        }
    }
}
