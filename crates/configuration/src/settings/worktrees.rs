//! The settings of worktrees: their folder, their submodules, and the command that prepares them.

use std::path::PathBuf;

use super::reader::Reader;
use super::values::Paths;

/// The settings of worktrees. A trusted project may have its own, because only it knows what must be
/// installed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorktreeSettings {
    /// The folder of all worktrees, instead of the one in the home directory.
    pub directory: Option<PathBuf>,
    /// The submodules that they have.
    pub submodules: SubmoduleChoice,
    /// The command that prepares a new one, for `sh -c`.
    pub setup: Option<String>,
}

/// The submodules that a worktree has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SubmoduleChoice {
    /// The submodules that the checkout has, taken from there without a network.
    #[default]
    Local,
    /// None.
    None,
}

impl SubmoduleChoice {
    const WORDS: [(&'static str, Self); 2] = [("local", Self::Local), ("none", Self::None)];
}

impl WorktreeSettings {
    /// Takes every value that is there and can be used.
    pub(super) fn take(&mut self, reader: &mut Reader<'_>, paths: &Paths<'_>) {
        if let Some(text) = reader.text("worktreeDir") {
            self.directory = Some(paths.resolve(text));
        }
        if let Some(choice) = reader.choice("worktreeSubmodules", &SubmoduleChoice::WORDS) {
            self.submodules = choice;
        }
        let is_given = |command: &str| !command.trim().is_empty();
        let setup = reader.parsed("worktreeSetup", "a command", |command| {
            is_given(command).then(|| command.to_owned())
        });
        self.setup = setup.or(self.setup.take());
    }
}
