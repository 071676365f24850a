//! Counts with their nouns, for messages.

/// `1 trial`, `2 trials`.
pub fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
