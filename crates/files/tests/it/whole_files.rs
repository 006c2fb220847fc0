//! Written files are for the user alone, whole, and never behind a link.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use pi_subagents_files::{Audience, Directory, FileRefusal};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn names(path: &Path) -> Vec<String> {
    let entries = Directory::open(path).unwrap().list(100).unwrap();
    let names = entries.into_iter().map(|entry| entry.name);
    names.map(|name| name.into_string().unwrap()).collect()
}

#[test]
fn files_are_private_and_nothing_else_is_left() {
    let root = tempfile::tempdir().unwrap();
    let directory = Directory::open(root.path()).unwrap();
    directory.write_whole(Path::new("a"), b"1").unwrap();
    directory.write_whole(Path::new("a"), b"2").unwrap();
    assert!(directory.write_whole_once(Path::new("b"), b"1").unwrap());
    assert!(!directory.write_whole_once(Path::new("b"), b"2").unwrap());
    directory
        .replace(Path::new("c"), b"3", Audience::Private)
        .unwrap();
    directory
        .append(Path::new("d"))
        .unwrap()
        .write_all(b"x")
        .unwrap();
    directory
        .append(Path::new("d"))
        .unwrap()
        .write_all(b"y")
        .unwrap();
    let read = |name: &str| fs::read_to_string(root.path().join(name)).unwrap();
    assert_eq!(["a", "b", "c", "d"].map(read), ["2", "1", "3", "xy"]);
    assert_eq!(names(root.path()), ["a", "b", "c", "d"]);
    for name in ["a", "b", "c", "d"] {
        assert_eq!(mode(&root.path().join(name)), 0o600, "{name}");
    }
    directory.make_directory(Path::new("e")).unwrap();
    directory.make_directory(Path::new("e")).unwrap();
    assert_eq!(mode(&root.path().join("e")), 0o700);
}

#[test]
fn nothing_is_written_behind_a_link() {
    let root = tempfile::tempdir().unwrap();
    let victim = root.path().join("bashrc");
    fs::write(&victim, "kept").unwrap();
    let run = root.path().join("run");
    fs::create_dir(&run).unwrap();
    symlink(&victim, run.join("events.jsonl")).unwrap();
    symlink(root.path(), run.join("folder")).unwrap();
    let directory = Directory::open_plain(&run).unwrap();
    let append = directory.append(Path::new("events.jsonl")).unwrap_err();
    assert_eq!(FileRefusal::of(&append), Some(FileRefusal::Link));
    let below = directory.append(Path::new("folder/bashrc")).unwrap_err();
    assert_eq!(FileRefusal::of(&below), Some(FileRefusal::Link));
    let made = directory.make_directory(Path::new("folder")).unwrap_err();
    assert_eq!(FileRefusal::of(&made), Some(FileRefusal::Link));
    // A whole file takes the place of the link.
    directory
        .write_whole(Path::new("events.jsonl"), b"new")
        .unwrap();
    assert_eq!(fs::read_to_string(&victim).unwrap(), "kept");
    symlink(&run, root.path().join("other")).unwrap();
    let other = Directory::open_plain(&root.path().join("other")).unwrap_err();
    assert_eq!(FileRefusal::of(&other), Some(FileRefusal::Link));
}
