//! (signature)

/// Streams the tables in the order of their keys and checks, after `mix` and `rows_added` (the
/// sum over clients and loads since the filling), the number of rows and every value that the
/// mix leaves alone, row by row against what was filled. `None`: as filled.
///
/// # Errors
/// [`Error::Invariant`] names the first difference.
pub fn invariants(
    target: &Target,
    options: &TableOptions,
    mix: Option<Mix>,
    rows_added: i64,
    interrupted: &AtomicBool,
) -> Result<(), Error>;
