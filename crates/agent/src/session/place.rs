//! Finds the file of a session: the path that the caller named, else a file in pi's session
//! directory.

use std::fs;
use std::path::{Path, PathBuf};

use crate::flags::Flags;
use crate::settings::Settings;

/// The file of a session, and the id of the session if it begins there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SessionFile {
    pub(crate) path: PathBuf,
    pub(crate) id: String,
}

/// The command line names a session that does not exist.
#[derive(Debug, thiserror::Error)]
#[error("No session found matching '{0}'")]
pub(crate) struct NoSuchSession(String);

/// The directories in which sessions may be.
#[derive(Debug)]
pub(crate) struct SessionPlaces<'a> {
    pub(crate) cwd: &'a Path,
    pub(crate) agent_dir: &'a Path,
    /// The directory that the environment names.
    pub(crate) named: Option<PathBuf>,
}

impl SessionPlaces<'_> {
    /// Returns the file of the session that the flags mean; None if they ask for no file.
    pub(crate) fn find(&self, flags: &Flags) -> Result<Option<SessionFile>, NoSuchSession> {
        let fresh = uuid::Uuid::now_v7().to_string();
        let place = |path: PathBuf, id: &str| {
            let id = id.to_owned();
            Ok(Some(SessionFile { path, id }))
        };
        if flags.no_session {
            return Ok(None);
        }
        if let Some(session) = &flags.session {
            let path = self.cwd.join(session);
            let is_path =
                session.contains('/') || path.extension().is_some_and(|end| end == "jsonl");
            if is_path || path.exists() {
                return place(path, &fresh);
            }
            let mut sessions = self.sessions(flags).into_iter();
            let found = sessions.find(|(id, _)| id.starts_with(session.as_str()));
            return match found {
                Some((id, path)) => place(path, &id),
                None => Err(NoSuchSession(session.clone())),
            };
        }
        if let Some(id) = &flags.session_id {
            let known = self
                .sessions(flags)
                .into_iter()
                .find(|(known, _)| known == id);
            let path = known.map_or_else(|| self.new_file(flags, id), |(_, path)| path);
            return place(path, id);
        }
        if flags.continue_last
            && let Some((id, path)) = self.sessions(flags).into_iter().next()
        {
            return place(path, &id);
        }
        place(self.new_file(flags, &fresh), &fresh)
    }

    fn directory(&self, flags: &Flags) -> PathBuf {
        let named = flags.session_dir.as_ref().map(PathBuf::from);
        let named = named.or_else(|| self.named.clone());
        match named.or_else(|| self.set_directory()) {
            Some(directory) => self.cwd.join(directory),
            None => self.agent_dir.join("sessions").join(folder_of(self.cwd)),
        }
    }

    /// Returns the directory of the user's settings, which are read when nothing else decides: most
    /// sessions have a path.
    fn set_directory(&self) -> Option<PathBuf> {
        let (settings, _) = Settings::read(self.agent_dir, None);
        settings.session_dir.map(PathBuf::from)
    }

    fn new_file(&self, flags: &Flags, id: &str) -> PathBuf {
        self.directory(flags).join(file_name(id))
    }

    /// Ids and files of the sessions of this directory, the newest first.
    fn sessions(&self, flags: &Flags) -> Vec<(String, PathBuf)> {
        let Ok(files) = fs::read_dir(self.directory(flags)) else {
            return Vec::new();
        };
        let mut found: Vec<_> = files
            .flatten()
            .filter_map(|file| {
                let path = file.path();
                let id = path.file_stem()?.to_str()?.split_once('_')?.1.to_owned();
                let changed = file.metadata().ok()?.modified().ok()?;
                let is_session = path.extension().is_some_and(|end| end == "jsonl");
                is_session.then_some((changed, id, path))
            })
            .collect();
        found.sort();
        found.reverse();
        found.into_iter().map(|(_, id, path)| (id, path)).collect()
    }
}

fn file_name(id: &str) -> String {
    let now = crate::clock::iso().replace([':', '.'], "-");
    format!("{now}_{id}.jsonl")
}

/// Returns pi's name for the folder of a working directory.
fn folder_of(cwd: &Path) -> String {
    let path = cwd.display().to_string();
    let path = path.strip_prefix('/').unwrap_or(&path);
    format!("--{}--", path.replace(['/', '\\', ':'], "-"))
}
