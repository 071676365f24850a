//! Errors of limiting memory on this machine, each with the remedy.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use super::super::memory_controller::Version;

/// A limit that cannot be had here.
#[derive(Debug, thiserror::Error)]
pub enum MemoryLimitError {
    /// There is no way to make the group.
    #[error("server_memory cannot be limited here: {missing}. {way_out}")]
    Unavailable { missing: String, way_out: &'static str },
    /// The server side did not fit.
    #[error(
        "server_memory = {bytes} bytes is too little: the kernel ended a process for want of memory \
         ({what}). Allow more, or make shared_buffers and other caches smaller"
    )]
    TooLittle {
        bytes: u64,
        /// The observation that shows it.
        what: String,
    },
    /// The kernel took another limit than the one asked for.
    #[error("server_memory: {asked} bytes were asked for and the kernel set {found}")]
    NotTaken { asked: u64, found: String },
    /// A file of the group.
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

pub(super) fn no_controller() -> MemoryLimitError {
    MemoryLimitError::Unavailable {
        missing: "no memory controller (cgroup v1 or v2) is mounted".to_owned(),
        way_out: "Linux has it, unless it was started with cgroup_disable=memory; elsewhere \
                  measure in a virtual machine of that size.",
    }
}

/// There is a controller, but nowhere a group could be made: `refused` is the first place that
/// was tried, if any was found.
pub(super) fn no_group_possible(
    version: Version,
    refused: Option<(PathBuf, io::Error)>,
) -> MemoryLimitError {
    let Some((path, error)) = refused else {
        return MemoryLimitError::Unavailable {
            missing: "no group of cgroup v2 above this process hands the memory controller down"
                .to_owned(),
            way_out: "As root: echo +memory > /sys/fs/cgroup/cgroup.subtree_control. In a \
                      container: limit the container's memory instead.",
        };
    };
    let missing = format!("cannot use {}: {error}", path.display());
    let way_out = match (error.kind(), version) {
        (ErrorKind::ReadOnlyFilesystem, _) => {
            "In a container: start it with --privileged, or limit the container's memory instead \
             and leave server_memory out."
        }
        (_, Version::V2) => {
            "Run the same command as root, or below your own systemd manager: systemd-run --user \
             --scope crossover ..."
        }
        (_, Version::V1) => {
            "Run the same command as root, or let root make a group, give it to you (chown -R) \
             and put your shell into it."
        }
    };
    MemoryLimitError::Unavailable { missing, way_out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_is_missing_and_the_way_out() {
        let denied = || (PathBuf::from("/sys/fs/cgroup/x"), ErrorKind::PermissionDenied.into());
        let v2 = no_group_possible(Version::V2, Some(denied())).to_string();
        assert!(v2.contains("/sys/fs/cgroup/x") && v2.contains("systemd-run --user"), "{v2}");
        let v1 = no_group_possible(Version::V1, Some(denied())).to_string();
        assert!(v1.contains("as root"), "{v1}");
        let frozen = (PathBuf::from("/x"), ErrorKind::ReadOnlyFilesystem.into());
        let frozen = no_group_possible(Version::V1, Some(frozen)).to_string();
        assert!(frozen.contains("container"), "{frozen}");
        assert!(no_group_possible(Version::V2, None).to_string().contains("subtree_control"));
    }
}
