//! Requests and their weights from an access log of nginx or Apache, in the common or the combined
//! format (also with a virtual host in front). What cannot be repeated is left out and counted.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use notation::counted;
use regex::Regex;
use url::Url;

use crate::Request;

/// The weights of a mix add up to about this number at most: every client walks whole rounds.
const ROUND_MAX: f64 = 1_000.0;

/// The time in brackets, the request line in quotes (in which a quote is written `\"`), the status.
#[expect(
    clippy::expect_used,
    reason = "a constant expression, compiled in every test of this file"
)]
static LINE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"^\S+ [^\[]*\[[^\]]*\] "((?:[^"\\]|\\.)*)" (\d{3}) "#).expect("an expression")
});

/// Names of query parameters that give access: such a request is never repeated.
const CREDENTIALS: [&str; 14] = [
    "access_token",
    "api_key",
    "apikey",
    "auth",
    "code",
    "jwt",
    "key",
    "pass",
    "passwd",
    "password",
    "secret",
    "session",
    "sig",
    "token",
];

/// Requests with their weights, and what became of the lines.
#[derive(Debug, Default)]
pub(crate) struct LoggedMix {
    pub requests: Vec<Request>,
    pub lines: usize,
    /// Lines left out, by reason.
    pub left_out: BTreeMap<&'static str, usize>,
}

impl LoggedMix {
    /// The lines that were taken and those that were not.
    pub(crate) fn in_words(&self, path: &Path) -> String {
        let left_out: usize = self.left_out.values().sum();
        let taken = self.lines - left_out;
        let (requests, lines) = (self.requests.len(), counted(taken, "line"));
        let mut text = format!("{} of {lines} of {}", counted(requests, "request"), path.display());
        if left_out > 0 {
            let reasons = self.left_out.iter().map(|(reason, lines)| format!("{lines} {reason}"));
            let reasons = reasons.collect::<Vec<_>>().join(", ");
            text.push_str(&format!("; {} left out: {reasons}", counted(left_out, "line")));
        }
        text
    }
}

/// The `most` frequent requests of a log that have one of `methods`.
pub(crate) fn read(text: &str, methods: &[String], most: usize) -> LoggedMix {
    let mut mix = LoggedMix::default();
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        mix.lines += 1;
        match taken(line, methods) {
            Ok(request) => *counts.entry(request).or_default() += 1,
            Err(reason) => *mix.left_out.entry(reason).or_default() += 1,
        }
    }
    let mut counted: Vec<_> = counts.into_iter().collect();
    counted.sort_by(|(one, a), (other, b)| b.cmp(a).then_with(|| one.cmp(other)));
    let rare: usize = counted.iter().skip(most).map(|(_, count)| count).sum();
    if rare > 0 {
        mix.left_out.insert("of rarer requests", rare);
    }
    counted.truncate(most);
    let all: usize = counted.iter().map(|(_, count)| count).sum();
    let scale = (ROUND_MAX / all as f64).min(1.0);
    let request = |((method, path), count): ((String, String), usize)| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most 1,000"
        )]
        let weight = (count as f64 * scale).round() as u32;
        Request { method, weight: weight.max(1), ..Request::get(&path) }
    };
    mix.requests = counted.into_iter().map(request).collect();
    mix
}

/// Method and path of a line, or why it is left out.
fn taken(line: &str, methods: &[String]) -> Result<(String, String), &'static str> {
    let fields = LINE.captures(line).ok_or("in another format")?;
    let field = |index: usize| fields.get(index).map_or("", |field| field.as_str());
    let mut words = field(1).split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err("without an HTTP request");
    };
    if !version.starts_with("HTTP/") {
        return Err("without an HTTP request");
    }
    if !methods.iter().any(|wanted| wanted == method) {
        return Err("with another method");
    }
    // 304: the browser had it already; asked without a condition, the answer is 200.
    if !(field(2).starts_with('2') || field(2) == "304") {
        return Err("answered without success");
    }
    // A backslash: the log has escaped what may not be in a URL. Braces would be placeholders.
    let sendable = |path: &String| !path.contains(['\\', '{', '}']);
    let path = path_of(target).filter(sendable).ok_or("with a path that cannot be sent again")?;
    if holds_credentials(target) {
        return Err("with credentials");
    }
    Ok((method.to_owned(), path))
}

/// Path and query of a target, which may be a whole URL.
pub(crate) fn path_of(target: &str) -> Option<String> {
    let path = if target.starts_with('/') {
        target.split('#').next()?.to_owned()
    } else {
        let url = Url::parse(target).ok().filter(|url| url.has_host())?;
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        format!("{}{query}", url.path())
    };
    path.chars().all(|c| c.is_ascii_graphic()).then_some(path)
}

fn holds_credentials(target: &str) -> bool {
    let authority = target.split_once("://").and_then(|(_, rest)| rest.split('/').next());
    let query = target.split_once('?').map_or("", |(_, query)| query);
    let names = query.split('&').filter_map(|pair| pair.split('=').next());
    let secret = |name: &str| {
        let name = name.to_ascii_lowercase().replace('-', "_");
        CREDENTIALS.iter().any(|known| name == *known || name.ends_with(&format!("_{known}")))
    };
    authority.is_some_and(|authority| authority.contains('@')) || names.into_iter().any(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = r#"
127.0.0.1 - - [10/Oct/2025:13:55:36 -0700] "GET /a?x=1 HTTP/1.1" 200 2326
192.0.2.7 - ann [10/Oct/2025:13:55:37 -0700] "GET /a?x=1 HTTP/1.0" 304 0 "http://ref/" "Mozilla/5.0 (X11; \"quoted\")"
2001:db8::1 - - [10/Oct/2025:13:55:38 -0700] "HEAD /b HTTP/2.0" 200 0 "-" "curl"
shop.example:443 192.0.2.8 - - [10/Oct/2025:13:55:39 -0700] "GET http://shop.example/c?d HTTP/1.1" 200 12 "-" "-"
192.0.2.8 - - [10/Oct/2025:13:55:39 -0700] "POST /order HTTP/1.1" 201 12 "-" "-"
192.0.2.8 - - [10/Oct/2025:13:55:39 -0700] "GET /missing HTTP/1.1" 404 12 "-" "-"
192.0.2.8 - - [10/Oct/2025:13:55:39 -0700] "GET /me?access_token=abc HTTP/1.1" 200 12 "-" "-"
192.0.2.8 - - [10/Oct/2025:13:55:39 -0700] "GET /caf\xc3\xa9 HTTP/1.1" 200 12 "-" "-"
192.0.2.8 - - [10/Oct/2025:13:55:39 -0700] "\x16\x03\x01" 400 12 "-" "-"
192.0.2.8 - - [10/Oct/2025:13:55:39 -0700] "-" 408 0 "-" "-"
{"request": "GET / HTTP/1.1", "status": 200}
"#;

    fn methods(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn common_and_combined_formats_give_requests_weighted_by_count() {
        let mix = read(LOG, &methods(&["GET", "HEAD"]), 100);
        let taken: Vec<_> = mix
            .requests
            .iter()
            .map(|one| (one.method.as_str(), one.path.as_str(), one.weight))
            .collect();
        assert_eq!(taken, [("GET", "/a?x=1", 2), ("GET", "/c?d", 1), ("HEAD", "/b", 1)]);
        insta::assert_snapshot!(
            mix.in_words(Path::new("access.log")),
            @"3 requests of 4 lines of access.log; 7 lines left out: 1 answered without success, 1 in another format, 1 with a path that cannot be sent again, 1 with another method, 1 with credentials, 2 without an HTTP request"
        );
    }

    #[test]
    fn other_methods_only_where_told_and_the_rarest_not_at_all() {
        let mix = read(LOG, &methods(&["POST", "GET"]), 1);
        assert_eq!(mix.requests.len(), 1);
        assert_eq!(mix.left_out.get("of rarer requests"), Some(&2));
        let mix = read(LOG, &methods(&["POST"]), 1);
        assert_eq!(mix.requests[0].path, "/order");
    }

    #[test]
    fn a_long_log_makes_no_endless_round() {
        let line = |path: &str| format!("h - - [t] \"GET {path} HTTP/1.1\" 200 1\n");
        let mix = read(
            &(line("/a").repeat(99_000) + &line("/b").repeat(1_000) + &line("/c")),
            &methods(&["GET"]),
            9,
        );
        let weights: Vec<u32> = mix.requests.iter().map(|one| one.weight).collect();
        assert_eq!(weights, [990, 10, 1]);
    }
}
