//! The laboratory: experiments from their plan to their report.

pub mod http;
pub mod load;
pub mod process;
pub mod resource;
