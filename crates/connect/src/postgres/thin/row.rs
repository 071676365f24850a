//! Rows as they lie in the receive buffer.

/// One row: its values are read in place.
#[derive(Clone, Copy, Debug)]
pub struct ThinRow<'a> {
    /// The message's body: a count of two bytes, then each value with its length before it.
    body: &'a [u8],
}

impl<'a> ThinRow<'a> {
    pub(super) fn new(body: &'a [u8]) -> Self {
        Self { body }
    }

    /// The row as sent, for a hash.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.body
    }

    /// Its values in the form that was asked for, `None` for NULL.
    pub fn values(&self) -> impl Iterator<Item = Option<&'a [u8]>> + use<'a> {
        let mut rest = self.body.get(2..).unwrap_or_default();
        std::iter::from_fn(move || {
            let (length, after) = rest.split_first_chunk::<4>()?;
            // A negative length stands for NULL.
            match usize::try_from(i32::from_be_bytes(*length)) {
                Ok(length) => {
                    let (value, after) = after.split_at_checked(length)?;
                    rest = after;
                    Some(Some(value))
                }
                Err(_) => {
                    rest = after;
                    Some(None)
                }
            }
        })
    }
}

/// The number at the end of `SELECT 10`, `INSERT 0 1`, `UPDATE 3`; 0 where there is none.
pub(super) fn count_of_tag(body: &[u8]) -> u64 {
    let text = body.strip_suffix(b"\0").unwrap_or(body);
    let digits = text.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
    let mut number = 0u64;
    for digit in digits {
        match digit {
            b'0'..=b'9' => number = number.wrapping_mul(10) + u64::from(digit - b'0'),
            _ => return 0,
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_in_place_and_a_cut_row_ends() {
        let body = b"\x00\x03\x00\x00\x00\x02ab\xff\xff\xff\xff\x00\x00\x00\x00";
        let values: Vec<_> = ThinRow::new(body).values().collect();
        assert_eq!(values, [Some(&b"ab"[..]), None, Some(&b""[..])]);
        assert_eq!(ThinRow::new(&body[..7]).values().count(), 0);
    }

    #[test]
    fn the_count_is_the_last_word_of_the_tag() {
        assert_eq!(count_of_tag(b"SELECT 10\0"), 10);
        assert_eq!(count_of_tag(b"INSERT 0 3\0"), 3);
        assert_eq!(count_of_tag(b"BEGIN\0"), 0);
    }
}
