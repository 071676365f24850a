//! A thin blocking HTTP/1.1 client: what a measuring client costs must not be seen in the figures.
//! One socket, one write per request, one reused read buffer; bodies are hashed as they arrive.

mod connection;
mod error;
mod request;
mod response;
mod target;
mod tls;

pub use connection::{Connection, Fetched};
pub use error::HttpError;
pub use request::PreparedRequest;
pub use response::Answer;
pub use target::Target;
