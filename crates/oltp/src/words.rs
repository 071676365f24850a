//! Hungarian words, with every letter that ISO 8859-2 has and ASCII has not, and the forms in
//! which they are sent.

use std::sync::LazyLock;

use crate::random::Random;
use plan::oltp::CharacterSet;

/// Everyday nouns; together they hold all nine accented vowels.
static WORDS: LazyLock<Vec<&str>> =
    LazyLock::new(|| include_str!("words/nouns.txt").lines().collect());

/// Towns of [`plan::oltp::Schema::Orders`] are numbered after one of these.
static TOWNS: LazyLock<Vec<&str>> =
    LazyLock::new(|| include_str!("words/towns.txt").lines().collect());

/// Appends `count` words, with blanks between them.
pub(crate) fn append_words(count: u64, set: CharacterSet, random: &mut Random, out: &mut Vec<u8>) {
    for position in 0..count {
        if position > 0 {
            out.push(b' ');
        }
        append(word(random), set, out);
    }
}

/// Appends the name of a town, from 0.
pub(crate) fn append_town(town: u64, out: &mut Vec<u8>) {
    let name = TOWNS.get((town % TOWNS.len() as u64) as usize).copied().unwrap_or_default();
    out.extend_from_slice(name.as_bytes());
    out.push(b' ');
    out.extend_from_slice(town.to_string().as_bytes());
}

fn word(random: &mut Random) -> &'static str {
    let index = random.below(WORDS.len() as u64) as usize;
    WORDS.get(index).copied().unwrap_or_default()
}

fn append(text: &str, set: CharacterSet, out: &mut Vec<u8>) {
    match set {
        // SQLite takes UTF-8 and stores UTF-16 by itself.
        CharacterSet::Utf8 | CharacterSet::Utf16 => out.extend_from_slice(text.as_bytes()),
        CharacterSet::Latin2 => out.extend(text.chars().map(latin2)),
    }
}

/// ISO 8859-2 shares most of Hungarian's letters with ISO 8859-1, whose codes are Unicode's.
fn latin2(letter: char) -> u8 {
    match letter {
        'ő' => 0xF5,
        'ű' => 0xFB,
        other => u8::try_from(u32::from(other)).unwrap_or(b'?'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_has_its_byte_and_all_accents_occur() {
        for word in WORDS.iter() {
            let mut bytes = Vec::new();
            append(word, CharacterSet::Latin2, &mut bytes);
            assert_eq!(bytes.len(), word.chars().count());
            assert!(!bytes.contains(&b'?'), "{word}");
        }
        let all = WORDS.concat();
        assert!("áéíóöőúüű".chars().all(|letter| all.contains(letter)));
    }
}
