//! The settings of a clone that was just made. They are written into its file at once: a process of
//! git for each of them would take longer than everything else of a small clone.

use std::io::Write as _;
use std::path::Path;

use pi_subagents_files::append_own;

use crate::error::WorkspaceError;

/// Adds settings to the configuration of a repository that nobody else uses yet. Each has a
/// section, which may have a name of its own as in `remote "origin"`, a key and a value.
pub(crate) fn add(git_dir: &Path, settings: &[(&str, &str, &str)]) -> Result<(), WorkspaceError> {
    let file = git_dir.join("config");
    let text: String = settings
        .iter()
        .map(|(section, key, value)| setting(section, key, value))
        .collect();
    let added = append_own(&file).and_then(|mut config| config.write_all(text.as_bytes()));
    added.map_err(WorkspaceError::of_file(&file))
}

fn setting(section: &str, key: &str, value: &str) -> String {
    format!("[{section}]\n\t{key} = {}\n", quoted(value))
}

/// Quotes a value, so that git reads exactly the same one.
fn quoted(value: &str) -> String {
    let mut text = String::from("\"");
    for letter in value.chars() {
        match letter {
            '"' | '\\' => text.extend(['\\', letter]),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            _ => text.push(letter),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::Git;
    use crate::object_id::ObjectFormat;
    use crate::scratch::init;

    #[test]
    fn git_reads_what_was_written() {
        let place = tempfile::tempdir().unwrap();
        let git = Git::at(place.path());
        init(&git, &[], ObjectFormat::Sha1).unwrap();
        let odd = "a \"b\" \\c;#\td\n[x]\n e ";
        let settings = [("gc", "auto", "0"), ("remote \"origin\"", "url", odd)];
        add(&place.path().join(".git"), &settings).unwrap();
        let read = |name| {
            let printed = git.run(&["config", "-z", "--get", name]).unwrap();
            String::from_utf8(printed).unwrap()
        };
        assert_eq!(read("gc.auto"), "0\0");
        assert_eq!(read("remote.origin.url"), format!("{odd}\0"));
    }
}
