//! Ports for servers and applications that cannot be asked to choose one themselves.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;

/// Below the ephemeral range of Linux (from 32,768 on, unless it is set otherwise), so that no other
/// program is given the port before the server listens on it.
const PORTS: Range<u16> = 20_000..32_768;

/// A TCP port of 127.0.0.1 without a listener at this moment, `preferred` if that is in [`PORTS`] and
/// has none.
pub fn free_port(preferred: Option<u16>) -> io::Result<u16> {
    let listen = |port: u16| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let mut random = [0; 64];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let candidates = random.chunks_exact(2).map(|bytes| {
        let random = bytes.iter().fold(0, |all, byte| all << 8 | u16::from(*byte));
        PORTS.start + random % (PORTS.end - PORTS.start)
    });
    let preferred = preferred.filter(|port| PORTS.contains(port));
    let free = preferred.into_iter().chain(candidates).find_map(|port| listen(port).ok());
    free.map_or_else(|| listen(0), Ok)?.local_addr().map(|address| address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_with_a_listener_is_not_free() {
        let free = free_port(None).unwrap();
        assert!(PORTS.contains(&free), "{free}");
        let Ok(_listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, free)) else { return };
        assert_ne!(free_port(Some(free)).unwrap(), free);
    }
}
