//! A connection that can be kept beside the statements and blob handles that borrow it: preparing a
//! statement, or looking a prepared one up, for every blob would be measured too.

use std::ptr::NonNull;

use rusqlite::Connection;

/// A connection at a fixed place in memory, closed when this is dropped.
pub(super) struct Held {
    connection: NonNull<Connection>,
}

impl Held {
    pub fn new(connection: Connection) -> Self {
        Self { connection: NonNull::from(Box::leak(Box::new(connection))) }
    }

    #[expect(unsafe_code, reason = "a statement and its connection in one struct")]
    pub fn connection(&self) -> &Connection {
        // SAFETY: the pointer came from a box that is freed in `drop` only.
        unsafe { self.connection.as_ref() }
    }

    /// The connection, for a statement or a blob handle that is kept in the same struct.
    ///
    /// # Safety
    /// Whatever borrows from this must be dropped before `self`: its field must be declared before
    /// the one that holds `self`.
    #[expect(unsafe_code, reason = "a statement and its connection in one struct")]
    pub unsafe fn lasting(&self) -> &'static Connection {
        // SAFETY: the box stays where it is however `self` moves, and the caller promises that
        // nothing borrows from it when it is freed.
        unsafe { self.connection.as_ref() }
    }
}

impl Drop for Held {
    #[expect(unsafe_code, reason = "a statement and its connection in one struct")]
    fn drop(&mut self) {
        // SAFETY: made by `Box::leak` in `new`, freed here only, no longer borrowed.
        drop(unsafe { Box::from_raw(self.connection.as_ptr()) });
    }
}
