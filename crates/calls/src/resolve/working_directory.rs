//! The directory a task works in.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use pi_subagents_vocabulary::Refusal;

use pi_subagents_ground::places::Places;

/// Returns the directory that the task names, else that of the command line, else the one we were
/// started in.
pub(super) fn working_directory(
    of_task: Option<&Path>,
    of_command: Option<&Path>,
    places: &Places,
) -> Result<PathBuf, Refusal> {
    let refuse = |message: String| Err(Refusal { message });
    let cwd = match (of_task, of_command) {
        (Some(cwd), _) => {
            if !cwd.is_absolute() {
                return refuse("cwd must be an absolute path".to_owned());
            }
            if cwd.components().any(|part| part == Component::ParentDir) {
                return refuse("cwd must not contain '..' path segments".to_owned());
            }
            cwd.to_owned()
        }
        (None, Some(cwd)) => places.cwd.join(cwd),
        (None, None) => return Ok(places.cwd.clone()),
    };
    match fs::metadata(&cwd) {
        Ok(metadata) if metadata.is_dir() => Ok(cwd),
        Ok(_) => refuse(format!("cwd is not a directory: {}", cwd.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            refuse(format!("cwd does not exist: {}", cwd.display()))
        }
        Err(error) => refuse(format!("cwd cannot be used: {}: {error}", cwd.display())),
    }
}
