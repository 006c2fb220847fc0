//! Paths as people write them into files and variables.

use std::path::{Path, PathBuf};

/// Returns the path that was written: from the home directory if it begins with `~`, else from
/// `base`.
pub fn written_path(path: impl AsRef<Path>, base: &Path, home: &Path) -> PathBuf {
    let path = path.as_ref();
    match path.strip_prefix("~") {
        Ok(rest) => home.join(rest),
        Err(_) => base.join(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_tilde_that_stands_alone_is_the_home() {
        let full = |path| written_path(path, Path::new("/base"), Path::new("/home/u"));
        assert_eq!(full("~/a"), Path::new("/home/u/a"));
        assert_eq!(full("~"), Path::new("/home/u"));
        assert_eq!(full("~other/a"), Path::new("/base/~other/a"));
        assert_eq!(full("a/~"), Path::new("/base/a/~"));
        assert_eq!(full("/a"), Path::new("/a"));
    }
}
