//! A thin HTTP/1.1 client: what a measuring client costs must not be seen in the figures.
//! One write per request, reused read buffers; bodies are hashed as they arrive.

mod connection;
mod error;
mod request;
mod response;
mod target;
mod tls;
mod wire;

pub use connection::{Connection, Fetched};
pub use error::HttpError;
pub use request::PreparedRequest;
pub use target::Target;

pub use connection::CONNECT_TIMEOUT_MAX;
pub use response::Keep;
pub use wire::{BUFFER_BYTES, Interest, Wire, WireStep};
