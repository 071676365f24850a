//! Numbers and sizes as written on the command line, kvtest's spellings among them.

/// Suffixes of a number: thousands, or with an `i` 1,024s.
const UNITS: [(&str, u64); 10] = [
    ("", 1),
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

/// A whole number, such as `1000`, `100k` or `2MiB`.
pub fn number(text: &str) -> Result<u64, String> {
    let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let unit = unit.to_ascii_lowercase();
    let factor = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
    let number = digits.parse::<u64>().ok().zip(factor);
    number.and_then(|(number, factor)| number.checked_mul(factor)).ok_or_else(|| {
        "write a whole number, such as 10000, 10k (10,000) or 10KiB (10,240)".to_owned()
    })
}

/// A whole number of at least 1.
pub fn positive(text: &str) -> Result<u64, String> {
    match number(text)? {
        0 => Err("it must be at least 1".to_owned()),
        number => Ok(number),
    }
}

pub fn page_size(text: &str) -> Result<u32, String> {
    let page = number(text)?;
    match u32::try_from(page) {
        Ok(page) if (512..=65536).contains(&page) && page.is_power_of_two() => Ok(page),
        _ => Err("write a power of two from 512 to 65536".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_and_binary_multiples() {
        let numbers = [("0", 0), ("1000", 1000), ("100k", 100_000), ("2M", 2_000_000)];
        let sizes = [("10KiB", 10_240), ("1gib", 1 << 30), ("3kB", 3_000), ("1G", 1_000_000_000)];
        for (text, value) in numbers.into_iter().chain(sizes) {
            assert_eq!(number(text), Ok(value), "{text}");
        }
        for wrong in ["", "k", "-1", "1.5M", "1Ki", "1 k", "99999999999G", "0x10"] {
            assert!(number(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn bounds_are_named() {
        assert!(positive("0").unwrap_err().contains("at least 1"));
        assert_eq!(page_size("64KiB"), Ok(65536));
        for wrong in ["0", "1000", "256", "131072"] {
            assert!(page_size(wrong).unwrap_err().contains("power of two"), "{wrong}");
        }
    }
}
