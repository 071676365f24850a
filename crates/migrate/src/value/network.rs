//! Addresses in PostgreSQL's binary forms of inet, cidr and macaddr.

use std::net::IpAddr;

use rusqlite::types::ValueRef;

use super::encode::{FieldSink, sized, unreadable, utf8};
use super::unfit::Unfit;

/// PostgreSQL's numbers of the families, from src/include/utils/inet.h.
const FAMILY_4: u8 = 2;
const FAMILY_6: u8 = 3;

/// An address with the bits of its network.
pub struct InetAddress {
    address: IpAddr,
    bits: u8,
    is_network: bool,
}

/// Reads `10.0.0.1`, `10.0.0.0/8`, `::1`, `fe80::/10`. A network has no bits to the right of its mask.
pub fn inet(value: ValueRef<'_>, is_network: bool) -> Result<InetAddress, Unfit> {
    let ValueRef::Text(text) = value else { return Err(unreadable(value)) };
    let text = utf8(text)?;
    let (address, bits) = match text.split_once('/') {
        Some((address, bits)) => (address, Some(bits)),
        None => (text, None),
    };
    let address: IpAddr = address.parse().map_err(|_| unreadable(value))?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let bits = match bits {
        None => most,
        Some(bits) if bits.bytes().all(|byte| byte.is_ascii_digit()) => {
            let bits = bits.parse().ok().filter(|bits| *bits <= most);
            bits.ok_or(unreadable(value))?
        }
        Some(_) => return Err(unreadable(value)),
    };
    let host = match address {
        IpAddr::V4(address) => u128::from(u32::from(address)),
        IpAddr::V6(address) => u128::from(address),
    };
    let free = u32::from(most - bits);
    let mask = 1_u128.checked_shl(free).unwrap_or(0).wrapping_sub(1);
    if is_network && host & mask != 0 {
        return Err(Unfit::HostBits);
    }
    Ok(InetAddress { address, bits, is_network })
}

impl InetAddress {
    /// Writes the field: family, bits, flag of a cidr, bytes of the address.
    pub fn write(&self, out: &mut impl FieldSink) {
        let mut bytes = Vec::with_capacity(20);
        let family = if self.address.is_ipv4() { FAMILY_4 } else { FAMILY_6 };
        bytes.extend_from_slice(&[family, self.bits, u8::from(self.is_network)]);
        match self.address {
            IpAddr::V4(address) => {
                bytes.push(4);
                bytes.extend_from_slice(&address.octets());
            }
            IpAddr::V6(address) => {
                bytes.push(16);
                bytes.extend_from_slice(&address.octets());
            }
        }
        sized(out, &bytes);
    }
}

/// The binary form of an inet or cidr as people write it.
pub fn show(binary: &[u8]) -> Option<String> {
    let [_, bits, is_network, _, address @ ..] = binary else { return None };
    let address: IpAddr = match address.len() {
        4 => <[u8; 4]>::try_from(address).ok()?.into(),
        16 => <[u8; 16]>::try_from(address).ok()?.into(),
        _ => return None,
    };
    let is_whole = usize::from(*bits) == 8 * (binary.len() - 4) && *is_network == 0;
    Some(if is_whole { address.to_string() } else { format!("{address}/{bits}") })
}

/// Reads `08:00:2b:01:02:03`, also with hyphens, by three or two groups, and without marks.
pub fn mac_address(value: ValueRef<'_>) -> Option<[u8; 6]> {
    let ValueRef::Text(text) = value else { return None };
    let marks: Vec<(usize, u8)> =
        text.iter().copied().enumerate().filter(|(_, byte)| b":-.".contains(byte)).collect();
    let places: Vec<usize> = marks.iter().map(|(at, _)| *at).collect();
    let is_form = match places[..] {
        [2, 5, 8, 11, 14] => b":-".contains(&text[2]),
        [6] => b":-".contains(&text[6]),
        [4, 9] => b".-".contains(&text[4]),
        [] => true,
        _ => false,
    };
    let is_one_mark = marks.windows(2).all(|pair| pair[0].1 == pair[1].1);
    let digits: Vec<u8> = text
        .iter()
        .filter(|byte| !b":-.".contains(byte))
        .map(|byte| char::from(*byte).to_digit(16).map(|digit| digit as u8))
        .collect::<Option<_>>()?;
    if !is_form || !is_one_mark || digits.len() != 12 {
        return None;
    }
    let mut bytes = [0; 6];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        *byte = pair[0] << 4 | pair[1];
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_shown() {
        for (text, is_network, expected) in [
            ("10.0.0.1", false, Ok("10.0.0.1")),
            ("10.0.0.1/8", false, Ok("10.0.0.1/8")),
            ("::1", false, Ok("::1")),
            ("::ffff:1.2.3.4", false, Ok("::ffff:1.2.3.4")),
            ("10.0.0.0/8", true, Ok("10.0.0.0/8")),
            ("10.0.0.0", true, Ok("10.0.0.0/32")),
            ("0.0.0.0/0", true, Ok("0.0.0.0/0")),
            ("::/0", true, Ok("::/0")),
            ("fe80::/10", true, Ok("fe80::/10")),
            ("10.0.0.1/8", true, Err(Unfit::HostBits)),
            ("fe80::1/10", true, Err(Unfit::HostBits)),
        ] {
            let shown = inet(ValueRef::Text(text.as_bytes()), is_network).map(|address| {
                let mut field = Vec::new();
                address.write(&mut field);
                show(&field[4..]).unwrap()
            });
            assert_eq!(shown, expected.map(str::to_owned), "{text}");
        }
        for text in
            ["", "10.0.0", "10.0.0.1/33", "10.0.0.1/+8", "10.0.0.1/", "::1/129", "fe80::1%eth0"]
        {
            assert!(inet(ValueRef::Text(text.as_bytes()), false).is_err(), "{text}");
        }
    }

    #[test]
    fn hardware_addresses_have_several_forms() {
        for text in [
            "08:00:2b:01:02:03",
            "08-00-2B-01-02-03",
            "08002b:010203",
            "08002b-010203",
            "0800.2b01.0203",
            "0800-2b01-0203",
            "08002b010203",
        ] {
            let read = mac_address(ValueRef::Text(text.as_bytes()));
            assert_eq!(read, Some([8, 0, 0x2b, 1, 2, 3]), "{text}");
        }
        for text in ["", "08:00:2b:01:02", "08:00-2b:01:02:03", "0800:2b01:0203", "08002b01020g"] {
            assert_eq!(mac_address(ValueRef::Text(text.as_bytes())), None, "{text}");
        }
    }
}
