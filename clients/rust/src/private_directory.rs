//! A directory that belongs to one client, for the files of its agents.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A directory that only its user may read. It is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct PrivateDirectory {
    path: PathBuf,
}

impl PrivateDirectory {
    pub(crate) fn make() -> io::Result<Self> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let since = since.map(|since| since.as_nanos()).unwrap_or_default();
        let name = format!(
            "pi-subagents-client-{}-{since}-{number}",
            std::process::id()
        );
        let path = std::env::temp_dir().join(name);
        // A directory that is there already is somebody else's.
        fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self { path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        let file = self.path.join(name);
        fs::write(&file, text)?;
        Ok(file)
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        // What is left belongs to nobody and is in a directory for such files.
        _ = fs::remove_dir_all(&self.path);
    }
}
