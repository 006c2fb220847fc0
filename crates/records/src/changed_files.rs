//! The files that a run changed, as they become known after its end.

use std::io;

use pi_subagents_files::write_whole;
use pi_subagents_vocabulary::Receipt;
use serde_json::Value;

use crate::run_dir::{self, RunDir};

/// Puts the files that git found in the worktree of a run into the receipt of its `result.json`. A
/// run without a result or a receipt is left as it is.
pub fn note_changed_files(directory: &RunDir, files: Vec<String>) -> io::Result<()> {
    let content = match directory.read(run_dir::RESULT) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        read => read?,
    };
    // Fields that this version does not know stay in the file.
    let mut result: Value = serde_json::from_slice(&content)?;
    let Some(noted) = result.get_mut("receipt") else {
        return Ok(());
    };
    let mut receipt: Receipt = serde_json::from_value(noted.clone())?;
    receipt.take_worktree(files);
    for (field, value) in [
        ("files", serde_json::to_value(&receipt.files)?),
        ("tests", serde_json::to_value(&receipt.tests)?),
        ("flags", serde_json::to_value(&receipt.flags)?),
    ] {
        noted[field] = value;
    }
    write_whole(&directory.result(), &serde_json::to_vec_pretty(&result)?)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_files_of_git_take_the_place_of_those_of_calls() {
        let place = tempfile::tempdir().unwrap();
        let directory = RunDir::new(place.path());
        note_changed_files(&directory, vec!["a".to_owned()]).unwrap();
        assert!(!directory.result().exists());

        let mut receipt = serde_json::to_value(Receipt::default()).unwrap();
        receipt["files"]["changed"] = json!(["by a call"]);
        let result = json!({"format": 1, "receipt": receipt, "later": "kept"});
        std::fs::write(directory.result(), result.to_string()).unwrap();
        note_changed_files(&directory, vec!["b".to_owned(), "a".to_owned()]).unwrap();
        let read: Value =
            serde_json::from_slice(&std::fs::read(directory.result()).unwrap()).unwrap();
        assert_eq!(read["receipt"]["files"]["changed"], json!(["b", "a"]));
        assert_eq!(read["receipt"]["files"]["source"], "worktree");
        assert_eq!(read["later"], "kept");
    }
}
