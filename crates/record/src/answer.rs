//! Facts kept of an answer over HTTP.

use serde::{Deserialize, Serialize};

/// The facts kept of every answer: enough to tell whether it is the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Answer {
    pub status: u16,
    /// Length of the body after chunked coding is removed.
    pub body_bytes: u64,
    /// XXH3 (128 bits) of the body; in JSON 32 hexadecimal digits.
    #[serde(with = "hexadecimal")]
    #[schemars(with = "String")]
    pub body_hash: u128,
}

/// JSON numbers lose digits beyond 2^53, so a hash is written as text.
mod hexadecimal {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(hash: &u128, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{hash:032x}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<u128, D::Error> {
        let text = String::deserialize(input)?;
        u128::from_str_radix(&text, 16).map_err(D::Error::custom)
    }
}
