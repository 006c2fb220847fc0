//! Files that git keeps apart (Git LFS): the repository holds pointers, and the content lies beside
//! it. They are found by reading the pointers, so `git-lfs` need not be installed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::WorkspaceError;
use crate::object_id::ObjectId;
use crate::repository::{Repository, entries};

/// The first line of a pointer.
const POINTER: &str = "version https://git-lfs.github.com/spec/v1";

/// A file that git keeps apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LargeFile {
    /// Its id, which is the SHA-256 of its content.
    pub oid: String,
    /// Its size in bytes.
    pub size: u64,
}

impl LargeFile {
    /// Returns where its content is, in a directory of such files.
    pub fn path_in(&self, storage: &Path) -> PathBuf {
        let oid = &self.oid;
        let folder = storage.join("objects").join(&oid[..2]).join(&oid[2..4]);
        folder.join(oid)
    }

    /// Returns the file with this id, if it is one: it becomes part of a path.
    pub fn checked(oid: &str, size: u64) -> Option<Self> {
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let is_id = oid.len() == 64 && oid.bytes().all(is_hex);
        is_id.then(|| Self {
            oid: oid.to_owned(),
            size,
        })
    }
}

/// Returns the directory in which a repository keeps such files.
pub fn large_files_of(repository: &Repository) -> PathBuf {
    repository.common_dir().join("lfs")
}

/// Lists the files of a commit that git keeps apart.
pub fn large_files(
    repository: &Repository,
    commit: &ObjectId,
) -> Result<Vec<LargeFile>, WorkspaceError> {
    let git = repository.git();
    let found = |pattern: &str, paths: &[&str]| {
        let arguments = ["grep", "-I", "-l", "-z", "--full-name", "-F", "-e"];
        let what = [pattern, commit.as_str(), "--"];
        git.try_run(&[&arguments[..], &what, paths].concat(), b"")
    };
    if !found("filter=lfs", &[":(glob,top)**/.gitattributes"])?
        .status
        .success()
    {
        return Ok(Vec::new());
    }
    let printed = found(POINTER, &[":(top)"])?.stdout;
    let mut names = Vec::new();
    for name in entries(&printed) {
        names.extend_from_slice(name);
        names.push(b'\n');
    }
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let printed = git.run_with(&["cat-file", "--batch"], &names)?;
    let text = String::from_utf8_lossy(&printed);
    Ok(pointers(&text))
}

/// Reads pointers out of the contents of files, one after another. A file is named once.
fn pointers(text: &str) -> Vec<LargeFile> {
    let mut found = BTreeMap::new();
    for part in text.split(POINTER).skip(1) {
        let field = |name: &str| {
            let mut lines = part.lines().take(8);
            lines.find_map(|line| line.strip_prefix(name))
        };
        let oid = field("oid sha256:").map(str::trim);
        let size = field("size ").and_then(|size| size.trim().parse().ok());
        if let (Some(oid), Some(size)) = (oid, size)
            && let Some(file) = LargeFile::checked(oid, size)
        {
            found.insert(file.oid.clone(), file);
        }
    }
    found.into_values().collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn pointers_are_read_and_what_only_looks_like_one_is_not() {
        let oid = "a".repeat(64);
        let text = format!(
            "x blob 130\n{POINTER}\noid sha256:{oid}\nsize 12\n\ny blob 9\n{POINTER}\noid sha256:../x\nsize 1\n\n{POINTER}\n"
        );
        let expected = LargeFile { oid, size: 12 };
        assert_eq!(pointers(&text), [expected]);
    }
}
