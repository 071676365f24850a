//! Mutated input for everything that reads what others wrote: CSV, JSON, TOML, SQLite files, URLs,
//! HTTP requests. Each target has a corpus in corpora/; what makes one panic or lose rows is added
//! to corpora/found/, which the tests try again.

mod mutate;
mod target;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use rand::SeedableRng as _;

use crate::damage::Damage;
use crate::document::ReliabilityTable;
use crate::random::SeededRandom;
use crate::say;

use mutate::Mutator;
use target::FuzzTarget;

/// Tries between two looks at the clock and the table.
const BATCH: u64 = 100;
const INPUT_BYTES_MOST: usize = 1 << 16;

/// Runs every target whose name contains `only` for `duration`.
pub fn run(
    program: &Path,
    document: &mut ReliabilityTable,
    duration: Duration,
    only: &str,
    seed: u64,
) -> anyhow::Result<()> {
    // Panics are counted; their messages would hide the progress.
    std::panic::set_hook(Box::new(|_| {}));
    for name in target::NAMES.iter().filter(|name| name.contains(only)) {
        let what = format!("mutated input: {name}");
        say(&format!("{what}: {duration:?}"));
        let mut target = FuzzTarget::new(name, program)?;
        let mutator = Mutator::new(corpus(name)?);
        let mut random = SeededRandom::seed_from_u64(seed);
        let begun = Instant::now();
        while begun.elapsed() < duration {
            let mut damage = Damage::default();
            for _ in 0..BATCH {
                let mut input = mutator.input(&mut random);
                input.truncate(INPUT_BYTES_MOST);
                let of_input = match target.attempt(&input) {
                    Ok(damage) => damage,
                    Err(error) => {
                        let kept = keep(name, &input)?;
                        return Err(error.context(format!("{what}: kept as {}", kept.display())));
                    }
                };
                if of_input != Damage::default() {
                    let kept = keep(name, &input)?;
                    say(&format!("{what}: {of_input:?}, input kept as {}", kept.display()));
                }
                damage += of_input;
            }
            document.add(&what, BATCH, damage, "`make prove PART=fuzz`")?;
        }
    }
    Ok(())
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora").join(name)
}

/// The kept inputs of a target, those that were once found included.
fn corpus(name: &str) -> anyhow::Result<Vec<Vec<u8>>> {
    let mut inputs = target::made(name)?;
    let mut folders = vec![folder(name), folder("found").join(name)];
    if name == "plans" {
        folders.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments"));
    }
    for folder in folders {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths.iter().filter(|path| path.is_file()) {
            inputs.push(fs::read(path).with_context(|| path.display().to_string())?);
        }
    }
    anyhow::ensure!(!inputs.is_empty(), "{name}: no corpus");
    Ok(inputs)
}

fn keep(name: &str, input: &[u8]) -> anyhow::Result<PathBuf> {
    let folder = folder("found").join(name);
    fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{:016x}", xxhash_rust::xxh3::xxh3_64(input)));
    fs::write(&path, input)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every input that is kept, and some that are not, by a fixed seed.
    #[test]
    fn no_kept_input_does_damage() {
        for name in target::NAMES.iter().filter(|name| **name != target::REQUESTS) {
            let mut target = FuzzTarget::new(name, Path::new("none")).unwrap();
            let inputs = corpus(name).unwrap();
            let mutator = Mutator::new(inputs.clone());
            let mut random = SeededRandom::seed_from_u64(testing::seed());
            let mutated = (0..testing::repetitions(50)).map(|_| mutator.input(&mut random));
            for input in inputs.into_iter().chain(mutated) {
                let damage = target.attempt(&input).unwrap();
                assert_eq!(
                    damage,
                    Damage::default(),
                    "{name}: {}",
                    String::from_utf8_lossy(&input)
                );
            }
        }
    }
}
