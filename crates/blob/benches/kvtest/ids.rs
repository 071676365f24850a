//! The ids that kvtest takes, so that both programs read and overwrite the same blobs in the same
//! order.

/// kvtest's `--random`: the first blob, then its own fixed sequence of random numbers.
pub struct KvtestIds {
    largest: u32,
    next: u32,
    shifted: u32,
    multiplied: u32,
}

impl KvtestIds {
    pub fn new(largest: u32) -> Self {
        Self { largest, next: 1, shifted: 0x333a_13cd, multiplied: 0xecb2_adea }
    }
}

impl Iterator for KvtestIds {
    type Item = u64;

    /// `randInt` of kvtest.c: a shift register and a linear congruential generator.
    fn next(&mut self) -> Option<u64> {
        let now = self.next;
        let feedback = (self.shifted & 1) * 0xd000_0001;
        self.shifted = (self.shifted >> 1) ^ feedback;
        self.multiplied = self.multiplied.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        self.next = (self.shifted ^ self.multiplied) % self.largest + 1;
        Some(now.into())
    }
}
