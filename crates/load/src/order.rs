//! The order of requests: every client walks shuffled rounds of its own, and the same seed
//! gives the same orders again.

use plan::derive_seed;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;

/// An endless walk through rounds; a round holds each request as often as its weight says.
pub(super) struct Rounds {
    round: Vec<u16>,
    next: usize,
    finished: u32,
    random: Xoshiro256PlusPlus,
}

impl Rounds {
    pub(super) fn new(weights: &[u32], seed: u64, client: u16) -> Self {
        let mut round: Vec<u16> = (0u16..)
            .zip(weights)
            .flat_map(|(request, &weight)| (0..weight).map(move |_| request))
            .collect();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(derive_seed(seed, &[u64::from(client)]));
        round.shuffle(&mut random);
        Self { round, next: 0, finished: 0, random }
    }

    /// How many rounds are behind us.
    pub(super) fn finished(&self) -> u32 {
        self.finished
    }

    pub(super) fn next(&mut self) -> u16 {
        let request = self.round[self.next];
        self.next += 1;
        if self.next == self.round.len() {
            self.next = 0;
            self.finished = self.finished.saturating_add(1);
            self.round.shuffle(&mut self.random);
        }
        request
    }
}
