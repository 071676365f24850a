//! New inputs from kept ones: bytes and pieces changed, removed, doubled, taken from elsewhere.

use rand::RngExt as _;

use crate::random::SeededRandom;

const WORDS: [&[u8]; 28] = [
    b"0",
    b"-1",
    b"9223372036854775807",
    b"18446744073709551616",
    b"1e400",
    b"NaN",
    b"null",
    b"true",
    b"\"",
    b"'",
    b"\\",
    b"\0",
    b"\xff\xfe",
    b"\xc3",
    b"\r\n",
    b"\n\n",
    b",",
    b"{",
    b"}",
    b"[",
    b"]",
    b"%00",
    b"%",
    b"//",
    b"://",
    b"\xf0\x9f\x92\xa9",
    b"2021-02-30",
    b"--",
];

const CHANGES_MOST: usize = 6;

pub struct Mutator {
    corpus: Vec<Vec<u8>>,
}

impl Mutator {
    /// The corpus must not be empty.
    pub fn new(corpus: Vec<Vec<u8>>) -> Self {
        Self { corpus }
    }

    pub fn input(&self, random: &mut SeededRandom) -> Vec<u8> {
        let mut input = self.any(random).to_vec();
        for _ in 0..random.random_range(1..=CHANGES_MOST) {
            self.change(&mut input, random);
        }
        input
    }

    fn any(&self, random: &mut SeededRandom) -> &[u8] {
        self.corpus.get(random.random_range(0..self.corpus.len())).map_or(&[], Vec::as_slice)
    }

    fn change(&self, input: &mut Vec<u8>, random: &mut SeededRandom) {
        let at = random.random_range(0..=input.len());
        let end = at + random.random_range(0..=(input.len() - at).min(64));
        match random.random_range(0..7) {
            0 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= 1 << random.random_range(0..8);
                }
            }
            1 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte = random.random();
                }
            }
            2 => drop(input.drain(at..end)),
            3 => {
                let piece = input.get(at..end).unwrap_or_default().to_vec();
                for _ in 0..random.random_range(1..4) {
                    input.splice(at..at, piece.iter().copied());
                }
            }
            4 => {
                let word = WORDS.get(random.random_range(0..WORDS.len())).copied();
                input.splice(at..end, word.unwrap_or_default().iter().copied());
            }
            5 => {
                let other = self.any(random);
                let from = random.random_range(0..=other.len());
                let length = random.random_range(0..=(other.len() - from).min(256));
                let piece = other.get(from..from + length).unwrap_or_default().to_vec();
                input.splice(at..end, piece);
            }
            _ => input.truncate(at),
        }
    }
}
