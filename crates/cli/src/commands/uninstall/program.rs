//! The program itself: the line that removes it depends on who has installed it.

use std::path::{Path, PathBuf};

use pi_subagents_vocabulary::text::shell_quoted;

/// The files that `install.sh` writes below its prefix, beside the program.
const BESIDE: [&str; 4] = [
    "share/man/man1/pi-subagents*.1",
    "share/bash-completion/completions/pi-subagents",
    "share/zsh/site-functions/_pi-subagents",
    "share/fish/vendor_completions.d/pi-subagents.fish",
];

/// The list of the files of our Debian package, which dpkg keeps.
const DPKG_LIST: &str = "/var/lib/dpkg/info/pi-subagents.list";

/// Whoever has installed the program.
#[derive(Debug, PartialEq, Eq)]
enum Installer {
    Npm,
    /// Pi has fetched it with its package, and removes it with that.
    Pi,
    Dpkg,
    Homebrew,
    /// `install.sh`, below this prefix.
    Script(PathBuf),
    /// A person, or cargo.
    Nobody,
}

/// Returns the line that removes the program; nothing if pi removes it with its package.
pub(super) fn removal(program: &Path, agent_dir: &Path) -> Option<String> {
    match installer(program, agent_dir, Path::is_file) {
        Installer::Npm => Some("npm uninstall --global @pi-subagents/pi".to_owned()),
        Installer::Pi => None,
        Installer::Dpkg => Some("sudo apt-get remove pi-subagents".to_owned()),
        Installer::Homebrew => Some("brew uninstall pi-subagents".to_owned()),
        Installer::Script(prefix) => Some(by_script(program, &prefix)),
        Installer::Nobody => Some(format!("rm {}", quoted(program))),
    }
}

/// Tells the installer by the place of the program, and by the files that only that installer writes.
fn installer(program: &Path, agent_dir: &Path, is_file: fn(&Path) -> bool) -> Installer {
    let has = |name: &str| program.iter().any(|part| part == name);
    if program.starts_with(agent_dir) {
        return Installer::Pi;
    }
    if has("node_modules") {
        return Installer::Npm;
    }
    if has("Cellar") {
        return Installer::Homebrew;
    }
    if program == Path::new("/usr/bin/pi-subagents") && is_file(Path::new(DPKG_LIST)) {
        return Installer::Dpkg;
    }
    let prefix = program.parent().filter(|folder| folder.ends_with("bin"));
    let prefix = prefix.and_then(Path::parent);
    match prefix {
        Some(prefix) if is_file(&prefix.join("share/man/man1/pi-subagents.1")) => {
            Installer::Script(prefix.to_owned())
        }
        Some(_) | None => Installer::Nobody,
    }
}

fn by_script(program: &Path, prefix: &Path) -> String {
    let prefix = quoted(prefix);
    let beside = BESIDE.map(|file| format!("{prefix}/{file}"));
    format!("rm -f {} {}", quoted(program), beside.join(" "))
}

fn quoted(path: &Path) -> String {
    shell_quoted(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(program: &str, is_file: fn(&Path) -> bool) -> Installer {
        installer(Path::new(program), Path::new("/h/.pi/agent"), is_file)
    }

    #[test]
    fn the_installer_follows_from_the_place_and_its_files() {
        let nothing = |_: &Path| false;
        let everything = |_: &Path| true;
        let npm = "/usr/lib/node_modules/@pi-subagents/linux-x64/bin/pi-subagents";
        assert_eq!(of(npm, nothing), Installer::Npm);
        let pi = "/h/.pi/agent/npm/node_modules/@pi-subagents/linux-x64/bin/pi-subagents";
        assert_eq!(of(pi, nothing), Installer::Pi);
        let brew = "/home/linuxbrew/.linuxbrew/Cellar/pi-subagents/0.1.0/bin/pi-subagents";
        assert_eq!(of(brew, everything), Installer::Homebrew);
        assert_eq!(of("/usr/bin/pi-subagents", everything), Installer::Dpkg);
        assert_eq!(
            of("/h/.local/bin/pi-subagents", everything),
            Installer::Script("/h/.local".into())
        );
        assert_eq!(of("/h/.local/bin/pi-subagents", nothing), Installer::Nobody);
        let built = "/h/it/target/release/pi-subagents";
        assert_eq!(of(built, everything), Installer::Nobody);
    }

    #[test]
    fn the_line_of_the_script_names_all_that_it_wrote() {
        let line = by_script(
            Path::new("/h/.local/bin/pi-subagents"),
            Path::new("/h/.local"),
        );
        assert_eq!(
            line,
            "rm -f /h/.local/bin/pi-subagents /h/.local/share/man/man1/pi-subagents*.1 \
             /h/.local/share/bash-completion/completions/pi-subagents \
             /h/.local/share/zsh/site-functions/_pi-subagents \
             /h/.local/share/fish/vendor_completions.d/pi-subagents.fish"
        );
    }
}
