//! Objects of a SQLite file that hold no rows of their own.

/// A view, trigger or virtual table.
#[derive(Clone, Debug)]
pub struct OtherObject {
    pub kind: OtherKind,
    pub name: String,
    /// The table (or view) of a trigger; the name itself for all others.
    pub table: String,
    /// The statement that made it, as written.
    pub sql: String,
}

/// The kinds of objects that hold no rows of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherKind {
    View,
    Trigger,
    /// `CREATE VIRTUAL TABLE`, for example full-text search
    VirtualTable,
    /// A table in which a virtual table keeps its data
    ShadowTable,
}

impl OtherKind {
    /// The kind in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::View => "view",
            Self::Trigger => "trigger",
            Self::VirtualTable => "virtual table",
            Self::ShadowTable => "shadow table",
        }
    }
}
