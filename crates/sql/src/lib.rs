//! SQL as text: its tokens, its statements, its parameters. What a statement means is left to the
//! engines.

mod changed;
mod scan;
mod split;
mod token;

pub use changed::{ChangedTable, changed_tables};
pub use scan::{Dialect, Piece, Rendered, Scanned, scan};
pub use split::{Part, split};
pub use token::{Token, TokenKind, closing, rewritten, tokens};
