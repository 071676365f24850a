//! TLS for https targets: rustls with ring, trusting the certificates of the system and of a file.

use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use super::HttpError;

/// Client rules with the system's certificates and those of `ca_file`; `address` is for the message
/// only.
pub(super) fn native(
    address: &str,
    ca_file: Option<&Path>,
) -> Result<Arc<ClientConfig>, HttpError> {
    let failed = |reason: String| HttpError::Tls { address: address.to_owned(), reason };
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    let own = ca_file.map_or(Ok(Vec::new()), certificates).map_err(failed)?;
    roots.add_parsable_certificates(own.iter().cloned());
    if roots.is_empty() {
        return Err(failed(match found.errors.first() {
            Some(error) => format!("the system's certificates cannot be read: {error}"),
            None => "the system has no certificates; install ca-certificates, or name a file in \
                     SSL_CERT_FILE"
                .to_owned(),
        }));
    }
    trusting(roots, own, address)
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let unusable = |reason: String| format!("{}: {reason}", file.display());
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<_, _>>);
    let found: Vec<_> = read.map_err(|error| unusable(error.to_string()))?;
    match found.is_empty() {
        true => Err(unusable("it holds no certificate in PEM form".to_owned())),
        false => Ok(found),
    }
}

/// Client rules that trust exactly `roots`, and servers whose own certificate is one of `own`.
pub(super) fn trusting(
    roots: RootCertStore,
    own: Vec<CertificateDer<'static>>,
    address: &str,
) -> Result<Arc<ClientConfig>, HttpError> {
    let failed = |reason: String| HttpError::Tls { address: address.to_owned(), reason };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = WebPkiServerVerifier::builder_with_provider(roots.into(), provider.clone());
    let authorities = builder.build().map_err(|error| failed(error.to_string()))?;
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(KnownCertificates { own, authorities }))
        .with_no_client_auth();
    Ok(Arc::new(config))
}

/// A server is trusted by its authorities, or since the user named its very certificate: one that a
/// server signed itself is mostly its own authority too, which the general rules refuse.
#[derive(Debug)]
struct KnownCertificates {
    own: Vec<CertificateDer<'static>>,
    authorities: Arc<WebPkiServerVerifier>,
}

impl ServerCertVerifier for KnownCertificates {
    fn verify_server_cert(
        &self,
        server: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        stapled: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if self.own.contains(server) {
            return Ok(ServerCertVerified::assertion());
        }
        self.authorities.verify_server_cert(server, between, name, stapled, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.authorities.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.authorities.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.authorities.supported_verify_schemes()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;
    use std::sync::atomic::AtomicBool;
    use std::thread;
    use std::time::Duration;

    use rustls::pki_types::PrivateKeyDer;
    use rustls::{ServerConfig, ServerConnection, StreamOwned};

    use super::*;
    use crate::http::{Connection, PreparedRequest, Target};

    /// For `localhost`, signed by itself and no authority, made with openssl for these tests alone.
    const PLAIN: Served = Served {
        certificate: include_bytes!("test_certificate/certificate.pem"),
        key: include_bytes!("test_certificate/key.pem"),
    };
    /// As `openssl req -x509 -subj /CN=shop.test` makes it: its own authority, and for no name.
    const OWN_AUTHORITY: Served = Served {
        certificate: include_bytes!("test_certificate/own_authority.pem"),
        key: include_bytes!("test_certificate/own_authority_key.pem"),
    };
    const LONG: Duration = Duration::from_secs(600);
    static GOING_ON: AtomicBool = AtomicBool::new(false);

    #[derive(Clone, Copy)]
    struct Served {
        certificate: &'static [u8],
        key: &'static [u8],
    }

    impl Served {
        fn parsed(self) -> CertificateDer<'static> {
            CertificateDer::from_pem_slice(self.certificate).unwrap()
        }
    }

    /// Answers two requests on one TLS connection; its URL.
    fn serve(served: Served) -> String {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::from_pem_slice(served.key).unwrap();
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![served.parsed()], key)
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
        format!("https://localhost:{port}")
    }

    fn asked_twice(target: &Target) {
        let request = PreparedRequest::get(target, "x", "/", &[]).unwrap();
        let mut connection = Connection::open(target, LONG, &GOING_ON).unwrap();
        for _ in 0..2 {
            let fetched = connection.fetch(&request).unwrap();
            assert_eq!((fetched.answer.status, fetched.body.len()), (200, 100_000));
        }
    }

    #[test]
    fn a_trusted_server_answers_over_tls() {
        let mut roots = RootCertStore::empty();
        roots.add(PLAIN.parsed()).unwrap();
        let rules = |address: &str| trusting(roots, Vec::new(), address);
        asked_twice(&Target::with_tls(&serve(PLAIN), rules).unwrap());
    }

    #[test]
    fn a_self_signed_server_is_trusted_by_its_certificate() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.pem");
        for served in [PLAIN, OWN_AUTHORITY] {
            std::fs::write(&file, served.certificate).unwrap();
            asked_twice(&Target::trusting(&serve(served), Some(&file)).unwrap());
        }
        for (text, wanted) in [("", "no certificate in PEM form"), ("-----BEGIN", "ca.pem: ")] {
            std::fs::write(&file, text).unwrap();
            let refused = Target::trusting("https://localhost:1", Some(&file)).unwrap_err();
            assert!(refused.to_string().contains(wanted), "{refused}");
        }
    }

    #[test]
    fn a_server_that_is_not_trusted_is_refused() {
        for (served, other) in [(PLAIN, OWN_AUTHORITY), (OWN_AUTHORITY, PLAIN)] {
            let mut roots = RootCertStore::empty();
            roots.add(other.parsed()).unwrap();
            let rules = |address: &str| trusting(roots, vec![other.parsed()], address);
            let target = Target::with_tls(&serve(served), rules).unwrap();
            let Err(error) = Connection::open(&target, LONG, &GOING_ON) else {
                panic!("connected")
            };
            assert!(matches!(error, HttpError::Tls { .. }), "{error}");
            assert!(error.to_string().contains("certificate"), "{error}");
        }
    }
}
