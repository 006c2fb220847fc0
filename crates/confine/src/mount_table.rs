//! The mounts of this process, as the kernel lists them. Pure.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

/// One line of the kernel's table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MountEntry {
    /// The number of the mount, by which a mount that is covered by another one is known.
    pub(crate) id: u64,
    /// The directory or file on which it is mounted.
    pub(crate) point: PathBuf,
    /// Its own options. An unprivileged user must repeat them when it changes a mount.
    pub(crate) options: Vec<MountOption>,
}

/// The options that belong to a mount and not to its file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MountOption {
    NoSetUid,
    NoDevices,
    NoExecution,
    NoAccessTimes,
    NoDirectoryAccessTimes,
    RelativeAccessTimes,
}

impl MountOption {
    fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "nosuid" => Self::NoSetUid,
            "nodev" => Self::NoDevices,
            "noexec" => Self::NoExecution,
            "noatime" => Self::NoAccessTimes,
            "nodiratime" => Self::NoDirectoryAccessTimes,
            "relatime" => Self::RelativeAccessTimes,
            _ => return None,
        })
    }
}

/// Reads the table; `None` if a line has another form.
pub(crate) fn parse(table: &[u8]) -> Option<Vec<MountEntry>> {
    let lines = table.split(|byte| *byte == b'\n');
    lines.filter(|line| !line.is_empty()).map(entry).collect()
}

fn entry(line: &[u8]) -> Option<MountEntry> {
    let mut words = line.split(|byte| *byte == b' ');
    let id = std::str::from_utf8(words.next()?).ok()?.parse().ok()?;
    let mut words = words.skip(3);
    let point = PathBuf::from(OsString::from_vec(unescape(words.next()?)));
    let options = std::str::from_utf8(words.next()?).ok()?.split(',');
    Some(MountEntry {
        id,
        point,
        options: options.filter_map(MountOption::from_word).collect(),
    })
}

/// The kernel writes a space, a tab, a newline and a backslash as three octal digits.
fn unescape(word: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word;
    while let [first, tail @ ..] = rest {
        let digits = tail.get(..3).filter(|_| *first == b'\\');
        let code = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[3..] } else { tail };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_table_is_read_with_odd_names_and_own_options() {
        let table = b"22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n\
            40 22 0:35 / /mnt/a\\040b\\134 ro,nosuid,nodev,noexec,noatime - tmpfs tmpfs rw\n";
        let expected = vec![
            MountEntry {
                id: 22,
                point: "/".into(),
                options: vec![MountOption::RelativeAccessTimes],
            },
            MountEntry {
                id: 40,
                point: "/mnt/a b\\".into(),
                options: vec![
                    MountOption::NoSetUid,
                    MountOption::NoDevices,
                    MountOption::NoExecution,
                    MountOption::NoAccessTimes,
                ],
            },
        ];
        assert_eq!(parse(table), Some(expected));
        assert_eq!(parse(b"what\n"), None);
    }
}
