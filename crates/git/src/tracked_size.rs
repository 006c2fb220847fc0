//! The size of the files that a checkout tracks, as its index has noted it: no file and no object is
//! read for it.

use crate::error::WorkspaceError;
use crate::repository::Repository;

impl Repository {
    /// Returns how many bytes the tracked files of the checkout have, as far as its index knows. Git
    /// promises nothing about the form of these notes; a git that writes them in another way leaves
    /// the size unknown, which is no reason to refuse a run.
    pub fn tracked_size(&self) -> Result<u64, WorkspaceError> {
        let printed = self.git().run(&["ls-files", "--cached", "--debug", "-z"])?;
        Ok(sum(&printed).unwrap_or(0))
    }
}

/// Adds up the sizes behind the names. Each name ends with a zero, and then five lines follow, of
/// which the last begins with `size:`.
fn sum(printed: &[u8]) -> Option<u64> {
    let mut total: u64 = 0;
    for notes in printed.split(|byte| *byte == 0).skip(1) {
        let line = notes.split(|byte| *byte == b'\n').nth(4)?;
        let line = std::str::from_utf8(line).ok()?;
        let mut words = line.split_whitespace().skip_while(|word| *word != "size:");
        let size: u64 = words.nth(1)?.parse().ok()?;
        total = total.saturating_add(size);
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_whatever_the_names_are() {
        let notes = |size: u64| {
            format!(
                "  ctime: 1:2\n  mtime: 1:2\n  dev: 1\tino: 2\n  uid: 0\tgid: 0\n  size: {size}\tflags: 0\n"
            )
        };
        let printed = format!("a\0{}  size: 9\nb\0{}", notes(5), notes(70));
        assert_eq!(sum(printed.as_bytes()), Some(75));
        assert_eq!(sum(b""), Some(0));
        assert_eq!(sum(b"a\0  ctime"), None);
    }
}
