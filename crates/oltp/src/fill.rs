//! Tables made and filled. (signatures)

/// Makes the tables and fills them, deterministically by seed: COPY for PostgreSQL, a transaction
/// per chunk elsewhere; indexes and statistics after. `progress` hears how many rows of how many
/// are there. Tables of ours of the same names are replaced.
///
/// # Errors
/// [`Error::ForeignTable`]: a table that is not marked as ours is never touched.
pub fn fill(
    target: &Target,
    options: &TableOptions,
    progress: &(dyn Fn(u64, u64) + Sync),
    interrupted: &AtomicBool,
) -> Result<(), Error>;

/// What the tables of ours were filled with; none where there are none.
pub fn find(target: &Target) -> Result<Option<TableOptions>, Error>;

/// Drops the tables of ours and their mark.
pub fn remove(target: &Target) -> Result<(), Error>;
