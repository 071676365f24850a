//! Recorded runs against each other: whether they may be compared, and what that shows.

mod alike;

pub use alike::{Difference, differences};
