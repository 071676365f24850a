//! From a URL and libpq's environment to a client configuration. tokio-postgres itself reads
//! neither `PG*` nor the password file, and knows three of libpq's six values of `sslmode`.

use std::path::Path;
use std::time::Duration;

use engine::{Host, PostgresUrl, parse_host_lists, parse_port};
use tokio_postgres::Config;
use tokio_postgres::config::{LoadBalanceHosts, SslMode};

use super::parameters::{TlsMode, parameters_config};
use super::{password_file, socket_path};
use crate::Error;

/// Parameters of the URL that have a twin in libpq's environment and that the client library
/// takes unchanged.
const ENVIRONMENT: [(&str, &str); 7] = [
    ("options", "PGOPTIONS"),
    ("application_name", "PGAPPNAME"),
    ("connect_timeout", "PGCONNECT_TIMEOUT"),
    ("target_session_attrs", "PGTARGETSESSIONATTRS"),
    ("channel_binding", "PGCHANNELBINDING"),
    ("sslnegotiation", "PGSSLNEGOTIATION"),
    ("load_balance_hosts", "PGLOADBALANCEHOSTS"),
];

/// Seconds after which an attempt to connect is given up unless `connect_timeout` says otherwise;
/// without a limit a port that answers nothing would hold the program for ever.
const CONNECT_TIMEOUT_SECONDS: u64 = 10;

/// The client configuration for `url`: what the URL leaves out comes from `PGHOST`, `PGPORT`,
/// `PGUSER`, `PGPASSWORD`, `PGDATABASE`, `PGSSLMODE` and so on, then from the password file
/// (`PGPASSFILE`, by default `~/.pgpass`), then from libpq's defaults: the account's name as user,
/// the user as database, the local socket if there is one, otherwise localhost.
pub fn config(url: &PostgresUrl) -> Result<Config, Error> {
    fill(url, &variable)
}

/// The same by host, in the order in which they are tried: each has its own time to answer. A
/// random order is the client library's, which takes them together.
pub(super) fn by_host(url: &PostgresUrl) -> Result<Vec<Config>, Error> {
    let (config, hosts) = without_hosts(url, &variable)?;
    let together = hosts.is_empty()
        || !config.get_hostaddrs().is_empty()
        || config.get_load_balance_hosts() == LoadBalanceHosts::Random;
    let groups = if together { vec![&hosts[..]] } else { hosts.chunks(1).collect() };
    Ok(groups.into_iter().map(|hosts| with_hosts(config.clone(), hosts)).collect())
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// [`config`] with the environment given, so that tests need not change their own.
fn fill(url: &PostgresUrl, environment: &dyn Fn(&str) -> Option<String>) -> Result<Config, Error> {
    let (config, hosts) = without_hosts(url, environment)?;
    Ok(with_hosts(config, &hosts))
}

fn with_hosts(mut config: Config, hosts: &[Host]) -> Config {
    for host in hosts {
        config.host(&host.name);
        config.port(host.port.unwrap_or(5432));
    }
    if hosts.iter().all(|host| host.name.starts_with('/')) {
        config.ssl_mode(SslMode::Disable);
    }
    config
}

fn without_hosts(
    url: &PostgresUrl,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<(Config, Vec<Host>), Error> {
    let mut url = url.clone();
    for (key, variable) in ENVIRONMENT {
        if url.parameter(key).is_none()
            && let Some(value) = environment(variable)
        {
            url = url.with_parameter(key, value);
        }
    }
    let mut config = parameters_config(&url)?;
    if url.parameter("connect_timeout").is_none() {
        config.connect_timeout(Duration::from_secs(CONNECT_TIMEOUT_SECONDS));
    }
    config.ssl_mode(TlsMode::of(&url, environment)?.for_client());

    let user = match url.user().map(str::to_owned).or_else(|| environment("PGUSER")) {
        Some(user) => user,
        None => whoami::username().map_err(|error| {
            super::bad_url(format!("no user is named, and the account has no name ({error})"))
        })?,
    };
    let database = url.database().map(str::to_owned);
    let database = database.or_else(|| environment("PGDATABASE")).unwrap_or_else(|| user.clone());
    let hosts = hosts(&url, environment)?;
    let password =
        url.password().map(str::to_owned).or_else(|| environment("PGPASSWORD")).or_else(|| {
            let first = hosts.first()?;
            let file = password_file::path(environment)?;
            password_file::find(&file, &first.name, first.port.unwrap_or(5432), &database, &user)
        });
    if let Some(password) = password {
        config.password(password);
    }
    config.user(user);
    config.dbname(database);
    Ok((config, hosts))
}

fn hosts(
    url: &PostgresUrl,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<Host>, Error> {
    let ports = url.parameter("port").map(str::to_owned).or_else(|| environment("PGPORT"));
    let mut hosts = url.hosts().to_vec();
    if hosts.is_empty() {
        if url.parameter("hostaddr").is_some() {
            return Ok(hosts);
        }
        let names = match environment("PGHOST") {
            Some(names) => names,
            None => default_host(ports.as_deref())?,
        };
        hosts = parse_host_lists(&names, ports.as_deref())?;
    } else if let Some(ports) = ports.filter(|ports| !ports.contains(',')) {
        let port = parse_port(&ports)?;
        for host in &mut hosts {
            host.port.get_or_insert(port);
        }
    }
    for host in &mut hosts {
        if host.name.is_empty() {
            host.name = default_host(None)?;
        }
    }
    Ok(hosts)
}

/// The first that has a socket of Debian's directory and PostgreSQL's own, otherwise localhost.
fn default_host(port: Option<&str>) -> Result<String, Error> {
    let port = port.map_or(Ok(5432), parse_port)?;
    let directories = ["/var/run/postgresql", "/tmp"];
    let found = directories
        .into_iter()
        .find(|directory| Path::new(&socket_path(Path::new(directory), port)).exists());
    Ok(found.unwrap_or("localhost").to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::os::unix::fs::PermissionsExt;

    use tokio_postgres::config::Host as ClientHost;

    use super::*;

    fn filled(url: &str, environment: &[(&str, &str)]) -> Result<Config, Error> {
        let environment: HashMap<_, _> = environment.iter().copied().collect();
        fill(&url.parse()?, &|name| environment.get(name).map(|value| (*value).to_owned()))
    }

    #[test]
    fn the_environment_fills_in_what_the_url_leaves_out() {
        let environment = [
            ("PGHOST", "db.example,/run/pg"),
            ("PGPORT", "5433"),
            ("PGUSER", "ann"),
            ("PGPASSWORD", "secret"),
            ("PGDATABASE", "shop"),
            ("PGSSLMODE", "require"),
            ("PGCONNECT_TIMEOUT", "7"),
            ("PGAPPNAME", "mine"),
            ("PGOPTIONS", "-c work_mem=1MB"),
        ];
        let config = filled("postgresql://", &environment).unwrap();
        let hosts = [ClientHost::Tcp("db.example".into()), ClientHost::Unix("/run/pg".into())];
        assert_eq!(config.get_hosts(), hosts);
        assert_eq!(config.get_ports(), [5433, 5433]);
        assert_eq!(config.get_user(), Some("ann"));
        assert_eq!(config.get_password(), Some(b"secret".as_slice()));
        assert_eq!(config.get_dbname(), Some("shop"));
        assert_eq!(config.get_ssl_mode(), SslMode::Require);
        assert_eq!(config.get_connect_timeout(), Some(&Duration::from_secs(7)));
        assert_eq!(config.get_application_name(), Some("mine"));
        assert_eq!(config.get_options(), Some("-c work_mem=1MB"));
    }

    #[test]
    fn the_url_goes_before_the_environment() {
        let environment =
            [("PGHOST", "other"), ("PGPORT", "1"), ("PGUSER", "bob"), ("PGSSLMODE", "require")];
        let url = "postgresql://ann:pw@db.example:5433/shop?sslmode=disable";
        let config = filled(url, &environment).unwrap();
        assert_eq!(config.get_hosts(), [ClientHost::Tcp("db.example".into())]);
        assert_eq!(config.get_ports(), [5433]);
        assert_eq!(config.get_user(), Some("ann"));
        assert_eq!(config.get_ssl_mode(), SslMode::Disable);
        // A host without a port takes the environment's, as in libpq.
        assert_eq!(filled("postgresql://h/d", &environment).unwrap().get_ports(), [1]);
    }

    #[test]
    fn the_database_is_the_user_unless_named() {
        let config = filled("postgresql://ann@h", &[]).unwrap();
        assert_eq!(config.get_dbname(), Some("ann"));
        assert!(config.get_connect_timeout().is_some());
    }

    #[test]
    fn the_password_file_is_asked_last() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pgpass");
        std::fs::write(&path, "h:5432:shop:ann:from file\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        let file = ("PGPASSFILE", path.to_str().unwrap());
        let password = |url: &str, environment: &[(&str, &str)]| {
            let config = filled(url, environment).unwrap();
            config.get_password().map(|bytes| String::from_utf8(bytes.to_vec()).unwrap())
        };
        assert_eq!(password("postgresql://ann@h/shop", &[file]).unwrap(), "from file");
        // A URL that this program masked, when it is used again.
        assert_eq!(password("postgresql://ann:***@h/shop", &[file]).unwrap(), "from file");
        assert_eq!(password("postgresql://bob@h/shop", &[file]), None);
        let both = [file, ("PGPASSWORD", "from environment")];
        assert_eq!(password("postgresql://ann@h/shop", &both).unwrap(), "from environment");
        assert_eq!(password("postgresql://ann:own@h/shop", &both).unwrap(), "own");
    }

    /// Crate engine checks names and values without the client library, which has the last word.
    #[test]
    fn parameters_that_a_url_may_have_are_the_clients() {
        for parameter in [
            "application_name=a",
            "channel_binding=prefer",
            "connect_timeout=7",
            "hostaddr=127.0.0.1",
            "keepalives=1",
            "keepalives_idle=9",
            "keepalives_interval=9",
            "keepalives_retries=3",
            "load_balance_hosts=random",
            "options=-c%20work_mem=1MB",
            "port=5433",
            "sslmode=verify-ca",
            "sslnegotiation=direct",
            "sslrootcert=/ca.pem",
            "target_session_attrs=read-only",
        ] {
            let config = filled(&format!("postgresql://ann@h/shop?{parameter}"), &[]);
            assert!(config.is_ok(), "{parameter}: {:?}", config.err());
        }
    }

    #[test]
    fn a_variable_that_cannot_be_read_is_refused() {
        let refusal =
            |environment| filled("postgresql://", &[environment]).unwrap_err().to_string();
        assert!(refusal(("PGPORT", "many")).contains("`many`"));
        assert!(refusal(("PGSSLMODE", "maybe")).contains("maybe"));
        assert!(refusal(("PGCONNECT_TIMEOUT", "soon")).contains("connect_timeout"));
    }
}
