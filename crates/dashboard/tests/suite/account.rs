//! Accounts in both engines: only hashes are stored, a session ends with its account, its password
//! and its time.

use dashboard::account::{self, AccessControl, Error, Password, SessionToken};
use engine::DatabaseUrl;

use crate::database::both;
use crate::rows::Rows;

fn password(text: &str) -> Password {
    Password::chosen(text).unwrap()
}

async fn signed_in(access: &AccessControl, name: &str, password: &str) -> Option<SessionToken> {
    access.sign_in(name, password).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_signs_in_by_the_password_and_by_nothing_else() {
    for database in both(&Rows::none()).await {
        let access = AccessControl::open(&database.url).await.unwrap();
        assert!(!access.has_accounts().await.unwrap());
        assert!(signed_in(&access, "ann", "correct horse").await.is_none());
        account::add(&database.url, "ann", password("correct horse")).await.unwrap();
        account::add(&database.url, "O'Neil 🦀", password("battery staple")).await.unwrap();
        assert!(access.has_accounts().await.unwrap());
        for (name, text) in [
            ("ann", "correct horsE"),
            ("ann", "battery staple"),
            ("ann", ""),
            ("Ann", "correct horse"),
            ("ann ", "correct horse"),
            ("nobody", "correct horse"),
            ("' OR 1=1 --", "correct horse"),
            ("\0", "correct horse"),
        ] {
            assert!(signed_in(&access, name, text).await.is_none(), "{name:?} {text:?}");
        }
        let session = signed_in(&access, "O'Neil 🦀", "battery staple").await.unwrap();
        assert_eq!(access.person(&session).await.unwrap().unwrap().name, "O'Neil 🦀");
        let other = SessionToken::presented(&"0".repeat(64)).unwrap();
        assert_eq!(access.person(&other).await.unwrap(), None);
        access.sign_out(&session).await.unwrap();
        assert_eq!(access.person(&session).await.unwrap(), None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_with_its_time_its_password_and_its_account() {
    for database in both(&Rows::none()).await {
        let url = &database.url;
        let access = AccessControl::open(url).await.unwrap();
        account::add(url, "ann", password("correct horse")).await.unwrap();
        let first = signed_in(&access, "ann", "correct horse").await.unwrap();
        assert_eq!(account::list(url).await.unwrap()[0].sessions, 1);
        database.execute("UPDATE sessions SET expires_at = 1000").await;
        assert_eq!(access.person(&first).await.unwrap(), None);
        assert_eq!(account::list(url).await.unwrap()[0].sessions, 0);
        let second = signed_in(&access, "ann", "correct horse").await.unwrap();
        account::set_password(url, "ann", password("battery staple")).await.unwrap();
        assert_eq!(access.person(&second).await.unwrap(), None);
        assert!(signed_in(&access, "ann", "correct horse").await.is_none());
        let third = signed_in(&access, "ann", "battery staple").await.unwrap();
        account::remove(url, "ann").await.unwrap();
        assert_eq!(access.person(&third).await.unwrap(), None);
        assert!(!access.has_accounts().await.unwrap());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn neither_password_nor_session_can_be_read_in_the_database() {
    for database in both(&Rows::none()).await {
        account::add(&database.url, "ann", password("correct horse")).await.unwrap();
        let access = AccessControl::open(&database.url).await.unwrap();
        let session = signed_in(&access, "ann", "correct horse").await.unwrap();
        let everything = match &database.url {
            DatabaseUrl::Sqlite(path) => {
                let mut bytes = std::fs::read(path).unwrap();
                bytes.extend(std::fs::read(path.with_extension("db-wal")).unwrap_or_default());
                String::from_utf8_lossy(&bytes).into_owned()
            }
            DatabaseUrl::Postgres(url) => {
                let client = connect::postgres::connect(url).await.unwrap();
                let all = "SELECT (SELECT string_agg(a::text, ' ') FROM accounts a) ||
                           (SELECT string_agg(s::text, ' ') FROM sessions s)";
                client.query_one(all, &[]).await.unwrap().get(0)
            }
        };
        assert!(everything.contains("$argon2id$"), "the search itself finds nothing");
        for secret in ["correct horse", session.expose(), &session.csrf_token()] {
            assert!(!everything.contains(secret), "{secret}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_are_named() {
    let mut messages = Vec::new();
    for database in both(&Rows::none()).await {
        let url = &database.url;
        let mut seen = vec![account::remove(url, "ann").await.unwrap_err().to_string()];
        account::add(url, "ann", password("correct horse")).await.unwrap();
        for name in ["ann", "", " ann", "two\nlines", &"x".repeat(65)] {
            let error = account::add(url, name, password("correct horse")).await.unwrap_err();
            seen.push(error.to_string());
        }
        seen.push(account::remove(url, "anm").await.unwrap_err().to_string());
        let other = account::set_password(url, "bob", password("correct horse")).await;
        seen.push(other.unwrap_err().to_string());
        seen.push(Password::chosen("short").unwrap_err().to_string());
        messages.push(seen);
    }
    assert_eq!(messages[0], messages[1]);
    insta::assert_snapshot!(messages[0].join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_link_makes_one_account_and_no_second() {
    for database in both(&Rows::none()).await {
        let access = AccessControl::open(&database.url).await.unwrap();
        let make = async |secret: &str, password: &str| {
            access.make_first_account(secret, "ann", password).await
        };
        assert!(matches!(make("", "correct horse").await, Err(Error::LinkExpired)));
        let earlier = access.offer_first_account().unwrap();
        let link = access.offer_first_account().unwrap();
        assert!(matches!(make(earlier.expose(), "correct horse").await, Err(Error::LinkExpired)));
        // A password that is too short does not use up the link.
        assert!(matches!(make(link.expose(), "short").await, Err(Error::BadPassword)));
        let session = make(link.expose(), "correct horse").await.unwrap();
        assert_eq!(access.person(&session).await.unwrap().unwrap().name, "ann");
        assert!(matches!(make(link.expose(), "correct horse").await, Err(Error::LinkExpired)));
        // Nor another link, once there is an account.
        let late = access.offer_first_account().unwrap();
        assert!(matches!(make(late.expose(), "correct horse").await, Err(Error::LinkExpired)));
        assert_eq!(account::list(&database.url).await.unwrap().len(), 1);
    }
}

/// A session outlives another way to reach its database, and no two databases share one.
#[tokio::test(flavor = "multi_thread")]
async fn a_cookie_belongs_to_a_database_and_not_to_its_url() {
    let cookie =
        async |url: &DatabaseUrl| AccessControl::open(url).await.unwrap().cookie().to_owned();
    let mut cookies = Vec::new();
    for database in [both(&Rows::none()).await, both(&Rows::none()).await].iter().flatten() {
        let here = cookie(&database.url).await;
        let elsewhere = match &database.url {
            DatabaseUrl::Sqlite(path) => {
                format!("sqlite://{}/./dashboard.db", path.parent().unwrap().display())
            }
            DatabaseUrl::Postgres(url) => format!("{}&application_name=x", url.expose()),
        };
        assert_eq!(cookie(&elsewhere.parse().unwrap()).await, here);
        cookies.push(here);
    }
    cookies.sort();
    cookies.dedup();
    assert_eq!(cookies.len(), 4);
}
