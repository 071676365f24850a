//! TLS as libpq means it: `prefer` and `require` encrypt, `verify-ca` checks who signed the
//! certificate, `verify-full` its name as well. rustls with ring, the machine's own roots.

use std::path::Path;
use std::sync::Arc;

use engine::PostgresUrl;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::parameters::TlsMode;
use crate::Error;

/// The connector for `url`, by its `sslmode` and `sslrootcert` (or `PGSSLMODE`, `PGSSLROOTCERT`).
/// As in libpq, `require` with a root certificate verifies as `verify-ca` does.
pub fn tls(url: &PostgresUrl) -> Result<MakeRustlsConnect, Error> {
    client_config(url).map(MakeRustlsConnect::new)
}

/// The configuration that [`tls`] connects by.
pub(super) fn client_config(url: &PostgresUrl) -> Result<ClientConfig, Error> {
    let environment =
        |name: &str| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
    let mode = TlsMode::of(url, &environment)?;
    let roots = url.parameter("sslrootcert").map(str::to_owned);
    let roots = roots.or_else(|| environment("PGSSLROOTCERT"));
    let verify = match (mode, &roots) {
        (TlsMode::Require, Some(_)) => TlsMode::VerifyCa,
        (mode, _) => mode,
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = match verify {
        TlsMode::VerifyFull => webpki(&provider, roots.as_deref())?,
        TlsMode::VerifyCa => Arc::new(SignerOnly { inner: webpki(&provider, roots.as_deref())? }),
        _ => Arc::new(EncryptOnly { provider: provider.clone() }),
    };
    Ok(ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::Tls { problem: error.to_string() })?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth())
}

/// The ordinary verification against the file given, by default against the machine's roots.
fn webpki(
    provider: &Arc<CryptoProvider>,
    file: Option<&str>,
) -> Result<Arc<WebPkiServerVerifier>, Error> {
    let found = match file {
        None | Some("system") => rustls_native_certs::load_native_certs(),
        Some(file) => rustls_native_certs::load_certs_from_paths(Some(Path::new(file)), None),
    };
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let place = file.unwrap_or("the machine's certificate store");
        let reason = found.errors.first().map_or(String::new(), |error| format!(" ({error})"));
        return Err(Error::Tls {
            problem: format!(
                "no usable root certificate in {place}{reason}; name a PEM file by sslrootcert, \
                 or use sslmode=require to encrypt without verifying"
            ),
        });
    }
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
        .build()
        .map_err(|error| Error::Tls { problem: error.to_string() })
}

/// `verify-ca`: the chain must be right, the name may differ.
#[derive(Debug)]
struct SignerOnly {
    inner: Arc<WebPkiServerVerifier>,
}

impl ServerCertVerifier for SignerOnly {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        use CertificateError::{NotValidForName, NotValidForNameContext};
        let verified = self.inner.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        match verified {
            Err(rustls::Error::InvalidCertificate(
                NotValidForName | NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.inner.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.inner.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}

/// `prefer` and `require`: encrypted, the certificate's signer not checked, as libpq does without
/// a root certificate. The handshake's own signature is still checked.
#[derive(Debug)]
struct EncryptOnly {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for EncryptOnly {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
