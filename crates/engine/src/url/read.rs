//! A PostgreSQL URL read as libpq reads it.

use std::str::FromStr;

use super::host::{Host, bad, decode, parse_host, parse_host_lists, parse_port};
use super::parameters::check_parameters;
use super::{HIDDEN, PostgresUrl, mask_password};
use crate::Error;

impl FromStr for PostgresUrl {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let rest = match text.split_once("://") {
            Some(("postgresql" | "postgres", rest)) => rest,
            _ => return Err(Error::UnsupportedUrl { text: mask_password(text) }),
        };
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (userinfo, hosts) = match authority.rsplit_once('@') {
            Some((userinfo, hosts)) => (Some(userinfo), hosts),
            None => (None, authority),
        };
        let mut url = Self::default();
        if let Some(userinfo) = userinfo {
            let (user, password) = match userinfo.split_once(':') {
                Some((user, password)) => (user, Some(password)),
                None => (userinfo, None),
            };
            url.user = Some(decode(user)?);
            url.password = password.filter(|hidden| *hidden != HIDDEN).map(decode).transpose()?;
        }
        if !hosts.is_empty() {
            url.hosts = hosts.split(',').map(parse_host).collect::<Result<_, _>>()?;
        }
        url.database = Some(decode(database)?);
        url.take_query(query)?;
        url.leave_out_empty();
        check_parameters(&url)?;
        Ok(url)
    }
}

impl PostgresUrl {
    /// To libpq an empty part is one that is not there.
    fn leave_out_empty(&mut self) {
        let given = |part: &mut Option<String>| part.take().filter(|text| !text.is_empty());
        self.user = given(&mut self.user);
        self.database = given(&mut self.database);
        if matches!(self.hosts.as_slice(), [Host { name, port: None }] if name.is_empty()) {
            self.hosts.clear();
        }
    }

    fn take_query(&mut self, query: &str) -> Result<(), Error> {
        let (mut names, mut ports) = (None, None);
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) =
                pair.split_once('=').ok_or_else(|| bad("a parameter after `?` has no `=`"))?;
            let hidden = value == HIDDEN;
            let (key, value) = (decode(key)?, decode(value)?);
            match key.as_str() {
                "user" => self.user = Some(value),
                "password" if hidden => self.password = None,
                "password" => self.password = Some(value),
                "dbname" => self.database = Some(value),
                "host" => names = Some(value),
                "port" => ports = Some(value),
                _ => self.parameters.push((key, value)),
            }
        }
        match (names, ports) {
            (Some(names), ports) => self.hosts = parse_host_lists(&names, ports.as_deref())?,
            (None, Some(port)) => {
                let port = parse_port(&port)?;
                self.hosts.iter_mut().for_each(|host| host.port = Some(port));
                if self.hosts.is_empty() {
                    // Only a port: the host is the environment's or the default.
                    self.parameters.push(("port".to_owned(), port.to_string()));
                }
            }
            (None, None) => {}
        }
        Ok(())
    }
}
