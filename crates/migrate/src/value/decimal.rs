//! Decimal numbers in PostgreSQL's binary form of `numeric`: digits to the base 10,000.
//! Source of the format: numeric_recv and numeric_send in src/backend/utils/adt/numeric.c.

/// A decimal number as text gives it.
#[derive(Debug, PartialEq, Eq)]
pub struct Decimal {
    negative: bool,
    /// Significant decimal digits, 0 to 9, without leading zeros.
    digits: Vec<u8>,
    /// Digits after the point; negative if zeros are missing before it.
    scale: i32,
}

/// Exponents beyond this are refused: numeric ends at 131,072 digits before the point.
const LARGEST_EXPONENT: i32 = 100_000;

impl Decimal {
    /// Reads `-12.50`, `1e10`, `.5`. `None` if `text` is anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (rest, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() + fraction.len() == 0
            || !all_digits(whole)
            || !all_digits(fraction)
            || exponent.abs() > LARGEST_EXPONENT
        {
            return None;
        }
        let mut digits: Vec<u8> =
            whole.bytes().chain(fraction.bytes()).map(|byte| byte - b'0').collect();
        let leading = digits.iter().take_while(|digit| **digit == 0).count();
        digits.drain(..leading);
        let scale = i32::try_from(fraction.len()).ok()? - exponent;
        Some(Self { negative: negative && !digits.is_empty(), digits, scale })
    }

    /// Digits after the point that are not trailing zeros.
    pub fn decimals(&self) -> i32 {
        let zeros = self.digits.iter().rev().take_while(|digit| **digit == 0).count();
        if zeros == self.digits.len() { 0 } else { (self.scale - zeros as i32).max(0) }
    }

    /// Appends a form that is equal for equal numbers, however they are written.
    pub fn write_canonical(&self, out: &mut Vec<u8>) {
        let zeros = self.digits.iter().rev().take_while(|digit| **digit == 0).count();
        let digits = &self.digits[..self.digits.len() - zeros];
        let exponent = if digits.is_empty() { 0 } else { zeros as i32 - self.scale };
        out.push(if self.negative { b'-' } else { b'+' });
        out.extend(digits.iter().map(|digit| digit + b'0'));
        out.extend_from_slice(format!("e{exponent}").as_bytes());
    }

    /// Digits that are neither leading nor trailing zeros.
    pub fn significant_digits(&self) -> usize {
        let zeros = self.digits.iter().rev().take_while(|digit| **digit == 0).count();
        self.digits.len() - zeros
    }

    /// Digits before the point without leading zeros; negative for zeros right behind it.
    pub fn digits_before_point(&self) -> i32 {
        if self.digits.is_empty() { i32::MIN } else { self.digits.len() as i32 - self.scale }
    }

    /// Gives it `scale` digits after the point, rounded half away from zero.
    pub fn rescale(&mut self, scale: i32) {
        if self.scale > scale {
            let dropped = (self.scale - scale) as usize;
            let kept = self.digits.len().checked_sub(dropped);
            let is_up =
                kept.and_then(|kept| self.digits.get(kept)).is_some_and(|digit| *digit >= 5);
            self.digits.truncate(kept.unwrap_or(0));
            if is_up {
                self.add_one();
            }
        } else if !self.digits.is_empty() {
            self.digits.extend(std::iter::repeat_n(0, (scale - self.scale) as usize));
        }
        self.scale = scale;
        self.negative &= !self.digits.is_empty();
    }

    /// Adds one to the last digit.
    fn add_one(&mut self) {
        for digit in self.digits.iter_mut().rev() {
            *digit = (*digit + 1) % 10;
            if *digit != 0 {
                return;
            }
        }
        self.digits.insert(0, 1);
    }

    /// The number without its point, if it is an i64.
    pub fn units(&self) -> Option<i64> {
        let signed =
            |digit: &u8| if self.negative { -i64::from(*digit) } else { i64::from(*digit) };
        let add = |sum: i64, digit| sum.checked_mul(10)?.checked_add(signed(digit));
        self.digits.iter().try_fold(0, add)
    }

    /// Appends the binary form: count, weight, sign, display scale, digits.
    pub fn write(&self, out: &mut Vec<u8>) {
        // Align the decimal point to a group of four digits.
        let after = self.scale.max(0);
        let mut padded = self.digits.clone();
        if self.scale < 0 {
            padded.extend(std::iter::repeat_n(0, self.scale.unsigned_abs() as usize));
        }
        let missing = (4 - after.rem_euclid(4)) % 4;
        padded.extend(std::iter::repeat_n(0, missing as usize));
        let groups_after = (after + missing) / 4;
        let front = (4 - padded.len() % 4) % 4;
        let mut aligned = vec![0; front];
        aligned.extend(padded);
        let groups: Vec<i16> = aligned
            .chunks(4)
            .map(|group| group.iter().fold(0, |sum, digit| sum * 10 + i16::from(*digit)))
            .collect();
        let weight = groups.len() as i32 - groups_after - 1;
        let leading = groups.iter().take_while(|group| **group == 0).count();
        let trailing = groups.iter().rev().take_while(|group| **group == 0).count();
        let kept = if leading == groups.len() {
            &[][..]
        } else {
            &groups[leading..groups.len() - trailing]
        };
        let weight = if kept.is_empty() { 0 } else { weight - leading as i32 };
        out.extend_from_slice(&(kept.len() as i16).to_be_bytes());
        out.extend_from_slice(&(weight as i16).to_be_bytes());
        out.extend_from_slice(&(if self.negative { 0x4000_u16 } else { 0 }).to_be_bytes());
        out.extend_from_slice(&(after as u16).to_be_bytes());
        for group in kept {
            out.extend_from_slice(&group.to_be_bytes());
        }
    }
}

/// The binary form as people write it; `None` if it is not one (or NaN or infinity).
pub fn show(binary: &[u8]) -> Option<String> {
    let words: Vec<u16> =
        binary.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
    let [count, weight, sign, scale, groups @ ..] = words.as_slice() else { return None };
    if usize::from(*count) != groups.len() || !matches!(sign, 0 | 0x4000) {
        return None;
    }
    let group = |place: i32| {
        let position = usize::try_from(i32::from(*weight as i16) - place).ok();
        position.and_then(|position| groups.get(position)).copied().unwrap_or(0)
    };
    let highest = i32::from(*weight as i16).max(0);
    let whole: String = (0..=highest).rev().map(|place| format!("{:04}", group(place))).collect();
    let scale = usize::from(*scale);
    let fraction: String =
        (1..=scale.div_ceil(4) as i32).map(|place| format!("{:04}", group(-place))).collect();
    let whole = whole.trim_start_matches('0');
    let mut shown = String::from(if *sign == 0 { "" } else { "-" });
    shown.push_str(if whole.is_empty() { "0" } else { whole });
    if scale > 0 {
        shown.push('.');
        shown.push_str(&fraction[..scale]);
    }
    Some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_decimal_is_shown_unchanged() {
        for text in ["0", "-1.50", "12345678.000012", "0.00001", "10000", "-99999999", "0.0"] {
            let mut binary = Vec::new();
            Decimal::parse(text).unwrap().write(&mut binary);
            assert_eq!(show(&binary).as_deref(), Some(text));
        }
        assert_eq!(show(&[0, 0]), None);
    }

    fn binary(text: &str) -> (i16, u16, u16, Vec<i16>) {
        let mut out = Vec::new();
        Decimal::parse(text).unwrap().write(&mut out);
        let words: Vec<i16> =
            out.chunks(2).map(|pair| i16::from_be_bytes([pair[0], pair[1]])).collect();
        assert_eq!(words[0] as usize, words.len() - 4);
        (words[1], words[2] as u16, words[3] as u16, words[4..].to_vec())
    }

    #[test]
    fn binary_form_of_known_numbers() {
        assert_eq!(binary("0"), (0, 0, 0, vec![]));
        assert_eq!(binary("-0.00"), (0, 0, 2, vec![]));
        assert_eq!(binary("12345.678"), (1, 0, 3, vec![1, 2345, 6780]));
        assert_eq!(binary("-0.0001"), (-1, 0x4000, 4, vec![1]));
        assert_eq!(binary("0.00001"), (-2, 0, 5, vec![1000]));
        assert_eq!(binary("1e8"), (2, 0, 0, vec![1]));
        assert_eq!(binary("1.5e-3"), (-1, 0, 4, vec![15]));
    }

    #[test]
    fn refuses_other_text() {
        for text in ["", "-", ".", "1e", "1e999999", "0x10", "1 ", "inf", "nan", "1,5"] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
    }
}
