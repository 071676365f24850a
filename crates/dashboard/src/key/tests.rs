//! Keys and their hashes. Their storage is tested on both engines in `tests/suite/key.rs`.

use super::*;

#[test]
fn keys_are_long_random_and_fit_into_a_header() {
    let (first, second) = (ApiKey::generate().unwrap(), ApiKey::generate().unwrap());
    assert_ne!(first, second);
    assert_eq!(first.expose().len(), "crossover_".len() + 64);
    assert_eq!(ApiKey::given(first.expose()).unwrap(), first);
}

#[test]
fn a_key_is_not_shown_by_accident() {
    let key = ApiKey::given("secret").unwrap();
    assert_eq!(format!("{key:?}"), "Key(hidden)");
}

#[test]
fn the_hash_is_sha_256_in_hexadecimal() {
    // FIPS 180-4, the example "abc".
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let hash = ApiKey::given(" abc\n").unwrap().hash();
    assert_eq!(hash.as_str(), abc);
    assert!(hash.is(abc));
    assert!(!hash.is(&abc[..63]));
    assert!(!hash.is(&abc.replace('b', "c")));
}

#[test]
fn a_key_without_a_valid_header_value_is_refused() {
    for text in ["", " \n", "two words", "two\nlines", "schlüssel"] {
        assert!(matches!(ApiKey::given(text), Err(Error::BadKey)), "{text:?}");
    }
}
