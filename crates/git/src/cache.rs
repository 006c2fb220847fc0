//! A worker's bare copy of a repository, and the clones that see its objects.
//!
//! Nothing is ever collected in it: clones borrow its objects. It goes as a whole, when nobody uses it
//! (`cache_room`). Refs mark the commits that are complete in it, because an object may be there
//! without all that it leads to.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_files::{
    Directory, HeldLock, append_own, create_directories, is_named, lock_file,
};

use crate::bundle::{SENT, with_checks};
use crate::clone_settings;
use crate::error::WorkspaceError;
use crate::git::{Git, words};
use crate::object_id::{ObjectFormat, ObjectId};
use crate::repository::{EMAIL, NAME, Repository, read_shallow};
use crate::scratch::{init, see_objects, write_shallow};

/// The time for which somebody else may be at work on the cache.
const PATIENCE: Duration = Duration::from_mins(10);

/// The file in a cache that whoever uses it has locked, together with others.
pub(crate) const USE: &str = "pi-subagents.use";

/// A worker's bare copy of a repository. It stays at least as long as somebody has it open.
#[derive(Debug)]
pub struct Cache {
    path: PathBuf,
    git: Git,
    _in_use: HeldLock,
}

/// The clone that a run works in.
#[derive(Debug, Clone, Copy)]
pub struct CheckOut<'a> {
    /// The directory in which it is made. An old directory there is removed first.
    pub path: &'a Path,
    /// The commit of its HEAD; `None` for a repository without commits.
    pub head: Option<&'a ObjectId>,
    /// The state of its files. The differences from `head` are uncommitted.
    pub snapshot: &'a ObjectId,
    /// The branch; `None` for a HEAD of its own.
    pub branch: Option<&'a str>,
    /// The address of `origin`, without credentials.
    pub origin: Option<&'a str>,
}

impl Cache {
    /// Opens the cache at a path, and makes it if it is not there.
    pub fn open(path: &Path, format: ObjectFormat) -> Result<Self, WorkspaceError> {
        let in_use = begin_use(path)?;
        let path = fs::canonicalize(path).map_err(WorkspaceError::of_file(path))?;
        let cache = Self {
            git: with_checks(Git::of_bare(&path).patient()),
            path,
            _in_use: in_use,
        };
        let _held = cache.lock()?;
        if !cache.path.join("HEAD").exists() {
            init(&cache.git, &["--bare"], format)?;
        }
        Ok(cache)
    }

    /// Returns the directory of the cache.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether the cache has a commit with all that it leads to.
    pub fn has(&self, commit: &ObjectId) -> Result<bool, WorkspaceError> {
        let name = format!("{}^{{commit}}", have(commit));
        let found = self
            .git
            .maybe_id(&["rev-parse", "--verify", "--quiet", &name])?;
        Ok(found.as_ref() == Some(commit))
    }

    /// Takes a commit out of a bundle. `shallow` is the boundary that came along with it.
    pub fn take(
        &self,
        commit: &ObjectId,
        shallow: &[ObjectId],
        bundle: &Path,
    ) -> Result<(), WorkspaceError> {
        let _held = self.lock()?;
        if self.has(commit)? {
            return Ok(());
        }
        let mut boundary = read_shallow(&self.path.join("shallow"))?;
        boundary.extend(shallow.iter().cloned());
        boundary.sort();
        boundary.dedup();
        write_shallow(&self.path, &boundary)?;
        let name = have(commit);
        let wish = format!("+{SENT}:{name}");
        let options = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"];
        let mut arguments = words(&options);
        arguments.extend([bundle.as_os_str(), wish.as_ref()]);
        self.git.run(&arguments)?;
        if self.has(commit)? {
            return Ok(());
        }
        self.git.run(&["update-ref", "-d", &name])?;
        let path = bundle.to_owned();
        let source = std::io::Error::other(format!("the bundle does not hold the commit {commit}"));
        Err(WorkspaceError::File { path, source })
    }

    /// Fetches a commit from where its repository is, with the rights of this user.
    pub fn fetch(&self, url: &str, commit: &ObjectId) -> Result<(), WorkspaceError> {
        let _held = self.lock()?;
        if self.has(commit)? {
            return Ok(());
        }
        let name = have(commit);
        let git = self.git.clone().with_credentials();
        let options = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"];
        let exactly = format!("+{commit}:{name}");
        let one = [&options[..], &["--", url, &exactly]].concat();
        // Some servers hand out only what a branch points to.
        if !git.try_run(&one, b"")?.status.success() {
            let all = "+refs/heads/*:refs/pi-subagents/heads/*";
            git.run(&[&options[..], &["--", url, all]].concat())?;
            git.run(&["update-ref", &name, commit.as_str()])?;
        }
        Ok(())
    }

    /// Returns the directory of the large files that git keeps apart.
    pub fn large_files(&self) -> PathBuf {
        self.path.join("lfs")
    }

    /// Makes a clone that borrows the objects of the cache, with files as in the snapshot. It has
    /// no hooks, and the uncommitted changes of the caller are uncommitted in it.
    ///
    /// `git clone --shared` copies everything if the cache is shallow, so it is made by hand.
    pub fn check_out(&self, wished: CheckOut<'_>) -> Result<Repository, WorkspaceError> {
        let path = wished.path;
        clear(path).map_err(WorkspaceError::of_file(path))?;
        let git = Git::at(path);
        init(&git, &[], wished.snapshot.format())?;
        let git_dir = path.join(".git");
        see_objects(&git_dir, &self.path)?;
        write_shallow(&git_dir, &read_shallow(&self.path.join("shallow"))?)?;
        self.add_settings(&git, wished.origin)?;
        point_head(&git, wished)?;
        let workspace = Repository::find(path)?;
        let git = workspace.git();
        git.run(&["read-tree", "--reset", "-u", wished.snapshot.as_str()])?;
        match wished.head {
            // Every file was written in this second, so a refresh would read all of them in vain.
            Some(_) => git.run(&["reset", "--quiet", "--mixed", "--no-refresh"])?,
            None => git.run(&["read-tree", "--empty"])?,
        };
        Ok(workspace)
    }

    /// Writes the settings of a clone. It finds large files in the cache, where a file that is not
    /// there stays a pointer, and it has an author if the machine has none, so that a child can
    /// commit.
    fn add_settings(&self, git: &Git, origin: Option<&str>) -> Result<(), WorkspaceError> {
        let storage = self.large_files();
        let storage = storage.to_string_lossy();
        let mut settings = vec![
            ("gc", "auto", "0"),
            ("lfs", "storage", storage.as_ref()),
            ("lfs", "skipdownloaderrors", "true"),
        ];
        if let Some(origin) = origin {
            let all = "+refs/heads/*:refs/remotes/origin/*";
            settings.push(("remote \"origin\"", "url", origin));
            settings.push(("remote \"origin\"", "fetch", all));
        }
        let author = git.try_run(&["var", "GIT_AUTHOR_IDENT"], b"")?;
        if !author.status.success() {
            settings.push(("user", "name", NAME));
            settings.push(("user", "email", EMAIL));
        }
        clone_settings::add(&git.directory().join(".git"), &settings)
    }

    fn lock(&self) -> Result<HeldLock, WorkspaceError> {
        Ok(lock_file(&self.path.join("pi-subagents.lock"), PATIENCE)?)
    }
}

/// Says that a cache is in use until the lock is dropped. It is made again if it was removed in this
/// moment.
fn begin_use(path: &Path) -> Result<HeldLock, WorkspaceError> {
    let mark = path.join(USE);
    loop {
        create_directories(path).map_err(WorkspaceError::of_file(path))?;
        let file = append_own(&mark).map_err(WorkspaceError::of_file(&mark))?;
        let shared = HeldLock::share(file, &mark, PATIENCE)?;
        if is_named(shared.file(), &mark).map_err(WorkspaceError::of_file(&mark))? {
            // The time of its last use decides which cache goes first.
            let touched = shared.file().set_modified(std::time::SystemTime::now());
            touched.map_err(WorkspaceError::of_file(&mark))?;
            return Ok(shared);
        }
    }
}

fn have(commit: &ObjectId) -> String {
    format!("refs/pi-subagents/have/{commit}")
}

/// Makes an empty directory where the clone is to be.
fn clear(path: &Path) -> std::io::Result<()> {
    let no_name = || std::io::Error::from(std::io::ErrorKind::InvalidInput);
    let above = path.parent().ok_or_else(no_name)?;
    let name = Path::new(path.file_name().ok_or_else(no_name)?);
    create_directories(above)?;
    let above = Directory::open(above)?;
    if above.has(name)? {
        above.remove_tree(name)?;
    }
    above.make_new_directory(name).map(|_| ())
}

fn point_head(git: &Git, wished: CheckOut<'_>) -> Result<(), WorkspaceError> {
    let branch = wished.branch.map(|branch| format!("refs/heads/{branch}"));
    match (&branch, wished.head) {
        (Some(branch), Some(head)) => {
            git.run(&["update-ref", branch, head.as_str()])?;
            git.run(&["symbolic-ref", "HEAD", branch])?;
        }
        (Some(branch), None) => {
            git.run(&["symbolic-ref", "HEAD", branch])?;
        }
        (None, Some(head)) => {
            git.run(&["update-ref", "--no-deref", "HEAD", head.as_str()])?;
        }
        (None, None) => {}
    }
    Ok(())
}
