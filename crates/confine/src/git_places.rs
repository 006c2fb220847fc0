//! The directories of git that belong to a working directory, and what in them git obeys.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The names in a git directory by which somebody makes git run commands.
const OBEYED: [&str; 4] = ["hooks", "config", "config.worktree", "modules"];

/// The names in the common directory that belong to the main worktree.
const OF_THE_MAIN_WORKTREE: [&str; 3] = ["HEAD", "index", "worktrees"];

/// The names in the directory of a linked worktree that lead git elsewhere.
const WAYS: [&str; 3] = ["commondir", "gitdir", "config.worktree"];

/// A longer pointer or configuration is not git's.
const LONGEST_FILE: u64 = 1 << 20;

/// The parts of a repository that a confined child may and may not change.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct GitPlaces {
    /// Directories that it may change.
    pub(crate) writable: Vec<PathBuf>,
    /// Files and directories that it may not change, if they are there.
    pub(crate) guarded: Vec<PathBuf>,
    /// A directory that must be there, so that it can be guarded.
    pub(crate) hooks: Option<PathBuf>,
    /// A file that must be there, so that it can be guarded.
    pub(crate) needed: Vec<PathBuf>,
    /// Files that are not there, and that git would obey.
    pub(crate) missing: Vec<PathBuf>,
}

/// Finds the repository of a directory, upwards. A directory outside of repositories has none.
pub(crate) fn find(directory: &Path, home: &Path) -> io::Result<GitPlaces> {
    for above in directory.ancestors() {
        let entry = above.join(".git");
        let Ok(kind) = fs::symlink_metadata(&entry).map(|found| found.file_type()) else {
            continue;
        };
        if kind.is_symlink() {
            // The plan refuses links that it has to guard.
            return Ok(GitPlaces {
                guarded: vec![entry],
                ..GitPlaces::default()
            });
        }
        if kind.is_dir() && entry.join("HEAD").exists() {
            let mut places = GitPlaces::default();
            places.add_repository(&entry, above, home)?;
            return Ok(places);
        }
        if kind.is_file() {
            return of_pointer(&entry, above, home);
        }
    }
    Ok(GitPlaces::default())
}

/// Follows the file `.git` of a linked worktree or of a submodule.
fn of_pointer(file: &Path, worktree: &Path, home: &Path) -> io::Result<GitPlaces> {
    let mut places = GitPlaces {
        guarded: vec![file.to_owned()],
        ..GitPlaces::default()
    };
    let text = read_short(file)?;
    let Some(target) = text.trim_end().strip_prefix("gitdir: ") else {
        return Ok(places);
    };
    let own = fs::canonicalize(worktree.join(target))?;
    let way = own.join("commondir");
    if !way.exists() {
        places.add_repository(&own, worktree, home)?;
        return Ok(places);
    }
    let common = fs::canonicalize(own.join(read_short(&way)?.trim_end()))?;
    places.add_repository(&common, worktree, home)?;
    let of_main = OF_THE_MAIN_WORKTREE.map(|name| common.join(name));
    places.guarded.extend(of_main);
    places.guarded.extend(WAYS.map(|name| own.join(name)));
    places.writable.push(own);
    Ok(places)
}

impl GitPlaces {
    /// Adds a git directory, and the directories of hooks and the files that its configuration
    /// names.
    fn add_repository(&mut self, git: &Path, worktree: &Path, home: &Path) -> io::Result<()> {
        self.writable.push(git.to_owned());
        self.guarded.extend(OBEYED.map(|name| git.join(name)));
        self.hooks = Some(git.join("hooks"));
        let way = git.join("commondir");
        if !way.exists() {
            self.missing.push(way);
        }
        let configuration = git.join("config");
        let text = read_if_there(&configuration)?;
        if names(&text, "worktreeconfig").any(|value| is_true(&value)) {
            self.needed.push(git.join("config.worktree"));
        }
        let of_user = [home.join(".gitconfig"), home.join(".config/git/config")];
        let mut texts = vec![(git.to_owned(), text)];
        for file in [git.join("config.worktree")].into_iter().chain(of_user) {
            let directory = file.parent().unwrap_or(git).to_owned();
            texts.push((directory, read_if_there(&file)?));
        }
        for (directory, text) in &texts {
            let at_worktree = names(text, "hookspath").map(|path| located(&path, worktree, home));
            let beside = names(text, "path").map(|path| located(&path, directory, home));
            self.guarded.extend(at_worktree.chain(beside));
        }
        Ok(())
    }
}

/// Returns the values of a name in a configuration, whatever the section. Too many are harmless:
/// they are guarded.
fn names<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = String> + 'a {
    text.lines().filter_map(move |line| {
        let line = line.rsplit_once(']').map_or(line, |(_, after)| after);
        let (key, value) = line.split_once('=')?;
        let is_meant = key.trim().eq_ignore_ascii_case(name);
        is_meant.then(|| value.trim().trim_matches('"').to_owned())
    })
}

fn is_true(value: &str) -> bool {
    ["true", "yes", "on", "1"].contains(&value.to_ascii_lowercase().as_str())
}

fn located(path: &str, directory: &Path, home: &Path) -> PathBuf {
    match path.strip_prefix("~/") {
        Some(below) => home.join(below),
        None => directory.join(path),
    }
}

fn read_if_there(file: &Path) -> io::Result<String> {
    match read_short(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        // The user cannot read it either, so git does not obey it.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(String::new()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(String::new()),
        other => other,
    }
}

fn read_short(file: &Path) -> io::Result<String> {
    let metadata = fs::metadata(file)?;
    if !metadata.is_file() || metadata.len() > LONGEST_FILE {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(String::from_utf8_lossy(&fs::read(file)?).into_owned())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn made(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().canonicalize().unwrap();
        for (file, text) in files {
            let file = path.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        (root, path)
    }

    fn relative(paths: &[PathBuf], root: &Path) -> Vec<String> {
        let names = paths.iter().map(|path| path.strip_prefix(root).unwrap());
        names.map(|name| name.display().to_string()).collect()
    }

    #[test]
    fn a_repository_is_found_from_below() {
        let config = "[core]\n\tHooksPath = .husky\n[include]\n\tpath = ../shared.cfg\n";
        let (_root, root) = made(&[
            ("r/.git/HEAD", "ref: refs/heads/main\n"),
            ("r/.git/config", config),
            ("r/sub/.git/not-git", ""),
            ("r/sub/deep/x", ""),
        ]);
        let places = find(&root.join("r/sub/deep"), &root.join("home")).unwrap();
        assert_eq!(relative(&places.writable, &root), ["r/.git"]);
        assert_eq!(
            relative(&places.guarded, &root),
            [
                "r/.git/hooks",
                "r/.git/config",
                "r/.git/config.worktree",
                "r/.git/modules",
                "r/.husky",
                "r/.git/../shared.cfg",
            ]
        );
        assert_eq!(relative(&places.missing, &root), ["r/.git/commondir"]);
    }

    #[test]
    fn a_linked_worktree_may_change_its_own_directory_and_the_common_one() {
        let (_root, root) = made(&[
            ("r/.git/HEAD", ""),
            ("r/.git/worktrees/w/commondir", "../..\n"),
            ("w/.git", ""),
        ]);
        let own = root.join("r/.git/worktrees/w");
        fs::write(root.join("w/.git"), format!("gitdir: {}\n", own.display())).unwrap();
        let places = find(&root.join("w"), &root.join("home")).unwrap();
        assert_eq!(
            relative(&places.writable, &root),
            ["r/.git", "r/.git/worktrees/w"]
        );
        assert_eq!(
            relative(&places.guarded, &root),
            [
                "w/.git",
                "r/.git/hooks",
                "r/.git/config",
                "r/.git/config.worktree",
                "r/.git/modules",
                "r/.git/HEAD",
                "r/.git/index",
                "r/.git/worktrees",
                "r/.git/worktrees/w/commondir",
                "r/.git/worktrees/w/gitdir",
                "r/.git/worktrees/w/config.worktree",
            ]
        );
    }

    #[test]
    fn a_directory_without_git_has_no_places() {
        let (_root, root) = made(&[("plain/x", "")]);
        let places = find(&root.join("plain"), &root.join("home")).unwrap();
        assert_eq!(places.writable, Vec::<PathBuf>::new());
    }
}
