//! Agent files of other tools, in every form that they have: every key, every name of a tool, odd
//! YAML, every restriction. The program `agent-files` writes them into a directory.

mod claude;
mod copilot;
mod others;
mod pi_rivals;

use std::fs;
use std::path::Path;

/// An agent file of another tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFile {
    /// The path below the home directory.
    pub path: String,
    /// The name by which the agent is asked for.
    pub name: String,
    /// The whole file.
    pub text: String,
}

/// Returns all files.
pub fn agent_files() -> Vec<AgentFile> {
    let mut files = claude::files();
    files.extend(copilot::files());
    files.extend(others::files());
    files.extend(pi_rivals::files());
    files
}

/// Writes all files below a home directory.
pub fn write_agent_files(home: &Path) {
    for file in agent_files() {
        let path = home.join(&file.path);
        let folder = path.parent().expect("a file is in a folder");
        fs::create_dir_all(folder).expect("make the folder of an agent file");
        fs::write(&path, &file.text).expect("write an agent file");
    }
}

/// A folder with files of one form.
struct Form {
    folder: &'static str,
    /// What stands before the name in the name of each agent.
    prefix: &'static str,
}

impl Form {
    /// Returns a markdown file: lines of frontmatter below the name, and a body.
    fn markdown(&self, name: &str, fields: &str) -> AgentFile {
        let name = format!("{}-{name}", self.prefix);
        let text = format!(
            "---\nname: {name}\ndescription: Tests {name}\n{fields}\n---\n\nYou test {name}.\n"
        );
        self.file(&format!("{name}.md"), &name, text)
    }

    fn file(&self, path: &str, name: &str, text: String) -> AgentFile {
        AgentFile {
            path: format!("{}/{path}", self.folder),
            name: name.to_owned(),
            text,
        }
    }
}
