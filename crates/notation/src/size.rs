//! Sizes and large numbers in their written form, on command lines and in plans: `500K`, `2M`, `64MiB`.

use crate::digits;

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
    let unit = unit.trim_start().to_ascii_lowercase();
    let factor = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
    let number = digits.parse::<u64>().ok().zip(factor);
    number.and_then(|(number, factor)| number.checked_mul(factor)).ok_or_else(|| {
        format!(
            "`{text}` is not a whole number: write 10000, 500K (500,000), 2M or 64MiB (67,108,864)"
        )
    })
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
        for wrong in ["", "k", "-1", "1.5M", "1Ki", "99999999999G", "0x10", "much"] {
            assert!(number(wrong).unwrap_err().contains("write 10000, 500K"), "{wrong}");
        }
    }

    #[test]
    fn sizes_have_the_unit_that_suits_them() {
        let shown = [1, 1023, 1024, 1_572_864, 29_360_128, 1 << 30, 5_000_000_000].map(bytes);
        let expected = ["1 byte", "1,023 bytes", "1 KiB", "1.5 MiB", "28 MiB", "1 GiB", "4.66 GiB"];
        assert_eq!(shown, expected);
    }
}
