//! Takes regular files only, and never reads more of them than is asked for.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};

use pi_subagents_os::{Disk as _, System};
use rustix::fs::{FileType, fstat};

use crate::refusal::FileRefusal;

/// Takes a descriptor for a file if it is a regular file on a disk.
///
/// The system may call a file regular whose content the kernel makes up, so it is asked for that as
/// well.
pub(crate) fn regular(descriptor: OwnedFd) -> io::Result<File> {
    let kind = FileType::from_raw_mode(fstat(&descriptor)?.st_mode);
    if kind != FileType::RegularFile {
        return Err(FileRefusal::NotRegular.into());
    }
    if System::is_made_up(descriptor.as_fd())? {
        return Err(FileRefusal::MadeUp.into());
    }
    Ok(File::from(descriptor))
}

/// Reads an open file as a whole if it holds at most `limit` bytes.
pub fn read_bounded(file: &File, limit: u64) -> io::Result<Vec<u8>> {
    let refused = || io::Error::from(FileRefusal::TooLarge { limit });
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
