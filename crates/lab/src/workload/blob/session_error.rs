//! Failure of a session, in the words of the engine or the operating system.

/// A failure, in the words of the engine or the operating system.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct SessionError(pub String);

impl SessionError {
    pub(super) fn of(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}
