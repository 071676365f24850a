//! Activity at a database: whether an application has used it since a moment of the caller's choice.

use load::resource::ServerSide;

/// The use of a database, as far as it can be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sight {
    Used,
    Unused,
    /// Not to be seen, for this reason.
    Hidden(String),
}

/// A look at the use of one database, kept up until it is dropped. It costs the engine time, so it is for
/// what is not timed.
pub trait Activity {
    /// Forgets all that was done before.
    fn begin(&mut self);

    /// Whether the database was used since. `application` are the processes that may use it.
    fn sight(&mut self, application: &ServerSide) -> Sight;

    /// The places that are looked at, with the verb of a sentence: "no request ...".
    fn looked_at(&self) -> String;
}
