//! An agent on a script, in a directory of its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use pi_subagents_files::NeverProjects;
use serde_json::Value;
use tempfile::TempDir;

use super::Bench;
use crate::flags::{self, Flags};
use crate::output::Output;
use crate::run::{StartError, assemble};
use crate::surroundings::Surroundings;

/// A directory with a project and an agent directory in it.
pub(crate) struct Sandbox {
    root: TempDir,
    pub(crate) variables: BTreeMap<String, String>,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let sandbox = Self {
            root: tempfile::tempdir().unwrap(),
            variables: BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]),
        };
        fs::create_dir(sandbox.path("project")).unwrap();
        fs::create_dir(sandbox.path("agent")).unwrap();
        sandbox
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Writes a file and returns its path.
    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Writes a script and returns the flags that choose it.
    pub(crate) fn script(&self, script: &Value) -> String {
        let path = self.write("script.json", script.to_string());
        format!("--model scripted/{}", path.display())
    }

    /// Returns an agent whose model plays a script.
    pub(crate) fn playing(&self, script: &Value) -> Bench {
        self.agent(&self.script(script)).unwrap()
    }

    pub(crate) fn flags(line: &str) -> Flags {
        flags::parse(line.split_whitespace().map(str::to_owned).collect()).unwrap()
    }

    pub(crate) fn never_projects(&self) -> NeverProjects {
        NeverProjects::new(&self.path("home"), [])
    }

    /// Puts an agent together by its flags.
    pub(crate) fn agent(&self, line: &str) -> Result<Bench, StartError> {
        let surroundings = Surroundings {
            cwd: self.path("project"),
            never_projects: self.never_projects(),
            home: self.path("home"),
            agent_dir: self.path("agent"),
            variables: self.variables.clone(),
        };
        let (output, lines) = Output::channel();
        let (agent, access) = assemble(&Self::flags(line), &surroundings, None, output)?;
        Ok(Bench {
            agent,
            access,
            lines,
        })
    }
}
