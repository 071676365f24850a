//! The address of a database, in the forms that applications read.

use std::path::Path;

use engine::{DatabaseUrl, PostgresUrl};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use plan::{FORMS_OF_ADDRESSES, Placeholders, Plan};

/// Left as written in the path of a URL.
const PATH: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The address of a database in every form, by the name of its placeholder.
/// Not printed by `Debug`: it holds passwords.
pub struct Address(Placeholders);

impl Address {
    pub(crate) fn of_file(path: &Path) -> Self {
        let text = path.display().to_string();
        let encoded = utf8_percent_encode(&text, PATH).to_string();
        Self::of_forms([
            ("database_url", DatabaseUrl::Sqlite(path.to_owned()).expose()),
            ("sqlalchemy_url", format!("sqlite:///{text}")),
            ("django_url", format!("sqlite:///{encoded}")),
            ("rails_url", format!("sqlite3:{encoded}")),
            ("prisma_url", format!("file:{text}")),
            ("jdbc_url", format!("jdbc:sqlite:{text}")),
            ("path", text),
        ])
    }

    /// `tcp` is the same database over TCP with its password, where the server listens there.
    pub(crate) fn of_server(url: &PostgresUrl, tcp: Option<&PostgresUrl>) -> Self {
        let text = url.expose();
        let rest = text.split_once("://").map_or("", |(_, rest)| rest);
        let part = |part: Option<&str>| part.unwrap_or_default().to_owned();
        Self::of_forms([
            ("database_url", text.clone()),
            ("sqlalchemy_url", format!("postgresql+psycopg://{rest}")),
            // Both hand the parameters behind the question mark on to libpq.
            ("django_url", text.clone()),
            ("rails_url", rails(url)),
            ("prisma_url", with_host(&text)),
            ("jdbc_url", tcp.map(jdbc).unwrap_or_default()),
            ("libpq", libpq(url)),
            ("user", part(url.user())),
            ("password", part(url.password())),
            ("database", part(url.database())),
        ])
    }

    /// Forms that the engine has no use for are empty.
    fn of_forms<const N: usize>(forms: [(&str, String); N]) -> Self {
        let all = FORMS_OF_ADDRESSES.map(|name| (name.to_owned(), String::new()));
        let mut placeholders = Placeholders::from(all);
        placeholders.extend(forms.map(|(name, form)| (name.to_owned(), form)));
        Self(placeholders)
    }

    pub(crate) fn placeholders(&self) -> Placeholders {
        self.0.clone()
    }
}

/// Whether a plan's commands use a form of the address that needs TCP.
pub fn needs_tcp(plan: &Plan) -> bool {
    plan.application.texts().any(|(_, text)| text.contains("{jdbc_url}"))
}

/// Whether a URL names a host and no folder of sockets.
pub fn is_tcp(url: &PostgresUrl) -> bool {
    url.host().is_some_and(|host| !host.starts_with('/'))
}

/// Readers of Prisma's URLs want a host, which the parameter `host` then overrules.
fn with_host(url: &str) -> String {
    url.replacen("@/", "@localhost/", 1).replacen(":///", "://localhost/", 1)
}

/// Rails lets the host of a URL overrule the parameter `host`; a URL without `//` has none.
fn rails(url: &PostgresUrl) -> String {
    if is_tcp(url) {
        return url.expose();
    }
    let encode = |value: &str| utf8_percent_encode(value, NON_ALPHANUMERIC).to_string();
    let keywords = url.keywords().into_iter().filter(|(name, _)| name != "dbname");
    let parameters = keywords.map(|(name, value)| {
        let name = if name == "user" { "username" } else { &name };
        format!("{name}={}", encode(&value))
    });
    let parameters: Vec<String> = parameters.collect();
    let database = encode(url.database().unwrap_or_default());
    format!("postgresql:{database}?{}", parameters.join("&"))
}

/// For PostgreSQL's own driver, which takes user and password as parameters only.
fn jdbc(url: &PostgresUrl) -> String {
    let text = url.expose();
    let rest = text.split_once("://").map_or("", |(_, rest)| rest);
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    let (address, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let encode = |value: &str| utf8_percent_encode(value, NON_ALPHANUMERIC).to_string();
    let given = [("user", url.user()), ("password", url.password())];
    let given = given.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let mut all: Vec<String> =
        given.map(|(name, value)| format!("{name}={}", encode(value))).collect();
    all.extend((!parameters.is_empty()).then(|| parameters.to_owned()));
    format!("jdbc:postgresql://{address}?{}", all.join("&"))
}

/// `keyword='value'` as libpq reads it.
fn libpq(url: &PostgresUrl) -> String {
    let quote = |value: &str| format!("'{}'", value.replace('\\', r"\\").replace('\'', r"\'"));
    let keywords = url.keywords().into_iter();
    let keywords = keywords.map(|(name, value)| format!("{name}={}", quote(&value)));
    keywords.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forms(url: &str) -> Placeholders {
        let url: PostgresUrl = url.parse().unwrap();
        Address::of_server(&url, Some(&url).filter(|url| is_tcp(url))).placeholders()
    }

    #[test]
    fn a_file_has_every_form_but_that_of_libpq() {
        let forms = Address::of_file(Path::new("/srv/my shop.db")).placeholders();
        assert_eq!(forms["sqlalchemy_url"], "sqlite:////srv/my shop.db");
        assert_eq!(forms["django_url"], "sqlite:////srv/my%20shop.db");
        assert_eq!(forms["rails_url"], "sqlite3:/srv/my%20shop.db");
        assert_eq!(forms["prisma_url"], "file:/srv/my shop.db");
        assert_eq!(forms["jdbc_url"], "jdbc:sqlite:/srv/my shop.db");
        assert_eq!((forms["libpq"].as_str(), forms["user"].as_str()), ("", ""));
    }

    #[test]
    fn a_server_behind_a_socket_has_every_form_but_that_of_jdbc() {
        let forms = forms("postgresql://ann:o'k@/shop?host=/run/x&options=-c%20work_mem%3D1MB");
        let rest = "/shop?host=/run/x&options=-c%20work_mem%3D1MB";
        assert_eq!(forms["django_url"], format!("postgresql://ann:o%27k@{rest}"));
        assert_eq!(forms["prisma_url"], format!("postgresql://ann:o%27k@localhost{rest}"));
        let rails = "postgresql:shop?host=%2Frun%2Fx&username=ann&password=o%27k\
                     &options=%2Dc%20work%5Fmem%3D1MB";
        assert_eq!(forms["rails_url"], rails);
        assert_eq!(forms["jdbc_url"], "");
        let told =
            r"host='/run/x' user='ann' password='o\'k' dbname='shop' options='-c work_mem=1MB'";
        assert_eq!(forms["libpq"], told);
    }

    #[test]
    fn a_server_on_tcp_has_the_form_of_jdbc_too() {
        let forms = forms("postgresql://ann:a%2Fb@127.0.0.1:5433/shop?sslmode=disable");
        let jdbc = "jdbc:postgresql://127.0.0.1:5433/shop?user=ann&password=a%2Fb&sslmode=disable";
        assert_eq!(forms["jdbc_url"], jdbc);
        let told = "host='127.0.0.1' port='5433' user='ann' password='a/b' dbname='shop' \
                    sslmode='disable'";
        assert_eq!(forms["libpq"], told);
    }
}
