//! Finds the directory of a process in the tree of control groups, from the files of `/proc`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

/// Returns where control groups (version 2) are mounted, and the part of their tree that is seen
/// there, from the text of `/proc/self/mountinfo`.
pub(super) fn mount(mountinfo: &str) -> Option<(PathBuf, PathBuf)> {
    mountinfo.lines().find_map(|line| {
        let (mount, system) = line.split_once(" - ")?;
        if system.split(' ').next() != Some("cgroup2") {
            return None;
        }
        let mut fields = mount.split(' ').skip(3);
        let (root, point) = (fields.next()?, fields.next()?);
        Some((unescaped(point), unescaped(root)))
    })
}

/// Returns the directory of the group that a process is in, from the text of its `mountinfo` and
/// of its `cgroup`.
pub(super) fn own_directory(mountinfo: &str, cgroup: &str) -> Option<PathBuf> {
    let (point, root) = mount(mountinfo)?;
    let path = cgroup.lines().find_map(|line| line.strip_prefix("0::"))?;
    let below = Path::new(path).strip_prefix(root).ok()?;
    // The kernel writes dots for a group that the process cannot see.
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    below.components().all(is_plain).then(|| point.join(below))
}

/// Spaces and their like are written as a backslash and three octal digits.
fn unescaped(field: &str) -> PathBuf {
    let bytes = field.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'\\')
            .then(|| field.get(at + 1..at + 4))
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        plain.push(code.unwrap_or(bytes[at]));
        at += if code.is_some() { 4 } else { 1 };
    }
    PathBuf::from(OsString::from_vec(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "\
31 23 0:27 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:28 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw
";

    #[test]
    fn the_group_is_found_wherever_it_is_mounted() {
        let own = |cgroup: &str| own_directory(HYBRID, cgroup);
        let base = Path::new("/sys/fs/cgroup/unified");
        assert_eq!(own("8:pids:/\n0::/\n").as_deref(), Some(base));
        let scope = own("0::/user.slice/app.scope\n");
        assert_eq!(scope, Some(base.join("user.slice/app.scope")));
        assert_eq!(own("4:memory:/x\n"), None);
        assert_eq!(own("0::/../other\n"), None);
    }

    #[test]
    fn a_container_sees_a_part_of_the_tree() {
        let mounts = "41 31 0:38 /docker/abc /sys/fs/my\\040groups rw - cgroup2 cgroup rw\n";
        assert_eq!(
            own_directory(mounts, "0::/docker/abc/inner\n"),
            Some(PathBuf::from("/sys/fs/my groups/inner"))
        );
        assert_eq!(own_directory(mounts, "0::/elsewhere\n"), None);
    }

    #[test]
    fn a_machine_without_them_has_no_place() {
        let mounts = "32 31 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n";
        assert_eq!(own_directory(mounts, "0::/\n"), None);
        assert_eq!(own_directory("", ""), None);
    }
}
