//! A server to be measured, parsed once from its base URL and resolved once to its addresses,
//! so that neither work is repeated inside a timed request.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use url::Url;

use super::HttpError;
use super::tls;

/// Where requests go: `http://host:port/prefix` or `https://...`.
#[derive(Clone)]
pub struct Target {
    /// `host:port`, for messages.
    pub(super) address: String,
    /// Every address of the host, in the resolver's order.
    pub(super) addresses: Vec<SocketAddr>,
    /// Name and rules for TLS; `None` for plain http.
    pub(super) tls: Option<(ServerName<'static>, Arc<ClientConfig>)>,
    /// Value of the Host header: the port only where it is not the scheme's own.
    pub(super) host_header: String,
    /// Path of the base URL without its last slash; stands before the path of every request.
    pub(super) prefix: String,
    base_url: String,
}

impl Target {
    /// Reads a base URL and looks its host up. https trusts the system's certificates
    /// (`SSL_CERT_FILE` and `SSL_CERT_DIR` are honoured).
    ///
    /// # Errors
    /// [`HttpError::InvalidUrl`], [`HttpError::UnknownHost`], or [`HttpError::Tls`] where https
    /// is asked for and the system has no usable certificates.
    pub fn parse(base_url: &str) -> Result<Self, HttpError> {
        Self::with_tls(base_url, |address| tls::native(address, None))
    }

    /// As [`Target::parse`]; https trusts the certificates of `ca_file` too, where one is given.
    pub fn trusting(base_url: &str, ca_file: Option<&Path>) -> Result<Self, HttpError> {
        Self::with_tls(base_url, |address| tls::native(address, ca_file))
    }

    /// As [`Target::parse`], with TLS rules of the caller's choice.
    pub(super) fn with_tls(
        base_url: &str,
        rules: impl FnOnce(&str) -> Result<Arc<ClientConfig>, HttpError>,
    ) -> Result<Self, HttpError> {
        let url = Url::parse(base_url).map_err(|error| {
            invalid(base_url, &format!("{error}; expected http://host:port or https://host"))
        })?;
        let mut shown = url.clone();
        if url.password().is_some() || !url.username().is_empty() {
            let _ = shown.set_password(None);
            let _ = shown.set_username("");
            return Err(invalid(
                shown.as_str(),
                "a user or password in the URL is not sent; use a header (or --key-file)",
            ));
        }
        if !matches!(url.scheme(), "http" | "https") {
            return Err(invalid(base_url, "only http:// and https:// can be measured"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(invalid(base_url, "a base URL ends with its path: no ? and no #"));
        }
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Err(invalid(base_url, "it names no host"));
        };
        let address = format!("{host}:{port}");
        let addresses = url
            .socket_addrs(|| None)
            .map_err(|source| HttpError::UnknownHost { host: host.to_owned(), source })?;
        let tls = match url.scheme() {
            "https" => {
                let bare = host.trim_start_matches('[').trim_end_matches(']').to_owned();
                let name = ServerName::try_from(bare)
                    .map_err(|error| invalid(base_url, &error.to_string()))?;
                Some((name, rules(&address)?))
            }
            _ => None,
        };
        let host_header = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        let prefix = url.path().trim_end_matches('/').to_owned();
        Ok(Self { address, addresses, tls, host_header, prefix, base_url: base_url.to_owned() })
    }

    /// The plain HTTP server on this address, e.g. a child process on the loopback interface.
    ///
    /// # Errors
    /// [`HttpError::UnknownHost`] where `listen` is not `host:port`.
    pub fn listening(listen: &str) -> Result<Self, HttpError> {
        let addresses = listen
            .to_socket_addrs()
            .map_err(|source| HttpError::UnknownHost { host: listen.to_owned(), source })?
            .collect();
        Ok(Self {
            address: listen.to_owned(),
            addresses,
            tls: None,
            host_header: listen.to_owned(),
            prefix: String::new(),
            base_url: format!("http://{listen}"),
        })
    }

    /// The base URL as given.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// `host:port`, for messages.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Target").field(&self.base_url).finish()
    }
}

fn invalid(url: &str, reason: &str) -> HttpError {
    HttpError::InvalidUrl { url: url.to_owned(), reason: reason.to_owned() }
}
