//! TLS for https targets: rustls with ring, trusting the certificates of the system.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};

use super::HttpError;

/// Client rules with the system's certificates; `address` is for the message only.
pub(super) fn native(address: &str) -> Result<Arc<ClientConfig>, HttpError> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (added, _unreadable) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        let reason = match found.errors.first() {
            Some(error) => format!("the system's certificates cannot be read: {error}"),
            None => "the system has no certificates; install ca-certificates, \
                     or name a file in SSL_CERT_FILE"
                .to_owned(),
        };
        return Err(HttpError::Tls { address: address.to_owned(), reason });
    }
    trusting(roots, address)
}

/// Client rules that trust exactly `roots`.
pub(super) fn trusting(
    roots: RootCertStore,
    address: &str,
) -> Result<Arc<ClientConfig>, HttpError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| HttpError::Tls { address: address.to_owned(), reason: error.to_string() })?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}
