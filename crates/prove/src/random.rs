//! The generator of all random choices: a seed repeats them.

/// Fast, small, and the same on every machine.
pub type SeededRandom = rand::rngs::Xoshiro256PlusPlus;
