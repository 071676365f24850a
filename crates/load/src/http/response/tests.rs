//! Answers cut anywhere are read as if they came whole; framing that two readers could take
//! differently is refused.

use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

use super::*;

/// Feeds the bytes in pieces that end at `cuts`, as a connection would, and returns the
/// answer, the body and whether the connection stays.
fn read(bytes: &[u8], cuts: &[usize]) -> Result<(Answer, Vec<u8>, bool), String> {
    let mut reader = AnswerReader::default();
    reader.begin(false, Keep::Everything);
    let mut start = 0;
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    ends.push(bytes.len());
    ends.sort_unstable();
    for end in ends {
        start += reader.advance(&bytes[start..end])?;
    }
    if start < bytes.len() {
        return Err("bytes left over".to_owned());
    }
    if !reader.is_complete() && !reader.end_of_stream() {
        return Err("cut short".to_owned());
    }
    let (answer, keep_alive) = (reader.answer(), reader.keep_alive());
    Ok((answer, reader.take_kept().0, keep_alive))
}

fn in_chunks(body: &[u8], sizes: &[usize]) -> Vec<u8> {
    let mut coded = Vec::new();
    let mut rest = body;
    for &size in sizes.iter().chain([&body.len()]) {
        let (chunk, behind) = rest.split_at(size.min(rest.len()));
        rest = behind;
        if !chunk.is_empty() {
            coded.extend_from_slice(format!("{:X};e=1\r\n", chunk.len()).as_bytes());
            coded.extend_from_slice(chunk);
            coded.extend_from_slice(b"\r\n");
        }
    }
    coded.extend_from_slice(b"0\r\nX-Sum: 1\r\n\r\n");
    coded
}

proptest! {
    #![proptest_config(testing::cases(256))]

    #[test]
    fn every_split_of_every_framing_gives_the_same_answer(
        body in proptest::collection::vec(any::<u8>(), 0..300),
        sizes in proptest::collection::vec(1usize..80, 0..8),
        cuts in proptest::collection::vec(any::<usize>(), 0..30),
    ) {
        let expected =
            Answer { status: 200, body_bytes: body.len() as u64, body_hash: xxh3_128(&body) };
        let interim = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n".to_vec();
        let length = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
        let chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n".to_vec();
        let close = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_vec();
        for (bytes, stays) in [
            ([length.clone().into_bytes(), body.clone()].concat(), true),
            ([interim, length.into_bytes(), body.clone()].concat(), true),
            ([chunked, in_chunks(&body, &sizes)].concat(), true),
            ([close, body.clone()].concat(), false),
        ] {
            prop_assert_eq!(read(&bytes, &cuts), Ok((expected, body.clone(), stays)));
        }
    }

    #[test]
    fn no_input_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&bytes, &[]);
        let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        let _ = read(&[head.as_slice(), &bytes].concat(), &[]);
    }
}

#[test]
fn an_answer_without_a_body_ends_with_its_head() {
    let (answer, ..) = read(b"HTTP/1.1 204 No Content\r\n\r\n", &[]).unwrap();
    assert_eq!((answer.status, answer.body_bytes), (204, 0));
    let mut head = AnswerReader::default();
    head.begin(true, Keep::Hash);
    let text = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n";
    assert_eq!(head.advance(text), Ok(text.len()));
    assert!(head.is_complete());
}

#[test]
fn ambiguous_framing_is_refused() {
    for head in [
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
    ] {
        assert!(read(head.as_bytes(), &[]).is_err(), "{head}");
    }
}

#[test]
fn http_1_0_keeps_a_connection_only_if_it_says_so() {
    let keeps = |text: &str| read(text.as_bytes(), &[]).unwrap().2;
    assert!(!keeps("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"));
    assert!(keeps("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n"));
}

#[test]
fn a_hash_survives_json() {
    let answer = Answer { status: 200, body_bytes: 3, body_hash: xxh3_128(b"abc") };
    let text = serde_json::to_string(&answer).unwrap();
    assert!(text.contains("\"06b05ab6733a618578af5f94892f3950\""), "{text}");
    assert_eq!(serde_json::from_str::<Answer>(&text).unwrap(), answer);
}
