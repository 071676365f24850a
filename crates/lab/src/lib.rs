//! The laboratory: experiments from their plan to their report. It reaches every application over
//! processes and HTTP only, so that ours is measured exactly as a stranger's is.

pub mod article;
pub mod client;
pub mod error;
pub mod forecast;
pub mod options;
pub mod preview;
pub mod run;
pub mod shorten;
pub mod workload;
