//! UUIDs written as 32 digits without hyphens, as Django and SQLAlchemy store them.

/// `true` for 32 digits with the version and variant of RFC 9562. One digest in eight has them by
/// chance, a column of digests does not.
pub fn is_short_uuid(text: &[u8]) -> bool {
    text.len() == 32
        && matches!(text[12], b'1'..=b'8')
        && matches!(text[16], b'8' | b'9' | b'a' | b'b' | b'A' | b'B')
        && text.iter().all(u8::is_ascii_hexdigit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_and_a_variant_tell_uuids_from_digests() {
        for (text, expected) in [
            ("11111111111141118111111111111111", true),
            ("AAAAAAAAAAAA7AAABAAAAAAAAAAAAAAA", true),
            ("11111111111101118111111111111111", false),
            ("11111111111141117111111111111111", false),
            ("2021-03-04T05:06:07.123456+00:00", false),
            ("1111111111114111811111111111111", false),
        ] {
            assert_eq!(is_short_uuid(text.as_bytes()), expected, "{text}");
        }
    }
}
