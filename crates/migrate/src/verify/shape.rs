//! Shape of a compared table.

use crate::value::Canonical;

/// Canonical forms of a table's columns, and the columns that identify a row.
#[derive(Clone, Debug)]
pub struct Shape {
    pub forms: Vec<Canonical>,
    /// The positions of the key's columns; all columns if there is no key.
    pub key: Vec<usize>,
}
