//! Asks a pi for its version, which shows that it starts, and remembers the answer.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, UNIX_EPOCH};

use pi_subagents_files::{read_own, write_whole};
use pi_subagents_os::{ProgramBounds, ProgramCommand, ProgramCut, run_bounded};
use pi_subagents_pi_files::on_path;
use pi_subagents_vocabulary::text::clean;
use serde::{Deserialize, Serialize};

use super::Asking;
use super::version::Version;
use pi_subagents_ground::places::Places;

/// The limits of a program that prints its version.
const BOUNDS: ProgramBounds = ProgramBounds {
    time: Duration::from_secs(20),
    output: 1 << 20,
};

/// The size of the largest file with a remembered version.
const LARGEST_FILE: u64 = 4096;

/// The number of characters of its last words that an error repeats.
const MOST_REPEATED: usize = 300;

/// The two files that decide whether pi starts and which version it is: its own and that of Node.
/// Asking pi takes most of a second, so it is asked again only when one of them has changed.
#[derive(Serialize, Deserialize, PartialEq)]
struct KnownPi {
    pi: KnownFile,
    node: Option<KnownFile>,
}

#[derive(Serialize, Deserialize, PartialEq)]
struct KnownFile {
    path: PathBuf,
    modified_ms: u128,
    size: u64,
}

/// The version that is remembered for the next time. A pi that did not start has none.
#[derive(Serialize, Deserialize)]
struct Remembered {
    known: KnownPi,
    version: String,
}

/// Returns the version of the pi at this path, or why it cannot be used.
pub(super) fn version_of(path: &Path, places: &Places, asking: Asking) -> Result<String, String> {
    let cache = places.agent_dir.join("subagents-pi-version.json");
    let known = KnownPi {
        pi: identify(path).map_err(|error| format!("{}: {error}", path.display()))?,
        node: on_path("node", places.variable("PATH").unwrap_or_default())
            .and_then(|node| identify(&node).ok()),
    };
    let remembered = read_own(&cache, LARGEST_FILE)
        .ok()
        .and_then(|content| serde_json::from_slice::<Remembered>(&content).ok())
        .filter(|remembered| asking == Asking::IfNeeded && remembered.known == known);
    if let Some(remembered) = remembered {
        return Ok(remembered.version);
    }
    let version = ask_version(path)?;
    let remembered = Remembered {
        known,
        version: version.clone(),
    };
    if let Ok(content) = serde_json::to_vec(&remembered) {
        // It is asked again next time if it cannot be remembered.
        _ = write_whole(&cache, &content);
    }
    Ok(version)
}

fn identify(path: &Path) -> io::Result<KnownFile> {
    let metadata = fs::metadata(path)?;
    let modified = metadata.modified().unwrap_or(UNIX_EPOCH);
    Ok(KnownFile {
        path: path.to_owned(),
        modified_ms: modified
            .duration_since(UNIX_EPOCH)
            .map_or(0, |age| age.as_millis()),
        size: metadata.len(),
    })
}

/// Asks a program for its version, or returns why it has said none.
pub fn ask_version(path: &Path) -> Result<String, String> {
    let offline = ("PI_OFFLINE".into(), "1".into());
    let command = ProgramCommand {
        program: path.to_owned(),
        arguments: vec!["--version".into()],
        environment: std::env::vars_os().chain([offline]).collect(),
        directory: None,
    };
    let ended = run_bounded(&command, b"", BOUNDS);
    let ended = ended.map_err(|error| format!("{} --version: {error}", path.display()))?;
    match ended {
        // Versions before 0.80 print to stderr.
        Ok(ended) => {
            let said = [ended.stdout, ended.stderr].concat();
            judge(path, ended.status, &String::from_utf8_lossy(&said))
        }
        Err(ProgramCut::TimedOut) => {
            let seconds = BOUNDS.time.as_secs();
            Err(format!(
                "{} --version did not end within {seconds} s",
                path.display()
            ))
        }
        Err(ProgramCut::TooMuch) => Err(format!("{} --version printed no version", path.display())),
    }
}

/// Returns the version that a program printed. Only a program that ended well has printed its own: a
/// crash may print that of Node.
fn judge(path: &Path, status: ExitStatus, said: &str) -> Result<String, String> {
    let path = path.display();
    if !status.success() {
        return Err(format!(
            "{path} --version failed ({status}){}",
            last_words(said)
        ));
    }
    let version = said
        .split_whitespace()
        .find(|word| Version::parse(word).is_some());
    version
        .map(str::to_owned)
        .ok_or_else(|| format!("{path} --version printed no version"))
}

/// Returns the line that most likely explains the failure: the first with the word "error", or the
/// last one.
fn last_words(said: &str) -> String {
    let mut lines = said.lines().filter(|line| !line.trim().is_empty());
    let error = said.lines().find(|line| line.contains("Error"));
    let line = error.or_else(|| lines.next_back()).unwrap_or_default();
    let line: String = clean(line.trim()).chars().take(MOST_REPEATED).collect();
    match line.trim_end_matches('.') {
        "" => String::new(),
        line => format!(": {line}"),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    fn judged(code: i32, said: &str) -> Result<String, String> {
        let status = ExitStatus::from_raw(code << 8);
        judge(Path::new("/bin/pi"), status, said)
    }

    #[test]
    fn a_crash_that_prints_the_version_of_node_is_no_version() {
        let crash = "file:///cli.js:1\nimport x from \"y\";\n\nSyntaxError: no x in y.\n    at z\n\nNode.js v20.20.2\n";
        assert_eq!(
            judged(1, crash),
            Err("/bin/pi --version failed (exit status: 1): SyntaxError: no x in y".to_owned())
        );
        assert_eq!(judged(0, "1.5.0\n"), Ok("1.5.0".to_owned()));
        assert!(judged(1, "1.5.0\n").is_err());
        assert!(judged(0, "Node.js v20.20.2\n").is_err());
    }
}
