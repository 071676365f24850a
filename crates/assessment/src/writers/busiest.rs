//! The busiest minute of logs: the 60 seconds in which most write transactions ended.

use std::io::BufRead;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// Seconds of a minute.
const MINUTE: i64 = 60;

/// Transactions per second in the busiest minute of those that ended at these seconds, in any order.
pub fn busiest_rate(mut ended: Vec<i64>) -> Option<f64> {
    ended.sort_unstable();
    let mut first = 0;
    let counts = ended.iter().enumerate().map(|(last, second)| {
        while ended[first] + MINUTE <= *second {
            first += 1;
        }
        last + 1 - first
    });
    counts.max().map(|most| most as f64 / MINUTE as f64)
}

/// The seconds at which lines of a log were written, by the time in the line or the last one before it.
/// Empty without times.
pub fn seconds_of(log: impl BufRead, lines: &[usize]) -> std::io::Result<Vec<i64>> {
    let mut sorted = lines.to_vec();
    sorted.sort_unstable();
    let (mut seconds, mut now, mut next) = (Vec::new(), None, sorted.into_iter().peekable());
    for (place, line) in log.split(b'\n').enumerate() {
        now = second_in(&line?).or(now);
        while next.next_if(|number| *number <= place + 1).is_some() {
            seconds.extend(now);
        }
    }
    Ok(seconds)
}

/// The first `YYYY-MM-DD HH:MM[:SS]` of a line's beginning, with a blank or `T` between.
fn second_in(line: &[u8]) -> Option<i64> {
    const FORM: &[u8; 19] = b"dddd-dd-ddsdd:dd:dd";
    const WITHOUT_SECONDS: usize = 16;
    let beginning = &line[..line.len().min(120)];
    let fits = |window: &[u8]| {
        window.iter().zip(FORM).all(|(byte, form)| match form {
            b'd' => byte.is_ascii_digit(),
            b's' => matches!(byte, b' ' | b'T'),
            form => byte == form,
        })
    };
    let start = beginning.windows(WITHOUT_SECONDS).position(fits)?;
    let whole = beginning.get(start..start + FORM.len()).filter(|whole| fits(whole));
    let found = whole.unwrap_or(&beginning[start..start + WITHOUT_SECONDS]);
    let moment: DateTime = std::str::from_utf8(found).ok()?.parse().ok()?;
    Some(TimeZone::UTC.to_timestamp(moment).ok()?.as_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(log: &str) -> Option<f64> {
        let lines: Vec<usize> = (1..=log.lines().count()).collect();
        busiest_rate(seconds_of(log.as_bytes(), &lines).unwrap())
    }

    /// Clock minutes would cut the four in two.
    #[test]
    fn the_busiest_minute_may_begin_at_any_second() {
        let log = "a 2026-11-28 10:00:50,123 x\n2026-11-28T10:00:59\nno time\n2026-11-28 10:01:49 x\n\
                   2026-11-28 10:01:50 x\n2026-11-28 10:05:00 x\n";
        assert_eq!(rate(log), Some(4.0 / 60.0));
        assert_eq!(rate("2026-11-28 10:15 a\nb\n2026-11-28 10:16 c\n"), Some(2.0 / 60.0));
        assert_eq!(rate("no time\n2026-99-99 10:15:00\n"), None);
    }
}
