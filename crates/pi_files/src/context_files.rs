//! The instructions that lie beside the code: `AGENTS.md` and its like.
//!
//! They reach the model, whatever their content, so a project must not make them a link to a file
//! of the user, and nobody else may write them.

use std::io;
use std::path::{Path, PathBuf};

use pi_subagents_files::{Directory, NeverProjects, Ownership, read_bounded, read_own};

/// The names of such files. The first file found in a directory counts.
const NAMES: [&str; 4] = ["AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"];

/// A larger file is not read; no model would take it.
const LARGEST_FILE: u64 = 1 << 20;

/// The instructions for a sub-agent that works in some directory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContextFiles {
    /// The texts of all files, each with its path; empty if there are none.
    pub text: String,
    /// The files that were not read, as sentences.
    pub problems: Vec<String>,
}

/// Reads the instructions of the user, then of each directory from the root down to `cwd`.
pub fn read_context_files(
    cwd: &Path,
    agent_dir: &Path,
    never_projects: &NeverProjects,
) -> ContextFiles {
    let project = never_projects.project_of(cwd);
    let mut places: Vec<&Path> = cwd.ancestors().collect();
    places.push(agent_dir);
    places.reverse();
    let mut seen: Vec<PathBuf> = Vec::new();
    let mut texts = Vec::new();
    let mut problems = Vec::new();
    for place in places {
        let found = NAMES
            .iter()
            .map(|name| place.join(name))
            .find(|path| path.is_file());
        let Some(path) = found.filter(|path| !seen.contains(path)) else {
            continue;
        };
        let shown = path.display();
        match read(place, &path, agent_dir, project.as_deref()) {
            Ok(bytes) => texts.push(format!(
                "<instructions path=\"{shown}\">\n{}\n</instructions>",
                String::from_utf8_lossy(&bytes).trim()
            )),
            Err(error) => problems.push(format!("{shown} is not read: {error}")),
        }
        seen.push(path);
    }
    ContextFiles {
        text: texts.join("\n\n"),
        problems,
    }
}

fn read(
    place: &Path,
    path: &Path,
    agent_dir: &Path,
    project: Option<&Path>,
) -> io::Result<Vec<u8>> {
    if place == agent_dir {
        return read_own(path, LARGEST_FILE);
    }
    // A link may lead elsewhere in the project; above it, nowhere out of its own directory.
    let within = project
        .filter(|project| place.starts_with(project))
        .unwrap_or(place);
    let below = path.strip_prefix(within).unwrap_or(path);
    let file = Directory::open(within)?.open_beneath(below)?;
    if !Ownership::of(&file)?.is_safe() {
        let why = "it belongs to another user, or others may write to it";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    read_bounded(&file, LARGEST_FILE)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    struct Stage {
        root: tempfile::TempDir,
    }

    impl Stage {
        fn new() -> Self {
            let root = tempfile::tempdir().unwrap();
            fs::create_dir_all(root.path().join("above/project/src")).unwrap();
            fs::create_dir_all(root.path().join("above/project/.git")).unwrap();
            fs::write(root.path().join("above/project/.git/HEAD"), "ref: x\n").unwrap();
            fs::create_dir_all(root.path().join("agent")).unwrap();
            fs::write(root.path().join("agent/auth.json"), "the key").unwrap();
            Self { root }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.root.path().canonicalize().unwrap().join(name)
        }

        fn read(&self) -> ContextFiles {
            let never = NeverProjects::new(&self.path("home"), []);
            read_context_files(&self.path("above/project/src"), &self.path("agent"), &never)
        }
    }

    #[test]
    fn a_link_out_of_the_project_is_not_followed() {
        let stage = Stage::new();
        fs::write(stage.path("above/AGENTS.md"), "from above").unwrap();
        fs::write(stage.path("above/project/rules.md"), "of the project").unwrap();
        symlink("rules.md", stage.path("above/project/CLAUDE.md")).unwrap();
        let link = stage.path("above/project/src/AGENTS.md");
        symlink(stage.path("agent/auth.json"), &link).unwrap();
        let ContextFiles { text, problems } = stage.read();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(text.contains("from above") && text.contains("of the project"));
        assert!(!text.contains("the key"), "{text}");
        fs::remove_file(&link).unwrap();
        symlink("../rules.md", &link).unwrap();
        assert_eq!(stage.read().text.matches("of the project").count(), 2);
    }

    #[test]
    fn what_others_may_write_or_nobody_can_take_is_not_read() {
        let stage = Stage::new();
        let file = stage.path("above/project/AGENTS.md");
        fs::write(&file, "said by somebody").unwrap();
        assert!(stage.read().text.contains("said by somebody"));
        fs::set_permissions(&file, Permissions::from_mode(0o666)).unwrap();
        assert!(!stage.read().text.contains("said by somebody"));
        fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        let large = fs::File::create(&file).unwrap();
        large.set_len(LARGEST_FILE + 1).unwrap();
        assert_eq!(stage.read().text, "");
    }
}
