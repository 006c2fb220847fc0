//! Directories are listed up to a limit, and it is known whose they are.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};

use pi_subagents_files::{
    Directory, DirectoryEntry, FileRefusal, Ownership, is_protected, ownership,
};

#[test]
fn entries_are_sorted_and_counted() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("b"), "").unwrap();
    fs::create_dir(root.path().join("a")).unwrap();
    symlink("b", root.path().join("c")).unwrap();
    let directory = Directory::open(root.path()).unwrap();
    let entry = |name: &str, is_link, is_directory| DirectoryEntry {
        name: name.into(),
        is_link,
        is_directory,
    };
    assert_eq!(
        directory.list(3).unwrap(),
        [
            entry("a", false, true),
            entry("b", false, false),
            entry("c", true, false)
        ]
    );
    let refused = FileRefusal::of(&directory.list(2).unwrap_err());
    assert_eq!(refused, Some(FileRefusal::TooMany { limit: 2 }));
}

#[test]
fn a_directory_that_others_may_write_protects_nothing_below_it() {
    let root = tempfile::tempdir().unwrap();
    let inner = root.path().join("shared/inner");
    fs::create_dir_all(&inner).unwrap();
    assert_eq!(ownership(&inner).unwrap(), Ownership::Mine);
    assert!(is_protected(&inner).unwrap());
    let set = |mode| {
        let shared = root.path().join("shared");
        fs::set_permissions(shared, Permissions::from_mode(mode)).unwrap();
    };
    set(0o777);
    assert!(!is_protected(&inner).unwrap());
    set(0o1777);
    assert!(is_protected(&inner).unwrap());
    assert!(!is_protected(&root.path().join("shared")).unwrap());
}
