//! Only regular files of bearable size are read, and links lead nowhere outside.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use pi_subagents_files::{Directory, FileRefusal, read_own};
use rustix::fs::{CWD, Mode, mkfifoat};

const LIMIT: u64 = 1 << 20;

struct Stage {
    root: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("project/inner")).unwrap();
        fs::write(root.path().join("project/inner/file"), "inside").unwrap();
        fs::write(root.path().join("secret"), "outside").unwrap();
        Self { root }
    }

    fn link(&self, target: impl AsRef<Path>, name: &str) {
        symlink(target, self.root.path().join("project").join(name)).unwrap();
    }

    fn project(&self) -> Directory {
        Directory::open(&self.root.path().join("project")).unwrap()
    }

    fn beneath(&self, name: &str) -> Result<Vec<u8>, Option<FileRefusal>> {
        let read = self.project().read_beneath(Path::new(name), LIMIT);
        read.map_err(|error| FileRefusal::of(&error))
    }

    fn plain(&self, name: &str) -> Result<Vec<u8>, Option<FileRefusal>> {
        let read = self.project().read(Path::new(name), LIMIT);
        read.map_err(|error| FileRefusal::of(&error))
    }
}

#[test]
fn a_link_inside_the_project_is_followed_only_where_it_may_be() {
    let stage = Stage::new();
    stage.link("inner/file", "near");
    stage.link(stage.root.path().join("project/inner/file"), "absolute");
    stage.link("inner", "folder");
    for name in ["near", "absolute", "folder/file", "inner/file"] {
        assert_eq!(stage.beneath(name).unwrap(), b"inside", "{name}");
    }
    for name in ["near", "absolute", "folder/file"] {
        assert_eq!(stage.plain(name), Err(Some(FileRefusal::Link)), "{name}");
    }
    assert_eq!(stage.plain("inner/file").unwrap(), b"inside");
}

#[test]
fn a_link_out_of_the_project_leads_nowhere() {
    let stage = Stage::new();
    stage.link("../secret", "relative");
    stage.link(stage.root.path().join("secret"), "absolute");
    stage.link("..", "folder");
    stage.link("/", "everything");
    for name in [
        "relative",
        "absolute",
        "folder/secret",
        "everything/etc/passwd",
    ] {
        assert_eq!(
            stage.beneath(name),
            Err(Some(FileRefusal::LeadsOut)),
            "{name}"
        );
    }
    for name in ["../secret", "inner/../../secret", "/etc/passwd"] {
        assert_eq!(
            stage.beneath(name),
            Err(Some(FileRefusal::LeadsOut)),
            "{name}"
        );
    }
}

#[test]
fn a_pipe_or_a_device_is_neither_waited_for_nor_read() {
    let stage = Stage::new();
    let project = stage.root.path().join("project");
    mkfifoat(CWD, project.join("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
    assert_eq!(stage.beneath("pipe"), Err(Some(FileRefusal::NotRegular)));
    assert_eq!(stage.beneath("inner"), Err(Some(FileRefusal::NotRegular)));
    let append = stage.project().append(Path::new("pipe"));
    assert!(append.is_err(), "nobody reads the pipe");
    let own = |path: &str| FileRefusal::of(&read_own(Path::new(path), LIMIT).unwrap_err());
    assert_eq!(own("/dev/zero"), Some(FileRefusal::NotRegular));
    assert_eq!(
        own(project.join("pipe").to_str().unwrap()),
        Some(FileRefusal::NotRegular)
    );
    assert_eq!(own("/proc/self/environ"), Some(FileRefusal::MadeUp));
    assert_eq!(
        own("/sys/kernel/mm/transparent_hugepage/enabled"),
        Some(FileRefusal::MadeUp)
    );
}

#[test]
fn a_file_is_read_up_to_the_limit_and_not_beyond() {
    let stage = Stage::new();
    let file = stage.root.path().join("project/large");
    fs::File::create(&file).unwrap().set_len(LIMIT).unwrap();
    assert_eq!(stage.beneath("large").unwrap().len(), 1 << 20);
    fs::File::create(&file).unwrap().set_len(LIMIT + 1).unwrap();
    let refused = stage.project().read(Path::new("large"), LIMIT).unwrap_err();
    assert_eq!(refused.to_string(), "it is larger than 1048576 bytes");
}

#[test]
fn the_users_own_file_may_be_a_link() {
    let stage = Stage::new();
    stage.link("../secret", "mine");
    let path = stage.root.path().join("project/mine");
    assert_eq!(read_own(&path, LIMIT).unwrap(), b"outside");
}
