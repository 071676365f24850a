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

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;
    use std::sync::atomic::AtomicBool;
    use std::thread;
    use std::time::Duration;

    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    use rustls::{ServerConfig, ServerConnection, StreamOwned};

    use super::*;
    use crate::http::{Connection, PreparedRequest, Target};

    // For `localhost`, signed by itself, made with openssl req -x509 for these tests alone.
    const CERTIFICATE: &[u8] = include_bytes!("test_certificate/certificate.pem");
    const KEY: &[u8] = include_bytes!("test_certificate/key.pem");
    const LONG: Duration = Duration::from_secs(600);
    static GOING_ON: AtomicBool = AtomicBool::new(false);

    fn certificate() -> CertificateDer<'static> {
        CertificateDer::from_pem_slice(CERTIFICATE).unwrap()
    }

    /// Answers two requests on one TLS connection; the port it listens on.
    fn serve() -> u16 {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate()], PrivateKeyDer::from_pem_slice(KEY).unwrap())
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            let (socket, _) = listener.accept().unwrap();
            let session = ServerConnection::new(Arc::new(config)).unwrap();
            let mut stream = BufReader::new(StreamOwned::new(session, socket));
            for _ in 0..2 {
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") {
                    if stream.read_line(&mut head).unwrap_or(0) == 0 {
                        return;
                    }
                }
                let body = "x".repeat(100_000);
                let text = format!("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{body}");
                stream.get_mut().write_all(text.as_bytes()).unwrap();
                stream.get_mut().flush().unwrap();
            }
        });
        port
    }

    #[test]
    fn a_trusted_server_answers_over_tls() {
        let mut roots = RootCertStore::empty();
        roots.add(certificate()).unwrap();
        let url = format!("https://localhost:{}", serve());
        let target = Target::with_tls(&url, |address| trusting(roots, address)).unwrap();
        let request = PreparedRequest::get(&target, "x", "/", &[]).unwrap();
        let mut connection = Connection::open(&target, LONG, &GOING_ON).unwrap();
        for _ in 0..2 {
            let fetched = connection.fetch(&request).unwrap();
            assert_eq!((fetched.answer.status, fetched.body.len()), (200, 100_000));
        }
    }

    #[test]
    fn a_server_that_is_not_trusted_is_refused() {
        let url = format!("https://localhost:{}", serve());
        let nobody = RootCertStore::empty();
        let target = Target::with_tls(&url, |address| trusting(nobody, address)).unwrap();
        let Err(error) = Connection::open(&target, LONG, &GOING_ON) else { panic!("connected") };
        assert!(matches!(error, HttpError::Tls { .. }), "{error}");
        assert!(error.to_string().contains("certificate"), "{error}");
    }
}
