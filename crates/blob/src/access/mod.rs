//! One open target: a blob is read or overwritten by its id. Buffers are kept, so that nothing is
//! allocated for a blob inside the clock.

mod file;
mod held;
mod lookup;
mod reader;
mod sqlite;
mod writer;

pub use file::FileAccess;
pub use lookup::LookupAccess;
pub use sqlite::SqliteAccess;

use crate::Error;

/// An open target. Not to be sent to another thread: a thread opens its own.
pub trait Access {
    /// Reads blob `id` whole and shows its bytes to `visit` where they lie, without a copy; whether
    /// there is such a blob.
    fn read(&mut self, id: u64, visit: &mut dyn FnMut(&[u8])) -> Result<bool, Error>;

    /// The size of blob `id`, bytes, looked up as cheaply as the target can; `None`: no such blob.
    fn size(&mut self, id: u64) -> Result<Option<u64>, Error>;

    /// Overwrites blob `id`, which must exist and have as many bytes; whether it exists.
    fn update(&mut self, id: u64, bytes: &[u8]) -> Result<bool, Error>;

    /// Opens and closes what holds blob `id` alone, without reading it: the part of the time of a
    /// file that a database does not have, for which this does nothing. Whether there is one.
    fn open_and_close(&mut self, _id: u64) -> Result<bool, Error> {
        Ok(true)
    }

    /// Begins a transaction, where there are any.
    fn begin(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Ends it. What was updated is now as durable as the settings say.
    fn commit(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Abandons the update: undone where that is possible, otherwise left as far as it came. True
    /// if the overwritten blobs have their old content again.
    fn rollback(&mut self) -> Result<bool, Error> {
        Ok(false)
    }

    /// Moves what was committed to its final place, in WAL mode; elsewhere it is there.
    fn checkpoint(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// [`Access::read`] into a buffer of the caller's; the number of bytes.
    fn read_into(&mut self, id: u64, buffer: &mut Vec<u8>) -> Result<Option<usize>, Error> {
        buffer.clear();
        let found = self.read(id, &mut |bytes| buffer.extend_from_slice(bytes))?;
        Ok(found.then_some(buffer.len()))
    }
}
