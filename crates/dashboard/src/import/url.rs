//! The normal form of URLs: two URLs with one normal form belong to one article.
//! docs/reference/dashboard.md states the rules for users.
//!
//! - The scheme does not count, nor `www.`, a default port, a dot at the end of the host.
//! - Upper and lower case are the same, in the path too.
//! - Slashes at the end and repeated slashes do not count.
//! - Fragments and tracking parameters do not count; other parameters do, in any order.
//! - What is percent-encoded, once or several times, is what it stands for, except characters that
//!   separate. Letters have Unicode's composed form, hosts are written without `xn--`.

use std::borrow::Cow;

use crate::query::quoted;
use crate::spelling::composed;

/// Parameters that tell where a reader came from, not what was read; also all that begin with one
/// of [`TRACKING_PREFIXES`].
const TRACKING: [&str; 32] = [
    "_ga",
    "_gl",
    "_hsenc",
    "_hsmi",
    "_openstat",
    "dclid",
    "epik",
    "fb_action_ids",
    "fb_source",
    "fbclid",
    "gad_source",
    "gbraid",
    "gclid",
    "gclsrc",
    "hsctatracking",
    "igshid",
    "li_fat_id",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "msclkid",
    "oly_anon_id",
    "oly_enc_id",
    "rb_clickid",
    "s_cid",
    "srsltid",
    "ttclid",
    "twclid",
    "vero_conv",
    "vero_id",
    "wbraid",
    "yclid",
];

const TRACKING_PREFIXES: [&str; 3] = ["utm_", "mtm_", "pk_"];

/// Longer forms are cut and marked by a hash of the whole: a key of a table has to fit a page.
const LONGEST: usize = 1_024;

/// Services encode what is encoded already, but not more often than this.
const ENCODED_AT_MOST: usize = 8;

/// The form of a URL, of a path without its host, or of whatever is in its place.
pub(super) fn normal_form(text: &str) -> String {
    let text = text.trim();
    let text = text.split_once('#').map_or(text, |(before, _)| before);
    let (address, query) = text.split_once('?').unwrap_or((text, ""));
    let (host, path) = host_and_path(address);
    let mut form = host;
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        form.push('/');
        form.push_str(&decoded(segment));
    }
    if form.is_empty() && path.starts_with('/') {
        form.push('/');
    }
    let mut parameters: Vec<String> = query
        .split('&')
        .filter(|parameter| !parameter.is_empty() && !is_tracking(parameter))
        .map(|parameter| decoded(parameter).to_lowercase())
        .collect();
    parameters.sort_unstable();
    form = form.to_lowercase();
    if !parameters.is_empty() {
        form.push('?');
        form.push_str(&parameters.join("&"));
    }
    // PostgreSQL's text may not hold a null, and a terminal would obey others in a list.
    form.retain(|character| !character.is_control());
    shortened(composed(&form).into_owned())
}

/// Refuses URLs of other schemes than http and https: a page that shows one as a link would run or
/// open what it says. A host may stand without a scheme, also with a port.
pub(super) fn refuse_other_schemes(text: &str) -> Result<(), String> {
    // Browsers pass over white space and control characters in a scheme.
    let text: String =
        text.chars().filter(|one| !one.is_control() && !one.is_whitespace()).collect();
    let Some((scheme, rest)) = text.split_once(':') else { return Ok(()) };
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let port = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    // A word alone may be a scheme: `tel:12345`, `javascript:1/alert()`.
    let is_host = scheme.contains('.') || scheme.eq_ignore_ascii_case("localhost");
    let is_web = ["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web));
    if !is_scheme || is_web && rest.starts_with("//") || is_host && is_port {
        return Ok(());
    }
    Err(format!(
        "{} is not an address of a web page: its scheme is neither http nor https",
        quoted(&text)
    ))
}

/// The tracking parameters of a URL as written: each click has its own.
pub(super) fn tracking(text: &str) -> impl Iterator<Item = &str> {
    let text = text.split_once('#').map_or(text, |(before, _)| before);
    let query = text.split_once('?').map_or("", |(_, query)| query);
    query.split('&').filter(|parameter| is_tracking(parameter))
}

/// Whether a form is that of a path alone.
pub(super) fn is_path(form: &str) -> bool {
    form.starts_with('/')
}

/// The host in lower case for comparison, and the path as written. An address that begins
/// with a slash has no host.
fn host_and_path(address: &str) -> (String, &str) {
    let after_scheme = match address.split_once("://") {
        Some((scheme, rest)) if scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
            Some(rest)
        }
        _ => address.strip_prefix("//"),
    };
    let (authority, path) = match after_scheme {
        Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
        None if address.starts_with('/') => return (String::new(), address),
        None => {
            let (first, path) = address.split_at(address.find('/').unwrap_or(address.len()));
            if !first.contains('.') || first.contains(' ') {
                // "(not set)" and the like: kept unchanged, and never those of an article.
                return (decoded(first).into_owned(), path);
            }
            (first, path)
        }
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = host.strip_suffix(":80").or_else(|| host.strip_suffix(":443")).unwrap_or(host);
    let host = readable_host(&decoded(host.trim_end_matches('.')).to_lowercase());
    (host.strip_prefix("www.").map_or(host.clone(), str::to_owned), path)
}

/// A host in letters: browsers and analytics services write `café.fr` as `xn--caf-dma.fr`.
fn readable_host(host: &str) -> String {
    if host.is_ascii() && !host.contains("xn--") {
        return host.to_owned();
    }
    match idna::domain_to_unicode(host) {
        (readable, Ok(())) => readable,
        (_, Err(_)) => host.to_owned(),
    }
}

fn is_tracking(parameter: &str) -> bool {
    let name = parameter.split_once('=').map_or(parameter, |(name, _)| name).to_lowercase();
    TRACKING.binary_search(&name.as_str()).is_ok()
        || TRACKING_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// With percent-encoded characters decoded, unless they separate parts of a URL or control a
/// terminal. Bytes that are not text stay encoded, with small letters.
fn decoded(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for _ in 0..ENCODED_AT_MOST {
        if !text.contains('%') {
            break;
        }
        let once = decoded_once(&text);
        if once == text {
            break;
        }
        text = Cow::Owned(once);
    }
    text
}

fn decoded_once(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let byte = if *first == b'%' { encoded_byte(after) } else { None };
        let after_byte = after.get(2..).unwrap_or_default();
        let stands = |byte: &u8| match byte {
            b'%' => encoded_byte(after_byte).is_some(),
            byte => !b"/?#&=+".contains(byte) && !byte.is_ascii_control(),
        };
        let byte = byte.filter(stands);
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { after_byte } else { after };
    }
    let mut decoded = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        decoded.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| decoded.push_str(&format!("%{byte:02x}")));
    }
    decoded
}

/// The byte that two hexadecimal digits stand for.
fn encoded_byte(digits: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(digits.get(..2)?).ok()?;
    if digits.starts_with('+') { None } else { u8::from_str_radix(digits, 16).ok() }
}

fn shortened(form: String) -> String {
    if form.len() <= LONGEST {
        return form;
    }
    let hash = format!("...{:016x}", xxhash_rust::xxh3::xxh3_64(form.as_bytes()));
    let mut end = LONGEST - hash.len();
    while !form.is_char_boundary(end) {
        end -= 1;
    }
    form.get(..end).unwrap_or_default().to_owned() + &hash
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_addresses_of_web_pages_are_taken() {
        let taken = [
            "https://example.com/a:b",
            "HTTP://example.com",
            "//example.com/a",
            "example.com:8080/a",
            "localhost:8080/a",
            "www.example.com/a?to=javascript:b",
            "/path:with:colons",
            "(not set)",
            "(other): more",
        ];
        for url in taken {
            assert_eq!(refuse_other_schemes(url), Ok(()), "{url}");
        }
        let refused = [
            "javascript:alert(1)",
            " JavaScript://example.com/%0aalert(1)",
            "java\tscript:alert(1)//x.y",
            "data:text/html,x.y",
            "file:///etc/passwd",
            "ftp://example.com/a",
            "http:alert.com",
            "javascript:1/alert(1)",
            "tel:12345",
            "blob:https://example.com/1",
        ];
        for url in refused {
            let problem = refuse_other_schemes(url).unwrap_err();
            assert!(problem.contains("neither http nor https"), "{problem}");
        }
    }

    #[test]
    fn tracking_parameters_are_sorted_for_the_search() {
        assert!(TRACKING.is_sorted());
    }

    #[test]
    fn one_article_has_one_form_however_its_url_is_written() {
        for same in [
            "https://www.twilio.com/blog/send-sms",
            "http://twilio.com/blog/send-sms/",
            "HTTPS://WWW.Twilio.com:443/Blog/Send-SMS#code",
            "//twilio.com./blog//send-sms///",
            "twilio.com/blog/send%2Dsms?utm_source=x&UTM_Medium=y&gclid=1",
            "https://user:secret@twilio.com/blog/send-sms?fbclid=abc",
            "  https://twilio.com/blog/%73end-sms?  ",
        ] {
            assert_eq!(normal_form(same), "twilio.com/blog/send-sms", "{same}");
        }
    }

    #[test]
    fn different_urls_have_different_forms() {
        for (url, form) in [
            ("https://twilio.com:8080/blog", "twilio.com:8080/blog"),
            ("https://twilio.com/blog?id=2&b=1&utm_id=9", "twilio.com/blog?b=1&id=2"),
            ("https://twilio.com/a%2Fb", "twilio.com/a%2fb"),
            ("https://twilio.com/100%25", "twilio.com/100%25"),
            ("https://twilio.com/%ff", "twilio.com/%ff"),
            ("https://twilio.com/caf%C3%A9", "twilio.com/café"),
            ("https://twilio.com/caf%c3%a9%FF", "twilio.com/café%ff"),
            ("https://twilio.com/caf%25C3%25A9", "twilio.com/café"),
            ("https://twilio.com/cafe%CC%81?q=e%CC%81", "twilio.com/café?q=é"),
            ("https://twilio.com/CAFE\u{301}", "twilio.com/café"),
            ("https://twilio.com/a%252Fb", "twilio.com/a%2fb"),
            ("https://xn--caf-dma.fr/menu", "café.fr/menu"),
            ("https://www.CAF%C3%89.fr./menu", "café.fr/menu"),
            ("https://xn--a.fr/menu", "xn--a.fr/menu"),
            ("https://twilio.com/🦀?q=%F0%9F%A6%80", "twilio.com/🦀?q=🦀"),
            ("https://blog.twilio.com", "blog.twilio.com"),
            ("/Blog/Send-SMS/", "/blog/send-sms"),
            ("/", "/"),
            ("?utm_source=x", ""),
            ("(not set)", "(not set)"),
            ("/%zz/%", "/%zz/%"),
            ("/\u{1b}[2J\0a", "/[2ja"),
        ] {
            assert_eq!(normal_form(url), form, "{url}");
        }
        assert!(is_path("/blog") && !is_path("twilio.com/blog"));
    }

    #[test]
    fn overlong_urls_are_cut_and_still_told_apart() {
        let long = |end: &str| normal_form(&format!("https://a.b/{}{end}", "é".repeat(3_000)));
        assert!(long("1").len() <= LONGEST);
        assert_eq!(long("1"), long("1"));
        assert_ne!(long("1"), long("2"));
    }

    proptest! {
        #![proptest_config(testing::cases(1_000))]

        #[test]
        fn any_text_has_a_form_that_a_table_can_hold(text in any::<String>()) {
            let form = normal_form(&text);
            prop_assert!(form.len() <= LONGEST && !form.contains(char::is_control));
        }

        /// Stored forms are compared with forms that are made later.
        #[test]
        fn the_form_of_a_stored_form_is_itself(path in "(%25|%C3%A9|e\u{301}|[É%é/a2F]){0,12}") {
            let form = normal_form(&format!("https://example.com/{path}"));
            prop_assert_eq!(normal_form(&form), form);
        }

        #[test]
        fn the_form_of_a_form_is_itself(
            path in "[a-zA-Z0-9/._~-]{0,40}", query in "([a-z]{1,3}=[0-9]{0,2}&){0,3}"
        ) {
            let form = normal_form(&format!("https://www.Example.com/{path}?{query}"));
            prop_assert_eq!(normal_form(&form), form);
        }
    }
}
