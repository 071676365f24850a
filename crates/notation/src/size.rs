//! Sizes and large numbers in their written form, on command lines and in plans: `500K`, `2M`, `64MiB`.

use crate::{digits, thousands};

/// Suffixes without regard to case: thousands, or with an `i` 1,024s.
const UNITS: [(&str, u64); 11] = [
    ("", 1),
    ("b", 1),
    ("k", 1_000),
    ("kb", 1_000),
    ("kib", 1 << 10),
    ("m", 1_000_000),
    ("mb", 1_000_000),
    ("mib", 1 << 20),
    ("g", 1_000_000_000),
    ("gb", 1_000_000_000),
    ("gib", 1 << 30),
];

/// A whole number, of rows as of bytes: `1000`, `500K` (500,000), `2M`, `64MiB`.
pub fn number(text: &str) -> Result<u64, String> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let unit = unit.trim_start();
    if digits.is_empty() || !unit.chars().all(|letter| letter.is_ascii_alphabetic()) {
        return Err(format!(
            "`{text}` is not a whole number: write 10000, 500K (500,000), 2M or 64MiB (67,108,864)"
        ));
    }
    let Some((_, factor)) = UNITS.iter().find(|(name, _)| unit.eq_ignore_ascii_case(name)) else {
        return Err(format!(
            "`{text}` has the unknown unit `{unit}`: write K, M or G (thousands), KiB, MiB \
             or GiB (1,024s)"
        ));
    };
    // Digits cannot be refused but for being too many.
    let number = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(*factor));
    number.ok_or_else(|| format!("`{text}` is too large: at most {}", thousands(u64::MAX)))
}

/// A measured size: `512 bytes`, `28 MiB`, `1.52 GiB`.
pub fn bytes(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..0x400 => return crate::counted(bytes, "byte"),
        0x400..0x10_0000 => (1_u64 << 10, "KiB"),
        0x10_0000..0x4000_0000 => (1 << 20, "MiB"),
        _ => (1 << 30, "GiB"),
    };
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let shown = digits(bytes as f64 / unit as f64);
    // No needless zeros.
    let shown = match shown.contains('.') {
        true => shown.trim_end_matches('0').trim_end_matches('.'),
        false => &shown,
    };
    format!("{shown} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_and_binary_multiples() {
        let numbers = [("0", 0), ("1000", 1000), ("500K", 500_000), ("2M", 2_000_000)];
        let sizes =
            [("64MiB", 64 << 20), ("1gib", 1 << 30), ("3kB", 3_000), ("1 G", 1_000_000_000)];
        for (text, value) in numbers.into_iter().chain(sizes) {
            assert_eq!(number(text), Ok(value), "{text}");
        }
        for wrong in ["", "k", "-1", "1.5M", "0x10", "much"] {
            assert!(number(wrong).unwrap_err().contains("write 10000, 500K"), "{wrong}");
        }
    }

    #[test]
    fn a_refused_number_says_what_is_wrong_with_it() {
        for (wrong, unit) in [("3TiB", "TiB"), ("1 Gx", "Gx"), ("1Ki", "Ki")] {
            let expected = format!("`{wrong}` has the unknown unit `{unit}`: write K, M or G");
            let error = number(wrong).unwrap_err();
            assert!(error.starts_with(&expected), "{error}");
        }
        for wrong in ["99999999999G", "99999999999999999999"] {
            let expected = format!("`{wrong}` is too large: at most 18,446,744,073,709,551,615");
            assert_eq!(number(wrong), Err(expected));
        }
    }

    #[test]
    fn sizes_have_the_unit_that_suits_them() {
        let shown = [1, 1023, 1024, 1_572_864, 29_360_128, 1 << 30, 5_000_000_000].map(bytes);
        let expected = ["1 byte", "1,023 bytes", "1 KiB", "1.5 MiB", "28 MiB", "1 GiB", "4.66 GiB"];
        assert_eq!(shown, expected);
    }
}
