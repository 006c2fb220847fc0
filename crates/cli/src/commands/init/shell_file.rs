//! The file in which a shell looks for our completions.

use std::path::{Path, PathBuf};

use crate::completion::Shell;

/// The directories of the user in which shells look.
pub(super) struct ShellDirectories<'a> {
    pub(super) home: &'a Path,
    /// The value of `XDG_CONFIG_HOME`.
    pub(super) configuration: Option<&'a Path>,
    /// The value of `XDG_DATA_HOME`.
    pub(super) shared: Option<&'a Path>,
}

/// Returns the file that a shell loads by itself. For zsh there is no such place, so it is the place
/// that its users have agreed on.
pub(super) fn completion_file(shell: Shell, directories: &ShellDirectories) -> PathBuf {
    let home = directories.home;
    let or = |named: Option<&Path>, usual: &str| named.map_or(home.join(usual), Path::to_owned);
    match shell {
        Shell::Bash => {
            or(directories.shared, ".local/share").join("bash-completion/completions/pi-subagents")
        }
        Shell::Fish => {
            or(directories.configuration, ".config").join("fish/completions/pi-subagents.fish")
        }
        Shell::Zsh => home.join(".zfunc/_pi-subagents"),
    }
}

/// Says what else a person has to do.
pub(super) fn advice(shell: Shell) -> Option<&'static str> {
    match shell {
        Shell::Bash => Some(
            "A new bash reads it if the package bash-completion is installed. Otherwise put this line into ~/.bashrc: source <(pi-subagents completions bash)",
        ),
        Shell::Fish => None,
        Shell::Zsh => {
            Some("zsh reads it if ~/.zshrc has this line before compinit: fpath=(~/.zfunc $fpath)")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shell_has_its_place() {
        let home = Path::new("/h");
        let usual = ShellDirectories {
            home,
            configuration: None,
            shared: None,
        };
        let other = ShellDirectories {
            configuration: Some(Path::new("/c")),
            shared: Some(Path::new("/d")),
            ..usual
        };
        let files = |directories: &ShellDirectories| {
            [Shell::Bash, Shell::Fish, Shell::Zsh]
                .map(|shell| completion_file(shell, directories).display().to_string())
        };
        assert_eq!(
            files(&usual),
            [
                "/h/.local/share/bash-completion/completions/pi-subagents",
                "/h/.config/fish/completions/pi-subagents.fish",
                "/h/.zfunc/_pi-subagents"
            ]
        );
        assert_eq!(
            files(&other)[..2],
            [
                "/d/bash-completion/completions/pi-subagents",
                "/c/fish/completions/pi-subagents.fish"
            ]
        );
    }
}
