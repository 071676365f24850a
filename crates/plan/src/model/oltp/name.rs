//! Names of mixes, distributions, character sets and collations, looked up.

use strum::VariantArray;

/// A name that is not known.
#[derive(Debug, thiserror::Error)]
#[error("unknown {what} `{name}`{suggestion}; there are {known}")]
pub struct UnknownName {
    /// `workload`, `distribution`.
    what: &'static str,
    name: String,
    /// ` (did you mean ...?)` or nothing.
    suggestion: String,
    known: String,
}

/// The value of a name; `what` it names, for the error, which lists them all.
pub(super) fn by_name<T>(what: &'static str, name: &str) -> Result<T, UnknownName>
where
    T: VariantArray + Copy + Into<&'static str>,
{
    let found = T::VARIANTS.iter().copied().find(|one| (*one).into() == name);
    found.ok_or_else(|| {
        let known: Vec<&'static str> = T::VARIANTS.iter().map(|one| (*one).into()).collect();
        UnknownName {
            what,
            name: name.to_owned(),
            suggestion: engine::nearest(name, known.iter().copied()),
            known: known.join(", "),
        }
    })
}
