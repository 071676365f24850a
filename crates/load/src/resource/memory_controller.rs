//! Memory controller of this machine, of cgroup v1 or v2 as mounted, and the folders in which
//! groups of processes with a limited memory can be made.

use std::path::{Path, PathBuf};

/// The two interfaces of Linux. A controller is bound to one of them at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    V1,
    V2,
}

/// The memory controller, seen from this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Controller {
    pub(super) version: Version,
    /// Where its tree is mounted.
    pub(super) mount: PathBuf,
    /// The group that this process is in.
    pub(super) own: PathBuf,
}

impl Controller {
    /// From the texts of /proc/self/mountinfo and /proc/self/cgroup. `None` where neither
    /// interface is mounted.
    pub(super) fn find(mounts: &str, groups: &str) -> Option<Self> {
        // Version 1 first: where it has the memory controller, version 2 has it not.
        let tree = |version| {
            let mount = Mount::find(mounts, version)?;
            let own = mount.folder_of(&own_path(groups, version)?);
            Some(Self { version, mount: mount.point, own })
        };
        tree(Version::V1).or_else(|| tree(Version::V2))
    }

    /// Folders that may hold a new group, the nearest first.
    ///
    /// Version 1 allows a child of the group that we are in. Version 2 does not give a
    /// controller to the children of a group that holds processes itself, so the place is the
    /// nearest one above that hands the controller down: for an ordinary user a folder that
    /// systemd's user manager was given.
    pub(super) fn places(&self) -> Vec<PathBuf> {
        let above = self.own.ancestors().take_while(|folder| folder.starts_with(&self.mount));
        match self.version {
            Version::V1 => above.map(Path::to_owned).collect(),
            Version::V2 => {
                above.filter(|folder| delegates_memory(folder)).map(Path::to_owned).collect()
            }
        }
    }
}

/// Whether children of this group of version 2 have the memory controller.
fn delegates_memory(folder: &Path) -> bool {
    let text = std::fs::read_to_string(folder.join("cgroup.subtree_control")).unwrap_or_default();
    text.split_whitespace().any(|controller| controller == "memory")
}

struct Mount {
    /// The part of the tree that is mounted: `/`, or a container's own group.
    root: String,
    point: PathBuf,
}

impl Mount {
    /// A line is `36 35 98:0 /root /point options ... - type device super,options`.
    fn find(mounts: &str, version: Version) -> Option<Self> {
        mounts.lines().find_map(|line| {
            let (left, right) = line.split_once(" - ")?;
            let mut left = left.split(' ').skip(3);
            let (root, point) = (left.next()?, left.next()?);
            let mut right = right.split(' ');
            let kind = right.next()?;
            let options = right.nth(1).unwrap_or_default();
            let holds = match version {
                Version::V1 => kind == "cgroup" && options.split(',').any(|one| one == "memory"),
                Version::V2 => kind == "cgroup2",
            };
            holds.then(|| Self { root: root.to_owned(), point: PathBuf::from(point) })
        })
    }

    /// A container may see its group by the name that it has outside.
    fn folder_of(&self, group: &str) -> PathBuf {
        let inside = Path::new(group).strip_prefix(&self.root).unwrap_or(Path::new(""));
        self.point.join(inside.strip_prefix("/").unwrap_or(inside))
    }
}

/// A line is `4:memory:/path`, or `0::/path` for version 2.
fn own_path(groups: &str, version: Version) -> Option<String> {
    groups.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let controllers = fields.next()?;
        let path = fields.next()?;
        let is_it = match version {
            Version::V1 => controllers.split(',').any(|one| one == "memory"),
            Version::V2 => controllers.is_empty(),
        };
        is_it.then(|| path.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = "\
26 20 0:23 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
30 26 0:27 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
31 26 0:28 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
39 26 0:36 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw";
    const V2: &str = "\
28 23 0:25 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate";
    const CONTAINER: &str = "\
780 770 0:33 /docker/4f2a /sys/fs/cgroup/memory ro,nosuid master:16 - cgroup cgroup rw,memory";

    #[test]
    fn the_controller_is_found_where_it_is_mounted() {
        let found = Controller::find(V1, "4:memory:/a/b\n0::/c\n").unwrap();
        assert_eq!(found.version, Version::V1);
        assert_eq!(found.own, Path::new("/sys/fs/cgroup/memory/a/b"));
        assert_eq!(found.places().last().unwrap(), Path::new("/sys/fs/cgroup/memory"));

        let found = Controller::find(V2, "0::/user.slice/x.scope\n").unwrap();
        assert_eq!(found.version, Version::V2);
        assert_eq!(found.own, Path::new("/sys/fs/cgroup/user.slice/x.scope"));

        let found = Controller::find(CONTAINER, "7:memory:/docker/4f2a/x\n").unwrap();
        assert_eq!(found.own, Path::new("/sys/fs/cgroup/memory/x"));

        assert_eq!(Controller::find("20 1 8:1 / / rw - ext4 /dev/sda rw", "0::/\n"), None);
    }

    /// A tree as systemd makes it for an ordinary user, in plain files.
    #[test]
    fn version_2_takes_the_nearest_folder_that_hands_memory_down() {
        let mount = tempfile::tempdir().unwrap();
        let slice = mount.path().join("user.slice/user@1000.service/app.slice");
        let own = slice.join("run-7.scope");
        std::fs::create_dir_all(&own).unwrap();
        std::fs::write(own.join("cgroup.subtree_control"), "\n").unwrap();
        std::fs::write(slice.join("cgroup.subtree_control"), "cpu memory pids\n").unwrap();
        std::fs::write(mount.path().join("cgroup.subtree_control"), "memory\n").unwrap();
        let controller = Controller { version: Version::V2, mount: mount.path().to_owned(), own };
        assert_eq!(controller.places(), [slice, mount.path().to_owned()]);
    }
}
