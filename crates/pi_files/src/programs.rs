//! Finds installed programs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use pi_subagents_os::may_execute;

/// Returns the pi that the user `named`, relative to `cwd`, or else the first on the search path.
///
/// A pi that is named is returned whether or not it exists, so that an error can name it.
pub fn installed_pi(named: Option<&OsStr>, cwd: &Path, search_path: &OsStr) -> Option<PathBuf> {
    match named {
        Some(named) => Some(cwd.join(named)),
        None => on_path("pi", search_path),
    }
}

/// Returns the first program of this name on the search path.
pub fn on_path(name: &str, search_path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(search_path)
        .map(|directory| directory.join(name))
        .find(|candidate| is_program(candidate))
}

/// Returns whether a path is a file that we may execute.
pub fn is_program(path: &Path) -> bool {
    path.is_file() && may_execute(path)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_cannot_be_executed_is_no_program_and_a_named_pi_comes_first() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, mode: u32| {
            let file = root.path().join(name).join("pi");
            fs::create_dir(root.path().join(name)).unwrap();
            fs::write(&file, "").unwrap();
            fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
            file
        };
        let plain = write("first", 0o644);
        let program = write("second", 0o755);
        let directories = [&plain, &program].map(|file| file.parent().unwrap());
        let path = std::env::join_paths(directories).unwrap();
        let find = |named: Option<&str>| installed_pi(named.map(OsStr::new), root.path(), &path);
        assert_eq!(find(None), Some(program));
        assert_eq!(find(Some("first/pi")), Some(plain));
    }
}
