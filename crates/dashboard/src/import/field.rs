//! Cells as values: days and counts, or the problem of the cell.

use crate::query::{Day, quoted};

/// Before the web there was no traffic on it.
const FIRST_DAY: Day = Day::constant(1990, 1, 1);

/// A day as `2021-01-31` or `20210131`, not before 1990 and not after tomorrow (somewhere it is
/// tomorrow already).
pub(super) fn day(text: &str, today: Day) -> Result<Day, String> {
    let text = text.trim();
    let digits = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit());
    let iso = match (text.get(..4), text.get(4..6), text.get(6..)) {
        (Some(year), Some(month), Some(day)) if digits => format!("{year}-{month}-{day}"),
        _ => text.to_owned(),
    };
    let shown = quoted(text);
    let day: Day = iso
        .parse()
        .map_err(|()| format!("{shown} is not a day; write it as 2021-01-31 or 20210131"))?;
    if day < FIRST_DAY {
        return Err(format!("{shown} is before {FIRST_DAY}"));
    }
    if day.number() > today.number() + 1 {
        return Err(format!("{shown} is in the future: today is {today}"));
    }
    Ok(day)
}

/// A whole number from 0 to what the schema holds.
pub(super) fn count(text: &str) -> Result<u32, String> {
    let text = text.trim();
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits {
        return Err(format!("{} is not a count; write a whole number from 0", quoted(text)));
    }
    // Texts that are too long for any number too.
    storable(text.parse().unwrap_or(u32::MAX), text)
}

/// The number if the schema holds it.
fn storable(number: u32, text: &str) -> Result<u32, String> {
    if number <= i32::MAX as u32 {
        return Ok(number);
    }
    Err(format!("{} is more than {}", quoted(text), i32::MAX))
}

/// Seconds: a count, or a decimal number, which is rounded.
pub(super) fn seconds(text: &str) -> Result<u32, String> {
    let text = text.trim();
    let Some((whole, rest)) = text.split_once('.') else { return count(text) };
    if rest.is_empty() || !rest.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("{} is not a number of seconds", quoted(text)));
    }
    let up = rest.as_bytes().first().is_some_and(|digit| *digit >= b'5');
    storable(count(whole)? + u32::from(up), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_iso_or_eight_digits_and_in_range() {
        let today = Day::constant(2024, 4, 3);
        let shown = |text| day(text, today).map(|day| day.to_string());
        assert_eq!(shown("20240403").unwrap(), "2024-04-03");
        assert_eq!(shown(" 2024-04-04 ").unwrap(), "2024-04-04");
        for (wrong, why) in [
            ("2024-04-05", "in the future"),
            ("9999-12-31", "in the future"),
            ("0001-01-01", "before 1990"),
            ("20240230", "not a day"),
            ("2024-02-30", "not a day"),
            ("3.4.2024", "not a day"),
            ("", "not a day"),
            ("２０２４0403", "not a day"),
        ] {
            let error = shown(wrong).unwrap_err();
            assert!(error.contains(why), "{wrong}: {error}");
        }
    }

    #[test]
    fn counts_are_whole_and_fit() {
        assert_eq!(count(" 17 "), Ok(17));
        assert_eq!(count("2147483647"), Ok(2_147_483_647));
        for wrong in ["", "-1", "1.0", "1,000", "1e3", "2147483648", "99999999999999999999", "٣"] {
            assert!(count(wrong).is_err(), "{wrong}");
        }
        assert_eq!(seconds("12.5"), Ok(13));
        assert_eq!(seconds("12.49"), Ok(12));
        assert_eq!(seconds("2147483647.4"), Ok(2_147_483_647));
        for wrong in ["-1.5", "1.2.3", "12.", ".5", "nan", "1e3.0", "2147483647.5"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
