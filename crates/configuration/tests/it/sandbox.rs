//! A home, an agent directory and a project of their own.

use std::fs;
use std::path::{Path, PathBuf};

use pi_subagents_configuration::{
    Catalogue, DefinitionDir, DefinitionPlaces, Folder, FolderDialect, Trust, Viewpoint,
};
use pi_subagents_files::NeverProjects;
use pi_subagents_vocabulary::{Dialect, Scope};

pub(crate) struct Sandbox {
    root: tempfile::TempDir,
    pub(crate) definition_dirs: Vec<DefinitionDir>,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let sandbox = Self {
            root: tempfile::tempdir().unwrap(),
            definition_dirs: Vec::new(),
        };
        fs::create_dir_all(sandbox.agent_dir()).unwrap();
        fs::create_dir_all(sandbox.project().join("src/deep")).unwrap();
        fs::create_dir_all(sandbox.project().join(".git")).unwrap();
        sandbox
    }

    pub(crate) fn home(&self) -> PathBuf {
        fs::canonicalize(self.root.path()).unwrap()
    }

    pub(crate) fn agent_dir(&self) -> PathBuf {
        self.home().join(".pi/agent")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.home().join("repo")
    }

    /// Writes a file below the home directory.
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let file = self.home().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, content).unwrap();
        file
    }

    /// Writes a definition that says where it is from.
    pub(crate) fn define(&self, path: &str, name: &str) {
        self.write(
            path,
            format!("---\nname: {name}\ndescription: {path}\n---\n"),
        );
    }

    pub(crate) fn trust(&self) {
        Trust::remember(&self.agent_dir(), &self.project(), true).unwrap();
    }

    /// The directory and those above it, up to the home.
    pub(crate) fn own_directories(&self, cwd: &Path) -> Vec<PathBuf> {
        NeverProjects::new(&self.home(), []).own_directories(cwd)
    }

    pub(crate) fn catalogue_from(&self, cwd: &Path) -> Catalogue {
        let places = DefinitionPlaces::find(&Viewpoint {
            cwd,
            own_directories: &self.own_directories(cwd),
            agent_dir: &self.agent_dir(),
            project: &self.project(),
            definition_dirs: &self.definition_dirs,
            home: &self.home(),
            foreign: &Dialect::FOREIGN,
        });
        Catalogue::load(&places, &Trust::read(&self.agent_dir()).0)
    }

    pub(crate) fn catalogue(&self) -> Catalogue {
        self.catalogue_from(&self.project())
    }

    /// A text without the directories of this sandbox.
    pub(crate) fn shown(&self, text: &str) -> String {
        text.replace(self.home().to_str().unwrap(), "~")
    }
}

/// A single folder of the user's own.
pub(crate) fn global_folder(path: &Path) -> DefinitionPlaces {
    DefinitionPlaces {
        folders: vec![Folder {
            path: path.to_owned(),
            dialect: FolderDialect::of_folder(path),
            scope: Scope::Global,
            owner: path.to_owned(),
            distance: usize::MAX,
        }],
    }
}
