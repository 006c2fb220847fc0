//! A conversation that several runs continue, one after another: a session file of pi's format
//! that belongs to a directory, an agent and an id. See `docs/design/sticky-sessions.md`.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use pi_subagents_files as files;
use pi_subagents_vocabulary::SessionId;
use ring::digest::{SHA256, digest};

use crate::run_dir::RunDir;

/// The file in which a conversation is kept.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StickySession {
    file: PathBuf,
}

impl StickySession {
    /// Returns the conversation of this agent with this id in this directory, whichever way the
    /// directory is spelled.
    pub fn of(home: &Path, cwd: &Path, agent: &str, id: &SessionId) -> io::Result<Self> {
        let directory = all_of(home).join(hash(&cwd.canonicalize()?));
        let file = directory.join(format!("{}_{id}.jsonl", as_file_name(agent)));
        Ok(Self { file })
    }

    /// Returns the path of the session file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns the path of the lock that a run must hold while it continues the conversation.
    pub fn lock(&self) -> PathBuf {
        lock_of(&self.file)
    }

    /// Returns whether it has any message.
    pub fn is_known(&self) -> bool {
        fs::metadata(&self.file).is_ok_and(|file| file.len() > 0)
    }

    /// Makes the file, for this user alone, if it does not exist. Pi takes an empty file for a new
    /// session, and others could read a file that pi makes itself.
    pub fn make(&self) -> io::Result<()> {
        if let Some(directory) = self.file.parent() {
            files::create_directories(directory)?;
        }
        match files::create_new(&self.file) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            other => other.map(|_| ()),
        }
    }

    /// Makes the child's session of a run a link to it.
    pub fn link_from(&self, run: &RunDir) -> io::Result<()> {
        symlink(&self.file, run.child_session())
    }
}

/// Returns the directory of all conversations of a user.
pub fn all_of(home: &Path) -> PathBuf {
    home.join(".pi").join("subagent-sessions")
}

/// Returns the lock of a session file; it is there while a run has it.
pub fn lock_of(file: &Path) -> PathBuf {
    file.with_extension("jsonl.lock")
}

impl RunDir {
    /// Returns the file of the conversation that the run continued, if other runs may continue it
    /// too.
    pub fn sticky_file(&self) -> Option<PathBuf> {
        fs::read_link(self.child_session()).ok()
    }
}

/// Returns the first 16 hex digits of the SHA-256 of a path.
fn hash(path: &Path) -> String {
    let digest = digest(&SHA256, path.as_os_str().as_bytes());
    let bytes = digest.as_ref().iter().take(8);
    bytes.fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        _ = write!(text, "{byte:02x}");
        text
    })
}

/// Writes an agent's name as part of a file name. An underscore ends the name there, so an
/// underscore inside the name is escaped; otherwise agent `a` with id `b_c` and agent `a_b` with id
/// `c` would share a file.
fn as_file_name(agent: &str) -> String {
    agent.bytes().fold(String::new(), |mut text, byte| {
        if byte.is_ascii_alphanumeric() || byte == b'-' {
            text.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            _ = write!(text, "%{byte:02X}");
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use pretty_assertions::assert_eq;

    use super::*;

    fn session(home: &Path, cwd: &Path, agent: &str, id: &str) -> StickySession {
        StickySession::of(home, cwd, agent, &SessionId::parse(id).unwrap()).unwrap()
    }

    #[test]
    fn the_place_is_that_of_the_document() {
        let home = Path::new("/home/ada");
        // printf / | sha256sum
        assert_eq!(
            session(home, Path::new("/"), "scout", "s-1").file(),
            Path::new("/home/ada/.pi/subagent-sessions/8a5edab282632443/scout_s-1.jsonl")
        );
        assert_eq!(
            session(home, Path::new("/usr/.."), "scout", "s-1").lock(),
            Path::new("/home/ada/.pi/subagent-sessions/8a5edab282632443/scout_s-1.jsonl.lock")
        );
    }

    #[test]
    fn every_directory_agent_and_id_has_a_file_of_its_own() {
        let home = tempfile::tempdir().unwrap();
        let (home, root) = (home.path(), Path::new("/"));
        let files: std::collections::HashSet<_> = [
            session(home, root, "a", "b_c"),
            session(home, root, "a_b", "c"),
            session(home, root, "a", "c"),
            session(home, home, "a", "c"),
            session(home, root, "../a", "c"),
        ]
        .into_iter()
        .map(|session| session.file().to_owned())
        .collect();
        assert_eq!(files.len(), 5);
        for file in files {
            assert!(!file.display().to_string().contains(".."), "{file:?}");
        }
    }

    #[test]
    fn it_is_for_its_user_alone_and_known_once_something_was_said() {
        let home = tempfile::tempdir().unwrap();
        let session = session(home.path(), home.path(), "scout", "s");
        assert!(!session.is_known());
        session.make().unwrap();
        session.make().unwrap();
        assert!(!session.is_known());
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        let directory = session.file().parent().unwrap();
        assert_eq!((mode(session.file()), mode(directory)), (0o600, 0o700));
        fs::write(session.file(), "{}\n").unwrap();
        assert!(session.is_known());
        let run = RunDir::new(home.path());
        assert_eq!(run.sticky_file(), None);
        session.link_from(&run).unwrap();
        assert_eq!(run.sticky_file().as_deref(), Some(session.file()));
        assert_eq!(fs::read(run.child_session()).unwrap(), b"{}\n");
    }
}
