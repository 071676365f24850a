//! Bytes through a relay: all of them, in their order, both ways at once.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::thread;
use std::time::Duration;

use host::relay::{Relay, Upstream};

const BYTES: usize = 20 << 20;

/// Bytes that follow from a seed, so that a piece in another place is another.
fn bytes(seed: u64) -> Vec<u8> {
    let mut state = seed;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as u8
    };
    std::iter::repeat_with(next).take(BYTES).collect()
}

/// Writes all of `ours` while it reads as many.
fn exchange(stream: &TcpStream, ours: &[u8]) -> Vec<u8> {
    thread::scope(|scope| {
        let (mut to, mut from) = (stream, stream);
        scope.spawn(move || to.write_all(ours).unwrap());
        let mut theirs = vec![0; BYTES];
        from.read_exact(&mut theirs).unwrap();
        theirs
    })
}

#[test]
fn a_relay_keeps_every_byte_in_its_order_both_ways() {
    let program = Path::new(env!("CARGO_BIN_EXE_crossover"));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let upstream = Upstream::Tcp(vec![listener.local_addr().unwrap()]);
    let relay = Relay::start(program, &upstream, Duration::from_millis(1)).unwrap();
    let (there, back) = (bytes(1), bytes(2));
    thread::scope(|scope| {
        let (there, back) = (&there, &back);
        scope.spawn(move || {
            let server = listener.accept().unwrap().0;
            assert!(exchange(&server, back) == *there, "what clients sent has changed");
        });
        let client = TcpStream::connect(relay.address()).unwrap();
        assert!(exchange(&client, there) == *back, "what the server sent has changed");
        drop(client);
    });
}

#[test]
fn a_connection_that_ends_on_one_side_ends_on_the_other() {
    let program = Path::new(env!("CARGO_BIN_EXE_crossover"));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let upstream = Upstream::Tcp(vec![listener.local_addr().unwrap()]);
    let relay = Relay::start(program, &upstream, Duration::from_millis(1)).unwrap();
    let mut client = TcpStream::connect(relay.address()).unwrap();
    let mut server = listener.accept().unwrap().0;
    client.write_all(b"last words").unwrap();
    drop(client);
    let mut heard = Vec::new();
    server.read_to_end(&mut heard).unwrap();
    assert_eq!(heard, b"last words");
}
