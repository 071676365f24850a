//! The laboratory: experiments from their plan to their report.

pub mod article;
pub mod environment;
pub mod http;
pub mod load;
pub mod prewarm;
pub mod process;
pub mod resource;
