//! Names of accounts and keys.

/// The longest, as the schema has it.
pub(crate) const LONGEST_NAME_CHARACTERS: usize = 64;

/// Whether an account or a key may have this name.
pub(crate) fn is_name(name: &str) -> bool {
    let is_long = name.chars().count() > LONGEST_NAME_CHARACTERS;
    name.trim() == name && !name.is_empty() && !is_long && !name.contains(char::is_control)
}
