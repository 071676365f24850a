//! The observations of a trial in a compact form, about nine bytes each, so that ten million of
//! them fit into memory while a trial runs; they are written to disk between trials.

use crate::{Observation, Outcome};

/// Grows by pieces of this size: nothing is copied while load is offered.
const PIECE_BYTES: usize = 1 << 20;
/// The longest encoding of one observation.
const OBSERVATION_BYTES_MAX: usize = 3 + 3 + 1 + 3 + 10 + 10;

/// Observations of several threads, one after another, on one time line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observations {
    logs: Vec<ObservationLog>,
}

/// Observations of one thread, in the order of the answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservationLog {
    pieces: Vec<Vec<u8>>,
    count: usize,
    last_start_ns: u64,
    /// Added to every start when it is read.
    late_ns: u64,
}

impl Observations {
    #[must_use]
    pub fn len(&self) -> usize {
        self.logs.iter().map(|log| log.count).sum()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them: thread by thread, each in the order of its answers.
    pub fn iter(&self) -> impl Iterator<Item = Observation> + '_ {
        self.logs.iter().flat_map(ObservationLog::iter)
    }

    /// Adds those of a thread whose clock began `late_ns` after the trial.
    pub fn add(&mut self, mut log: ObservationLog, late_ns: u64) {
        log.late_ns = late_ns;
        self.logs.push(log);
    }
}

impl FromIterator<Observation> for Observations {
    fn from_iter<I: IntoIterator<Item = Observation>>(observations: I) -> Self {
        let mut log = ObservationLog::default();
        for one in observations {
            log.push(&one);
        }
        Self { logs: vec![log] }
    }
}

impl ObservationLog {
    pub fn push(&mut self, one: &Observation) {
        let full = |piece: &Vec<u8>| piece.capacity() - piece.len() < OBSERVATION_BYTES_MAX;
        if self.pieces.last().is_none_or(full) {
            self.pieces.push(Vec::with_capacity(PIECE_BYTES));
        }
        let Some(piece) = self.pieces.last_mut() else { return };
        let since_last = one.start_ns.wrapping_sub(self.last_start_ns).cast_signed();
        self.last_start_ns = one.start_ns;
        self.count += 1;
        push_number(piece, one.client.into());
        push_number(piece, one.request.into());
        let (code, status) = encode(one.outcome);
        piece.push(code);
        if code == STATUS {
            push_number(piece, status.into());
        }
        // Small whether positive or negative: 0, -1, 1, -2, ... are 0, 1, 2, 3, ...
        push_number(piece, ((since_last << 1) ^ (since_last >> 63)).cast_unsigned());
        push_number(piece, one.response_time_ns);
    }

    /// The observations as bytes, for another process.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.pieces.concat()
    }

    /// Those of [`Self::to_bytes`].
    #[must_use]
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        let mut log = Self { pieces: vec![bytes], ..Self::default() };
        let (count, last) = log.iter().fold((0, 0), |(count, _), one| (count + 1, one.start_ns));
        (log.count, log.last_start_ns) = (count, last);
        log
    }

    fn iter(&self) -> impl Iterator<Item = Observation> + '_ {
        let mut last_start_ns = 0u64;
        self.pieces.iter().flat_map(|piece| Pieces { rest: piece }).map(move |mut one| {
            last_start_ns = last_start_ns.wrapping_add(one.start_ns);
            one.start_ns = last_start_ns.wrapping_add(self.late_ns);
            one
        })
    }
}

/// The observations of one piece; their starts still count from the one before.
struct Pieces<'a> {
    rest: &'a [u8],
}

impl Iterator for Pieces<'_> {
    type Item = Observation;

    fn next(&mut self) -> Option<Observation> {
        if self.rest.is_empty() {
            return None;
        }
        let client = take_number(&mut self.rest) as u16;
        let request = take_number(&mut self.rest) as u16;
        let code = take_number(&mut self.rest) as u8;
        let status = if code == STATUS { take_number(&mut self.rest) as u16 } else { 0 };
        let since_last = take_number(&mut self.rest);
        let since_last = (since_last >> 1) ^ (since_last & 1).wrapping_neg();
        let response_time_ns = take_number(&mut self.rest);
        let outcome = decode(code, status);
        Some(Observation { client, request, start_ns: since_last, response_time_ns, outcome })
    }
}

/// Seven bits a byte, the lowest first; the highest bit says that more follow.
fn push_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take_number(bytes: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0, 0);
    while let Some((&byte, rest)) = bytes.split_first() {
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 {
            break;
        }
    }
    number
}

/// The outcome that carries a number.
const STATUS: u8 = 1;

fn encode(outcome: Outcome) -> (u8, u16) {
    match outcome {
        Outcome::Ok => (0, 0),
        Outcome::Status(status) => (STATUS, status),
        Outcome::WrongAnswer => (2, 0),
        Outcome::ConnectionFailed => (3, 0),
        Outcome::ConnectionLost => (4, 0),
        Outcome::TimedOut => (5, 0),
        Outcome::Malformed => (6, 0),
        Outcome::NotSent => (7, 0),
        Outcome::Refused => (8, 0),
    }
}

fn decode(code: u8, status: u16) -> Outcome {
    match code {
        0 => Outcome::Ok,
        STATUS => Outcome::Status(status),
        2 => Outcome::WrongAnswer,
        3 => Outcome::ConnectionFailed,
        4 => Outcome::ConnectionLost,
        5 => Outcome::TimedOut,
        6 => Outcome::Malformed,
        7 => Outcome::NotSent,
        _ => Outcome::Refused,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn outcome() -> impl Strategy<Value = Outcome> {
        (0u8..9, any::<u16>()).prop_map(|(code, status)| decode(code, status))
    }

    prop_compose! {
        fn observation()(
            client in any::<u16>(),
            request in any::<u16>(),
            start_ns in any::<u64>(),
            response_time_ns in any::<u64>(),
            outcome in outcome(),
        ) -> Observation {
            Observation { client, request, start_ns, response_time_ns, outcome }
        }
    }

    proptest! {
        #![proptest_config(testing::cases(256))]

        #[test]
        fn every_observation_comes_back(all in proptest::collection::vec(observation(), 0..100)) {
            let compact: Observations = all.iter().copied().collect();
            prop_assert_eq!(compact.len(), all.len());
            prop_assert_eq!(compact.iter().collect::<Vec<_>>(), all);
        }

        #[test]
        fn a_log_comes_back_from_its_bytes(
            all in proptest::collection::vec(observation(), 0..100),
            more in observation(),
        ) {
            let mut log = ObservationLog::default();
            all.iter().for_each(|one| log.push(one));
            let mut back = ObservationLog::from_bytes(log.to_bytes());
            prop_assert_eq!(back.count, all.len());
            log.push(&more);
            back.push(&more);
            prop_assert!(back.iter().eq(log.iter()));
        }
    }

    #[test]
    fn ten_million_fit_into_a_hundred_megabytes() {
        // 64 clients that answer in about a millisecond, at 64,000 requests per second.
        let observations: Observations = (0..1_000_000u64)
            .map(|number| Observation {
                client: (number % 64) as u16,
                request: (number % 9) as u16,
                start_ns: number * 15_625 + number * 7_919 % 100_000,
                response_time_ns: 1_000_000 + number * 104_729 % 500_000,
                outcome: Outcome::Ok,
            })
            .collect();
        let bytes: usize =
            observations.logs.iter().flat_map(|log| &log.pieces).map(Vec::capacity).sum();
        assert!(bytes <= 10 * 1_000_000 + PIECE_BYTES, "{bytes} bytes for a million");
    }
}
