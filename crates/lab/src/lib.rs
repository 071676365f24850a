//! The laboratory: experiments from their plan to their report. It reaches every application over
//! processes and HTTP only, so that ours is measured exactly as a stranger's is.

pub mod analysis;
pub mod article;
pub mod comparison;
mod deployment;
pub mod environment;
pub mod http;
pub mod load;
pub mod observe;
pub mod plan;
pub mod preview;
pub mod prewarm;
pub mod process;
pub mod record;
pub mod report;
pub mod resource;
pub mod run;
mod schedule;
pub mod shorten;
pub mod warning;
pub mod workload;
