//! Names and passwords of accounts. Their storage is tested on both engines in `tests/suite`.

use super::*;

#[test]
fn a_password_has_bounds_and_is_hidden_in_debug_output() {
    for text in ["", "too short", &"x".repeat(201)] {
        assert!(matches!(Password::chosen(text), Err(Error::BadPassword)), "{text:?}");
    }
    for text in ["ten of them", "zehn Zeichen Ü", &"🦀".repeat(200)] {
        assert_eq!(format!("{:?}", Password::chosen(text).unwrap()), "Password(hidden)");
    }
}

#[tokio::test]
async fn a_hash_is_salted_and_accepts_only_its_password() {
    let hash = || Password::chosen("correct horse").unwrap().hash();
    let (first, second) = (hash().await.unwrap(), hash().await.unwrap());
    assert_ne!(first, second);
    assert!(first.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{first}");
    assert!(first.len() <= 255, "the column ends there");
    let is_right = |text: &str, stored| password::is_right(text.to_owned(), stored);
    assert!(is_right("correct horse", Some(first.clone())).await.unwrap());
    assert!(!is_right("correct horsf", Some(first)).await.unwrap());
    assert!(
        !is_right("a password without an account", None).await.unwrap(),
        "the placeholder hash matches no password"
    );
}

#[test]
fn session_tokens_differ_and_are_hexadecimal() {
    let token = SessionToken::generate().unwrap();
    let csrf = token.csrf_token();
    assert_ne!(token.expose(), csrf);
    assert_ne!(token.hash(), csrf);
    assert!(token.is_csrf_token(&csrf));
    assert!(!token.is_csrf_token(""));
    assert!(!token.is_csrf_token(&SessionToken::generate().unwrap().csrf_token()));
    assert_eq!(SessionToken::presented(token.expose()).unwrap().hash(), token.hash());
    for text in ["", "abc", &"g".repeat(64), &"0".repeat(65), "' OR 1=1 --"] {
        assert!(SessionToken::presented(text).is_none(), "{text}");
    }
}

#[test]
fn the_link_holds_for_an_hour() {
    let link = SetupToken::generate().unwrap();
    let now = std::time::Instant::now();
    let later = |minutes: u64| now + std::time::Duration::from_secs(60 * minutes);
    assert!(link.holds(link.expose(), now));
    assert!(link.holds(link.expose(), later(59)));
    assert!(!link.holds(link.expose(), later(61)));
    assert!(!link.holds("", now));
}
