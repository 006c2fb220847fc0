//! A repository with a checkout, as it was found from a directory.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_files::{Directory, lock_file, read_own_text, write_whole, write_whole_once};

use crate::checkout_writer::{Recovered, recover};
use crate::error::WorkspaceError;
use crate::filters::{self, FilterTrust};
use crate::git::{Git, GitError, GitPlace, failed, strange};
use crate::object_id::{ObjectFormat, ObjectId};
use crate::passing_directory::passing_directory;

/// The time for which somebody else may be at work on the repository.
const PATIENCE: Duration = Duration::from_mins(10);

/// A file of ours that holds the repository's id.
const ID_FILE: &str = "pi-subagents-repo";

/// A repository with a checkout.
#[derive(Debug, Clone)]
pub struct Repository {
    git: Git,
    top: PathBuf,
    git_dir: PathBuf,
    common_dir: PathBuf,
    is_shallow: bool,
    format: ObjectFormat,
    notes: Vec<String>,
    recovered: Vec<Recovered>,
}

/// The author of the commits that this crate makes.
pub(crate) const NAME: &str = "pi-subagents";
pub(crate) const EMAIL: &str = "pi-subagents@localhost";

impl Repository {
    /// Finds the repository that a directory belongs to.
    pub fn find(directory: &Path) -> Result<Self, WorkspaceError> {
        // Git would only say that it could not be started there.
        fs::metadata(directory).map_err(WorkspaceError::of_file(directory))?;
        let arguments = [
            "rev-parse",
            "--path-format=absolute",
            "--is-bare-repository",
            "--is-shallow-repository",
            "--show-object-format",
            "--absolute-git-dir",
            "--git-common-dir",
            "--show-toplevel",
        ];
        let ended = Git::at(directory).try_run(&arguments, b"")?;
        let lines: Vec<&[u8]> = ended.stdout.split(|byte| *byte == b'\n').collect();
        if !ended.status.success() {
            let directory = directory.to_owned();
            let said = String::from_utf8_lossy(&ended.stderr);
            return Err(match lines.first().copied() {
                Some(b"true") => WorkspaceError::Bare { directory },
                _ if said.contains("cannot use bare repository") => {
                    WorkspaceError::Bare { directory }
                }
                _ if said.contains("not a git repository") => {
                    WorkspaceError::NoRepository { directory }
                }
                _ if said.contains("must be run in a work tree") => {
                    WorkspaceError::InsideGit { directory }
                }
                _ => match not_owned(&said) {
                    Some(repository) => WorkspaceError::NotOwned { repository },
                    None => failed(&arguments, &ended).into(),
                },
            });
        }
        // A path with a line break would give more lines.
        let [_, shallow, format, git_dir, common_dir, top, b""] = lines.as_slice() else {
            return Err(strange(&arguments, &ended.stdout).into());
        };
        let (git, notes) = filters::allowed(Git::at(path(top)), FilterTrust::User)?;
        Ok(Self {
            git,
            top: path(top).to_owned(),
            git_dir: path(git_dir).to_owned(),
            common_dir: path(common_dir).to_owned(),
            is_shallow: *shallow == b"true",
            format: match *format {
                b"sha256" => ObjectFormat::Sha256,
                _ => ObjectFormat::Sha1,
            },
            notes,
            recovered: Vec::new(),
        })
    }

    /// Returns the same repository with other filters allowed. Without this, only those of the user
    /// are.
    pub fn with_filters(mut self, trust: FilterTrust) -> Result<Self, WorkspaceError> {
        let plain = self.git.with_named_settings(Vec::new());
        (self.git, self.notes) = filters::allowed(plain, trust)?;
        Ok(self)
    }

    /// Opens a worktree of this repository in a directory that a child could write to. Git does not
    /// look for its repository there: the directory of git is the one that was noted when the
    /// worktree was made. A `.git` in it that says anything else is refused.
    pub fn worktree(&self, path: &Path, git_dir: &Path) -> Result<Self, WorkspaceError> {
        let top = fs::canonicalize(path).map_err(WorkspaceError::of_file(path))?;
        let records = fs::canonicalize(self.common_dir.join("worktrees"));
        let is_record = records.is_ok_and(|records| git_dir.parent() == Some(&records));
        if !is_record || read_git_file(path).as_deref() != Some(git_dir) {
            let path = path.to_owned();
            return Err(WorkspaceError::ForeignGit { path });
        }
        let place = GitPlace {
            git_dir: git_dir.to_owned(),
            work_tree: Some(top.clone()),
        };
        let git = self.git.clone().at_place(&top, place);
        Ok(Self {
            git: git.with_variable("GIT_COMMON_DIR", &self.common_dir),
            top,
            git_dir: git_dir.to_owned(),
            ..self.clone()
        })
    }

    /// Returns the directory that holds the checkout.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// Returns the directory of the files that belong to this checkout alone, such as its index.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// Returns the directory that all worktrees of the repository share.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// Returns notes for the user about how the repository is read.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the writes of killed processes that were finished or taken back when it was locked.
    pub fn recovered(&self) -> &[Recovered] {
        &self.recovered
    }

    /// Returns where a directory lies below the top of the checkout; `None` if it lies outside.
    pub fn relative(&self, directory: &Path) -> Option<PathBuf> {
        let real = std::fs::canonicalize(directory).ok()?;
        let top = std::fs::canonicalize(&self.top).ok()?;
        real.strip_prefix(top).ok().map(Path::to_owned)
    }

    pub(crate) fn git(&self) -> &Git {
        &self.git
    }

    /// Returns the commit that is checked out; `None` in a repository without commits.
    pub fn head(&self) -> Result<Option<ObjectId>, WorkspaceError> {
        let arguments = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
        Ok(self.git.maybe_id(&arguments)?)
    }

    /// Returns the commit that is checked out, which must be there.
    pub fn demand_head(&self) -> Result<ObjectId, WorkspaceError> {
        self.head()?.ok_or_else(|| WorkspaceError::NoCommit {
            directory: self.top.clone(),
        })
    }

    /// Returns the branch that is checked out, if any.
    pub fn branch(&self) -> Result<Option<String>, WorkspaceError> {
        let arguments = ["symbolic-ref", "--quiet", "--short", "HEAD"];
        let ended = self.git.try_run(&arguments, b"")?;
        let line = String::from_utf8_lossy(&ended.stdout).trim_end().to_owned();
        Ok(ended.status.success().then_some(line))
    }

    /// Returns the commit that a revision names; `None` if there is no such commit.
    pub fn commit_of(&self, revision: &str) -> Result<Option<ObjectId>, WorkspaceError> {
        let commit = format!("{revision}^{{commit}}");
        let arguments = [
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &commit,
        ];
        Ok(self.git.maybe_id(&arguments)?)
    }

    /// Returns the tree of a commit and its first parent, if it has one.
    pub(crate) fn tree_and_parent(
        &self,
        commit: &ObjectId,
    ) -> Result<(ObjectId, Option<ObjectId>), WorkspaceError> {
        let options = [
            "show",
            "--no-patch",
            "--no-show-signature",
            "--format=%T %P",
        ];
        let arguments = [&options[..], &[commit.as_str()]].concat();
        let line = self.git.line(&arguments)?;
        let mut ids = line.split_whitespace().map(ObjectId::parse);
        let tree = ids.next().flatten();
        let tree = tree.ok_or_else(|| strange(&arguments, line.as_bytes()))?;
        Ok((tree, ids.next().flatten()))
    }

    /// Returns the tree of a commit.
    pub fn tree_of(&self, commit: &ObjectId) -> Result<ObjectId, WorkspaceError> {
        let tree = format!("{commit}^{{tree}}");
        Ok(self.git.id(&["rev-parse", "--verify", "--quiet", &tree])?)
    }

    /// Returns how many commits lead from an ancestor to a commit; `None` if the first is unknown
    /// here or no ancestor.
    pub fn distance(
        &self,
        ancestor: &ObjectId,
        commit: &ObjectId,
    ) -> Result<Option<u64>, WorkspaceError> {
        if ancestor == commit {
            return Ok(Some(0));
        }
        let (ancestor, commit) = (ancestor.as_str(), commit.as_str());
        let arguments = ["merge-base", "--is-ancestor", ancestor, commit];
        if !self.git.try_run(&arguments, b"")?.status.success() {
            return Ok(None);
        }
        let range = format!("{ancestor}..{commit}");
        let count = self.git.line(&["rev-list", "--count", &range])?;
        Ok(count.parse().ok())
    }

    /// Returns the hash by which the repository names its objects.
    pub fn object_format(&self) -> ObjectFormat {
        self.format
    }

    /// Returns the boundary of a shallow repository: the commits whose parents are not here.
    pub fn shallow(&self) -> Result<Vec<ObjectId>, WorkspaceError> {
        if !self.is_shallow {
            return Ok(Vec::new());
        }
        read_shallow(&self.common_dir.join("shallow"))
    }

    /// Returns an id that clones of the repository share: its first commit. A repository whose
    /// first commit is not here has an id of its own. Either is kept in a file.
    pub fn id(&self) -> Result<String, WorkspaceError> {
        let file = self.common_dir.join(ID_FILE);
        if let Some(id) = read_id(&file) {
            return Ok(id);
        }
        let id = match self.first_commit()? {
            Some(commit) => commit.as_str().to_owned(),
            None => self.random_id()?,
        };
        // Another process may have been first, and a repository that nobody may write to needs no
        // id.
        _ = write_whole_once(&file, format!("{id}\n").as_bytes());
        Ok(read_id(&file).unwrap_or(id))
    }

    fn first_commit(&self) -> Result<Option<ObjectId>, WorkspaceError> {
        if self.is_shallow || self.head()?.is_none() {
            return Ok(None);
        }
        let roots = self.git.line(&["rev-list", "--max-parents=0", "HEAD"])?;
        Ok(roots.lines().last().and_then(ObjectId::parse))
    }

    /// Makes a unique id: the name of an object that holds a new directory's name.
    fn random_id(&self) -> Result<String, WorkspaceError> {
        let unique = passing_directory()?;
        let pid = std::process::id();
        let words = format!("{} {pid} {}", unique.path().display(), self.top.display());
        let arguments = ["hash-object", "--stdin"];
        let id = self.git.run_with(&arguments, words.as_bytes())?;
        Ok(String::from_utf8_lossy(&id).trim_end().to_owned())
    }

    /// Returns whether a commit is on a branch of a remote, as far as this repository knows.
    pub fn is_published(&self, commit: &ObjectId) -> Result<bool, WorkspaceError> {
        let arguments = ["for-each-ref", "--count=1", "--contains", commit.as_str()];
        let printed = self
            .git
            .run(&[&arguments[..], &["refs/remotes"]].concat())?;
        Ok(!printed.is_empty())
    }

    /// Returns the address of `origin` without the part before an `@`, which may be a secret.
    pub fn origin(&self) -> Result<Option<String>, WorkspaceError> {
        let ended = self
            .git
            .try_run(&["config", "--get", "remote.origin.url"], b"")?;
        let url = String::from_utf8_lossy(&ended.stdout).trim_end().to_owned();
        Ok((ended.status.success() && !url.is_empty()).then(|| without_credentials(&url)))
    }

    /// Makes a commit of a tree. It runs no hook and is not signed.
    pub(crate) fn commit_tree(
        &self,
        tree: &ObjectId,
        parents: &[&ObjectId],
        message: &str,
        date: Option<&str>,
    ) -> Result<ObjectId, WorkspaceError> {
        let mut git = self.git.clone();
        for name in ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"] {
            git = git.with_variable(name, NAME);
        }
        for name in ["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"] {
            git = git.with_variable(name, EMAIL);
        }
        for name in ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"] {
            if let Some(date) = date {
                git = git.with_variable(name, date);
            }
        }
        let mut arguments = vec!["commit-tree", tree.as_str(), "-m", message];
        for parent in parents {
            arguments.extend(["-p", parent.as_str()]);
        }
        Ok(git.id(&arguments)?)
    }

    /// Makes trees, all by one process. Each is written as `git mktree -z` reads it, and all its
    /// files are in one directory.
    pub(crate) fn make_trees(&self, trees: &[Vec<u8>]) -> Result<Vec<ObjectId>, WorkspaceError> {
        let arguments = ["mktree", "-z", "--missing", "--batch"];
        let input: Vec<u8> = trees
            .iter()
            .flat_map(|tree| [tree, &b"\0"[..]].concat())
            .collect();
        Ok(self.git.ids_with(&arguments, &input, trees.len())?)
    }

    /// Makes a commit of each of some trees, all by one process. Nobody reads them but git.
    pub(crate) fn commit_trees(
        &self,
        trees: &[&ObjectId],
        parent: &ObjectId,
    ) -> Result<Vec<ObjectId>, WorkspaceError> {
        if trees.is_empty() {
            return Ok(Vec::new());
        }
        let place = passing_directory()?;
        let mut names = Vec::new();
        for (number, tree) in trees.iter().enumerate() {
            let file = place.path().join(number.to_string());
            let who = format!("{NAME} <{EMAIL}> 0 +0000");
            let text =
                format!("tree {tree}\nparent {parent}\nauthor {who}\ncommitter {who}\n\nmerged\n");
            write_whole(&file, text.as_bytes()).map_err(WorkspaceError::of_file(&file))?;
            names.push(file.display().to_string());
        }
        let arguments = ["hash-object", "-t", "commit", "-w", "--stdin-paths"];
        let names = lines(names.into_iter());
        let made = self
            .git
            .ids_with(&arguments, names.as_bytes(), trees.len())?;
        Ok(made)
    }

    /// Makes a commit on another one in the name of the user.
    pub(crate) fn commit_tree_as_user(
        &self,
        tree: &ObjectId,
        parent: &ObjectId,
        message: &str,
    ) -> Result<ObjectId, WorkspaceError> {
        let arguments = [
            "commit-tree",
            tree.as_str(),
            "-p",
            parent.as_str(),
            "-F",
            "-",
        ];
        let made = self.git.id_with(&arguments, message.as_bytes());
        made.map_err(|error| match &error {
            GitError::Failed { said, .. } if is_about_identity(said) => WorkspaceError::NoIdentity,
            _ => error.into(),
        })
    }

    /// Returns the same repository with more variables for git.
    pub(crate) fn with_variables(&self, variables: &[(&'static str, OsString)]) -> Self {
        let mut repository = self.clone();
        for (name, value) in variables {
            repository.git = repository.git.with_variable(name, value);
        }
        repository
    }

    /// Returns the repository with one more setting of git.
    pub(crate) fn with_setting(&self, setting: &str) -> Self {
        let mut repository = self.clone();
        repository.git = repository.git.with_setting(setting);
        repository
    }

    /// Waits until nobody else of ours changes the repository, and returns it for work that keeps
    /// others waiting until it is dropped. A git that outlives a killed caller keeps them waiting
    /// too. Writes into a checkout that a killed process left are finished or taken back first.
    pub fn locked(&self) -> Result<Self, WorkspaceError> {
        let path = self.common_dir.join("pi-subagents.lock");
        let lock = lock_file(&path, PATIENCE)?;
        let mut locked = self.clone();
        locked.git = locked.git.holding(lock);
        locked.recovered = recover(&locked);
        Ok(locked)
    }
}

/// Returns the directory of git that the `.git` of a worktree names; `None` if that is anything
/// else than the file that git writes.
pub(crate) fn read_git_file(worktree: &Path) -> Option<PathBuf> {
    const LONGEST: u64 = 16 * 1024;
    let directory = Directory::open_plain(worktree).ok()?;
    let text = directory.read(Path::new(".git"), LONGEST).ok()?;
    let named = text.strip_prefix(b"gitdir: ")?.strip_suffix(b"\n")?;
    Some(path(named).to_owned())
}

/// Reads the boundary of a shallow repository.
pub(crate) fn read_shallow(file: &Path) -> Result<Vec<ObjectId>, WorkspaceError> {
    const LARGEST: u64 = 16 * 1024 * 1024;
    match read_own_text(file, LARGEST) {
        Ok(text) => Ok(text.lines().filter_map(ObjectId::parse).collect()),
        Err(error) if pi_subagents_files::is_absent(&error) => Ok(Vec::new()),
        Err(error) => Err(WorkspaceError::of_file(file)(error)),
    }
}

fn read_id(file: &Path) -> Option<String> {
    let text = read_own_text(file, 128).ok()?;
    ObjectId::parse(text.trim_end()).map(|id| id.as_str().to_owned())
}

/// Removes user and password of an address. The short form of ssh keeps its user, who is no secret.
fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let (host, way) = rest.split_once('/').unwrap_or((rest, ""));
    match host.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://{host}/{way}"),
        None => url.to_owned(),
    }
}

/// Returns the path that git wrote as bytes.
pub(crate) fn path(bytes: &[u8]) -> &Path {
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}

/// Returns the entries of a list in which a zero byte ends each entry.
pub(crate) fn entries(printed: &[u8]) -> impl Iterator<Item = &[u8]> {
    printed
        .split(|byte| *byte == 0)
        .filter(|entry| !entry.is_empty())
}

/// Joins lines, each with its end.
pub(crate) fn lines(lines: impl Iterator<Item = String>) -> String {
    lines.flat_map(|line| [line, "\n".to_owned()]).collect()
}

/// Returns the repository that git does not use because it belongs to another user, if that is what
/// git has said.
fn not_owned(said: &str) -> Option<String> {
    let (_, rest) = said.split_once("dubious ownership in repository at '")?;
    let (repository, _) = rest.split_once('\'')?;
    Some(repository.to_owned())
}

/// Returns whether git has said that it does not know its user.
fn is_about_identity(said: &str) -> bool {
    let said = said.to_lowercase();
    said.contains("identity unknown") || said.contains("empty ident name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_git_about_its_user_are_understood() {
        let said =
            "fatal: detected dubious ownership in repository at '/srv/a b'\nTo add an exception";
        assert_eq!(not_owned(said).as_deref(), Some("/srv/a b"));
        assert_eq!(not_owned("fatal: something else at '/srv'"), None);
        assert!(is_about_identity("Author identity unknown"));
        assert!(is_about_identity("empty ident name (for <>) not allowed"));
        assert!(!is_about_identity("not a tree object"));
    }

    #[test]
    fn addresses_lose_their_credentials() {
        for (url, expected) in [
            (
                "https://ada:secret@host.example/a/b.git",
                "https://host.example/a/b.git",
            ),
            (
                "https://token@host.example:8443/a",
                "https://host.example:8443/a",
            ),
            ("https://host.example/a@b", "https://host.example/a@b"),
            ("git@host.example:a/b.git", "git@host.example:a/b.git"),
            ("/srv/git/a.git", "/srv/git/a.git"),
        ] {
            assert_eq!(without_credentials(url), expected);
        }
    }
}
