//! Recorded runs by the program itself: listed, removed, reported in every form, compared.

mod compared;
mod kept;
mod older;
mod written;
