//! Periods: `week`, `month`, `quarter`, `year` or `<n>d`, as calendar days from a first day.

use jiff::ToSpan as _;
use jiff::civil::Date;

use crate::PlanError;

/// The number of days of `period` when it begins on `start` (ISO date), both ends inclusive: a
/// month from 2021-01-01 is 31 days.
pub fn days_of(period: &str, start: &str) -> Result<u32, PlanError> {
    let first = parse_day(start)?;
    let span = match period {
        "week" => 7.days(),
        "month" => 1.month(),
        "quarter" => 3.months(),
        "year" => 1.year(),
        _ => period
            .strip_suffix('d')
            .and_then(|number| number.parse::<u32>().ok())
            .filter(|days| (1..=36_525).contains(days))
            .map(|days| i64::from(days).days())
            .ok_or_else(|| unknown(period))?,
    };
    let after = first.checked_add(span).map_err(|_| unknown(period))?;
    let days = first.until(after).map_err(|_| unknown(period))?.get_days();
    u32::try_from(days).map_err(|_| unknown(period))
}

/// The last day, inclusive, of `days` days from `start`, as an ISO date.
pub fn last_day(start: &str, days: f64) -> Result<String, PlanError> {
    let whole = days.round();
    if !(1.0..=36_525.0).contains(&whole) {
        return Err(PlanError::impossible("days", format!("{days} is not between 1 and 36525")));
    }
    #[expect(clippy::cast_possible_truncation, reason = "between 1 and 36,525")]
    let after_first = (whole as i64 - 1).days();
    parse_day(start)?.checked_add(after_first).map(|day| day.to_string()).map_err(|_| {
        PlanError::impossible("days", format!("{days} days from {start} are too many"))
    })
}

fn parse_day(text: &str) -> Result<Date, PlanError> {
    text.parse::<Date>().ok().filter(|day| day.to_string() == text).ok_or_else(|| {
        PlanError::impossible(
            "constants.start",
            format!("`{text}` is not a date: write it as 2021-01-01"),
        )
    })
}

fn unknown(period: &str) -> PlanError {
    let message = format!("`{period}` is not a period: write week, month, quarter, year or 120d");
    PlanError::impossible("days", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_article_s_periods_are_calendar_periods() {
        for (period, days, last) in [
            ("week", 7, "2021-01-07"),
            ("month", 31, "2021-01-31"),
            ("quarter", 90, "2021-03-31"),
            ("year", 365, "2021-12-31"),
            ("120d", 120, "2021-04-30"),
        ] {
            assert_eq!(days_of(period, "2021-01-01").unwrap(), days);
            assert_eq!(last_day("2021-01-01", f64::from(days)).unwrap(), last);
        }
        assert_eq!(days_of("year", "2020-01-01").unwrap(), 366);
    }

    #[test]
    fn what_is_no_period_is_named() {
        for period in ["", "d", "0d", "-3d", "fortnight", "1.5d", "99999999d"] {
            assert!(days_of(period, "2021-01-01").is_err(), "{period}");
        }
        for start in ["2021-02-30", "20210101", "yesterday", "2021-1-1"] {
            assert!(days_of("week", start).is_err(), "{start}");
        }
    }
}
