//! The changes of a run in its worktree, from the result that was kept when the run ended. So they
//! can be read after the result was merged or discarded too.

use std::path::Path;

use pi_subagents_files::Directory;
use pi_subagents_records::IndexedRun;
use pi_subagents_vocabulary::text;
use serde_json::{Value, json};

use crate::problem::Problem;
use pi_subagents_runs::workspace::{PATCH, Workspace, WorkspaceFile, WorkspaceState};

/// A longer patch is not read; the command `diff` prints it.
const LARGEST: u64 = 20 << 20;

/// The number of bytes of one file's patch that are sent.
const LONGEST: usize = 512 << 10;

/// Returns the files that a run has changed, each with its patch.
pub(super) fn changes(run: &IndexedRun) -> Result<Value, Problem> {
    let directory = run.directory.path();
    let workspace = Workspace::read(directory);
    let left = workspace
        .as_ref()
        .and_then(|workspace| workspace.left.as_ref());
    let (Some(workspace), Some(left)) = (&workspace, left) else {
        return Err(Problem::not_found(
            "This run has left nothing in a worktree.",
        ));
    };
    let patch = Directory::open(directory)
        .and_then(|directory| directory.read(Path::new(PATCH), LARGEST))
        .unwrap_or_default();
    let patch = String::from_utf8_lossy(&patch);
    let patches = patches(&patch, left.files.len());
    let files = left.files.iter().zip(patches);
    let files: Vec<Value> = files.map(|(file, patch)| described(file, patch)).collect();
    Ok(json!({
        "files": files,
        "base": workspace.base.as_ref().map(|base| &base.commit),
        "result": left.result,
        "merged": workspace.state == WorkspaceState::Merged,
    }))
}

/// Splits a patch into those of its files, which are in the order in which git lists them. Nothing is
/// given to the wrong file: if the numbers differ, there is no patch for any.
fn patches(patch: &str, count: usize) -> Vec<Option<&str>> {
    const BEGIN: &str = "diff --git ";
    let mut places: Vec<usize> = patch
        .match_indices(BEGIN)
        .map(|(place, _)| place)
        .filter(|place| *place == 0 || patch.as_bytes()[*place - 1] == b'\n')
        .collect();
    if places.len() != count {
        return vec![None; count];
    }
    places.push(patch.len());
    let parts = places.windows(2).map(|ends| Some(&patch[ends[0]..ends[1]]));
    parts.collect()
}

fn described(file: &WorkspaceFile, patch: Option<&str>) -> Value {
    let mut value = serde_json::to_value(file).unwrap_or_default();
    // Nobody reads the bytes of a binary file.
    let patch = patch.filter(|patch| patch.len() <= LONGEST && file.added.is_some());
    if let Some(patch) = patch {
        value["patch"] = json!(text::clean(patch));
    }
    value
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::patches;

    #[test]
    fn each_file_gets_its_own_patch_or_none() {
        let patch = "diff --git a/x b/x\n+diff --git a/evil b/evil\n-b\ndiff --git a/y b/y\n+c\n";
        assert_eq!(
            patches(patch, 2),
            [
                Some("diff --git a/x b/x\n+diff --git a/evil b/evil\n-b\n"),
                Some("diff --git a/y b/y\n+c\n")
            ]
        );
        assert_eq!(patches(patch, 3), [None, None, None]);
        assert_eq!(patches("", 1), [None]);
    }
}
