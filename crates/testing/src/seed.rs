//! Seeds of property tests and the number of their cases: the same in every `make test`, so that a
//! test does not fail by chance; fresh ones in `make prove`, printed so that a failure can be
//! repeated. A failure that is found is kept as an example beside its property.

use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

use proptest::test_runner::{Config, RngSeed};

const USUAL_SEED: u64 = 20_261_124;

/// How many times the usual number a proof has.
const PROOF_FACTOR: u32 = 20;

/// Whether this is `make prove`.
#[must_use]
pub fn prove() -> bool {
    std::env::var("CROSSOVER_PROVE").is_ok_and(|value| value == "1")
}

/// The seed of every random choice in the tests of this process: `CROSSOVER_TEST_SEED`, or the
/// usual one, or in a proof a fresh one, which is printed.
#[must_use]
pub fn seed() -> u64 {
    static SEED: LazyLock<u64> = LazyLock::new(|| {
        let told = std::env::var("CROSSOVER_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
        told.unwrap_or_else(|| if prove() { fresh_seed() } else { USUAL_SEED })
    });
    *SEED
}

#[expect(clippy::print_stderr, reason = "a failure is repeated by it")]
fn fresh_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seed =
        u64::from(now.subsec_nanos()) ^ (now.as_secs() << 20) ^ u64::from(std::process::id());
    eprintln!("CROSSOVER_TEST_SEED={seed} repeats the random choices of this process");
    seed
}

/// `usual` repetitions; in a proof as many as `CROSSOVER_TEST_CASES` says, or twenty times as many.
#[must_use]
pub fn repetitions(usual: u32) -> u32 {
    let told = std::env::var("CROSSOVER_TEST_CASES").ok().and_then(|cases| cases.parse().ok());
    told.unwrap_or(if prove() { usual.saturating_mul(PROOF_FACTOR) } else { usual })
}

/// The configuration of a property test with `usual` cases.
#[must_use]
pub fn cases(usual: u32) -> Config {
    Config {
        rng_seed: RngSeed::Fixed(seed()),
        failure_persistence: None,
        ..Config::with_cases(repetitions(usual))
    }
}
