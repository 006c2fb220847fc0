//! Asks a pi for its version, which shows that it starts, and remembers what it said.

use std::fs;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

use pi_subagents_delegation::text::clean;
use pi_subagents_files::{read_own, write_whole};
use pi_subagents_pi_files::on_path;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use serde::{Deserialize, Serialize};

use super::Asking;
use super::version::Version;
use crate::places::Places;

/// How long a program may take to tell its version.
const PATIENCE: Duration = Duration::from_secs(20);

/// How much of what it says is looked at.
const MOST_SAID: u64 = 4096;

/// How many characters of its last words an error repeats.
const MOST_REPEATED: usize = 300;

/// Two files that decide whether pi starts and which version it is: its own and that of Node.
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

/// What is written down; never of a pi that did not start.
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
    let remembered = read_own(&cache, MOST_SAID)
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

#[expect(
    clippy::disallowed_methods,
    reason = "pi is asked for its version, which starts no sub-agent"
)]
fn ask_version(path: &Path) -> Result<String, String> {
    let failed = |error: io::Error| format!("{} --version: {error}", path.display());
    let mut asked = Command::new(path)
        .arg("--version")
        .env("PI_OFFLINE", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let status = wait(&mut asked).map_err(failed)?;
    let said = what_it_said(&mut asked).map_err(failed)?;
    judge(path, status, &said)
}

/// Waits for the end of the program, which is ended when it takes too long.
fn wait(asked: &mut Child) -> io::Result<Option<ExitStatus>> {
    let asked_at = Instant::now();
    loop {
        if let Some(status) = asked.try_wait()? {
            return Ok(Some(status));
        }
        if asked_at.elapsed() > PATIENCE {
            // A process that is gone by now needs no signal.
            _ = asked.kill();
            asked.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Returns what the program has printed; versions before 0.80 print to stderr.
fn what_it_said(asked: &mut Child) -> io::Result<String> {
    let mut said = Vec::new();
    if let Some(output) = asked.stdout.take() {
        read_what_is_there(output, &mut said)?;
    }
    if let Some(output) = asked.stderr.take() {
        read_what_is_there(output, &mut said)?;
    }
    Ok(String::from_utf8_lossy(&said).into_owned())
}

/// Reads without waiting, because a process that outlives the program may hold its output open.
fn read_what_is_there(output: impl Read + AsFd, said: &mut Vec<u8>) -> io::Result<()> {
    fcntl_setfl(&output, fcntl_getfl(&output)? | OFlags::NONBLOCK)?;
    match output.take(MOST_SAID).read_to_end(said) {
        Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Only a program that ended well has told its version: a crash may print that of Node.
fn judge(path: &Path, status: Option<ExitStatus>, said: &str) -> Result<String, String> {
    let path = path.display();
    let advice = "Set PI_SUBAGENTS_PI to a pi that starts, or use --runner embedded.";
    let Some(status) = status else {
        let seconds = PATIENCE.as_secs();
        return Err(format!(
            "{path} --version did not end within {seconds} s. {advice}"
        ));
    };
    if !status.success() {
        return Err(format!(
            "{path} --version failed ({status}){}. {advice}",
            last_words(said)
        ));
    }
    let version = said
        .split_whitespace()
        .find(|word| Version::parse(word).is_some());
    version
        .map(str::to_owned)
        .ok_or_else(|| format!("{path} --version printed no version. {advice}"))
}

/// Returns the line that most likely says what went wrong: the first with the word "error", or the
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

    fn judged(code: Option<i32>, said: &str) -> Result<String, String> {
        let status = code.map(|code| ExitStatus::from_raw(code << 8));
        judge(Path::new("/bin/pi"), status, said)
    }

    #[test]
    fn a_crash_that_prints_the_version_of_node_is_no_version() {
        let crash = "file:///cli.js:1\nimport x from \"y\";\n\nSyntaxError: no x in y.\n    at z\n\nNode.js v20.20.2\n";
        assert_eq!(
            judged(Some(1), crash),
            Err("/bin/pi --version failed (exit status: 1): SyntaxError: no x in y. Set PI_SUBAGENTS_PI to a pi that starts, or use --runner embedded.".to_owned())
        );
        assert_eq!(judged(Some(0), "1.5.0\n"), Ok("1.5.0".to_owned()));
        assert!(judged(Some(1), "1.5.0\n").is_err());
        assert!(judged(Some(0), "Node.js v20.20.2\n").is_err());
        assert!(judged(None, "1.5.0\n").is_err());
    }
}
