//! From a URL to a session: socket, TLS, authentication (scram, md5, password, trust).

use std::net::{TcpStream, ToSocketAddrs as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;

use bytes::BytesMut;
use engine::PostgresUrl;
use fallible_iterator::FallibleIterator as _;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::{self, Message};
use postgres_protocol::message::frontend;
use rustls::pki_types::ServerName;
use tokio_postgres::Config;
use tokio_postgres::config::{ChannelBinding as WantedBinding, Host, SslMode};
use tokio_postgres::error::SqlState;

use super::stream::ThinStream;
use super::wire::{STEP, ThinWire, is_timeout};
use super::{ThinConnection, ThinError, WaitLimits, whole_message};
use crate::Error;

/// Result of a connection attempt.
enum StartupFailure {
    /// The way out is in the text.
    Told(Error),
    /// To be explained as [`crate::postgres::explain`] does.
    Io(std::io::Error),
    Thin(ThinError),
}

impl From<std::io::Error> for StartupFailure {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<ThinError> for StartupFailure {
    fn from(error: ThinError) -> Self {
        Self::Thin(error)
    }
}

pub(super) fn connect<'a>(
    url: &PostgresUrl,
    session: &[(&str, &str)],
    limits: WaitLimits<'a>,
) -> Result<ThinConnection<'a>, Error> {
    let config = crate::postgres::config(url)?;
    let refuse = |problem: String| Error::CannotConnect {
        server: crate::postgres::server_name(&config),
        problem,
    };
    if config.get_channel_binding() == WantedBinding::Require {
        let problem = "channel_binding=require is not spoken by the measuring client; use prefer";
        return Err(refuse(problem.to_owned()));
    }
    let mut last = None;
    for index in 0..config.get_hosts().len().max(config.get_hostaddrs().len()) {
        let attempt =
            open(url, &config, index).and_then(|stream| log_in(stream, &config, session, limits));
        match attempt {
            Ok(connection) => return Ok(connection),
            Err(failure) => last = Some(failure),
        }
    }
    Err(match last {
        None => refuse("no host is named".to_owned()),
        Some(StartupFailure::Told(error)) => error,
        Some(StartupFailure::Io(error)) => refuse(crate::postgres::explain_io(&error)),
        Some(StartupFailure::Thin(ThinError::Server { code, message, .. })) => {
            refuse(crate::postgres::explain_refusal(&config, &SqlState::from_code(&code), &message))
        }
        Some(StartupFailure::Thin(ThinError::Lost(error))) => {
            refuse(crate::postgres::explain_io(&error))
        }
        Some(StartupFailure::Thin(error)) => refuse(error.to_string()),
    })
}

/// The socket of the host at `index`, encrypted as `sslmode` says.
fn open(url: &PostgresUrl, config: &Config, index: usize) -> Result<ThinStream, StartupFailure> {
    let port = |index: usize| config.get_ports().get(index).or(config.get_ports().first());
    let port = port(index).copied().unwrap_or(5432);
    let host = config.get_hosts().get(index);
    let address = config.get_hostaddrs().get(index);
    let name = match (host, address) {
        (Some(Host::Unix(directory)), None) => {
            let path = crate::postgres::socket_path(directory, port);
            return Ok(ThinStream::Unix(UnixStream::connect(Path::new(&path))?));
        }
        (Some(Host::Tcp(name)), _) => name.clone(),
        (_, Some(address)) => address.to_string(),
        (None, None) => "localhost".to_owned(),
    };
    let to = address.map_or_else(|| name.clone(), ToString::to_string);
    let timeout = config.get_connect_timeout().copied();
    let mut last = std::io::Error::new(std::io::ErrorKind::NotFound, "the host has no address");
    for address in (to.as_str(), port).to_socket_addrs()? {
        let connected = match timeout {
            Some(timeout) => TcpStream::connect_timeout(&address, timeout),
            None => TcpStream::connect(address),
        };
        match connected {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                // Whatever listens there may never answer.
                stream.set_read_timeout(timeout)?;
                let stream = encrypt(stream, url, config, &name)?;
                if let ThinStream::Tcp(stream) = &stream {
                    stream.set_read_timeout(None)?;
                }
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last.into())
}

fn encrypt(
    mut stream: TcpStream,
    url: &PostgresUrl,
    config: &Config,
    name: &str,
) -> Result<ThinStream, StartupFailure> {
    use std::io::{Read as _, Write as _};
    if config.get_ssl_mode() == SslMode::Disable {
        return Ok(ThinStream::Tcp(stream));
    }
    let mut request = BytesMut::new();
    frontend::ssl_request(&mut request);
    stream.write_all(&request)?;
    let mut answer = [0];
    stream.read_exact(&mut answer)?;
    let tls = |problem: String| StartupFailure::Told(Error::Tls { problem });
    if answer != *b"S" {
        return match config.get_ssl_mode() {
            SslMode::Prefer => Ok(ThinStream::Tcp(stream)),
            _ => Err(tls(format!("{name} does not offer it; use sslmode=disable or prefer"))),
        };
    }
    let options = crate::postgres::tls::client_config(url).map_err(StartupFailure::Told)?;
    let server = ServerName::try_from(name.to_owned())
        .map_err(|error| tls(format!("{name} is not a name for a certificate: {error}")))?;
    let session = rustls::ClientConnection::new(Arc::new(options), server)
        .map_err(|error| tls(error.to_string()))?;
    let mut stream = rustls::StreamOwned::new(session, stream);
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock).map_err(|error| match is_timeout(&error) {
            true => StartupFailure::Io(error),
            false => tls(error.to_string()),
        })?;
    }
    // See `wire::receive`: the wait for a TLS record is a read with a timeout.
    stream.sock.set_read_timeout(Some(STEP))?;
    Ok(ThinStream::Tls(Box::new(stream)))
}

fn log_in<'a>(
    stream: ThinStream,
    config: &Config,
    session: &[(&str, &str)],
    limits: WaitLimits<'a>,
) -> Result<ThinConnection<'a>, StartupFailure> {
    let user = config.get_user().unwrap_or_default();
    stream.limit_writes(limits.timeout)?;
    let mut parameters = vec![("user", user), ("client_encoding", "UTF8")];
    parameters.extend(config.get_dbname().map(|name| ("database", name)));
    parameters.extend(config.get_options().map(|options| ("options", options)));
    parameters.extend(config.get_application_name().map(|name| ("application_name", name)));
    parameters.extend(session.iter().copied());
    let mut connection = ThinConnection {
        wire: ThinWire::new(stream, limits),
        out: BytesMut::new(),
        prepared: 0,
        in_transaction: false,
    };
    frontend::startup_message(parameters, &mut connection.out)?;
    connection.wire.write(&connection.out)?;
    let mut scram = None;
    loop {
        let (tag, body) = connection.wire.message()?;
        match tag {
            backend::READY_FOR_QUERY_TAG => return Ok(connection),
            backend::ERROR_RESPONSE_TAG | backend::AUTHENTICATION_TAG => {
                let message = whole_message(tag, body)?;
                connection.out.clear();
                authenticate(message, config, &mut scram, &mut connection.out)?;
                if !connection.out.is_empty() {
                    connection.wire.write(&connection.out)?;
                }
            }
            _ => {}
        }
    }
}

/// Answers one step of the server's questions.
fn authenticate(
    message: Message,
    config: &Config,
    scram: &mut Option<ScramSha256>,
    out: &mut BytesMut,
) -> Result<(), StartupFailure> {
    let password = || {
        config.get_password().ok_or(StartupFailure::Told(Error::CannotConnect {
            server: crate::postgres::server_name(config),
            problem: crate::postgres::PASSWORD_MISSING.to_owned(),
        }))
    };
    match message {
        Message::AuthenticationOk => {}
        Message::AuthenticationCleartextPassword => frontend::password_message(password()?, out)?,
        Message::AuthenticationMd5Password(body) => {
            let user = config.get_user().unwrap_or_default().as_bytes();
            let hash = md5_hash(user, password()?, body.salt());
            frontend::password_message(hash.as_bytes(), out)?;
        }
        Message::AuthenticationSasl(body) => {
            let mechanisms: Vec<String> = body.mechanisms().map(|m| Ok(m.to_owned())).collect()?;
            if !mechanisms.iter().any(|mechanism| mechanism == SCRAM_SHA_256) {
                return Err(ThinError::Unexpected("the server offers no SCRAM-SHA-256").into());
            }
            let begun = ScramSha256::new(password()?, ChannelBinding::unsupported());
            frontend::sasl_initial_response(SCRAM_SHA_256, begun.message(), out)?;
            *scram = Some(begun);
        }
        Message::AuthenticationSaslContinue(body) => {
            let scram = scram.as_mut().ok_or(OUT_OF_TURN)?;
            scram.update(body.data())?;
            frontend::sasl_response(scram.message(), out)?;
        }
        Message::AuthenticationSaslFinal(body) => {
            scram.as_mut().ok_or(OUT_OF_TURN)?.finish(body.data())?;
        }
        Message::ErrorResponse(body) => return Err(ThinError::from_response(&body)?.into()),
        _ => {
            let text = "the server asks for Kerberos, GSSAPI or SSPI; the measuring client speaks \
                        scram-sha-256, md5, password and trust";
            return Err(ThinError::Unexpected(text).into());
        }
    }
    Ok(())
}

const OUT_OF_TURN: ThinError = ThinError::Unexpected("the server's SCRAM messages are out of turn");
