//! Takes regular files only, and never reads more of them than is asked for.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;

use rustix::fs::{FileType, PROC_SUPER_MAGIC, fstat, fstatfs};

use crate::refusal::Refusal;

/// The file systems beside procfs whose regular files are made up by the kernel: sysfs, debugfs,
/// tracefs, securityfs and the two kinds of cgroups.
const MADE_UP: [u64; 6] = [
    0x6265_6572,
    0x6462_6720,
    0x7472_6163,
    0x7363_6673,
    0x0027_e0eb,
    0x6367_7270,
];

/// Takes a descriptor for a file if it is a regular file on a disk.
///
/// The system calls `/proc/self/environ` a regular file too, so the file system is asked as well.
pub(crate) fn regular(descriptor: OwnedFd) -> io::Result<File> {
    let kind = FileType::from_raw_mode(fstat(&descriptor)?.st_mode);
    if kind != FileType::RegularFile {
        return Err(Refusal::NotRegular.into());
    }
    let system = fstatfs(&descriptor)?.f_type;
    let is_made_up = system == PROC_SUPER_MAGIC
        || u64::try_from(system).is_ok_and(|system| MADE_UP.contains(&system));
    if is_made_up {
        return Err(Refusal::MadeUp.into());
    }
    Ok(File::from(descriptor))
}

/// Reads an open file as a whole if it holds at most `limit` bytes.
pub fn read_bounded(file: &File, limit: u64) -> io::Result<Vec<u8>> {
    let refused = || io::Error::from(Refusal::TooLarge { limit });
    let length = file.metadata()?.len();
    if length > limit {
        return Err(refused());
    }
    let mut content = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    // It may have grown since.
    file.take(limit.saturating_add(1))
        .read_to_end(&mut content)?;
    if u64::try_from(content.len()).is_ok_and(|length| length > limit) {
        return Err(refused());
    }
    Ok(content)
}
