//! Spellings: when two texts are one name, and when a text is found by another. Both engines
//! compare bytes, so texts are brought to one form before they reach a database.

use std::borrow::Cow;

use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

/// Characters without width that editors and web pages leave in names.
const INVISIBLE: [char; 3] = ['\u{200b}', '\u{2060}', '\u{feff}'];

/// A text in Unicode's composed form (NFC): `é` is one character, however it was typed.
pub(crate) fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfc().collect())
}

/// A name as stored: composed, without blanks at its ends, one blank between words.
pub(crate) fn tidied(name: &str) -> String {
    let visible: String = name.chars().filter(|one| !INVISIBLE.contains(one)).collect();
    composed(&visible).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The same for all spellings of a name that differ in case, Unicode form or blanks only.
pub(crate) fn identity(name: &str) -> String {
    composed(&without_case(&tidied(name))).into_owned()
}

/// Letters that Unicode does not take apart into a letter and an accent, and what is typed for them.
const PLAIN_LETTERS: [(char, &str); 12] = [
    ('ł', "l"),
    ('ø', "o"),
    ('đ', "d"),
    ('ð', "d"),
    ('þ', "th"),
    ('æ', "ae"),
    ('œ', "oe"),
    ('ı', "i"),
    ('ħ', "h"),
    ('ŧ', "t"),
    ('ŋ', "n"),
    ('ĸ', "k"),
];

/// A text as searches compare it: without case, accents, and kinds of blanks.
pub(crate) fn folded(text: &str) -> String {
    if text.is_ascii() {
        return single_blanks(text.to_ascii_lowercase());
    }
    let letters: String = text.nfkd().filter(|one| !is_combining_mark(*one)).collect();
    let mut plain = String::with_capacity(letters.len());
    for one in without_case(&letters).chars() {
        match PLAIN_LETTERS.iter().find(|(letter, _)| *letter == one) {
            Some((_, typed)) => plain.push_str(typed),
            None => plain.push(one),
        }
    }
    single_blanks(plain)
}

/// Upper case first: it writes `ß` and `ss` alike, and both sigmas.
fn without_case(text: &str) -> String {
    text.to_uppercase().to_lowercase()
}

/// As a search for two words is typed with one blank.
fn single_blanks(text: String) -> String {
    let mut single = String::with_capacity(text.len());
    for one in text.chars() {
        match one.is_whitespace() {
            true if single.ends_with(' ') => {}
            true => single.push(' '),
            false => single.push(one),
        }
    }
    single
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_name_are_one_and_accents_make_another() {
        let name = "Zoë García";
        for same in [
            "zoë garcía",
            "ZOË GARCÍA",
            "Zoe\u{308} Garci\u{301}a",
            "  Zoë \u{a0} García\t",
            "Zoë\u{200b} García",
        ] {
            assert_eq!(identity(same), identity(name), "{same}");
        }
        assert_eq!(tidied(" Zoe\u{308} \u{a0}Garci\u{301}a "), name);
        for (one, other) in
            [("Zoë", "Zoe"), ("Łukasz", "Lukasz"), ("Ann Lee", "Annlee"), ("C", "C#")]
        {
            assert_ne!(identity(one), identity(other));
        }
        assert_eq!(identity("STRASSE"), identity("Straße"));
    }

    #[test]
    fn searches_find_without_accents_and_case() {
        for (text, search) in [
            ("Zoë García", "garcia"),
            ("Garci\u{301}a", "GARCÍA"),
            ("Łódź  dla\u{a0}początkujących", "Łodz dla p"),
            ("Ｆｕｌｌ width", "full"),
            ("ΟΔΟΣ", "οδος"),
            ("Łukasz Øster", "lukasz oster"),
            ("Đorđe, Þór, Guðrún", "dorde, thor, gudrun"),
            ("Ærøskøbing œuvre", "aeroskobing oeuvre"),
            ("Straße", "strasse"),
            ("Diyarbakır, ISPARTA", "diyarbakir, isparta"),
            ("lukasz", "Łukasz"),
        ] {
            assert!(folded(text).contains(&folded(search)), "{text} {search}");
        }
        assert!(!folded("Garcia").contains(&folded("Garzia")));
    }
}
