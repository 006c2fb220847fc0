//! Directories that `write` and `edit` leave alone: a sub-agent in a worktree of its own must not
//! change its caller's checkout by a path that it has read somewhere.

use std::fs;
use std::path::{Path, PathBuf};

use super::ToolError;

/// The directories that are left alone, and the directory inside them that is not.
#[derive(Debug, Clone, Default)]
pub(crate) struct Guarded {
    pub(crate) left_alone: Vec<PathBuf>,
    /// The directory in which the agent may write even if it is inside a directory that is left
    /// alone.
    pub(crate) own: Option<PathBuf>,
}

impl Guarded {
    /// Refuses a path whose real place is in a directory that is left alone.
    pub(crate) fn check(&self, path: &Path) -> Result<(), ToolError> {
        if self.left_alone.is_empty() {
            return Ok(());
        }
        let real = real_path(path);
        let own = self.own.as_deref();
        if own.is_some_and(|own| real.starts_with(own)) {
            return Ok(());
        }
        let mut found = self.left_alone.iter();
        let Some(directory) = found.find(|directory| real.starts_with(directory)) else {
            return Ok(());
        };
        let inside = real.strip_prefix(directory).unwrap_or(Path::new(""));
        let is_beside_own = own.and_then(Path::parent) == Some(directory.as_path());
        let (whose, inside) = if is_beside_own {
            // The first part names the worktree.
            let inside: PathBuf = inside.iter().skip(1).collect();
            ("the worktree of another sub-agent", inside)
        } else {
            ("your caller's checkout", inside.to_owned())
        };
        let mut copy = own.map_or_else(PathBuf::new, Path::to_owned);
        // An empty path would add a slash.
        copy.extend(inside.iter());
        Err(ToolError::new(format!(
            "That is {whose}. Your copy is {}",
            copy.display()
        )))
    }
}

/// Returns where a path leads, as far as the disk knows it; the rest stays as it is.
fn real_path(path: &Path) -> PathBuf {
    let mut rest = Vec::new();
    for above in path.ancestors() {
        if let Ok(mut real) = fs::canonicalize(above) {
            real.extend(rest.iter().rev());
            return real;
        }
        rest.extend(above.file_name());
    }
    path.to_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_checkout_is_left_alone_and_the_own_copy_is_not() {
        let place = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(place.path()).unwrap();
        for name in ["checkout/src", "worktrees/api/src", "worktrees/ui/src"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        symlink(root.join("checkout"), root.join("link")).unwrap();
        let guarded = Guarded {
            left_alone: vec![root.join("checkout"), root.join("worktrees")],
            own: Some(root.join("worktrees/api")),
        };
        for allowed in [
            "worktrees/api/src/a.rs",
            "worktrees/api/new/a.rs",
            "elsewhere",
        ] {
            guarded.check(&root.join(allowed)).unwrap();
        }
        for (refused, whose, copy) in [
            ("checkout/src/a.rs", "your caller's checkout", "/src/a.rs"),
            ("checkout/new/a.rs", "your caller's checkout", "/new/a.rs"),
            ("link/src/a.rs", "your caller's checkout", "/src/a.rs"),
            ("checkout", "your caller's checkout", ""),
            (
                "worktrees/ui/src/a.rs",
                "the worktree of another sub-agent",
                "/src/a.rs",
            ),
            ("worktrees/ui", "the worktree of another sub-agent", ""),
        ] {
            let error = guarded.check(&root.join(refused)).unwrap_err();
            let own = root.join("worktrees/api");
            let expected = format!("That is {whose}. Your copy is {}{copy}", own.display());
            assert_eq!(error.0, expected);
        }
        Guarded::default()
            .check(&root.join("checkout/src/a.rs"))
            .unwrap();
    }
}
