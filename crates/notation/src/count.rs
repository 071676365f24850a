//! Counts with their nouns and commas, measured numbers, capitals.

/// `1 trial`, `2,000 trials`, `3 queries`, `4 processes`.
pub fn counted(count: impl TryInto<u64>, noun: &str) -> String {
    let count = whole(count);
    let shown = thousands(count);
    match (count, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{shown} {stem}ies"),
        _ if noun.ends_with('x') || noun.ends_with("ss") => format!("{shown} {noun}es"),
        _ => format!("{shown} {noun}s"),
    }
}

/// `1,000,000`.
pub fn thousands(number: impl TryInto<u64>) -> String {
    let digits = whole(number).to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `s` unless there is exactly one.
pub fn plural(count: impl TryInto<u64>) -> &'static str {
    if whole(count) == 1 { "" } else { "s" }
}

/// Three significant digits, no exponent.
pub fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    #[expect(clippy::cast_possible_truncation, reason = "between -308 and 308")]
    let magnitude = value.abs().log10().floor() as i32;
    let decimals = usize::try_from((2 - magnitude).max(0)).unwrap_or(0);
    format!("{value:.decimals$}")
}

/// The text with a capital at its beginning.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// A count as a `u64`, which holds every `usize` of a machine of today.
fn whole(count: impl TryInto<u64>) -> u64 {
    count.try_into().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        let shown = [0_u32, 100, 999, 1_000, 6_500_000].map(thousands);
        assert_eq!(shown, ["0", "100", "999", "1,000", "6,500,000"]);
    }

    #[test]
    fn nouns_follow_their_count() {
        assert_eq!(counted(0_usize, "row"), "0 rows");
        assert_eq!(counted(1_u64, "query"), "1 query");
        assert_eq!(counted(1_000_usize, "query"), "1,000 queries");
        assert_eq!(counted(2_u64, "day"), "2 days");
        assert_eq!(counted(2_u64, "index"), "2 indexes");
        assert_eq!([plural(1_u64), plural(0_u64)], ["", "s"]);
    }

    #[test]
    fn measured_numbers_have_three_significant_digits() {
        let shown = [0.0, 0.012_345, 1.0, 31.25, 735.4, 12_345.6].map(digits);
        assert_eq!(shown, ["0", "0.0123", "1.00", "31.2", "735", "12346"]);
    }
}
