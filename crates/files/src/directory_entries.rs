//! Lists the entries of a directory.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, statat};

use crate::directory::Directory;
use crate::refusal::FileRefusal;

/// Something that lies in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// Its name.
    pub name: OsString,
    /// True if the entry is a link.
    pub is_link: bool,
    /// True if the entry itself is a directory; false for a link to one.
    pub is_directory: bool,
}

impl Directory {
    /// Lists its entries, sorted by name; more than `limit` entries are an error.
    pub fn list(&self, limit: usize) -> io::Result<Vec<DirectoryEntry>> {
        let mut found = Vec::new();
        for entry in Dir::read_from(self)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            if found.len() == limit {
                return Err(FileRefusal::TooMany { limit }.into());
            }
            let kind = match entry.file_type() {
                FileType::Unknown => self.kind_of(Path::new(name))?,
                known => known,
            };
            found.push(DirectoryEntry {
                name: name.to_owned(),
                is_link: kind == FileType::Symlink,
                is_directory: kind == FileType::Directory,
            });
        }
        found.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(found)
    }

    /// Returns the kind of an entry, for file systems that do not give it with the name.
    fn kind_of(&self, name: &Path) -> io::Result<FileType> {
        let found = statat(self, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(FileType::from_raw_mode(found.st_mode))
    }
}
